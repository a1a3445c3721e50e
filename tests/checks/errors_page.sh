#!/bin/sh
# errors_page.sh PROGRAM library|tool PAGE: the page in the tree is what the program prints.
set -eu
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$1" "$2" >"$printed"
if ! diff -u "$3" "$printed"; then
    echo "errors_page: $3 is not what the $2's diag_ids.def says; run \`make docs\`" >&2
    exit 1
fi
