#!/bin/sh
# run.sh: vyre run: tables, JSON, digests, exit codes.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
build_kernels
workload add.json add 7 300

# ---- for people
run "run" 0 "$vyre" run "$data/transfers.json"
for text in '^transfers on cpu 0, ' '^batch  *times  mode  *why  *verdicts  *device' '^mark  *1  ' \
    '^43 batches, 0 dispatches in ' '^output  digest' '^ones  *[0-9a-f]\{32\}$'; do
    grep -q -e "$text" "$scratch/out" || fail "run: no \`$text\`"
done
grep -q ' $' "$scratch/out" && fail "run: a line ends in a space"
[ -s "$scratch/err" ] && fail "run: standard error is not empty"
grep -q "$(printf '\033')" "$scratch/out" && fail "run: colour without a terminal"
run "run --quiet" 0 "$vyre" run "$data/transfers.json" --quiet
expect_out "run --quiet" ''

# ---- JSON
run "JSON" 0 "$vyre" run --json "$data/transfers.json"
json "fields" '.backend == "cpu" and (.device | length) > 0 and .mode == "auto" and .batches == 43
    and .dispatches == 0 and .wall_ns > 0 and .repeat == 1 and .workload == "transfers"
    and .interrupted == false and has("saved_ns")'
json "digests" '(.digests | keys) == ["noise", "ones", "ramp"]
    and all(.digests[]; test("^[0-9a-f]{32}$"))'
json "decisions" '.decisions | .plain + .replay + .persistent == 43'
json "kinds" '[.kinds[].name] == ["mark", "move", "clear"]
    and ([.kinds[].batches] == [1, 20, 22]) and all(.kinds[]; .modes | length > 0)'
json "modes" 'all(.kinds[].modes[]; (.mode | IN("plain", "replay", "persistent"))
    and .batches == ([.whys[]] | add) and has("saved_ns"))'
json "verdicts" 'all(.kinds[]; .verdicts.command_reuse | IN("plain-launches", "record-and-replay"))'
# 256 bytes of 1, and the words 0 to 63, as xxhsum -H2 gives them.
json "known digests" '.digests.ones == "a24217a0fdba8d5350ca09c67938bc26" and .digests.ramp == "7d34a95fef4866afa6dcffc376d6710f"'
run "quiet JSON" 0 "$vyre" run --json --quiet "$data/transfers.json"
json "quiet JSON" '.batches == 43'

# ---- digests: the same in every mode, every time, with any number of workers
digests() {
    "$vyre" run --json "$@" 2>&1 | jq -c .digests
}
for file in "$data/transfers.json" "$scratch/add.json"; do
    expected=$(digests "$file" --mode plain)
    [ "${#expected}" -gt 36 ] || fail "$file: no digests: $expected"
    for options in '--mode auto' '--mode replay' '--mode persistent' '--mode plain' \
        '--backend cpu' '--device 0' '--device CORE' '--workers 1' '--workers 3 --mode persistent'; do
        # The words are arguments.
        # shellcheck disable=SC2086
        [ "$(digests "$file" $options)" = "$expected" ] || fail "$file $options: other digests"
    done
done
run "required mode" 0 "$vyre" run --json --mode=persistent "$scratch/add.json"
json "required mode" '.mode == "persistent" and .decisions == {plain: 0, replay: 0, persistent: 300}
    and .dispatches == 300 and .kinds[0].modes[0].whys == {required: 300}
    and .kinds[0].verdicts == null and .kinds[0].dispatches == 1 and .saved_ns == null'
workload add_twice.json add 7 600
[ "$(digests "$scratch/add.json" --repeat 2)" = "$(digests "$scratch/add_twice.json")" ] ||
    fail "--repeat 2 is not the schedule twice"
[ "$(digests "$scratch/add.json")" != "$(digests "$scratch/add_twice.json")" ] ||
    fail "the digest does not see how often a kernel ran"
run "repeat" 0 "$vyre" run --json --repeat=3 "$scratch/add.json"
json "repeat" '.repeat == 3 and .batches == 900 and .dispatches == 900'
# Which verdict falls depends on what launching costs, and measurements may overrule it: either way the
# reason must fit the mode.
run "verdict" 0 "$vyre" run --json "$scratch/add.json"
# The variables are those of jq.
# shellcheck disable=SC2016
json "verdict" 'all(.kinds[0].modes[]; . as {$whys, $wanted_out}
    | ($whys | keys - ["verdict", "predicted-best", "measured-best", "trial", "explore", "drift-recheck"])
        == [] and $wanted_out == {})
    and (.kinds[0].verdicts.command_reuse | IN("plain-launches", "record-and-replay"))'
json "times" 'all(.kinds[0].modes[]; .device_ns == null or .device_ns.timed > 0)
    and any(.kinds[0].modes[]; .device_ns.median > 0 and .submit_ns.median > 0)'

# ---- wrong command lines
good=$data/transfers.json
wrong 2 cli-usage 'vyre run --help' run
wrong 2 cli-usage 'one file' run "$good" "$good"
wrong 2 cli-usage 'needs a value' run "$good" --mode
wrong 2 cli-usage 'needs a value' run "$good" --backend=
wrong 2 cli-unknown-option 'mean .--mode.?' run "$good" --mod plain
wrong 2 cli-unknown-option 'run has no option' run "$good" --output out.json
wrong 2 cli-unknown-option 'run has no option' run "$good" --json=yes
wrong 2 value-word 'mean .replay.?' run "$good" --mode reply
wrong 2 value-number '--repeat' run "$good" --repeat -1
wrong 2 value-number '--repeat' run "$good" --repeat 2x
wrong 2 value-range 'from 1' run "$good" --repeat 0
wrong 2 value-range 'to 1000000' run "$good" --repeat 99999999999999999999
wrong 2 value-range 'to 1024' run "$good" --workers 1025
wrong 2 backend-unknown 'mean .vulkan.?' run "$good" --backend vulcan
wrong 2 backend-unknown 'vyre devices' run "$good" --backend x
wrong 77 device-unknown 'vyre devices' run "$good" --device 99
wrong 77 device-unknown 'vyre devices' run "$good" --device 'no such device'
"$vyre" devices --json >"$scratch/devices.json"
for backend in $(jq -r '.backends[] | select(.present | not) | .name' "$scratch/devices.json"); do
    wrong 77 backend-absent "$backend" run "$good" --backend "$backend"
done

# ---- workloads that this device cannot run: the JSON path, and nothing is allocated
wrong 2 workload-open 'no_such.json: ' run "$scratch/no_such.json"
echo "not a shared object" >"$scratch/text.so"
echo "kernel void k(global uint *x, uint c) {}" >"$scratch/k.cl"
broken() {
    sed "$2" "$scratch/add.json" >"$scratch/broken.json"
    wrong 2 "$1" "$3" run "$scratch/broken.json"
}
broken kernel-symbol 's/"symbol": "add"/"symbol": "sub"/' 'broken.json: .*\$.kernels.k: '
broken kernel-symbol 's/"host": {[^}]*}/"host": "no_such_kernel"/' '\$.kernels.k.host: '
broken kernel-library 's/"random": 5/"random": 6/;s/kernels.so/text.so/' '\$.kernels.k: '
broken kernel-no-payload 's/"host": {[^}]*}/"opencl": "k.cl"/' '\$.kernels.k: '
broken batch-groups 's/\[64, 1, 1\]/[4294967295, 1, 1]/' '\$.batches.step\[0\]: '
broken buffer-size 's/"count": 64/"count": 137438953472/' '\$.buffers.x: '
finish
