#!/bin/sh
# A wrong kernel in one mode must be reported, shrunk to a small source, and reproduced by the printed
# command; plain mode, which is right, must not be blamed.
# Usage: fault_test.sh path/to/vyre_kernels
set -eu
program=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

fail() {
    echo "fault_test.sh: $1" >&2
    cat "$out" >&2
    exit 1
}

# expect_mismatch ARGUMENT...: runs the program, which must find the mistake and shrink it.
expect_mismatch() {
    code=0
    "$program" "$@" >"$out" 2>/dev/null || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code, not 1"
    grep -q '^mismatch: program 0x.*, mode replay: differs' "$out" || fail "no mismatch reported"
    grep -q 'bytes differ' "$out" || fail "the report does not say what differs"
    grep -q '^shrunk to ' "$out" || fail "nothing shrunk"
}

# The seed is one whose first program is small: shrinking takes compiles, and these take long.
expect_mismatch --backend opencl --device basic --mode replay --fault replay --programs 50 --seed 108 \
    --shrink-seconds 1
reproduce=$(sed -n 's/^reproduce: vyre_kernels //p' "$out")
[ -n "$reproduce" ] || fail "no command line to reproduce it"

# Shrunk until nothing can be taken away, however long that takes: one kernel, one dispatch.
# shellcheck disable=SC2086 # the words of the command line
expect_mismatch $reproduce --shrink-seconds 100000
grep -q '^shrunk to 1 kernels, 1 dispatches, [1-9] statements ' "$out" || fail "not small"
grep -q '\^' "$out" || fail "the operator with the wrong constant was lost"
grep -q '^kernel void k' "$out" || fail "no source printed"
grep -q 'groups .* local ' "$out" || fail "no geometry printed"

# Without the mistake the same program agrees.
code=0
right=$(printf '%s' "$reproduce" | sed 's/ --fault replay//')
# shellcheck disable=SC2086
"$program" $right >"$out" 2>/dev/null || code=$?
[ "$code" -eq 0 ] || fail "the program fails without the mistake, too"
