#!/bin/sh
# usage.sh: help, version, wrong command lines, and one policy asked on the command line.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# ---- help and version
run "no command" 2 "$vyre"
expect_out "no command" ''
grep -q '^Usage: vyre ' "$scratch/err" || fail "no command: no usage on standard error"
for help in --help -h help; do
    run "$help" 0 "$vyre" $help
    grep -q '^  decide ' "$scratch/out" || fail "$help: decide is not listed"
done
"$vyre" help decide >"$scratch/decide_help"
for help in --help -h 'command-reuse --help' '--json -h'; do
    # The words are arguments.
    # shellcheck disable=SC2086
    run "decide $help" 0 "$vyre" decide $help
    cmp -s "$scratch/decide_help" "$scratch/out" || fail "decide $help: not what help decide says"
done
# What the golden files ask for and answer with is what the help lists.
for policy in persistent-kernel arm-independence copy-overlap command-reuse bindless trace-jit \
    graph-capture; do
    grep -q "^  $policy: " "$scratch/decide_help" || fail "decide --help: no $policy"
    golden=$source_dir/tests/golden/$(echo $policy | tr - _).csv
    for column in $(sed -n 1p "$golden" | tr , ' '); do
        [ "$column" = display ] || grep -q "\<$column\>" "$scratch/decide_help" ||
            fail "decide --help: no $column"
    done
done
run --version 0 "$vyre" --version
expect_out --version 'vyre 0.1.0\n'

# ---- wrong command lines: wrong ID TEXT_OF_FIX ARGUMENT...
wrong() {
    id=$1 fix=$2
    shift 2
    line="vyre $(echo "$*" | cut -c 1-80)"
    run "$line" 2 "$vyre" "$@"
    expect_diag "$line" '' "$id"
    expect_out "$line" ''
    grep -q -- "  fix: .*$fix" "$scratch/err" || fail "$line: the fix does not say $fix"
}
bindless='resource_count=32 support=full'
wrong cli-unknown-command 'mean .decide.?' dicede
wrong cli-unknown-command 'vyre --help' frobnicate
wrong cli-unknown-command 'mean .decide.?' help decid
wrong cli-unknown-option 'mean .--version.?' --versoin
wrong cli-usage 'vyre decide --help' decide
wrong cli-usage 'vyre decide --help' decide bindless
wrong cli-usage 'vyre decide --help' decide bindless --csv
wrong cli-usage 'vyre decide --help' decide bindless --csv=
wrong cli-usage 'vyre decide --help' decide bindless --csv a --csv b
wrong cli-usage 'vyre decide --help' decide bindless --csv a support=full
wrong cli-usage 'NAME=VALUE' decide bindless support
wrong cli-unknown-policy 'mean .command-reuse.?' decide comand-reuse
wrong cli-unknown-policy 'mean .persistent-kernel.?' decide persistent_kernel --csv -
wrong cli-unknown-policy 'vyre decide --help' decide '' --csv -
wrong cli-unknown-option 'mean .--json.?' decide bindless --jason
wrong cli-unknown-option 'help' decide bindless -x
wrong value-unknown 'mean .replay_overhead_ns.?' decide command-reuse replay_overhed_ns=1
# shellcheck disable=SC2086
{
    wrong value-missing 'dynamic_indexing=' decide bindless $bindless
    wrong value-repeated 'once' decide bindless $bindless support=full
    wrong value-unknown 'mean .dynamic_indexing.?' decide bindless $bindless dynamic_indexng=1
    wrong value-unknown 'vyre decide --help' decide bindless $bindless =1
    wrong value-word '0 or 1' decide bindless $bindless dynamic_indexing=yes
    wrong value-number 'digits' decide bindless dynamic_indexing=1 support=full resource_count=
    wrong value-range '4294967295' decide bindless resource_count=4294967296
}
wrong value-word 'full, static or unsupported' decide bindless support=none
wrong value-number 'digits' decide copy-overlap 'reads=1 2 three'
wrong value-number 'empty set' decide copy-overlap reads=
wrong value-word 'I O B U S P' decide graph-capture roles=IOX
wrong value-long '65,536' decide graph-capture "roles=$(head -c 65537 /dev/zero | tr '\0' I)"

# ---- one policy: once VERDICT POLICY INPUT...
once() {
    verdict=$1
    shift
    run "decide $*" 0 "$vyre" decide "$@"
    [ "$(sed -n 1p "$scratch/out")" = "$verdict" ] || fail "decide $*: not $verdict"
    sed -n 2p "$scratch/out" | grep -q '.\.$' || fail "decide $*: no sentence"
    [ "$(wc -l <"$scratch/out")" -eq 2 ] || fail "decide $*: not two lines"
    [ -s "$scratch/err" ] && fail "decide $*: standard error is not empty"
}
once record-and-replay:425000 command-reuse repeat_count=100 per_launch_overhead_ns=5000 \
    record_overhead_ns=25000 replay_overhead_ns=500
once plain-launches command-reuse replay_overhead_ns=500 record_overhead_ns=25000 \
    per_launch_overhead_ns=5000 repeat_count=1
once persistent-kernel:79228162495817593515539431425 persistent-kernel batch_size=4294967295 \
    per_launch_overhead_ns=18446744073709551615 per_item_kernel_ns=0 persistent_setup_overhead_ns=0
once serialize:write-write arm-independence reads_a=- 'writes_a=9 8 7 6 5 4 3 2 1 0' reads_b=- \
    writes_b=0
once overlap copy-overlap copy_dst_slot=3 'reads=1 2' writes=-
once traditional-bindings bindless resource_count=23 support=full dynamic_indexing=0
once speculate:449000 trace-jit shader_hit_count=8 prediction_confidence_bps=9000 \
    speculative_spec_cost_ns=1000 miss_cost_ns=500000

run "decide graph-capture" 0 "$vyre" decide graph-capture roles=IOBSP
sed '$d' "$scratch/out" >"$scratch/values"
sed -n '$p' "$scratch/out" | grep -q '.\.$' || fail "decide graph-capture: no sentence"
mv "$scratch/values" "$scratch/out"
expect_out "decide graph-capture" 'input_device_capacity=2
output_device_capacity=2
output_readback_capacity=2
kernel_pointer_capacity=4
kernel_argument_capacity=5
resident_input_replay_safe=0
'

# ---- JSON
if ! command -v jq >/dev/null 2>&1; then
    fail "jq is not installed: JSON was not checked"
    finish
fi

# json WHAT FILTER: the filter holds for the one document in the output.
json() {
    [ "$(jq -s length <"$scratch/out")" = 1 ] || fail "$1: not one JSON document"
    jq -e "$2" <"$scratch/out" >"$scratch/filtered" || fail "$1: not so: $2"
}
run "one as JSON" 0 "$vyre" decide --json trace-jit shader_hit_count=8 miss_cost_ns=500000 \
    prediction_confidence_bps=9000 speculative_spec_cost_ns=1000
json "one as JSON" '.policy == "trace-jit" and .verdict == "speculate" and .savings_ns == 449000
    and (.explanation | endswith(".")) and (keys | length) == 4'
run "no savings as JSON" 0 "$vyre" decide copy-overlap copy_dst_slot=1 reads=1 writes=- --json
json "no savings as JSON" '.verdict == "serialize" and (has("savings_ns") | not)'
run "128 bits as JSON" 0 "$vyre" decide --json persistent-kernel batch_size=4294967295 \
    per_launch_overhead_ns=18446744073709551615 per_item_kernel_ns=0 persistent_setup_overhead_ns=1
# jq rounds such numbers: the text is what counts.
grep -q '"savings_ns":79228162495817593515539431424,' "$scratch/out" ||
    fail "128 bits as JSON: not exact"
run "plan as JSON" 0 "$vyre" decide graph-capture roles=- --json
json "plan as JSON" '.kernel_argument_capacity == 1 and .resident_input_replay_safe == true'

for table in "$source_dir"/examples/tables/*.csv; do
    policy=$(basename "$table" .csv)
    run "$table" 0 "$vyre" decide "$policy" --csv "$table" --json
    rows=$(($(wc -l <"$table") - 1))
    json "$table" ".policy == \"$policy\" and (.rows | length) == $rows and $rows > 0"
done
printf 'roles\n' >"$scratch/table.csv"
run "no rows as JSON" 0 "$vyre" decide graph-capture --csv="$scratch/table.csv" --json
json "no rows as JSON" '.rows == []'
run "no rows as CSV" 0 "$vyre" decide graph-capture --csv "$scratch/table.csv"
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "no rows as CSV: not one line"
finish
