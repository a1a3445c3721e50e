#!/bin/sh
# Builds examples/backend against an installed prefix, as its README says: through CMake and through
# pkg-config; then holds both results to the conformance suite.
# $1 = build dir, $2 = source dir, $3 = vyre_conformance.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
backend=$source_dir/examples/backend
conformance=$3

# Only what the backend says that it cannot do is left out.
conforms() {
    "$conformance" --library "$1" >"$work/log" 2>&1 || { cat "$work/log"; fail "$1 does not conform"; }
    if grep ': excluded: ' "$work/log" | grep -qv 'excluded: this example '; then
        grep ': excluded: ' "$work/log"
        fail "$1: a case was excluded for another reason"
    fi
    grep -q 'excluded: this example does not record' "$work/log" || fail "the reason is not shown"
}

by_cmake "$backend"
conforms "$work/build/libvyre_serial.so"

by_pkg_config "$backend" libvyre_serial.so
exported=$(nm -D --defined-only "$work/libvyre_serial.so" | awk '{print $3}')
[ "$exported" = vyre_backend_entry ] || fail "it exports: $exported"
conforms "$work/libvyre_serial.so"
