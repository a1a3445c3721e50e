#!/bin/sh
# An injected mistake must be reported, shrunk to two commands, and reproduced by the printed command.
# Usage: fault_test.sh path/to/vyre_differential
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
    "$program" "$@" >"$out" 2>&1 || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code, not 1"
    grep -q '^mismatch: program 0x' "$out" || fail "no mismatch reported"
    grep -q 'bytes differ' "$out" || fail "the report does not say what differs"
    commands=$(sed -n 's/^shrunk to \([0-9]*\) commands.*/\1/p' "$out")
    [ -n "$commands" ] || fail "nothing shrunk"
    [ "$commands" -eq 2 ] || fail "shrunk to $commands commands, not to 2"
    grep -q 'command [0-9]*: fill ' "$out" || fail "the fill was lost"
    grep -q 'command [0-9]*: dispatch lcg groups 1x1x1' "$out" || fail "the lcg was lost or is large"
}

expect_mismatch --backend cpu --batches 20000 --inject-fault
reproduce=$(sed -n 's/^reproduce: vyre_differential //p' "$out")
[ -n "$reproduce" ] || fail "no command line to reproduce it"
# shellcheck disable=SC2086 # the words of the command line
expect_mismatch $reproduce

# Without the mistake the same program agrees.
code=0
right=$(printf '%s' "$reproduce" | sed 's/ --inject-fault//')
# shellcheck disable=SC2086
"$program" $right >"$out" 2>&1 || code=$?
[ "$code" -eq 0 ] || fail "the program fails without the mistake, too"
