#!/bin/sh
# explain.sh: vyre explain: what a workload's batches would do, without running them.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
build_kernels
workload add.json add 7 300
workload stuck.json slow 60000 100

run "text" 0 "$vyre" explain "$scratch/add.json"
for text in '^add on cpu 0, .*; nothing was run$' '^batch step: 1 command, announced 300 times$' \
    'repeat_count 300 (hint)' 'per_launch_overhead_ns [0-9.]* [mun]*s (stated)' \
    '^    command_reuse: [a-z-]*[:0-9]*$' '^    replay  *[0-9.]* [mun]*s  [a-z]' \
    'replay pays from [0-9,]* repeats on; announced: 300\.$' '^  Would begin with [a-z]*, predicted at '; do
    grep -q -e "$text" "$scratch/out" || fail "text: no \`$text\`"
done
[ -s "$scratch/err" ] && fail "text: standard error is not empty"

# A kernel that takes a minute shows that nothing runs.
run "nothing runs" 0 timeout 120 "$vyre" explain "$scratch/stuck.json" --json
run "JSON" 0 "$vyre" explain "$scratch/add.json" --json
json "JSON" '.backend == "cpu" and .calibrated == false and (.batches | length) == 1
    and (.batches[0] | .name == "step" and .repeat_hint == 300 and .repeats_seen == 0
        and ([.policies[].policy] == ["persistent_kernel", "arm_independence", "copy_overlap",
            "command_reuse", "bindless", "trace_jit"]) and all(.policies[]; .because | length > 10)
        and ([.candidates[] | select(.because | startswith("chosen: "))] | length) == 1
        and (.mode as $mode | .why as $why | any(.candidates[]; .mode == $mode and .why == $why)))'
# The verdict and its turning point say the same, on both sides of it.
from=$(jq '.batches[0].replay_from_repeats' <"$scratch/out")
for repeats in $((from - 1)) "$from"; do
    run "turning point" 0 "$vyre" explain "$scratch/add.json" --json --repeat-hint "$repeats"
    # The variables are those of jq.
    # shellcheck disable=SC2016
    json "turning point" '.batches[0] | (.repeat_hint >= .replay_from_repeats) as $pays
        | [.policies[] | select(.policy == "command_reuse") | .verdict][0]
        | startswith("record-and-replay") == $pays'
done
run "no hint" 0 "$vyre" explain "$scratch/add.json" --repeat-hint 0
grep -q 'repeat_count 1 (observed)' "$scratch/out" || fail "no hint: the repeats are not observed"
grep -q 'replay pays from [0-9,]* repeats on; seen: 0\.$' "$scratch/out" || fail "no hint: no turning point"
# The sentence on repeats says what the device answers.
run "repeats" 0 "$vyre" explain "$scratch/add.json" --json --repeat-hint 1
above=$(jq -r '.batches[0].repeats' <"$scratch/out" | sed -n 's/^Announced \([0-9,]*\) times* or more, .*/\1/p' | tr -d ,)
if [ -n "$above" ]; then
    run "repeats below" 0 "$vyre" explain "$scratch/add.json" --json --repeat-hint $((above - 1))
    before=$(jq -c '.batches[0] | [.mode, .variant]' <"$scratch/out")
    run "repeats above" 0 "$vyre" explain "$scratch/add.json" --json --repeat-hint "$above"
    [ "$before" != "$(jq -c '.batches[0] | [.mode, .variant]' <"$scratch/out")" ] ||
        fail "repeats: $above repeats change nothing"
fi
run "calibrated" 0 "$vyre" explain "$scratch/add.json" --calibrate --json
json "calibrated" '.calibrated and any(.batches[0].policies[].inputs[]; .origin == "calibrated")'

# ---- costs of the store
run "stored" 0 "$vyre" explain "$scratch/add.json" --json
json "stored" '.calibrated and .calibration.source == "stored"'
run "no store" 0 "$vyre" explain "$scratch/add.json" --json --no-store
json "no store" '.calibrated | not'
# Batches with the same explanation share one.
run "alike" 0 "$vyre" explain "$source_dir/examples/workloads/decode.json" --no-store
[ "$(grep -c '^batch' "$scratch/out")" -lt 16 ] || fail "alike: each batch for itself"
for file in "$source_dir"/examples/workloads/*.json; do
    for backend in ${VYRE_TEST_BACKENDS:-cpu opencl vulkan}; do
        run "$backend ${file##*/}" 0 "$vyre" explain "$file" --backend "$backend" --json
        json "$backend ${file##*/}" '(.batches | length) > 0 and all(.batches[];
            (.policies | length) == 6 and ([.candidates[] | select(.because | startswith("chosen: "))] | length) == 1
            and all(.candidates[]; .because | length > 5) and (.repeats | length) > 10)'
    done
done

# ---- a record
run "record" 0 "$vyre" run "$scratch/add.json" --record "$scratch/record.json" --no-store
grep -q '^recorded 300 of 300 batches, with numbers from 1 to 300, in ' "$scratch/out" ||
    fail "record: the numbers are not shown"
run "batch" 0 "$vyre" explain "$scratch/record.json" --batch 3 --json
json "batch" '.batches[0].batch == 3 and .batches[0].label == "step" and .batches[0].measured_ns > 0
    and ([.batches[0].policies[].policy] | length) == 6
    and any(.batches[0].policies[].inputs[]; .name == "repeat_count" and .value == 300 and .origin == "hint")'
run "batch text" 0 "$vyre" explain "$scratch/record.json" --batch 3
for text in '^batch 3: step$' '^  chosen: ' '^  predicted .*, measured ' 'What the policies say' \
    'Ways to run it' 'What would change the choice'; do
    grep -q -e "$text" "$scratch/out" || fail "batch text: no \`$text\`"
done
wrong 2 cli-usage 'is a record' explain "$scratch/record.json"
wrong 2 record-batch 'no batch 999999' explain "$scratch/record.json" --batch 999999
wrong 2 cli-usage 'its own device and hints' explain "$scratch/record.json" --batch 3 --backend cpu
wrong 2 cli-usage 'its own device and hints' explain "$scratch/record.json" --batch 3 --no-proof
wrong 2 record-foreign . explain "$scratch/add.json" --batch 1
wrong 2 value-range 'between 1 and' explain "$scratch/record.json" --batch 0
wrong 2 value-number 'not a number' explain "$scratch/add.json" --repeat-hint many
wrong 2 cli-usage 'vyre explain --help' explain
wrong 2 cli-unknown-option . explain "$scratch/add.json" --mode plain
finish
