#!/bin/sh
# proof.sh: generated code that a driver gets wrong: what run and compare say of it, and what they keep.
#
# The driver is PoCL. A layer makes its compiler read each 0x5eed of generated programs as 0x5eee; without
# the layer the same code is right, so that a code which is still refused was not tried again.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
${CC:-cc} -std=c11 -O1 -DCL_TARGET_OPENCL_VERSION=300 -shared -fPIC "$data/wrong_layer.c" \
    -o "$scratch/wrong.so" || fail "the layer does not compile"

# opencl_workload FILE KERNEL VALUE TIMES
opencl_workload() {
    echo "kernel void $2(global uint *x) { x[get_global_id(0)] += $3; }" >"$scratch/$2.cl"
    cat >"$scratch/$1" <<END
{"vyre": 1, "name": "$2",
 "buffers": {"x": {"type": "u32", "count": 64, "init": {"random": 5}}},
 "kernels": {"$2": {"opencl": "$2.cl", "local_size": [8, 1, 1],
   "bindings": [{"slot": 0, "access": "readwrite"}]}},
 "batches": {"step": [{"dispatch": "$2", "groups": [8, 1, 1], "bind": {"0": "x"}}]},
 "schedule": [{"batch": "step", "times": $4}],
 "outputs": ["x"]}
END
}
opencl_workload sum.json sum 0x5eed 20
opencl_workload other.json other 3 20
sum=$scratch/sum.json other=$scratch/other.json
on="--backend opencl --device pthread"
POCL_DEVICES='pthread basic'
export POCL_DEVICES

# tool ARGUMENT...: the driver as it is. wrong_driver ARGUMENT...: with the layer. Options go last.
tool() {
    # The words are arguments.
    # shellcheck disable=SC2086
    "$vyre" "$@" $on
}
wrong_driver() {
    OPENCL_LAYERS=$scratch/wrong.so tool "$@"
}
# refused: how many refusals the store has.
refused() {
    "$vyre" store list --json "$@" | jq '[.devices[].refusals[]] | length'
}

# ---- right code is proven once, and nothing of it is kept
run "right" 0 tool run --json --mode persistent "$sum"
json "right" '.decisions.persistent == 20 and .proofs.proven == 1 and .proofs.time_ns > 0
    and (.proofs | .unstable + .refused + .put_off) == 0 and .proofs.refusals == []'
expected=$(jq -c .digests "$scratch/out")
run "right, for people" 0 tool run --mode persistent "$sum"
grep -q '^proofs: .* 1 of 1 check, in ' "$scratch/out" || fail "right: no line of proofs"
grep -q '^refused\|^put off' "$scratch/out" && fail "right: something was refused"
[ -e "$VYRE_STORE" ] && fail "a required mode made a store without a refusal"
run "plain" 0 tool run --json --mode plain "$sum"
json "plain" '.proofs == {proven: 0, unstable: 0, refused: 0, put_off: 0, time_ns: 0, refusals: []}'
[ "$(jq -c .digests "$scratch/out")" = "$expected" ] || fail "plain and persistent differ"
run "plain, for people" 0 tool run --mode plain "$sum"
grep -q '^proofs' "$scratch/out" && fail "plain: a line of proofs without any"

# ---- unproven: what the driver got wrong is what the user gets
run "no proof" 0 wrong_driver run --json --mode persistent --no-proof "$sum"
json "no proof" '.decisions.persistent == 20 and .proofs.proven + .proofs.refused == 0'
[ "$(jq -c .digests "$scratch/out")" != "$expected" ] || fail "the layer does nothing"
run "compare, no proof" 1 wrong_driver compare --no-proof --no-store --repeat 2 "$sum"
grep -q '^DIGESTS DIFFER$' "$scratch/out" || fail "compare, no proof: the digests agree"

# ---- compare: the mode is out, and the rest goes on
run "compare" 0 wrong_driver compare --json --no-store --repeat 2 "$sum"
json "compare" '.digests_agree and .proofs.refused >= 1 and (.proofs.refusals | length) == 1
    and (.proofs.refusals[0] | .kernel == "sum" and (.reason | length) > 0 and (.stored | not))
    and (.modes[2] | .mode == "persistent" and (.present | not) and (.reason | length) > 0)'
run "compare, for people" 0 wrong_driver compare --no-store --repeat 2 "$sum"
for text in '^persistent is absent: ' '^proofs: ' '^refused: kernel sum: .'; do
    grep -q "$text" "$scratch/out" || fail "compare: no \`$text\`"
done
run "quiet" 0 wrong_driver compare --no-store --repeat 2 --quiet "$sum"
expect_out "quiet" ''
grep -q '^vyre: refused: kernel sum: .' "$scratch/err" || fail "quiet: the refusal is not reported"

# ---- a refusal of one process is not tried by the next, right or wrong
run "required" 1 wrong_driver run --mode persistent "$sum"
expect_out "required" ''
grep -q -F 'error[proof-differs]: ' "$scratch/err" || fail "required: $(cat "$scratch/err")"
[ "$(refused)" = 1 ] || fail "the refusal was not kept"
run "kept" 0 "$vyre" store list --json
json "kept" '.devices | length == 1 and (.[0] | .backend == "opencl" and .tunings == 0
    and .learnings == 0 and .calibration == null and (.refusals[0] | .kernel == "sum"
    and (.reason | length) > 0 and (.code | test("^[0-9a-f]{32}$"))))'
run "kept, for people" 0 "$vyre" store list
grep -q 'sum  *generated, it writes' "$scratch/out" || fail "list: no refusal: $(cat "$scratch/out")"
run "not tried" 1 tool run --mode persistent "$sum"
grep -q -F 'error[proof-differs]: ' "$scratch/err" || fail "not tried: $(cat "$scratch/err")"
run "workers" 1 tool run --mode persistent --workers 2 "$sum"
run "not tried by compare" 0 tool compare --json --repeat 2 "$sum"
json "not tried by compare" '.proofs.refused == 0 and .proofs.refusals == []
    and (.modes[2].present | not) and .digests_agree'
run "explain" 0 tool explain --json "$sum"
# It builds nothing, and what is not built has no identity yet that a refusal could name.
json "explain" '[.batches[0].candidates[] | select(.mode == "persistent") | .why] | length == 1
    and .[0] != "unproven"'
run "explain, no proof" 0 tool explain --json --no-proof "$sum"
json "explain, no proof" 'all(.batches[0].candidates[] | select(.mode == "persistent");
    .why != "unproven")'
run "other code" 0 tool run --json --mode persistent "$other"
json "other code" '.proofs.proven == 1'
run "no store" 0 tool run --json --mode persistent --no-store "$sum"
json "no store" '.proofs.proven == 1'
run "trusted" 0 tool run --json --mode persistent --no-proof "$sum"
json "trusted" '.decisions.persistent == 20'

# ---- auto finds one where persistent mode looks best: its bytes are the driver's. It looks so by what is put
# into the store: 1 ms for plain, 1 s for both kinds of replay, next to nothing for persistent. The schedule is
# too short for a calibration, so that the first decision rests on no measurement of this machine.
auto=$scratch/auto.db
opencl_workload long.json sum 0x5eed 150
expected=$(tool run --json --mode plain "$scratch/long.json" | jq -c .digests)
for try in 1 2 3 4 5 6 7 8; do # until some mode was measured often enough for the shape to be kept
    run "learn, $try" 0 tool run --json --repeat 20 --store "$scratch/learned.db" "$scratch/long.json"
    "$vyre" store export --store "$scratch/learned.db" >"$scratch/learned.json"
    [ "$(jq '.learnings | length' "$scratch/learned.json")" -gt 0 ] && break
done
jq '.calibrations = [] | .learnings |= [.[0] | .count = 1000
    | (.candidate = 1 | .mean_ns = 1e6), ((2, 514) as $replay | .candidate = $replay | .mean_ns = 1e9),
    (.candidate = 3 | .mean_ns = 1)]' "$scratch/learned.json" >"$scratch/auto.json"
run "import" 0 "$vyre" store import --store "$auto" "$scratch/auto.json"
# What it chooses is built beside its batches, so that the run may be over before there is anything to refuse.
run "auto" 0 wrong_driver run --json --store "$auto" --record "$scratch/auto-record.json" "$scratch/long.json"
json "auto" '.calibration.source == "stated" and .learnings_loaded == 4 and .decisions.persistent == 0
    and .proofs.refused <= 1'
[ "$(jq -c .digests "$scratch/out")" = "$expected" ] || fail "auto: other digests"
run "auto, explained" 0 "$vyre" explain --batch 1 "$scratch/auto-record.json"
grep -q 'persistent .*\(not built yet\|generated code\)' "$scratch/out" || fail "auto: $(cat "$scratch/out")"
run "required" 1 wrong_driver run --mode persistent --store "$auto" "$scratch/long.json"
[ "$(refused --store "$auto")" = 1 ] || fail "auto: the refusal was not kept"
run "auto again" 0 wrong_driver run --json --store "$auto" "$scratch/long.json"
json "auto again" '.proofs.refused == 0 and .decisions.persistent == 0'
[ "$(jq -c .digests "$scratch/out")" = "$expected" ] || fail "auto again: other digests"

# ---- export, import, check, prune
run "check" 0 "$vyre" store check --json
json "check" '.ok and .entries == 1'
"$vyre" store export >"$scratch/export.json"
run "import" 0 "$vyre" store import --store "$scratch/copy.db" "$scratch/export.json"
[ "$(refused --store "$scratch/copy.db")" = 1 ] || fail "import: no refusal"
run "imported" 1 tool run --mode persistent --store "$scratch/copy.db" "$sum"
run "prune" 0 "$vyre" store prune --all
[ "$(refused)" = 0 ] || fail "prune left a refusal"
run "pruned" 0 tool run --json --mode persistent "$sum"
json "pruned" '.proofs.proven == 1'

# ---- the option
for command in run compare explain; do
    run "help $command" 0 "$vyre" help $command
    grep -q '^      --no-proof  *.' "$scratch/out" || fail "help $command: no --no-proof"
    grep -q '^\.It Fl Fl no-proof$' "$source_dir/docs/man/vyre-$command.1" ||
        fail "vyre-$command.1: no --no-proof"
    groff -ww -mdoc -Tutf8 -z "$source_dir/docs/man/vyre-$command.1" >"$scratch/groff" 2>&1
    [ -s "$scratch/groff" ] && fail "vyre-$command.1: $(head -n 1 "$scratch/groff")"
    completed=$(bash -c '. "$1"; COMP_WORDS=(vyre "$2" --no-p); COMP_CWORD=2; _vyre
        echo "${COMPREPLY[*]}"' bash "$source_dir/completions/vyre.bash" $command)
    [ "$completed" = --no-proof ] || fail "$command: completion of --no-p"
done
wrong 2 cli-unknown-option 'probe has no option' probe --no-proof
wrong 2 cli-unknown-option 'run has no option' run "$sum" --no-proof=1
finish
