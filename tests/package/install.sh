#!/bin/sh
# Installs a build into an empty prefix, moves the prefix, and builds and runs a user's program
# against it through pkg-config and through CMake. $1 = build dir, $2 = source dir.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for file in bin/vyre include/vyre/vyre.h include/vyre/diag_ids.def; do
    [ -e "$prefix/$file" ] || fail "$file was not installed"
done
for page in "$source_dir"/docs/man/*.1; do
    cmp -s "$page" "$prefix/share/man/man1/${page##*/}" || fail "${page##*/} was not installed"
done
[ -e "$libdir/libvyre.a" ] || fail "the static library was not installed"
readelf -d "$libdir/libvyre.so" | grep -q 'SONAME.*\[libvyre\.so\.[0-9]*\]' || fail "no SONAME"
[ "$("$prefix/bin/vyre" --version)" = "vyre $(PKG_CONFIG_PATH=$pc pkg-config --modversion vyre)" ] ||
    fail "the tool and vyre.pc disagree on the version"

# shellcheck disable=SC2046 # flags are words
PKG_CONFIG_PATH=$pc cc -std=c11 -o "$work/by_pc" "$source_dir/tests/package/consumer/main.c" \
    $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs vyre) -Wl,-rpath,"$libdir"
"$work/by_pc" || fail "the pkg-config consumer failed"

by_cmake "$source_dir/tests/package/consumer"
"$work/build/consumer_shared" || fail "the shared consumer failed"
"$work/build/consumer_static" || fail "the static consumer failed"
