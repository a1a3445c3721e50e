# shellcheck shell=sh
# lib.sh: what the tests of the tool share. Sourced, with the test's arguments:
#   $1  the vyre binary
#   $2  the source directory
# A test runs all its cases, prints what failed and exits with 1 if anything did.

if [ $# -ne 2 ] || [ ! -x "$1" ] || [ ! -d "$2/tests/golden" ]; then
    echo "usage: $0 VYRE SOURCE_DIR" >&2
    exit 2
fi

# Used by the tests that source this file.
# shellcheck disable=SC2034
vyre=$1 source_dir=$2
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/vyre-cli.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
# What the tool keeps goes nowhere else; drivers find their own caches as ever.
VYRE_STORE=$scratch/store.db
export VYRE_STORE

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

finish() {
    [ "$failures" -eq 0 ] || {
        echo "$failures failed" >&2
        exit 1
    }
}

# run WHAT EXIT_CODE COMMAND...: runs with the output in $scratch/out and $scratch/err.
run() {
    what=$1 expected_code=$2
    shift 2
    "$@" >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ "$code" -eq "$expected_code" ] || {
        fail "$what: exit code $code, not $expected_code"
        head -n 5 "$scratch/err" >&2
    }
}

# expect_out WHAT TEXT: standard output was exactly TEXT (printf's escapes; no newline added).
expect_out() {
    # The text is a format on purpose.
    # shellcheck disable=SC2059
    printf "$2" >"$scratch/expected"
    cmp -s "$scratch/expected" "$scratch/out" || {
        fail "$1: standard output differs"
        diff "$scratch/expected" "$scratch/out" | head -n 10 >&2
    }
}

# expect_diag WHAT PREFIX ID: the first line is `vyre: PREFIXerror[ID]: ...`, the second the fix.
expect_diag() {
    first=$(sed -n 1p "$scratch/err")
    second=$(sed -n 2p "$scratch/err")
    case $first in
    "vyre: $2error[$3]: "?*) ;;
    *) fail "$1: no \`vyre: $2error[$3]\` in: $first" ;;
    esac
    case $second in
    "  fix: "?*) ;;
    *) fail "$1: no fix in: $second" ;;
    esac
    [ "$(wc -l <"$scratch/err")" -eq 2 ] || fail "$1: not two lines on standard error"
}
