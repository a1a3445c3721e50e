#!/bin/sh
# queue_mutants.sh COMMAND [ARGUMENT]...: runs vyre_differential with the layer that invents queues, which
# forgets what every k-th submit waits for: wrong bytes must be found, or the driver must fall over work
# that was taken for done; with all waits it must pass.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! "$@" >"$scratch/out" 2>&1; then
    echo "queue_mutants: it fails as it is" >&2
    tail -n 20 "$scratch/out" >&2
    exit 1
fi
mismatches=0
for ignored in 1 2 3 5 9; do
    code=0
    VYRE_TEST_QUEUES_IGNORE=$ignored "$@" --shrink-seconds 0 >"$scratch/out" 2>&1 || code=$?
    if [ "$code" -eq 1 ] && grep -q '^mismatch: ' "$scratch/out"; then
        mismatches=$((mismatches + 1))
    elif [ "$code" -lt 128 ]; then
        echo "queue_mutants: exit code $code with every wait number $ignored forgotten" >&2
        tail -n 20 "$scratch/out" >&2
        exit 1
    fi
done
if [ "$mismatches" -eq 0 ]; then
    echo "queue_mutants: wrong bytes were never seen" >&2
    exit 1
fi
