#!/bin/sh
# Installs a build into an empty prefix, moves the prefix, and builds and runs a user's program
# against it through pkg-config and through CMake. $1 = build dir, $2 = source dir.
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # a package must not remember where it was installed
prefix=$work/prefix
pc=$(find "$prefix" -name vyre.pc)
libdir=$(dirname "$(dirname "$pc")")

for file in bin/vyre include/vyre/vyre.h include/vyre/diag_ids.def share/man/man1/vyre.1; do
    [ -e "$prefix/$file" ] || fail "$file was not installed"
done
[ -e "$libdir/libvyre.a" ] || fail "the static library was not installed"
readelf -d "$libdir/libvyre.so" | grep -q 'SONAME.*\[libvyre\.so\.[0-9]*\]' || fail "no SONAME"
[ "$("$prefix/bin/vyre" --version)" = "vyre $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --modversion vyre)" ] ||
    fail "the tool and vyre.pc disagree on the version"

# shellcheck disable=SC2046 # flags are words
PKG_CONFIG_PATH=$(dirname "$pc") cc -std=c11 -o "$work/by_pc" "$source/tests/package/consumer/main.c" \
    $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs vyre) -Wl,-rpath,"$libdir"
"$work/by_pc" || fail "the pkg-config consumer failed"

cmake -S "$source/tests/package/consumer" -B "$work/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; fail "find_package failed"; }
cmake --build "$work/consumer" >"$work/log" 2>&1 || { cat "$work/log"; fail "the CMake consumer does not build"; }
"$work/consumer/consumer_shared" || fail "the shared consumer failed"
"$work/consumer/consumer_static" || fail "the static consumer failed"
