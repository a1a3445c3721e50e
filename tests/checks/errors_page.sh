#!/bin/sh
# errors_page.sh PROGRAM PAGE: the page in the tree is what the program prints.
set -eu
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$1" >"$printed"
if ! diff -u "$2" "$printed"; then
    echo "errors_page: $2 is not what diag_ids.def says; run \`make docs\`" >&2
    exit 1
fi
