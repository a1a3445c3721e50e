#!/bin/sh
# Builds examples/backend against an installed prefix, as its README says: through CMake and through
# pkg-config; then holds both results to the conformance suite.
# $1 = build dir, $2 = source dir, $3 = vyre_conformance.
set -eu
build=$1
backend=$2/examples/backend
conformance=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "backend: $*" >&2
    exit 1
}

# Nothing is left out but what the backend says that it cannot do.
conforms() {
    "$conformance" --library "$1" >"$work/log" 2>&1 || { cat "$work/log"; fail "$1 does not conform"; }
    if grep ': excluded: ' "$work/log" | grep -qv 'excluded: this example '; then
        grep ': excluded: ' "$work/log"
        fail "$1: a case was excluded for another reason"
    fi
    grep -q 'excluded: this example does not record' "$work/log" || fail "the reason is not shown"
}

cmake --install "$build" --prefix "$work/prefix" >/dev/null
pc=$(dirname "$(find "$work/prefix" -name vyre.pc)")

if ! { cmake -S "$backend" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" &&
    cmake --build "$work/build"; } >"$work/log" 2>&1; then
    cat "$work/log"
    fail "does not build through CMake"
fi
conforms "$work/build/libvyre_serial.so"

# The README's own lines, so that they cannot go stale.
line=$(sed -n '/^    cc -std/,/[^\\]$/s/^    //p' "$backend/README.md")
[ -n "$line" ] || fail "the README has no compile line"
(cd "$backend" && PKG_CONFIG_PATH=$pc sh -c "$(echo "$line" | sed "s#-o libvyre_serial.so#-o '$work/libvyre_serial.so'#")") ||
    fail "does not build through pkg-config"
exported=$(nm -D --defined-only "$work/libvyre_serial.so" | awk '{print $3}')
[ "$exported" = vyre_backend_entry ] || fail "it exports: $exported"
conforms "$work/libvyre_serial.so"
