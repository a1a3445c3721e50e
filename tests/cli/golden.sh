#!/bin/sh
# golden.sh: every row of the golden files through `vyre decide`, against the right answer.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# check POLICY FILE AWK: AWK turns a line of the golden file into the line that the tool must print;
# col[] gives it the columns by name.
check() {
    policy=$1 golden=$source_dir/tests/golden/$2
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i } '"$3" "$golden" >"$scratch/want"
    run "$policy" 0 "$vyre" decide "$policy" --csv "$golden"
    [ "$(wc -l <"$scratch/want")" -eq "$(wc -l <"$golden")" ] || fail "$policy: rows were lost"
    cmp -s "$scratch/want" "$scratch/out" || {
        fail "$policy: answers differ, as row: right answer | answer"
        paste -d '|' "$scratch/want" "$scratch/out" |
            awk -F'|' '$1 != $2 { print NR ": " $0 }' | head -n 5 >&2
    }
    # The same answers through a pipe, with a byte order mark, CRLF, the columns reversed and in
    # quotes, and one more column that no policy takes.
    {
        printf '\357\273\277'
        awk -F, '{
            printf "\"a \"\"note\"\", which is ignored\""
            for (i = NF; i > 0; i--) printf ",\"%s\"", $i
            printf "\r\n"
        }' "$golden"
    } >"$scratch/reversed"
    "$vyre" decide "$policy" --csv - <"$scratch/reversed" | cmp -s - "$scratch/want" ||
        fail "$policy: other answers for the same rows, written differently"
}

# The dollars are awk's.
# shellcheck disable=SC2016
{
    verdict='NR == 1 { print "verdict"; next } { print $col["verdict"] }'
    savings='NR == 1 { print "verdict,savings_ns"; next }
             { print $col["verdict"] "," $col["savings_ns"] }'
    display='NR == 1 { print "verdict,savings_ns"; next }
             { n = split($col["display"], part, ":"); print part[1] "," (n > 1 ? part[2] : "0") }'
    plan='{ sub(/^[^,]*,/, ""); print }'
}

check persistent-kernel persistent_kernel.csv "$savings"
check arm-independence arm_independence.csv "$verdict"
check copy-overlap copy_overlap.csv "$verdict"
check command-reuse command_reuse.csv "$display"
check bindless bindless.csv "$verdict"
check trace-jit trace_jit.csv "$display"
check graph-capture graph_capture.csv "$plan"

# Other spellings of the same numbers would be wrong in JSON too: compare it with the CSV.
if command -v jq >/dev/null 2>&1; then
    "$vyre" decide arm-independence --csv "$source_dir/tests/golden/arm_independence.csv" --json |
        jq -r '.rows[].verdict' >"$scratch/json"
    sed 1d "$source_dir/tests/golden/arm_independence.csv" | sed 's/.*,//' |
        cmp -s - "$scratch/json" || fail "arm-independence: JSON verdicts differ"
fi
finish
