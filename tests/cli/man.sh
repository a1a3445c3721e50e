#!/bin/sh
# man.sh: the man pages format without a warning and leave out nothing that the tool's help lists.
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# page NAME: formats a page into $scratch/page, as plain words.
page() {
    run "$1" 0 groff -mdoc -Tascii -P-c -ww "$source_dir/docs/man/$1"
    [ -s "$scratch/err" ] && fail "$1: $(head -n 3 "$scratch/err")"
    # Overstriking is how a terminal of old wrote bold.
    sed 's/.\x08//g' "$scratch/out" >"$scratch/page"
}

# mentions PAGE WORD
mentions() {
    grep -qw -e "$2" "$scratch/page" || fail "$1 leaves out $2"
}

page vyre.1
for word in $("$vyre" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p') --help --version; do
    mentions vyre.1 "$word"
done
for code in 0 1 2 77; do
    grep -q "^ *$code  " "$scratch/page" || fail "vyre.1 leaves out exit code $code"
done

page vyre-decide.1
"$vyre" decide --help >"$scratch/help"
words=$(sed -n -e 's/^  \([a-z-]*\): .*/\1/p' -e 's/^      \([a-z_]*\) (.*/\1/p' \
    -e 's/^ .*\(--[a-z]*\) .*/\1/p' "$scratch/help")
[ "$(echo "$words" | wc -l)" -ge 30 ] || fail "the help could not be read"
for word in $words verdict savings_ns explanation rows resident_input_replay_safe; do
    mentions vyre-decide.1 "$word"
done
finish
