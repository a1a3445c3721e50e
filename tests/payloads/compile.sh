#!/bin/sh
# Compiles the payloads of the conformance suite and of the differential test: every .comp to
# OUTPUT_DIR/SUITE-NAME.spv, every .cl for its syntax, as the version on its first line and as CL3.0.
# The .comp of the canonical workloads become OUTPUT_DIR/WORKLOAD-NAME.spv; workloads/payloads checks
# the rest of them.
#
#   compile.sh SOURCE_DIR OUTPUT_DIR
set -u
if [ $# -ne 2 ] || [ ! -d "$1/tests/conformance/payloads" ]; then
    echo "usage: $0 SOURCE_DIR OUTPUT_DIR" >&2
    exit 2
fi
for tool in glslangValidator spirv-val clang; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "$tool is not there; scripts/bootstrap test installs it" >&2
        exit 1
    }
done
mkdir -p "$2" || exit 1
failures=0
compiled=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

compile() { # FILE OUTPUT
    if ! glslangValidator -V --quiet --target-env vulkan1.2 -o "$2" "$1" >&2 ||
        ! spirv-val --target-env vulkan1.2 "$2" >&2; then
        fail "$1"
    fi
    compiled=$((compiled + 1))
}

for suite in conformance differential; do
    for file in "$1/tests/$suite"/payloads/*.comp; do
        name=$(basename "$file" .comp)
        [ -f "${file%.comp}.cl" ] || fail "$suite, $name: there is no .cl"
        compile "$file" "$2/$suite-$name.spv"
    done
    for file in "$1/tests/$suite"/payloads/*.cl; do
        name=$(basename "$file" .cl)
        [ -f "${file%.cl}.comp" ] || fail "$suite, $name: there is no .comp"
        grep -q "^void $name(" "$file" || fail "$file: its kernel has another name"
        version=$(sed -n '1s,^// \(CL[0-9.]*\)$,\1,p' "$file")
        [ -n "$version" ] || fail "$file: the first line names no version"
        for standard in $version CL3.0; do
            clang "-cl-std=$standard" -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra \
                -Werror "$file" >&2 || fail "$file as $standard"
        done
        compiled=$((compiled + 1))
    done
done
for file in "$1"/examples/workloads/*/*.comp; do
    compile "$file" "$2/$(basename "$(dirname "$file")")-$(basename "$file" .comp).spv"
done
[ "$failures" -eq 0 ] || {
    echo "$failures failed" >&2
    exit 1
}
echo "$compiled payloads"
