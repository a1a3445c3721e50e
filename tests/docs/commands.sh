#!/bin/sh
# commands.sh BUILD_DIR SOURCE_DIR PAGE...: commands.py with what the build installs.
set -eu
build=$1
shift
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
DESTDIR= cmake --install "$build" --prefix "$prefix" >/dev/null
python3 "${0%/*}/commands.py" "$prefix" "$@"
