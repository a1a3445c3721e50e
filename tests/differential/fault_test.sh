#!/bin/sh
# An injected mistake must be reported, shrunk to two commands, and reproduced by the printed command.
# Usage: fault_test.sh path/to/vyre_differential
set -eu
# shellcheck source-path=SCRIPTDIR source=../support/search_lib.sh
. "$(dirname "$0")/../support/search_lib.sh"

# expect_mismatch ARGUMENT...: runs the program, which must find the mistake and shrink it.
expect_mismatch() {
    report_mismatch "$@"
    commands=$(sed -n 's/^shrunk to \([0-9]*\) commands.*/\1/p' "$out")
    [ "$commands" -eq 2 ] || fail "shrunk to $commands commands, not to 2"
    grep -q 'command [0-9]*: fill ' "$out" || fail "the fill was lost"
    grep -q 'command [0-9]*: dispatch lcg groups 1x1x1' "$out" || fail "the lcg was lost or is large"
}

expect_mismatch --backend cpu --batches 20000 --inject-fault
read_reproduce
# shellcheck disable=SC2086 # the words of the command line
expect_mismatch $reproduce
agree_without --inject-fault
