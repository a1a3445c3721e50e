#!/bin/sh
# record.sh: vyre run --record and --audit: whole records of real runs, whose numbers are those of the
# run, from which report, trace and explain are made; also after Ctrl-C.
# The variables in filters are those of jq.
# shellcheck disable=SC2016
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
TSAN_OPTIONS="${TSAN_OPTIONS:-} atexit_sleep_ms=0"
LP_NUM_THREADS=0
export TSAN_OPTIONS LP_NUM_THREADS
build_kernels
workload add.json add 7 300
record=$scratch/record.json

# holds WHAT FILTER: the filter holds for the record. `rows` are batches as objects, `last` the sums.
holds() {
    jq -e '(.columns.batch) as $columns
        | [.records[] | select(type == "array") | . as $row
           | [$columns, $row] | transpose | map({key: .[0], value: .[1]}) | from_entries] as $rows
        | [.records[] | select(type == "object")] as $entries
        | .records[-1] as $last | .names as $names | '"$2" \
        <"$record" >"$scratch/filtered" || fail "$1: not so: $2"
}

# agrees WHAT: the record and the JSON of its run say the same.
agrees() {
    holds "$1" "\$last.closed and \$last.batches_seen == $(jq .batches <"$scratch/out")
        and (\$rows | length) == \$last.batches_kept and \$last.by_status[0] == \$last.batches_seen
        and \$last.commands[0] == $(jq .dispatches <"$scratch/out")
        and \$last.by_mode[1:] == $(jq -c '[.decisions[]]' <"$scratch/out")"
    holds "$1: rows" 'all($rows[]; .complete_ns >= .submit_begin_ns and .wall_ns > 0
        and .label > 0 and .decision > 0) and ([$rows[].sequence] | . == sort and unique == .)'
    holds "$1: candidates" 'any($rows[]; .candidates | length > 1)
        and all($rows[] | select(.settled == 1); .candidates == [])'
    holds "$1: entries" '([$entries[].type] | index("device") != null and index("closed") != null)
        and ([$entries[] | select(.type == "closed")][0].submitted >= $last.batches_seen)'
}

# made WHAT: the page and the trace are made of it, and a batch of it is explained.
made() {
    run "$1: report" 0 "$vyre" report "$record" -o "$scratch/page.html"
    grep -q '<canvas' "$scratch/page.html" || fail "$1: no page"
    run "$1: trace" 0 "$vyre" trace "$record" -o "$scratch/trace.json"
    jq -e '.traceEvents | length > 10' <"$scratch/trace.json" >"$scratch/filtered" ||
        fail "$1: no trace"
    first=$(jq '[.records[] | select(type == "array") | .[1]][0]' <"$record")
    run "$1: explain" 0 "$vyre" explain "$record" --batch "$first"
    grep -q '^  chosen: ' "$scratch/out" || fail "$1: the batch is not explained"
}

# ---- on every backend, in auto and where a mode is required
for backend in ${VYRE_TEST_BACKENDS:-cpu opencl vulkan}; do
    for mode in auto plain replay; do
        run "$backend $mode" 0 "$vyre" run "$source_dir/examples/workloads/stream-upload.json" \
            --backend "$backend" --mode "$mode" --record "$record" --json
        agrees "$backend $mode"
        made "$backend $mode"
    done
    holds "$backend: required" 'all($rows[]; $names.why[.why] == "required")
        and any($rows[].candidates[]; $names.why[.[3]] == "not-required")
        and any($entries[]; .type == "recording" and .change == "made" and .record_ns > 0)'
done
run "copied" 0 "$vyre" run "$data/transfers.json" --record "$record" --json
holds "copied" '$last.copied_bytes > 0 and $last.commands[1] > 0 and $last.commands[0] == 0'
run "persistent" 0 "$vyre" run "$scratch/add.json" --mode persistent --record "$record" --json
agrees "persistent"
holds "leases" '[$entries[] | select(.type == "lease")] | length >= 2
    and all(.[]; (.end_ns == null) or (.why and (.derived | not) and .end_ns >= .begin_ns)) and any(.[]; .end_ns != null)'
run "calibrated" 0 "$vyre" run "$scratch/add.json" --calibrate --record "$record" --json
agrees "calibrated"
holds "calibrated" '$last.batches_seen == 300 and any($entries[]; .type == "calibrated")
    and ([$entries[] | select(.type == "kernel")] | length) == 1'

# ---- the audit
run "audit" 0 "$vyre" run "$scratch/add.json" --audit
grep -q '^batch step, run [0-9]*: [a-z, ]*, [a-z]* at [0-9]' "$scratch/out" || fail "audit: no line"
[ "$(grep -c '^batch step, run ' "$scratch/out")" -lt 100 ] || fail "audit: a line per batch"
run "audit JSON" 0 "$vyre" run "$scratch/add.json" --audit --json
json "audit JSON" '.batches == 300'
grep -q '^batch step, run ' "$scratch/err" || fail "audit JSON: no line on standard error"
run "audit required" 0 "$vyre" run "$scratch/add.json" --audit --mode plain --quiet
[ "$(cat "$scratch/out")" = "$(grep '^batch step, run 1: plain, .*, required$' "$scratch/out")" ] ||
    fail "audit required: not one line: $(cat "$scratch/out")"

# ---- names that are markup; those that would move the cursor are no names
sed -e 's|"step"|"<img src=x onerror=alert(1)></script>"|g' \
    -e 's|"k"|"<script>alert(2)</script>"|g' "$scratch/add.json" >"$scratch/hostile.json"
run "hostile names" 0 "$vyre" run "$scratch/hostile.json" --audit --record "$record"
grep -q 'onerror' "$scratch/out" || fail "hostile names: the batch is not named"
holds "hostile names" 'any($entries[]; .type == "label" and (.text | startswith("<img src=x")))
    and any($entries[]; .type == "label" and .text == "<script>alert(2)</script>")'
made "hostile names"
grep -q '<img\|alert(2)</script>' "$scratch/page.html" && fail "hostile names: markup in the page"
run "hostile names, explained" 0 "$vyre" explain "$scratch/hostile.json"
grep -q '^batch <img src=x' "$scratch/out" || fail "hostile names: explain does not name the batch"
sed -e 's|"step"|"\\u001b[31m"|g' "$scratch/add.json" >"$scratch/escape.json"
wrong 2 workload-name 'control character' run "$scratch/escape.json" --record "$record"

# ---- Ctrl-C: the record is whole
workload steady.json slow 20 100000
workload stuck.json slow 600000 100
interrupted "Ctrl-C, stuck" 1 "$vyre" run "$scratch/stuck.json" --record "$record"
run "Ctrl-C, stuck" 0 "$vyre" report "$record" -o "$scratch/page.html"
interrupted "Ctrl-C, steady" 50 --no-grace "$vyre" run "$scratch/steady.json" --record "$record"
run "Ctrl-C, steady" 0 "$vyre" report "$record" -o "$scratch/page.html"
holds "Ctrl-C" '$last.closed and $last.batches_seen > 5'

# ---- killed: what was written by then is a whole document
signal_at 50 --kill "$vyre" run "$scratch/steady.json" --record "$record"
[ "$code" -eq 137 ] || fail "killed: exit code $code, not 137"
run "killed" 0 "$vyre" report "$record" -o "$scratch/page.html"
holds "killed" '$last.closed | not'

# ---- what cannot be
cp "$scratch/add.json" "$scratch/kept.json"
wrong 2 cli-usage 'overwrite the workload' run "$scratch/add.json" --record "$scratch/add.json"
cmp -s "$scratch/add.json" "$scratch/kept.json" || fail "the workload was overwritten"
wrong 2 recorder-open . run "$scratch/add.json" --record "$scratch/no/such/folder.json"
wrong 2 recorder-open . run "$scratch/add.json" --record /dev/null
finish
