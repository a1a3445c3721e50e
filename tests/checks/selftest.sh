# selftest.sh: sourced by the tests of the checks, as `. "${0%/*}/selftest.sh"`.
#
# A check that cannot fail is worth nothing, so each is shown good and bad input. Gives a folder
# $work that goes at the end, `expect`, and `finish`, the last line of the test.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect pass|fail NAME COMMAND...
expect() {
    wanted=$1
    name=$2
    shift 2
    if "$@" >"$work/.out" 2>&1; then got=pass; else got=fail; fi
    if [ "$got" != "$wanted" ]; then
        echo "${0##*/}: $name: expected $wanted, got $got"
        cat "$work/.out"
        failures=$((failures + 1))
    fi
}

# compile SOURCE [FLAG]: C source as $work/a.o, by $compiler.
compile() {
    printf '%s\n' "$1" >"$work/a.c"
    "$compiler" -fPIC -O1 "${2:--fno-common}" -c "$work/a.c" -o "$work/a.o"
}

finish() {
    exit $((failures > 0))
}
