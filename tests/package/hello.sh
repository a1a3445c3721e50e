#!/bin/sh
# Builds and runs examples/hello against an installed prefix, as its README says: through pkg-config
# and through CMake. $1 = build dir, $2 = source dir.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
hello=$source_dir/examples/hello
expected="y[7] = 2, y[1023] = 42"

by_pkg_config "$hello" hello
said=$(LD_LIBRARY_PATH=$libdir "$work/hello") || fail "the pkg-config program failed"
[ "$said" = "$expected" ] || fail "the pkg-config program says: $said"

by_cmake "$hello"
said=$("$work/build/hello") || fail "the CMake program failed"
[ "$said" = "$expected" ] || fail "the CMake program says: $said"

# It is short: at most 30 lines beside includes, comments, blank lines and lone braces.
lines=$(grep -cvE '^[[:space:]]*($|/?\*|[{}]$)|^#include' "$hello/hello.c")
[ "$lines" -le 30 ] || fail "hello.c has $lines lines of code"
