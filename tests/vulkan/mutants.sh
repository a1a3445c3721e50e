#!/bin/sh
# mutants.sh VALIDATED PROGRAM: takes single barriers out of the batch of barriers_main.c: the validation
# layer must report each one that is missing between two commands, and nothing when none is.
set -eu
validated=$1
program=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "mutants: $1" >&2
    tail -n 20 "$scratch/out" >&2
    exit 1
}

sh "$validated" "$program" >"$scratch/out" 2>&1 || fail "the batch is not right as it is"
first=$(sed -n 's/^barriers \([0-9]*\) to [0-9]*$/\1/p' "$scratch/out")
last=$(sed -n 's/^barriers [0-9]* to \([0-9]*\)$/\1/p' "$scratch/out")
[ -n "$first" ] || fail "it does not say which barriers there are"
[ $((last - first)) -eq 7 ] || fail "barriers $first to $last: not the eight that were expected"

# The first one shows the batch's times to the host, the second orders against batches before, of which
# there are none; the last one shows bytes to the host, which the layer does not look at.
barrier=$((first + 2))
while [ "$barrier" -lt "$last" ]; do
    export VYRE_TEST_DROP_BARRIER=$barrier
    if sh "$validated" "$program" >"$scratch/out" 2>&1; then
        fail "the layer does not miss barrier $barrier"
    fi
    grep -q 'SYNC-HAZARD-' "$scratch/out" || fail "without barrier $barrier it failed, but not for a hazard"
    barrier=$((barrier + 1))
done
