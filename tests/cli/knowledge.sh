#!/bin/sh
# knowledge.sh: what run and compare take from the store and leave there.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
build_kernels
workload short.json add 7 50
workload long.json add 7 2000

# learnings: how many the store has of all devices.
learnings() {
    "$vyre" store list --json | jq '[.devices[].learnings] | add // 0'
}

# ---- a short schedule is not worth a calibration
run "short" 0 "$vyre" run --json "$scratch/short.json"
json "short" '.calibration.source == "stated" and (.calibration.reason | length) > 0
    and .calibration.taken_at == null and .calibration.costs == 0 and .learnings_loaded == 0'
run "short, for people" 0 "$vyre" run "$scratch/short.json"
grep -q '^costs: stated by the backend (' "$scratch/out" || fail "short: does not say which costs"

# ---- a long one is, where it can be kept; the next run finds it, and what was learned
run "no store" 0 "$vyre" run --json --no-store "$scratch/long.json"
json "no store" '.calibration.source == "stated" and .learnings_loaded == 0'
run "long" 0 "$vyre" run --json "$scratch/long.json"
json "long" '.calibration.source == "measured" and .calibration.costs == 19
    and .calibration.reason == null and .calibration.age_s < 600'
expected=$(jq -c .digests "$scratch/out")
taken=$(jq .calibration.taken_at "$scratch/out")
json "whys" '(.whys | keys | sort) == ["drift-recheck", "explore", "measured-best",
    "only-feasible", "predicted-best", "required", "trial", "verdict"] and ([.whys[]] | add) == 2000
    and .whys.required == 0'
json "predictions" '(.predictions | length) > 0 and all(.predictions[]; .recorded > 0
    and .predicted_ns > 0 and .measured_ns > 0 and .ratio > 0)'
kept=$(learnings)
[ "$kept" -ge 1 ] || fail "nothing was learned"
run "again" 0 "$vyre" run --json "$scratch/long.json"
json "again" ".calibration.source == \"stored\" and .calibration.taken_at == $taken
    and .learnings_loaded == $kept"
[ "$(jq -c .digests "$scratch/out")" = "$expected" ] || fail "what was learned changed the bytes"
run "again, for people" 0 "$vyre" run "$scratch/long.json"
for text in '^costs: calibrated [0-9]* \(s\|min\) ago; [0-9]* learnings loaded$' \
    '^decided by  *batches  *predicted  *measured  *off by  *recorded$' '^measured-best  '; do
    grep -q -e "$text" "$scratch/out" || fail "again: no \`$text\`"
done

# ---- the same shape in another process is one record; another shape is another
[ "$(learnings)" -le 6 ] || fail "the same work was kept under several shapes: $(learnings)"
"$vyre" store export | jq -r '.learnings[].shape' | sort -u >"$scratch/shapes"
[ "$(wc -l <"$scratch/shapes")" -eq 1 ] || fail "not one shape: $(cat "$scratch/shapes")"
sed 's/"groups": \[64, 1, 1\]/"groups": [63, 1, 1]/' "$scratch/long.json" >"$scratch/other.json"
run "other work" 0 "$vyre" run --json --repeat 20 "$scratch/other.json" # enough of it is timed on a busy machine, too
"$vyre" store export | jq -r '.learnings[].shape' | sort -u >"$scratch/shapes"
[ "$(wc -l <"$scratch/shapes")" -eq 2 ] || fail "not two shapes: $(cat "$scratch/shapes")"
json_export() {
    "$vyre" store export >"$scratch/out"
    json "$1" "$2"
}
json_export "learnings" 'all(.learnings[]; .mean_ns > 0 and .count > 0)
    and any(.learnings[]; .count >= 8)'

# ---- a required mode neither uses nor keeps anything
cp "$scratch/shapes" "$scratch/before"
run "required" 0 "$vyre" run --json --mode plain "$scratch/long.json" --store "$scratch/none.db"
json "required" '.calibration == null and .whys.required == 2000 and .learnings_loaded == 0'
[ -e "$scratch/none.db" ] && fail "a required mode made a store"

# ---- too old: measured again where it pays, not used where not
"$vyre" store export | jq '.calibrations[].taken_at -= 8 * 86400' >"$scratch/old.json"
old=$scratch/old.db
run "old" 0 "$vyre" store import --store "$old" "$scratch/old.json"
run "old and short" 0 "$vyre" run --json --store "$old" "$scratch/short.json"
json "old and short" '.calibration.source == "stated" and (.calibration.reason | test("7 days"))'
run "old devices" 0 "$vyre" devices --json --store "$old"
json "old devices" '.backends[] | select(.name == "cpu") | .devices[0].calibration
    | .fresh == false and .age_s > 7 * 86400'
run "old and long" 0 "$vyre" run --json --store "$old" "$scratch/long.json"
json "old and long" '.calibration.source == "measured"'
run "renewed" 0 "$vyre" run --json --store "$old" "$scratch/short.json"
json "renewed" '.calibration.source == "stored" and .calibration.age_s < 600'

# ---- noisy and an hour old: used, but measured again where it pays
"$vyre" store export | jq '.calibrations[] |= (.taken_at -= 3600 | .costs[].noisy = true)' >"$scratch/noisy.json"
noisy=$scratch/noisy.db
run "noisy" 0 "$vyre" store import --store "$noisy" "$scratch/noisy.json"
run "noisy and short" 0 "$vyre" run --json --store "$noisy" "$scratch/short.json"
json "noisy and short" '.calibration | .source == "stored" and .due and .noisy == .costs'
run "noisy, for people" 0 "$vyre" run --store "$noisy" "$scratch/short.json"
grep -q '^costs: calibrated [0-9]* min ago, noisy, and due to be measured again' "$scratch/out" ||
    fail "noisy: does not say so"
run "noisy devices" 0 "$vyre" devices --json --store "$noisy"
json "noisy devices" '.backends[] | select(.name == "cpu") | .devices[0].calibration
    | .fresh == false and .again_at == .taken_at + 600'
run "noisy and long" 0 "$vyre" run --json --store "$noisy" "$scratch/long.json"
json "noisy and long" '.calibration | .source == "measured" and (.due | not)'
run "noisy, renewed" 0 "$vyre" run --json --store "$noisy" "$scratch/long.json"
json "noisy, renewed" '.calibration.source == "stored"'

# ---- another number of workers is another device
run "workers" 0 "$vyre" run --json --workers 2 "$scratch/short.json"
json "workers" '.calibration.source == "stated" and .learnings_loaded == 0'

# ---- asked for, it is measured whatever is there, and kept
run "asked for" 0 "$vyre" run --json --calibrate "$scratch/short.json"
json "asked for" '.calibration.source == "measured"'
run "asked for, without a store" 0 "$vyre" run --json --calibrate --no-store "$scratch/short.json"
json "asked for, without a store" '.calibration.source == "measured" and .whys.required == 0
    and ([.whys[]] | add) == 50'

# ---- compare: auto gets what is stored, and all agree
run "compare" 0 "$vyre" compare --json --repeat 2 "$scratch/long.json"
json "compare" '.calibration.source == "stored" and .learnings_loaded > 0 and .digests_agree
    and ([.whys[]] | add) == 4000 and (.predictions | length) > 0'
run "compare, for people" 0 "$vyre" compare "$scratch/long.json" --repeat 2
for text in '^costs: calibrated ' '^decided by  '; do
    grep -q -e "$text" "$scratch/out" || fail "compare: no \`$text\`"
done
run "compare calibrates" 0 "$vyre" compare --json --repeat 2 "$scratch/long.json" \
    --store "$scratch/compare.db"
json "compare calibrates" '.calibration.source == "measured"'

# ---- a learning that is nonsense is corrected, or left out; the bytes are the same
"$vyre" store export | jq '.learnings |= map(.mean_ns = (if .candidate == 1 then 1 else 1e300 end))
    | .learnings += [.learnings[0] | .candidate = 77]' >"$scratch/nonsense.json"
run "nonsense" 0 "$vyre" store import --store "$scratch/nonsense.db" "$scratch/nonsense.json"
run "run with nonsense" 0 "$vyre" run --json --store "$scratch/nonsense.db" "$scratch/long.json"
[ "$(jq -c .digests "$scratch/out")" = "$expected" ] || fail "nonsense changed the bytes"

# ---- a store that is broken or cannot be made costs only time
printf 'this is not a store' >"$scratch/broken.db"
run "broken" 0 "$vyre" run --json --store "$scratch/broken.db" "$scratch/short.json"
json "broken" '.batches == 50'
grep -q -F 'error[store-set-aside]' "$scratch/err" || fail "broken: $(cat "$scratch/err")"
run "no folder" 0 "$vyre" run --json --store "$scratch/no/folder.db" "$scratch/long.json"
json "no folder" '.batches == 2000 and .calibration.source == "stated"'
run "no home" 0 env -u HOME -u XDG_CACHE_HOME -u VYRE_STORE "$vyre" run --json "$scratch/short.json"
json "no home" '.batches == 50'

# ---- the device by its kind
run "kind" 0 "$vyre" run --json --device cpu "$scratch/short.json"
json "kind" '.backend == "cpu"'
wrong 77 device-unknown 'kind integrated' run --backend cpu --device integrated "$scratch/short.json"
wrong 77 device-unknown 'UUID' run --device 12345678-9abc-def0-1234-56789abcdef0 "$scratch/short.json"
wrong 2 cli-usage 'exclude each other' run "$scratch/short.json" --no-store --store x
finish
