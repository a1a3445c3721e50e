#!/bin/sh
# Builds and runs examples/hello against an installed prefix, as its README says: through pkg-config
# and through CMake. $1 = build dir, $2 = source dir.
set -eu
build=$1
hello=$2/examples/hello
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "hello: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$work/prefix" >/dev/null
pc=$(dirname "$(find "$work/prefix" -name vyre.pc)")
libdir=$(dirname "$pc")
expected="y[7] = 2, y[1023] = 42"

# The README's own line, so that it cannot go stale.
line=$(sed -n 's/^    \(cc -o hello .*\)$/\1/p' "$hello/README.md")
[ -n "$line" ] || fail "the README has no compile line"
(cd "$hello" && PKG_CONFIG_PATH=$pc sh -c "$(echo "$line" | sed "s#-o hello#-o '$work/by_pc'#")") ||
    fail "does not build through pkg-config"
said=$(LD_LIBRARY_PATH=$libdir "$work/by_pc") || fail "the pkg-config program failed"
[ "$said" = "$expected" ] || fail "the pkg-config program says: $said"

if ! { cmake -S "$hello" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" &&
    cmake --build "$work/build"; } >"$work/log" 2>&1; then
    cat "$work/log"
    fail "does not build through CMake"
fi
said=$("$work/build/hello") || fail "the CMake program failed"
[ "$said" = "$expected" ] || fail "the CMake program says: $said"

# It is short: at most 30 lines beside includes, comments, blank lines and lone braces.
lines=$(grep -cvE '^[[:space:]]*($|/?\*|[{}]$)|^#include' "$hello/hello.c")
[ "$lines" -le 30 ] || fail "hello.c has $lines lines of code"
