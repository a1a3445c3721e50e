#!/bin/sh
# links.sh CTEST BUILD_DIR SOURCE_DIR: links.py on the tree, with the names of the tests of a build.
set -eu
tests=$(mktemp)
trap 'rm -f "$tests"' EXIT
"$1" --test-dir "$2" -N | sed -n 's/^ *Test *#[0-9]*: //p' >"$tests"
[ -s "$tests" ] || { echo "links: ctest names no tests"; exit 1; }
python3 "${0%/*}/links.py" "$3" "$tests"
