# shellcheck shell=sh
# Sourced by tests that run a random test and look at its report. Sets `program` to the first argument of the
# script and `out` to a file for the report.
program=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

fail() {
    echo "$(basename "$0"): $1" >&2
    cat "$out" >&2
    exit 1
}

# report ARGUMENT...: the report of the program is in $out, its exit code in $code.
report() {
    code=0
    "$program" "$@" >"$out" || code=$?
}

# report_mismatch ARGUMENT...: the program must find a mistake, say what differs, and shrink it.
report_mismatch() {
    report "$@"
    [ "$code" -eq 1 ] || fail "exit code $code, not 1"
    grep -q '^mismatch: program 0x' "$out" || fail "no mismatch reported"
    grep -q 'bytes differ' "$out" || fail "the report does not say what differs"
    grep -q '^shrunk to ' "$out" || fail "nothing shrunk"
}

# Sets `reproduce` to the arguments that the report prints.
read_reproduce() {
    reproduce=$(sed -n "s/^reproduce: $(basename "$program") //p" "$out")
    [ -n "$reproduce" ] || fail "no command line to reproduce it"
}

# agree_without OPTION: without the mistake, which the option puts in, the same program agrees.
agree_without() {
    # shellcheck disable=SC2046 # the words of the command line
    report $(printf '%s' "$reproduce" | sed "s/ $1//")
    [ "$code" -eq 0 ] || fail "the program fails without the mistake, too"
}
