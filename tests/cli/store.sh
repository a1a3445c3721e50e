#!/bin/sh
# store.sh: vyre store: where it is, list, export, import, prune, check.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=workload_lib.sh
. "$(dirname "$0")/workload_lib.sh"

unset VYRE_STORE XDG_CACHE_HOME
HOME=$scratch/home
export HOME
mkdir "$HOME"
seed=$source_dir/tests/fuzz/corpus/store_import/full
signature=792a0979919195c807a908c26a657583

# place WHAT PATH ENVIRONMENT...: where list looks.
place() {
    what=$1 path=$2
    shift 2
    run "$what" 0 env "$@" "$vyre" store list --json
    json "$what" ".path == \"$path\" and .present == false and .devices == []"
}

# ---- the place
place "home" "$HOME/.cache/vyre/store.db" A=B
place "base directory" /xdg/vyre/store.db XDG_CACHE_HOME=/xdg
place "relative base directory" "$HOME/.cache/vyre/store.db" XDG_CACHE_HOME=xdg
place "empty base directory" "$HOME/.cache/vyre/store.db" XDG_CACHE_HOME=
place "variable" "$scratch/x.db" XDG_CACHE_HOME=/xdg VYRE_STORE="$scratch/x.db"
place "empty variable" /xdg/vyre/store.db XDG_CACHE_HOME=/xdg VYRE_STORE=
run "option" 0 env VYRE_STORE=/y.db "$vyre" store list --json --store="$scratch/x.db"
json "option" ".path == \"$scratch/x.db\""
run "no home" 2 env -u HOME "$vyre" store list
expect_diag "no home" "" store-place
[ -z "$(ls -A "$HOME")" ] || fail "looking made something"

# ---- without a store
run "list nothing" 0 "$vyre" store list
grep -q 'no store yet' "$scratch/out" || fail "list nothing: $(cat "$scratch/out")"
run "check nothing" 0 "$vyre" store check
run "prune nothing" 0 "$vyre" store prune --all
run "export nothing" 0 "$vyre" store export
json "export nothing" '. == {vyre_store: 1, devices: [], calibrations: [], learnings: [], entries: []}'
[ -z "$(ls -A "$HOME")" ] || fail "a command that only looks made something"

# ---- import, list, export
run "import" 0 "$vyre" store import --json "$seed"
json "import" '.read == 4 and .written == 4'
[ -f "$HOME/.cache/vyre/store.db" ] || fail "import: no store"
[ "$(stat -c %a "$HOME/.cache/vyre")" = 700 ] || fail "the folder is not the user's alone"
run "import from standard input" 0 sh -c "'$vyre' store import - <'$seed'"
grep -q ' of 4 records written' "$scratch/out" || fail "import: $(cat "$scratch/out")"
run "list" 0 "$vyre" store list
grep -q "^$signature  cpu  *Test device 1  *1 costs (1 noisy), [0-9]* days old  *1  *1  *0" \
    "$scratch/out" || fail "list: $(cat "$scratch/out")"
run "list as JSON" 0 "$vyre" store list --json
json "list as JSON" '.present and .schema_version == 2 and .size_bytes > 0 and (.devices | length) == 1
    and (.devices[0] | .signature == "'$signature'" and .backend == "cpu" and .driver == "test 1.0"
    and .calibration.costs == 1 and .calibration.noisy == 1 and .calibration.age_s > 86400
    and .learnings == 1 and .tunings == 1 and .pipelines == 0 and .entry_bytes == 0)'
run "export" 0 "$vyre" store export
cp "$scratch/out" "$scratch/export.json"
json "export" '.vyre_store == 1 and .learnings[0].mean_ns == 1e300 and .entries[0].cost_ns == -2.5
    and .calibrations[0].costs[0].median_ns == 0.1 and .learnings[0].candidate == 4294967295'
run "import of the export" 0 "$vyre" store import --store "$scratch/copy.db" "$scratch/export.json"
run "export of the copy" 0 "$vyre" store export --store "$scratch/copy.db"
same='del(.devices[].last_seen, .learnings[].last_used, .learnings[].use_count,
    .entries[].last_used, .entries[].use_count)'
[ "$(jq -S "$same" "$scratch/out")" = "$(jq -S "$same" "$scratch/export.json")" ] ||
    fail "the copy differs"

# ---- the later record stays, whichever way it comes
jq '.learnings[0].mean_ns = 5 | .learnings[0].updated_at += 10' "$seed" >"$scratch/later.json"
jq '.learnings[0].mean_ns = 6 | .learnings[0].updated_at -= 10' "$seed" >"$scratch/earlier.json"
run "later" 0 "$vyre" store import --store "$scratch/copy.db" "$scratch/later.json"
run "earlier" 0 "$vyre" store import --store "$scratch/copy.db" "$scratch/earlier.json"
run "merged" 0 "$vyre" store export --store "$scratch/copy.db"
json "merged" '(.learnings | length) == 1 and .learnings[0].mean_ns == 5'

# ---- wrong documents change nothing
bad() {
    jq "$2" "$seed" >"$scratch/bad.json"
    run "bad $2" 2 "$vyre" store import --store "$scratch/bad.db" "$scratch/bad.json"
    grep -q -F "error[store-import-value]: $1" "$scratch/err" || fail "bad $2: $(cat "$scratch/err")"
    run "after bad $2" 0 "$vyre" store list --json --store "$scratch/bad.db"
    json "after bad $2" '.devices == []'
}
bad '$.vyre_store' '.vyre_store = 2'
bad '$.extra' '.extra = []'
bad '$.learnings: not an array' '.learnings = {}'
bad '$.devices[0].signature' '.devices[0].signature = "00000000000000000000000000000000"'
bad '$.devices[0].name' 'del(.devices[0].name)'
bad '$.calibrations[0].costs' '.calibrations[0].costs = 3'
bad '$.calibrations[0]' '.calibrations[0].costs[0].name = "A b"'
bad '$.learnings[0]' '.learnings[0].mean_ns = -1'
bad '$.learnings[0].candidate' '.learnings[0].candidate = 4294967296'
bad '$.entries[0].bytes' '.entries[0].bytes = "AAA"'
bad '$.entries[0].checksum' '.entries[0].bytes = "AAAA"'
bad '$.entries[0].kind' '.entries[0].kind = "x"'
bad '$.entries[1].other' '.entries[1] = (.entries[0] | .other = 1)'
wrong 2 store-import-syntax 'line 1' store import --store "$scratch/bad.db" \
    "$source_dir/tests/fuzz/corpus/store_import/not_json"
wrong 2 store-import-open 'No such file' store import "$scratch/none.json"

# ---- prune
run "prune by time" 0 "$vyre" store prune --store "$scratch/copy.db" --older-than 30 --json
json "prune by time" '.removed == 1' # the calibration; reading for the merge was a use
run "prune by another device" 0 "$vyre" store prune --store "$scratch/copy.db" --json \
    --device 00000000000000000000000000000001
json "prune by another device" '.removed == 0'
run "prune by device" 0 "$vyre" store prune --store "$scratch/copy.db" --device $signature
grep -q ' 3 records removed' "$scratch/out" || fail "prune by device: $(cat "$scratch/out")"
run "prune by size" 0 "$vyre" store prune --size 1000 --json
json "prune by size" '.removed == 3 and .size_bytes > 0'
run "prune all" 0 "$vyre" store prune --all
run "empty" 0 "$vyre" store list --json
json "empty" '.present and .devices == []'

# ---- check, and files that are broken
run "check" 0 "$vyre" store check --json --store "$scratch/copy.db"
json "check" '.ok and .present and .damaged == 0 and .problems == []'
printf 'this is not a store' >"$scratch/broken.db"
run "check broken" 1 "$vyre" store check --store "$scratch/broken.db" --json
json "check broken" '(.ok | not) and (.problems | length) > 0'
grep -q -F 'error[store-damaged]' "$scratch/err" || fail "check broken: $(cat "$scratch/err")"
run "list broken" 1 "$vyre" store list --store "$scratch/broken.db"
[ "$(cat "$scratch/broken.db")" = 'this is not a store' ] || fail "looking changed a file"
run "import over broken" 0 "$vyre" store import --store "$scratch/broken.db" "$seed"
grep -q -F 'error[store-set-aside]' "$scratch/err" || fail "import over broken: $(cat "$scratch/err")"
[ "$(cat "$scratch"/broken.db.broken-*)" = 'this is not a store' ] || fail "nothing was set aside"
run "check mended" 0 "$vyre" store check --store "$scratch/broken.db"
run "import without a folder" 1 "$vyre" store import --store "$scratch/no/folder.db" "$seed"
grep -q -F 'error[store-memory-only]' "$scratch/err" || fail "no folder: $(cat "$scratch/err")"

# ---- a store that another process keeps to itself is not an empty one
locked=$scratch/locked.db
run "import to lock" 0 "$vyre" store import --store "$locked" "$seed"
mkfifo "$scratch/ready" "$scratch/free"
python3 - "$locked" "$scratch/ready" "$scratch/free" <<'HOLDER' &
import sqlite3
import sys

holder = sqlite3.connect(sys.argv[1], isolation_level=None)
holder.execute("PRAGMA locking_mode = EXCLUSIVE")
holder.execute("DELETE FROM learning WHERE 0")
open(sys.argv[2], "w").close()
open(sys.argv[3]).read()
HOLDER
holder=$!
: <"$scratch/ready"
for command in 'list' 'list --json' 'export' 'prune --all' "import $seed"; do
    # The words are arguments on purpose.
    # shellcheck disable=SC2086
    run "locked: $command" 1 "$vyre" store $command --store "$locked"
    expect_out "locked: $command" ''
    expect_diag "locked: $command" "" store-busy
done
run "locked: check" 1 "$vyre" store check --store "$locked" --json
json "locked: check" '(.ok | not) and (.problems | length) == 1'
: >"$scratch/free"
wait $holder
run "free again" 0 "$vyre" store list --store "$locked" --json
json "free again" '.devices[0].learnings == 1'

# ---- a path that is not UTF-8
odd=$scratch/$(printf 'a\377b\303\244\355\240\200\360\237\216\212c.db')
run "import to an odd path" 0 "$vyre" store import --store "$odd" --json "$seed"
for action in list check 'prune --all'; do
    # shellcheck disable=SC2086
    run "odd path: $action" 0 "$vyre" store $action --store "$odd" --json
    python3 -c 'import json, sys
path = json.loads(open(sys.argv[1], "rb").read().decode("utf-8"))["path"]
name = path.rsplit("/", 1)[1]
sys.exit(name != "a\ufffdb\u00e4\ufffd\ufffd\ufffd\U0001f38ac.db")' "$scratch/out" ||
        fail "odd path: $action: $(cat "$scratch/out")"
done

# ---- a failure of the store is not one of the document
mkdir "$scratch/folder.db"
run "import into a folder" 1 "$vyre" store import --store "$scratch/folder.db" "$seed"
grep -q -F "$seed" "$scratch/err" && fail "import into a folder blames the document"
run "import to fill" 0 "$vyre" store import --store "$scratch/full.db" "$seed"
jq '.learnings = [range(2000) as $i | .learnings[0] | .candidate = $i]' "$seed" >"$scratch/many.json"
# shellcheck disable=SC2016
run "import to a full disk" 1 sh -c 'trap "" XFSZ; ulimit -f 80; exec "$@"' sh \
    "$vyre" store import --store "$scratch/full.db" "$scratch/many.json"
grep -q 'error\[store-' "$scratch/err" || fail "import to a full disk: $(cat "$scratch/err")"
grep -q -F many.json "$scratch/err" && fail "import to a full disk blames the document"

# ---- wrong command lines
wrong 2 cli-usage 'needs one of list' store
wrong 2 cli-usage 'Did you mean .prune.' store prun
wrong 2 cli-usage 'prune needs one of' store prune
wrong 2 cli-usage 'import needs a file' store import
wrong 2 cli-usage 'takes no operand' store list x
wrong 2 cli-usage 'needs a value' store list --store
wrong 2 cli-unknown-option 'mean .--json.?' store list --jso
wrong 2 cli-unknown-option 'store list has no option' store list --all
wrong 2 value-number 'not a number' store prune --older-than x
wrong 2 value-range 'more than' store prune --older-than 99999999999999999999999
wrong 2 value-word '32 digits' store prune --device 12

# ---- help, man page, completion
run "help" 0 "$vyre" store --help
cp "$scratch/out" "$scratch/command_help"
run "help store" 0 "$vyre" help store
cmp -s "$scratch/out" "$scratch/command_help" || fail "help store: not what --help says"
# shellcheck disable=SC2013
for option in $(grep -o -e '--[a-z-]*' "$scratch/out" | sort -u); do
    grep -q -e "$option" "$source_dir/completions/vyre.bash" || fail "no completion of $option"
    grep -q -e "Fl Fl ${option#--}" "$source_dir/docs/man/vyre-store.1" ||
        fail "vyre-store.1: no $option"
done
for word in list export import prune check; do
    grep -q "^\.It Cm $word" "$source_dir/docs/man/vyre-store.1" || fail "vyre-store.1: no $word"
done
groff -ww -mdoc -Tutf8 -z "$source_dir/docs/man/vyre-store.1" >"$scratch/groff" 2>&1
[ -s "$scratch/groff" ] && fail "vyre-store.1: $(head -n 1 "$scratch/groff")"
completed() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vyre; echo "${COMPREPLY[*]}"' \
        bash "$source_dir/completions/vyre.bash" "$@"
}
[ "$(completed vyre sto)" = store ] || fail "completion of sto"
[ "$(completed vyre store pr)" = prune ] || fail "completion of pr"
[ "$(completed vyre store prune --old)" = --older-than ] || fail "completion of --old"
[ "$(completed vyre store list --al)" = "" ] || fail "list has no --all"
finish
