#!/bin/sh
# Checks the payloads of the canonical workloads without a device that could run them:
#   - every .comp compiles (glslangValidator), every .cl compiles (clang); the first line of a .cl file
#     names the version of OpenCL C that it needs
#   - every file is named by a workload, and every file that a workload names is there
#   - the interface that a workload file declares is the one in its payloads: slots, access, types of
#     constants in order, local sizes, specialization ids and names
#
#   payloads.sh SOURCE_DIR
set -u
if [ $# -ne 1 ] || [ ! -d "$1/examples/workloads" ]; then
    echo "usage: $0 SOURCE_DIR" >&2
    exit 2
fi
for tool in glslangValidator clang jq; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "$tool is not there; scripts/bootstrap test installs it" >&2
        exit 1
    }
done

cd "$1/examples/workloads" || exit 1
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/vyre-payloads.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# same WHAT: the files `declared` and `found` in $scratch agree.
same() {
    cmp -s "$scratch/declared" "$scratch/found" || {
        fail "$1: declared (<), found in the payload (>)"
        diff "$scratch/declared" "$scratch/found" | grep '^[<>]' >&2
    }
}

compile_all() {
    for file in */*.comp; do
        glslangValidator -V --target-env vulkan1.2 -o "$scratch/out.spv" "$file" \
            >"$scratch/log" 2>&1 || {
            fail "$file does not compile"
            cat "$scratch/log" >&2
        }
    done
    for file in */*.cl; do
        version=$(sed -n '1s,^// \(CL[0-9.]*\)$,\1,p' "$file")
        [ -n "$version" ] || fail "$file: the first line names no version"
        clang "-cl-std=$version" -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra \
            -Werror "$file" >"$scratch/log" 2>&1 || {
            fail "$file does not compile"
            cat "$scratch/log" >&2
        }
    done
}

# One line each: `slot N access`, `constant type`, `local x y z`, `specialize id name default`. A table
# itself is only read; the declared access is that of its members, which payloads do not show.
declared_interface() { # WORKLOAD KERNEL
    jq -r --arg kernel "$2" '
        .kernels[$kernel]
        | (.bindings[] | "slot \(.slot) \(if .table then "read" else .access end)"),
          ((.constants // [])[] | "constant \(.type)"),
          "local \(.local_size | map(tostring) | join(" "))",
          ((.specialize // [])[] | "specialize \(.id) \(.name) \(.default)")' "$1.json"
}

glsl_interface() { # FILE
    awk '
        function type(t) { return t == "uint" ? "u32" : t == "int" ? "i32" : "f32" }
        /^layout\(local_size_x/ {
            split("1 1 1", size, " ")
            for (d = 1; d <= 3; d++)
                if (match($0, "local_size_" substr("xyz", d, 1) " = [0-9]+"))
                    size[d] = substr($0, RSTART + 15, RLENGTH - 15)
        }
        /^layout\(std430, set = 0, binding = / {
            match($0, /binding = [0-9]+/)
            access = /\) readonly buffer/ ? "read" : /\) writeonly buffer/ ? "write" : "readwrite"
            slots = slots "slot " substr($0, RSTART + 10, RLENGTH - 10) " " access "\n"
        }
        /^layout\(push_constant\)/ { inside = 1; next }
        inside && /^}/ { inside = 0 }
        inside { constants = constants "constant " type($1) "\n" }
        /^layout\(constant_id = / {
            match($0, /constant_id = [0-9]+/)
            id = substr($0, RSTART + 14, RLENGTH - 14)
            value = $NF
            sub(/;/, "", value)
            special = special "specialize " id " " $(NF - 2) " " value "\n"
        }
        END {
            printf "%s%slocal %s %s %s\n%s", slots, constants, size[1], size[2], size[3], special
        }' "$1"
}

# What OpenCL C shows of it: a pointer to const is read, any other is written, too.
opencl_interface() { # FILE ENTRY
    awk -v entry="$2" '
        /^__kernel / {
            match($0, /\([0-9]+, [0-9]+, [0-9]+\)/)
            size = substr($0, RSTART + 1, RLENGTH - 2)
            gsub(/,/, "", size)
            next
        }
        index($0, "void " entry "(") == 1 { inside = 1; text = "" }
        inside { text = text " " $0 }
        inside && /\)$/ {
            inside = 0
            sub(/^[^(]*\(/, "", text)
            sub(/\)$/, "", text)
            count = split(text, arguments, ",")
            slot = 0
            for (i = 1; i <= count; i++) {
                if (arguments[i] ~ /\*/) {
                    access = arguments[i] ~ /const/ ? "read" : "write"
                    printf "slot %d %s\n", slot++, access
                    continue
                }
                split(arguments[i], words, " ")
                t = words[1]
                print "constant " (t == "uint" ? "u32" : t == "int" ? "i32" : "f32")
            }
            print "local " size
        }' "$1"
}

check_kernel() { # WORKLOAD KERNEL
    glsl=$(jq -r --arg k "$2" '.kernels[$k].glsl' "$1.json")
    opencl=$(jq -r --arg k "$2" '.kernels[$k].opencl' "$1.json")
    entry=$(jq -r --arg k "$2" '.kernels[$k].entry // $k' "$1.json")
    printf '%s\n%s\n' "$glsl" "$opencl" >>"$scratch/named"
    if [ ! -f "$glsl" ] || [ ! -f "$opencl" ]; then
        fail "$1, $2: a payload is missing"
        return
    fi
    declared_interface "$1" "$2" >"$scratch/interface"
    cp "$scratch/interface" "$scratch/declared"
    glsl_interface "$glsl" >"$scratch/found"
    same "$glsl"

    sed -e '/^specialize/d' -e 's/ readwrite$/ write/' "$scratch/interface" >"$scratch/declared"
    opencl_interface "$opencl" "$entry" >"$scratch/found"
    same "$opencl, $entry"

    awk '
        /^specialize / {
            defaults = defaults "#define VYRE_SPEC_" $2 " " $4 "\n"
            names = names "#define " $3 " ((uint)VYRE_SPEC_" $2 ")\n"
        }
        END { printf "%s%s", defaults, names }' "$scratch/interface" >"$scratch/declared"
    grep '^#define ' "$opencl" >"$scratch/found"
    same "$opencl, macros"
}

compile_all
: >"$scratch/named"
workloads=0
for file in *.json; do
    workloads=$((workloads + 1))
    for kernel in $(jq -r '.kernels | keys[]' "$file"); do
        check_kernel "${file%.json}" "$kernel"
    done
done
[ "$workloads" -eq 7 ] || fail "$workloads workloads, not 7"
sort -u "$scratch/named" >"$scratch/declared"
printf '%s\n' */*.comp */*.cl | sort -u >"$scratch/found"
same "files"

[ "$failures" -eq 0 ] || {
    echo "$failures failed" >&2
    exit 1
}
