#!/bin/sh
# probe.sh: vyre probe: costs, shown and stored; exit codes; Ctrl-C stores nothing by halves.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"

# ---- without a store nothing is made
run "no store" 0 "$vyre" probe --backend cpu --no-store
grep -q 'not stored, as requested' "$scratch/out" || fail "no store: does not say so"
[ -e "$VYRE_STORE" ] && fail "no store: made one"

# ---- Ctrl-C: the store is made right before the first measurement. On a busy machine the signal may come when all is
# measured: then it is tried again, up to a limit against hangs.
until=$(($(date +%s) + 300))
while :; do
    rm -f "$VYRE_STORE"*
    python3 "$(dirname "$0")/interrupt_at.py" --no-grace "$VYRE_STORE" \
        "$vyre" probe --backend cpu --json >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ $code -eq 130 ] && break
    [ "$(date +%s)" -lt "$until" ] || break
done
[ $code -eq 130 ] || fail "Ctrl-C never ended a probe with 130: $(cat "$scratch/err")"
json "interrupted" '.interrupted and .devices == []'
run "store after Ctrl-C" 0 "$vyre" store list --json
json "store after Ctrl-C" 'all(.devices[]; .calibration == null)'
run "check after Ctrl-C" 0 "$vyre" store check

# ---- for people
run "probe" 0 "$vyre" probe --backend cpu
for text in '^cpu 0, ' '^[0-9]* costs in .*; stored$' '^due again after \(7 days$\|10 min: noisy$\)' '^  cost  *median  *min  *spread  *confidence' \
    '^  plain-command  .* +-[0-9.]* %' '^  persistent-setup  ' 'more costs do not apply to this device'; do
    grep -q -e "$text" "$scratch/out" || fail "probe: no \`$text\`"
done
grep -q '^  driver-replay' "$scratch/out" && fail "probe: a cost that the device does not have"
grep -q ' $' "$scratch/out" && fail "probe: a line ends in a space"
[ -s "$scratch/err" ] && fail "probe: standard error is not empty"
run "quiet" 0 "$vyre" probe --quiet --backend cpu
expect_out "quiet" ''

# ---- JSON
run "JSON" 0 "$vyre" probe --backend cpu --json
json "document" ".store == \"$VYRE_STORE\" and .interrupted == false and (.devices | length) == 1"
json "device" '.devices[0] | .backend == "cpu" and .index == 0 and .kind == "cpu"
    and (.name | length) > 0 and (.driver | length) > 0 and has("uuid") and .failure == null
    and (.signature | test("^[0-9a-f]{32}$")) and .stored and .taken_at > 1700000000 and .took_ns > 0'
json "costs" '.devices[0].costs | length == 24 and has("empty") and has("compile")
    and ([.[] | select(. == null)] | length) == 5 and ."driver-replay-batch" == null
    and all(.[] | select(. != null); (keys | sort) == ["at_most_ns", "confidence_ns", "median_ns",
        "min_ns", "noisy", "samples", "spread_ns"] and (.at_most_ns == null or .at_most_ns >= .median_ns)
        and .min_ns >= 0 and .min_ns <= .median_ns
        and .spread_ns >= 0 and .confidence_ns >= 0 and .samples >= 3 and (.noisy | type) == "boolean")'
# Noisy figures that auto decides by are due again in 10 minutes, others in 7 days.
json "again" '.devices[0] | .again_at - .taken_at == (if .noisy_runs == 0 then 7 * 86400 else 600 end)'
json "noisy runs" '.devices[0] | (.noisy_runs > 0) == any(.costs | to_entries[];
    (.key | test("^(plain|record|replay|persistent)-")) and .value.noisy)'
signature=$(jq -r '.devices[0].signature' "$scratch/out")
taken=$(jq -r '.devices[0].taken_at' "$scratch/out")
jq -S '.devices[0].costs | map_values(select(. != null) | del(.confidence_ns))' "$scratch/out" \
    >"$scratch/probed"

# ---- stored, and found again: by the store, and by vyre devices, to the last bit
run "store" 0 "$vyre" store list --json
json "store" ".devices | length == 1 and .[0].signature == \"$signature\" and .[0].backend == \"cpu\"
    and .[0].calibration.costs == 19 and .[0].calibration.taken_at == $taken"
run "devices" 0 "$vyre" devices --json
json "devices" ".backends[] | select(.name == \"cpu\") | .devices[0].calibration
    | .fresh and .taken_at == $taken and .age_s >= 0 and .age_s < 600"
jq -S '.backends[] | select(.name == "cpu") | .devices[0].calibration.costs
    | map_values(select(. != null))' "$scratch/out" >"$scratch/listed"
cmp -s "$scratch/probed" "$scratch/listed" || fail "the stored costs are others than the measured ones"
run "devices, for people" 0 "$vyre" devices
grep -q '^    costs: calibrated [0-9]* \(s\|min\) ago$' "$scratch/out" || fail "devices: no age"
grep -q '^    plain-command  ' "$scratch/out" || fail "devices: no costs"
run "devices without the store" 0 "$vyre" devices --no-store --json
json "devices without the store" 'all(.backends[].devices[]; .calibration == null)'

# ---- a named device, and a store of its own
for device in 0 CPU cpu Cpu; do
    run "device $device" 0 "$vyre" probe --backend cpu --device $device --json --store "$scratch/d.db"
    json "device $device" "(.devices | length) == 1 and .devices[0].signature == \"$signature\""
done
[ -f "$scratch/d.db" ] || fail "--store: no file"

# ---- devices with a UUID are found by it
"$vyre" devices --no-store --json >"$scratch/devices.json"
for uuid in $(jq -r '.backends[].devices[].uuid // empty' "$scratch/devices.json" | sort -u); do
    upper=$(echo "$uuid" | tr a-f- 'A-F\n' | tr -d '\n')
    for text in "$uuid" "$upper"; do
        run "UUID $text" 0 "$vyre" probe --device "$text" --no-store --json
        json "UUID $text" "(.devices | length) == 1 and .devices[0].uuid == \"$uuid\""
    done
done

# ---- a store that cannot be written costs the storing, nothing else
run "no folder" 0 "$vyre" probe --backend cpu --json --store "$scratch/no/folder.db"
json "no folder" '.devices[0].stored == false and .devices[0].failure == null'
grep -q -F 'error[store-memory-only]' "$scratch/err" || fail "no folder: $(cat "$scratch/err")"

# The store is made and takes the device; its log has no room for the costs.
for words in 'probe --backend cpu' "run --calibrate $source_dir/examples/workloads/stream-upload.json"; do
    # shellcheck disable=SC2016,SC2086
    run "full disk: $words" 0 sh -c 'trap "" XFSZ; ulimit -f 88; exec "$@"' sh \
        "$vyre" $words --json --store "$scratch/full.db"
    for id in store-memory-only store-failed; do
        [ "$(grep -c "error\[$id\]" "$scratch/err")" -eq 1 ] ||
            fail "full disk: $words: not one $id: $(cat "$scratch/err")"
    done
    rm -f "$scratch/full.db"*
done

# ---- wrong command lines, and what is not there
wrong 2 cli-usage 'takes no operand' probe cpu
wrong 2 cli-usage 'exclude each other' probe --no-store --store x
wrong 2 cli-usage 'needs a value' probe --store
wrong 2 cli-unknown-option 'probe has no option' probe --mode plain
wrong 2 backend-unknown 'vyre devices' probe --backend x
wrong 77 device-unknown 'vyre devices' probe --device 99
wrong 77 device-unknown 'vyre devices' probe --device 'no such device'
wrong 77 device-unknown 'UUID' probe --device 12345678-9abc-def0-1234-56789abcdef0
wrong 77 device-unknown 'UUID' probe --device 123456789ABCDEF0123456789abcdef0
wrong 77 device-unknown 'UUID' probe --device 00000000-0000-0000-0000-000000000000
wrong 77 device-unknown 'kind discrete' probe --backend cpu --device discrete
for backend in $(jq -r '.backends[] | select(.present | not) | .name' "$scratch/devices.json"); do
    wrong 77 backend-absent "$backend" probe --backend "$backend"
done

# ---- the man page names every cost
run "costs" 0 "$vyre" store export
for cost in $(jq -r '.calibrations[0].costs[].name' "$scratch/out"); do
    grep -q -e "$cost" "$source_dir/docs/man/vyre-probe.1" || fail "vyre-probe.1: no $cost"
done
finish
