#!/bin/sh
# million_rows.sh: a table far larger than the memory that the tool is allowed to use.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

rows=1000000

# stream POLICY AWK: a million rows, made by AWK from NR, with 64 MiB of address space.
stream() {
    policy=$1
    awk -v rows=$rows "$2" >"$scratch/table"
    size=$(wc -c <"$scratch/table")
    (
        # Every shell that we test with has -v, though POSIX does not ask for it.
        # shellcheck disable=SC3045
        ulimit -v 65536
        exec "$vyre" decide "$policy" --csv -
    ) <"$scratch/table" >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ $code -eq 0 ] || fail "$policy: exit code $code, $size bytes: $(head -n 1 "$scratch/err")"
    lines=$(wc -l <"$scratch/out")
    [ "$lines" -eq $((rows + 1)) ] || fail "$policy: $lines lines, not $((rows + 1))"
}

stream command-reuse 'BEGIN {
    print "repeat_count,per_launch_overhead_ns,record_overhead_ns,replay_overhead_ns,note"
    for (i = 0; i < rows; i++)
        print i % 5000 ",5000,25000," i % 7000 ",a note that makes the table longer than 64 MiB"
}'
# Counted apart: 5,000 and 7,000 repeat together every 35,000 rows.
awk -F, 'NR > 1 { count[$1]++; sum += $2 } END {
    printf "%d %d %.0f\n", count["plain-launches"], count["record-and-replay"], sum
}' "$scratch/out" >"$scratch/got"
awk -v rows=$rows 'BEGIN {
    for (i = 0; i < rows; i++) {
        repeat = i % 5000; gain = 5000 - i % 7000
        saved = gain > 0 ? repeat * gain - 25000 : 0
        if (repeat > 1 && saved > 0) { replay++; sum += saved } else plain++
    }
    printf "%d %d %.0f\n", plain, replay, sum
}' >"$scratch/want"
cmp -s "$scratch/want" "$scratch/got" ||
    fail "command-reuse: counts and sum are $(cat "$scratch/got"), not $(cat "$scratch/want")"

stream arm-independence 'BEGIN {
    print "reads_a,writes_a,reads_b,writes_b"
    for (i = 0; i < rows; i++)
        print "9 8 7 6 5 4 3 2 1 0,10 11,12 13 " i % 50 "," 100 + i % 3
}'
[ "$(grep -c '^serialize:read-after-write$' "$scratch/out")" -eq $((rows * 2 / 50)) ] ||
    fail "arm-independence: not one conflict for each of slots 10 and 11"
finish
