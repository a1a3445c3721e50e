#!/bin/sh
# workloads.sh: the canonical workloads give the same bytes in every mode, and those of a serial run.
#   workloads.sh VYRE SOURCE_DIR SERIAL_TEST [NAME...]    all seven when none is named
set -u
if [ $# -lt 3 ] || [ ! -x "$3" ]; then
    echo "usage: $0 VYRE SOURCE_DIR SERIAL_TEST [NAME...]" >&2
    exit 2
fi
tool=$1 source=$2 serial=$3
shift 3
names=$*
set -- "$tool" "$source"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"

folder=$source_dir/examples/workloads
if [ -z "$names" ]; then
    names=$(cd "$folder" && printf '%s\n' *.json | sed 's/\.json$//')
    # The names are words.
    # shellcheck disable=SC2086
    set -- $names
    [ $# -eq 7 ] || fail "$# workloads, not 7: $names"
fi

for name in $names; do
    run "$name, serial" 0 "$serial" --digests "$folder" "$name"
    cp "$scratch/out" "$scratch/serial"
    grep -q '^[^ ][^ ]* [0-9a-f]\{32\}$' "$scratch/serial" || fail "$name, serial: no digests"
    for mode in plain replay persistent auto; do
        run "$name, $mode" 0 "$vyre" run --json --quiet --mode "$mode" "$folder/$name.json"
        json "$name, $mode" ".workload == \"$name\" and .mode == \"$mode\" and .batches > 0
            and (.interrupted | not)"
        [ "$mode" = auto ] || json "$name, $mode" ".decisions.$mode == .batches"
        jq -r '.digests | to_entries[] | "\(.key) \(.value)"' "$scratch/out" >"$scratch/digests"
        cmp -s "$scratch/serial" "$scratch/digests" || {
            fail "$name, $mode: not the digests of the serial run (<)"
            diff "$scratch/serial" "$scratch/digests" | head -n 6 >&2
        }
    done
done
finish
