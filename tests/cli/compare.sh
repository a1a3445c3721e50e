#!/bin/sh
# compare.sh: vyre compare: every mode in turns, digests, exit codes.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
build_kernels
workload add.json add 7 100

# ---- for people
run "compare" 0 "$vyre" compare "$scratch/add.json" --repeat 20
for text in '^add on cpu 0, ' '^mode  *per batch  *per round  *quartiles' '^plain  .*  yes$' \
    '^replay  .*  yes$' '^persistent  .*  yes$' '^auto  .*  yes$' '^regret of auto: .*x of ' \
    '^all digests agree$'; do
    grep -q -e "$text" "$scratch/out" || fail "compare: no \`$text\`"
done
grep -q ' 1\.00x ' "$scratch/out" || fail "compare: no mode is the best"
[ -s "$scratch/err" ] && fail "compare: standard error is not empty"
run "compare --quiet" 0 "$vyre" compare "$scratch/add.json" --quiet --repeat 2
expect_out "compare --quiet" ''

# ---- JSON: all modes, the same bytes as run gives
run "JSON" 0 "$vyre" compare --json "$scratch/add.json" --repeat 20
json "fields" '.backend == "cpu" and .mode == "all" and .workload == "add" and .repeat == 20
    and .batches == 8000 and .dispatches == 8000 and .wall_ns > 0 and .interrupted == false
    and .rounds == 9 and (.saved_ns | type) == "number" and .digests_agree == true'
json "modes" '[.modes[].mode] == ["plain", "replay", "persistent", "auto"]
    and all(.modes[]; .present and .agrees and .round_ns.low <= .round_ns.median
        and .round_ns.median <= .round_ns.high and .total_ns > 0 and .reason == null)'
# The variables are those of jq.
# shellcheck disable=SC2016
json "ratios" '. as $all | .best as $best | .best != "auto" and .regret > 0 and .regret_low <= .regret
    and .regret <= .regret_high and .regret_is_clear == (.regret_low > 1 or .regret_high < 1)
    and all(.modes[]; if .mode == $best then .ratio == 1 elif .mode == "auto"
        then .ratio == $all.regret else .ratio > 0 end)'
json "decisions" '(.modes[0].decisions.plain == 2000) and (.modes[1].decisions.replay == 2000)
    and (.modes[2].decisions.persistent == 2000) and ([.decisions[]] | add) == 2000'
# shellcheck disable=SC2016
json "digests" '.digests as $all | all(.modes[]; .digests == $all)'
compared=$(jq -c .digests "$scratch/out")
[ "$("$vyre" run --json --repeat 20 "$scratch/add.json" | jq -c .digests)" = "$compared" ] ||
    fail "compare and run give other digests"

# ---- without an option the number of repeats is found out, and a schedule may have a single batch
workload once.json add 7 1
run "once" 0 "$vyre" compare --json "$scratch/once.json"
# How often depends on how long the first batch took.
json "once" '.repeat > 1 and .rounds == ([9, .repeat - 1] | min) and .digests_agree'
run "once, once" 0 "$vyre" compare --json "$scratch/once.json" --repeat 1
json "once, once" '.repeat == 1 and .batches == 4 and .rounds == 1 and .digests_agree'
json "one round" '.regret > 0 and .regret_low == null and .regret_high == null and .regret_is_clear == null'
run "five rounds" 0 "$vyre" compare "$scratch/add.json" --repeat 2 --rounds 5
grep -q '; too few rounds for an interval)$' "$scratch/out" || fail "five rounds: an interval"
run "six rounds" 0 "$vyre" compare --json "$scratch/add.json" --repeat 2 --rounds 6
json "six rounds" '.regret_low <= .regret and .regret <= .regret_high'
run "transfers" 0 "$vyre" compare --json "$data/transfers.json" --repeat 5
json "transfers" '.digests_agree and (.digests | length) == 3 and .dispatches == 0'

run "rounds" 0 "$vyre" compare --json "$scratch/add.json" --repeat 2 --rounds 33
json "rounds" '.rounds == 33 and .repeat == 2 and .digests_agree'

# ---- bytes that differ are a failure
workload unsteady.json unsteady 0 10
run "unsteady" 1 "$vyre" compare "$scratch/unsteady.json" --repeat 1
grep -q '^DIGESTS DIFFER$' "$scratch/out" || fail "unsteady: the table does not say so"
expect_diag "unsteady" '' cli-digests
run "unsteady JSON" 1 "$vyre" compare "$scratch/unsteady.json" --repeat 1 --json
json "unsteady JSON" '.digests_agree == false and any(.modes[]; .agrees | not)'
run "quiet and unsteady" 1 "$vyre" compare "$scratch/unsteady.json" --repeat 1 --quiet
expect_out "quiet and unsteady" ''

# ---- wrong command lines
wrong 2 cli-usage 'vyre compare --help' compare
wrong 2 cli-unknown-option 'compare has no option' compare "$scratch/add.json" --mode plain
wrong 2 value-range 'from 1 to 255' compare "$scratch/add.json" --rounds 256
wrong 2 backend-unknown 'vyre devices' compare "$scratch/add.json" --backend cup9
wrong 77 device-unknown 'vyre devices' compare "$scratch/add.json" --device 99
wrong 2 workload-open 'no_such.json' compare "$scratch/no_such.json"
sed 's/"count": 64/"count": 137438953472/' "$scratch/add.json" >"$scratch/broken.json"
wrong 2 buffer-size '\$.buffers.x: ' compare "$scratch/broken.json"
finish
