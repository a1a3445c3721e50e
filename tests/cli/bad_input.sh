#!/bin/sh
# bad_input.sh: tables and inputs that must be refused, with the place, and with nothing printed
# after the last good row.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

reuse_names=repeat_count,per_launch_overhead_ns,record_overhead_ns,replay_overhead_ns
reuse_good='100,5000,25000,500\n'
reuse_out='verdict,savings_ns\nrecord-and-replay,425000\n'
table=$scratch/table.csv

# refuse POLICY ID LINE:COLUMN OUT: the table in $table.
refuse() {
    what="$1 $2 at $3"
    run "$what" 2 "$vyre" decide "$1" --csv "$table"
    expect_diag "$what" "$table:$3: " "$2"
    expect_out "$what" "$4"
}

# reuse ID LINE:COLUMN ROW: a command-reuse table of one good row and ROW (printf's escapes).
reuse() {
    # shellcheck disable=SC2059
    printf "$reuse_names\n$reuse_good$3" >"$table"
    refuse command-reuse "$1" "$2" "$reuse_out"
}

# ---- the first line
: >"$table"
refuse command-reuse csv-empty 1:1 ''
printf '\357\273\277' >"$table"
refuse command-reuse csv-empty 1:1 ''
printf '\n100,5000,25000,500\n' >"$table"
refuse command-reuse csv-empty 1:1 ''
printf '100,5000,25000,500\n' >"$table"
refuse command-reuse csv-column-missing 1:19 ''
printf 'repeat_count,per_launch_overhead_ns,replay_overhead_ns\n1,2,3\n' >"$table"
refuse command-reuse csv-column-missing 1:55 ''
grep -q record_overhead_ns "$scratch/err" || fail "the missing column is not named"
printf 'Repeat_count,per_launch_overhead_ns,record_overhead_ns,replay_overhead_ns\n' >"$table"
refuse command-reuse csv-column-missing 1:74 ''
printf 'repeat_count,note,repeat_count\n' >"$table"
refuse command-reuse csv-column-repeated 1:19 ''
printf '"repeat_count\n' >"$table"
refuse command-reuse csv-quote 1:1 ''

# ---- the shape of rows
reuse csv-row-short 3:8 '1,2,300\n'
grep -q replay_overhead_ns "$scratch/err" || fail "the missing field is not named"
reuse csv-row-short 3:1 '\n'
reuse csv-row-short 3:1 '\r\n'
reuse csv-row-long 3:9 '1,2,3,4,5\n'
reuse csv-row-long 3:9 '1,2,3,4,\n'
reuse csv-quote 3:1 '"1,2,3,4\n1,2,3,4\n'
reuse csv-quote 3:4 '"1"x,2,3,4\n'
reuse csv-quote 3:3 '1,"2"",3,4\n1",2,3,4\n'
reuse value-number 3:1 '"1""2",2,3,4\n'
grep -q ' .1"2., ' "$scratch/err" || fail "a doubled quote does not stand for one"
reuse csv-nul 3:4 '1,2\000,3,4\n'
reuse csv-nul 3:1 '\000'

# ---- numbers
reuse value-number 3:1 '-1,2,3,4\n'
reuse value-number 3:3 '1,2.5,3,4\n'
reuse value-number 3:5 '1,2,1e3,4\n'
reuse value-number 3:7 '1,2,3,+4\n'
reuse value-number 3:7 '1,2,3,\n'
reuse value-number 3:3 '1, 2,3,4\n'
reuse value-number 3:3 '1,0x2,3,4\n'
reuse value-number 3:3 '1,99999999999999999999x,3,4\n'
reuse value-number 3:7 '1,"2","-3",4\n'
reuse value-range 3:1 '4294967296,2,3,4\n'
reuse value-range 3:3 '1,18446744073709551616,3,4\n'
reuse value-range 3:7 '1,2,3,99999999999999999999999999999999999999\n'
grep -q replay_overhead_ns "$scratch/err" || fail "the field is not named"
reuse value-number 3:1 'x,y,z,w'

# ---- words, sets and roles
printf 'resource_count,support,dynamic_indexing\n32,full,1\n32,Full,1\n' >"$table"
refuse bindless value-word 3:4 'verdict\nbindless\n'
printf 'resource_count,support,dynamic_indexing\n32,static,2\n' >"$table"
refuse bindless value-word 2:11 'verdict\n'
printf 'copy_dst_slot,reads,writes\n3,1 -2 5,-\n' >"$table"
refuse copy-overlap value-number 2:5 'verdict\n'
printf 'copy_dst_slot,reads,writes\n3,"1 2 4294967296",-\n' >"$table"
refuse copy-overlap value-range 2:8 'verdict\n'
printf 'copy_dst_slot,reads,writes\n3,,-\n' >"$table"
refuse copy-overlap value-number 2:3 'verdict\n'
printf 'copy_dst_slot,reads,writes\n3,1,- 1\n' >"$table"
refuse copy-overlap value-number 2:5 'verdict\n'
plan_names=input_device_capacity,output_device_capacity,output_readback_capacity
plan_names=$plan_names,kernel_pointer_capacity,kernel_argument_capacity
plan_names=$plan_names,resident_input_replay_safe
printf 'roles\nIO\nIOi\n' >"$table"
refuse graph-capture value-word 3:3 "$plan_names\n1,1,1,2,3,1\n"
printf 'roles\n\n' >"$table"
refuse graph-capture value-word 2:1 "$plan_names\n"

# ---- long lines: 65,536 bytes are taken, one more is not
long=$scratch/long
head -c 65533 /dev/zero | tr '\0' ' ' >"$long"
{
    printf 'copy_dst_slot,reads,writes\n3,'
    head -c 65531 "$long"
    printf '1,-\r\n4,1,-\n'
} >"$table"
run "longest line" 0 "$vyre" decide copy-overlap --csv "$table"
expect_out "longest line" 'verdict\noverlap\noverlap\n'
{
    printf 'copy_dst_slot,reads,writes\n3,'
    head -c 65532 "$long"
    printf '1,-\n4,1,-\n'
} >"$table"
refuse copy-overlap csv-line-long 2:65537 'verdict\n'
{
    printf '%s\n' "$reuse_names"
    head -c 1048576 /dev/zero | tr '\0' 7
} >"$table"
refuse command-reuse csv-line-long 2:65537 'verdict,savings_ns\n'

# ---- files
table=$scratch/absent.csv
refuse command-reuse csv-open 1:1 ''
table=$scratch
refuse command-reuse csv-open 1:1 ''
table=/dev/zero
[ -c $table ] && refuse command-reuse csv-nul 1:1 ''
table=$scratch/secret.csv
printf '%s\n' "$reuse_names" >"$table"
chmod 000 "$table"
# Root reads everything.
[ -r "$table" ] || refuse command-reuse csv-open 1:1 ''
# shellcheck disable=SC2016
run "closed standard input" 2 sh -c '"$1" decide bindless --csv - <&-' sh "$vyre"
expect_diag "closed standard input" '<stdin>:1:1: ' csv-open
run "empty standard input" 2 "$vyre" decide bindless --csv - </dev/null
expect_diag "empty standard input" '<stdin>:1:1: ' csv-empty

# ---- a bad row leaves a whole JSON document
table=$scratch/table.csv
printf "%s\n${reuse_good}${reuse_good}x,2,3,4\n${reuse_good}" "$reuse_names" >"$table"
run "JSON up to a bad row" 2 "$vyre" decide command-reuse --csv "$table" --json
expect_diag "JSON up to a bad row" "$table:4:1: " value-number
row='{"verdict":"record-and-replay","savings_ns":425000}'
expect_out "JSON up to a bad row" '{"policy":"command-reuse","rows":[\n'"$row,\n$row"'\n]}\n'

# ---- output that cannot be written
printf "%s\n$reuse_good" "$reuse_names" >"$table"
if [ -c /dev/full ]; then
    "$vyre" decide command-reuse --csv "$table" >/dev/full 2>"$scratch/err"
    [ $? -eq 1 ] || fail "full disk: exit code is not 1"
    expect_diag "full disk" '' cli-output
    "$vyre" --help >/dev/full 2>"$scratch/err"
    [ $? -eq 1 ] || fail "help to a full disk: exit code is not 1"
fi
"$vyre" decide command-reuse --csv "$table" >&- 2>"$scratch/err"
[ $? -eq 1 ] || fail "closed standard output: exit code is not 1"
expect_diag "closed standard output" '' cli-output

# The reader has gone for certain when the tool starts: it says so through the other pipe.
mkfifo "$scratch/gone"
(
    read -r _ <"$scratch/gone"
    "$vyre" decide command-reuse --csv "$table" 2>"$scratch/err"
    echo $? >"$scratch/code"
) | {
    exec <&-
    echo >"$scratch/gone"
}
[ "$(cat "$scratch/code")" -eq 1 ] || fail "closed pipe: exit code $(cat "$scratch/code"), not 1"
[ -s "$scratch/err" ] && fail "closed pipe: not quiet"
finish
