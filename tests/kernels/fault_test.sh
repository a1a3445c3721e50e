#!/bin/sh
# A wrong kernel in one mode must be reported, shrunk to a small source, and reproduced by the printed
# command; plain mode, which is right, must not be blamed.
# Usage: fault_test.sh path/to/vyre_kernels
set -eu
# shellcheck source-path=SCRIPTDIR source=../support/search_lib.sh
. "$(dirname "$0")/../support/search_lib.sh"

# expect_mismatch ARGUMENT...: runs the program, which must find the mistake and shrink it.
expect_mismatch() {
    report_mismatch "$@"
    grep -q '^mismatch: program 0x.*, mode replay: differs' "$out" || fail "not replay is blamed"
}

# The campaign finds it and prints a command line that finds it again.
expect_mismatch --backend opencl --device basic --mode replay --fault replay --programs 1 --jobs 1 --seed 108 \
    --shrink-seconds 1
read_reproduce
# shellcheck disable=SC2086 # the words of the command line
expect_mismatch $reproduce --shrink-seconds 1
agree_without "--fault replay"

# Shrunk until nothing can be taken away, however long that takes. The program has two kernels, several dispatches, a
# loop and a branch, and is small otherwise, because each step compiles.
expect_mismatch --backend opencl --device basic --mode replay --fault replay --program 2939 --shrink-seconds 100000
grep -q '^shrunk to 1 kernels, 1 dispatches, [1-3] statements ' "$out" || fail "not small"
grep -q '\^' "$out" || fail "the operator with the wrong constant was lost"
grep -q '^kernel void k' "$out" || fail "no source printed"
grep -q 'groups .* local ' "$out" || fail "no geometry printed"
