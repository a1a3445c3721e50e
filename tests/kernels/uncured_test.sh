#!/bin/sh
# Dispatchers without what cures them of PoCL's faults: random kernels must find wrong bytes, and with proofs
# no wrong byte may come through: a required mode is refused, auto is right.
# Usage: uncured_test.sh path/to/vyre_kernels path/to/the uncured backend
set -eu
library=$2
# shellcheck source-path=SCRIPTDIR source=../support/search_lib.sh
. "$(dirname "$0")/../support/search_lib.sh"

run() {
    report --library "$library" --device pthread --programs 12 --jobs 2 --shrink-seconds 0 "$@"
}

run --mode persistent --no-proof
[ "$code" -eq 1 ] || fail "no wrong byte was found: exit code $code"
grep -q '^mismatch: program 0x.*, mode persistent: ' "$out" || fail "no mismatch reported"

run --mode persistent
[ "$code" -eq 1 ] || fail "nothing was refused: exit code $code"
grep -q 'proof-differs' "$out" || fail "no proof found the difference"
! grep -q 'persistent: differs' "$out" || fail "wrong bytes came through a proof"

run --mode auto
[ "$code" -eq 0 ] || fail "auto gave wrong bytes: exit code $code"
