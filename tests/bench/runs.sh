#!/bin/sh
# runs.sh PROGRAM TABLES OPTION...: the benchmark ends with 0, and its document names the machine and has that
# many tables; each has figures, and no contender failed.
set -eu
program=$1
tables=$2
shift 2
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$program" --json "$@" >"$out"
jq -e --argjson tables "$tables" '
    .failed == false and (.tables | length) == $tables and .machine.cores >= 1
    and ([.tables[] | select((.figures | length) == 0)] | length) == 0
    and ([.tables[].figures[] | select(.low_ns > .median_ns or .median_ns > .high_ns or .min_ns <= 0)]
         | length) == 0
    and ([.tables[].contenders[] | select(.failed)] | length) == 0' "$out" >/dev/null || {
    echo "runs.sh: not what was expected:" >&2
    cat "$out" >&2
    exit 1
}
