#!/bin/sh
# interrupt.sh: Ctrl-C ends any command, whatever a kernel does, with what was done and exit code 130.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"
# The thread sanitizer otherwise sleeps for a second at every exit.
TSAN_OPTIONS="${TSAN_OPTIONS:-} atexit_sleep_ms=0"
export TSAN_OPTIONS
build_kernels
# A run that calibrates first has less time for batches.
"$vyre" probe --backend cpu --quiet || fail "no calibration"
workload fast.json add 7 1000000000
workload steady.json slow 20 100000
workload stuck.json slow 600000 100

# stopped WHAT CALLS COMMAND...: the work in flight ended too, so that the digests are printed. The tool waits for that
# work for a moment only, and on a busy machine the moment may pass: then it is tried again, up to a limit against hangs.
stopped() {
    until=$(($(date +%s) + 300))
    while :; do
        interrupted "$1" "$2" --no-grace "$vyre" run "$scratch/$3" ${4:+"$4"}
        grep -q '^x  *[0-9a-f]\{32\}$\|"x": *"[0-9a-f]\{32\}"' "$scratch/out" && return
        [ "$code" -eq 130 ] || return
        [ "$(date +%s)" -lt "$until" ] || break
    done
    fail "$1: no digest of what was done"
}

# ---- run: many small batches, long ones, one that does not end
stopped "fast" 100000 fast.json
grep -q '^interrupted: [0-9,]* of 1,000,000,000 batches were done$' "$scratch/out" ||
    fail "fast: does not say what was done"
grep -q "$(printf '\033')" "$scratch/err" && fail "fast: progress without a terminal"
stopped "steady" 8 steady.json --json
json "steady" '.interrupted and .batches > 5 and .batches < 100000 and .decisions.replay >= 0
    and (.digests.x | length) == 32'
interrupted "stuck" 1 "$vyre" run "$scratch/stuck.json"
grep -q 'interrupted' "$scratch/out" "$scratch/err" || fail "stuck: does not say what was done"
interrupted "stuck JSON" 1 "$vyre" run "$scratch/stuck.json" --json
interrupted "quiet" 8 "$vyre" run "$scratch/steady.json" --quiet
for mode in plain replay persistent; do
    interrupted "$mode" 8 --no-grace "$vyre" run "$scratch/steady.json" --mode $mode
    grep -q '^interrupted: ' "$scratch/out" || fail "$mode: does not say what was done"
done

# ---- compare and decide
interrupted "compare" 100000 "$vyre" compare "$scratch/fast.json"
grep -q 'interrupted' "$scratch/out" "$scratch/err" || fail "compare: does not say what was done"
interrupted "compare JSON" 100000 --no-grace "$vyre" compare "$scratch/fast.json" --json
json "compare JSON" '.interrupted and .digests_agree == null and (.modes | length) == 4'
interrupted "compare stuck" 1 "$vyre" compare "$scratch/stuck.json"
# The signal comes when more rows are read than a pipe holds: those before are answered.
mkfifo "$scratch/rows"
{
    printf 'resource_count,support,dynamic_indexing\n'
    yes 32,full,0 | head -n 20000
    touch "$scratch/began"
    exec sleep 600
} >"$scratch/rows" 2>/dev/null &
writer=$!
interrupted "decide" 0 --no-grace "$vyre" decide bindless --csv "$scratch/rows"
kill "$writer"
[ "$(head -n 1 "$scratch/out")" = verdict ] || fail "decide: no head"
[ "$(grep -c '^bindless$' "$scratch/out")" -gt 1000 ] || fail "decide: rows are missing"
[ "$(sort -u "$scratch/out" | wc -l)" -eq 2 ] || fail "decide: other rows"

# ---- on a terminal the progress line is cleared before anything else is printed
if command -v script >/dev/null 2>&1; then
    rm -f "$scratch/began" "$scratch/out"
    : >"$scratch/out"
    VYRE_TEST_CALLS=50
    {
        for _ in $(seq 3000); do
            [ -e "$scratch/began" ] && break
            sleep 0.1
        done
        printf '\003'
        for _ in $(seq 1200); do # the end of this input must not be the end of the command
            grep -q interrupted "$scratch/out" && break
            sleep 0.1
        done
    } | TERM=xterm script -qec "'$vyre' run '$scratch/steady.json'" /dev/null >"$scratch/out"
    tr '\r' '\n' <"$scratch/out" >"$scratch/lines"
    grep -q '^\[#*\.*\]  *[0-9]* %  [0-9,]* of 100,000 batches' "$scratch/lines" ||
        fail "terminal: no progress"
    # On a busy machine the work may not stop in time; what was done is said in either case.
    grep -qE '^interrupted: |vyre: interrupted after ' "$scratch/lines" ||
        fail "terminal: does not say what was done"
    last=$(grep -n '^\[[#.]*\] ' "$scratch/lines" | tail -n 1 | cut -d: -f1)
    sed -n "$((last + 1))p" "$scratch/lines" | grep -q "^$(printf '\033')\[K" ||
        fail "terminal: the progress line is not cleared"
fi
finish
