#!/bin/sh
# hazards.sh COMMAND [ARGUMENT]...: runs a command that must fail because the validation layer reports
# hazards of synchronization: the check of the check.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if "$@" >"$scratch/out" 2>&1; then
    echo "hazards: the run without barriers passed" >&2
    exit 1
fi
if ! grep -q 'SYNC-HAZARD-' "$scratch/out"; then
    echo "hazards: it failed, but not for a hazard:" >&2
    tail -n 20 "$scratch/out" >&2
    exit 1
fi
