#!/bin/sh
# man.sh: the man pages format without a warning and leave out nothing that the tool's help lists. The tool takes the
# commands in their examples, and in those of its help.
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

# examples: the commands `vyre ...` of a page or a help on standard input, one a line, without pipes.
examples() {
    awk '/^\.Sh EXAMPLES|^Examples:/ { inside = 1; next } /^\.Sh/ { inside = 0 } inside' |
        sed -e ':a' -e '/\\e\{0,1\}$/ { N; s/\\e\{0,1\}\n */ /; ba' -e '}' |
        sed -e 's/^ *\$ //' -e 's/ && /\n/g' -e 's/ | /\n/g' -e 's#/tmp/##g' |
        sed -n 's/^ *vyre /vyre /p'
}

# Where none of their files are, the tool must get as far as to miss one. `vyre probe` takes seconds: it gets a backend
# that does not exist, for which it looks after the options.
takes() {
    case $1 in
    "vyre probe"*) set -- "$1 --backend none" ;;
    esac
    rm -rf "$scratch/empty"
    mkdir "$scratch/empty"
    (cd "$scratch/empty" && PATH=$scratch/bin:$PATH sh -c "$1") \
        </dev/null >/dev/null 2>"$scratch/err"
    ! grep -E 'error\[(cli|value)-|not found$' "$scratch/err"
}

mkdir "$scratch/bin"
ln -s "$(realpath "$vyre")" "$scratch/bin/vyre"
takes "vyre run work.json --no-such-option" >/dev/null && fail "an option that does not exist is taken"
takes "vyre no-such-command" >/dev/null && fail "a command that does not exist is taken"
count=0
for page in "$source_dir"/docs/man/vyre-*.1; do
    command=${page##*/vyre-}
    command=${command%.1}
    examples <"$page" >"$scratch/examples"
    [ -s "$scratch/examples" ] || fail "${page##*/} has no examples"
    "$vyre" help "$command" | examples >>"$scratch/examples"
    while IFS= read -r line; do
        takes "$line" || fail "${page##*/}: $line"
        count=$((count + 1))
    done <"$scratch/examples"
done
[ "$count" -ge 30 ] || fail "only $count examples were read"
finish
