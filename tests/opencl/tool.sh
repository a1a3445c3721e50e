#!/bin/sh
# tool.sh: what the tool says of OpenCL kernels whose workload does not go with them.
#   $1  the vyre binary
#   $2  the source directory
set -u
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$2/tests/cli/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../cli/workload_lib.sh
. "$2/tests/cli/workload_lib.sh"

cat >"$scratch/k.cl" <<'END'
__kernel void k(__global uint *a, uint c) { a[get_global_id(0)] += c; }
__kernel void narrow(__global uint *a, short c) { a[get_global_id(0)] += c; }
END

# write FILE ENTRY KERNEL_MEMBERS BIND: one dispatch of a kernel of k.cl
write() {
    cat >"$scratch/$1" <<END
{"vyre": 1, "name": "tool",
 "buffers": {"x": {"type": "u32", "count": 64}},
 "kernels": {"k": {"opencl": "k.cl", "entry": "$2", "local_size": [1, 1, 1]$3}},
 "batches": {"step": [{"dispatch": "k", "groups": [64, 1, 1], "bind": {$4}, "constants": {"c": 3}}]},
 "schedule": [{"batch": "step", "times": 1}],
 "outputs": ["x"]}
END
}

# fixed WHAT WORD: the fix has the word.
fixed() {
    grep -q "^  fix: .*$2" "$scratch/err" || fail "$1: $(grep '^  fix' "$scratch/err")"
}

u32=', "constants": [{"name": "c", "type": "u32"}]'
i32=', "constants": [{"name": "c", "type": "i32"}]'
both=', "bindings": [{"slot": 0, "access": "readwrite"}, {"slot": 7, "access": "read"}]'

# The payload said what the slots are: to declare them would not help.
write extra.json k "$u32" '"0": "x", "7": "x"'
wrong 2 batch-slot-unknown 'slot 7' run "$scratch/extra.json" --backend opencl --device pthread
fixed "a slot that is not reflected" 'slot 7'
if grep -q '^  fix: Declare' "$scratch/err"; then
    fail "a slot that is not reflected: the fix is to declare it"
fi

write declared.json k "$u32$both" '"0": "x", "7": "x"'
wrong 2 opencl-arguments '\$.kernels.k' run "$scratch/declared.json" --backend opencl --device pthread
fixed "a slot that is declared" 'slot 7'

write narrow.json narrow "$i32" '"0": "x"'
wrong 2 opencl-arguments '\$.kernels.k' run "$scratch/narrow.json" --backend opencl --device pthread
fixed "a short" 'int'

write good.json k "$u32" '"0": "x"'
run "all in order" 0 "$vyre" run "$scratch/good.json" --backend opencl --device pthread

finish
