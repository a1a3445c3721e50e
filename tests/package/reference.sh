#!/bin/sh
# reference.sh SOURCE_DIR: the man pages of functions and types are installed if they were built, and left out if not.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/vyre-package.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "reference: $*" >&2
    exit 1
}

# installed: the pages that a prefix gets, by name.
installed() {
    rm -rf "$work/prefix"
    DESTDIR='' cmake --install "$work/build" --component reference --prefix "$work/prefix" >/dev/null
    find "$work/prefix" -path '*/share/man/man3/*' 2>/dev/null | sed 's#.*/##' | sort
}

# The component needs no build, only a configuration.
cmake -S "$1" -B "$work/build" -G Ninja -DVYRE_REFERENCE_DIR="$work/docs" >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "does not configure"
}
[ -z "$(installed)" ] || fail "pages are installed although none was built"
"$1/docs/reference/build" "$work/docs"
built=$(find "$work/docs/man/man3" -type f | sed 's#.*/##' | sort)
case $built in
*vyre_batch_submit.3*) ;;
*) fail "vyre_batch_submit has no page" ;;
esac
[ "$(installed)" = "$built" ] || fail "not all pages are installed"
