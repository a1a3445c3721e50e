#!/bin/sh
# specialize.sh VYRE SOURCE_DIR: workloads whose shader has one constant_id for its local size and for a
# constant. Each must give the digests of a shader in which the same numbers stand as literals.
set -u
# shellcheck source-path=SCRIPTDIR/../cli source=lib.sh
. "$2/tests/cli/lib.sh"
# shellcheck source-path=SCRIPTDIR/../cli source=workload_lib.sh
. "$2/tests/cli/workload_lib.sh"

# shader FILE SIZE CONSTANT: SIZE is that of the local size, CONSTANT how N is declared.
shader() {
    cat >"$scratch/$1" <<END
#version 450
layout($2) in;
$3
layout(std430, binding = 0) buffer Out { uint data[]; };
void main() { data[gl_GlobalInvocationID.x] = N * 1000u + gl_WorkGroupSize.x; }
END
}

# specialized FILE SHADER KERNEL DISPATCH: the last two are further members of the kernel and the dispatch.
specialized() {
    cat >"$scratch/$1" <<END
{"vyre": 1, "name": "specialized",
 "buffers": {"x": {"type": "u32", "count": 256}},
 "kernels": {"k": {"glsl": "$2"$3}},
 "batches": {"step": [{"dispatch": "k", "groups": [4, 1, 1], "bind": {"0": "x"}$4}]},
 "schedule": [{"batch": "step", "times": 8}],
 "outputs": ["x"]}
END
}

digest() {
    "$vyre" run --json --backend vulkan "$@" 2>"$scratch/err" | jq -r .digests.x
}

seen=
# same WHAT SIZE N KERNEL DISPATCH: the shared id gives this local size and this N.
same() {
    shader literal.comp "local_size_x = $2" "const uint N = $3;"
    specialized literal.json literal.comp '' ''
    expected=$(digest "$scratch/literal.json" --mode plain)
    [ "${#expected}" -eq 32 ] || fail "$1: no digest of the literals: $(cat "$scratch/err")"
    case $seen in
    *"$expected"*) fail "$1: the digest of another case" ;;
    esac
    seen="$seen $expected"
    specialized shared.json shared.comp "$4" "$5"
    for mode in plain replay auto; do
        [ "$(digest "$scratch/shared.json" --mode $mode)" = "$expected" ] ||
            fail "$1, $mode: another digest: $(cat "$scratch/err")"
    done
}

shader shared.comp 'local_size_x_id = 0' 'layout(constant_id = 0) const uint N = 32;'
declared=', "specialize": [{"id": 0, "name": "n", "type": "u32", "default": 8}]'
same "nothing given" 1 32 '' ''
same "a declared default" 8 8 "$declared" ''
same "a value" 16 16 "$declared" ', "specialize": {"n": 16}'
same "a value that is a default of the shader" 32 32 "$declared" ', "specialize": {"n": 32}'

# ---- a declared local size is that of the declared default
specialized sized.json shared.comp "$declared, \"local_size\": [8, 1, 1]" ''
run "local size" 0 "$vyre" run --backend vulkan "$scratch/sized.json" --quiet
specialized sized.json shared.comp "$declared, \"local_size\": [32, 1, 1]" ''
run "wrong local size" 2 "$vyre" run --backend vulkan "$scratch/sized.json" --quiet
grep -q -F 'error[interface-local-size]: ' "$scratch/err" ||
    fail "wrong local size: $(head -n 1 "$scratch/err")"
finish
