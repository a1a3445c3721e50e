#!/bin/sh
# reference.sh SHARED_LIBRARY SOURCE_DIR [HEADER_DIR]: the API reference builds, and every function that the
# library exports is in it with a description of its own.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2/docs/reference/build" "$work" ${3:+"$3"}
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' >"$work/exported"
python3 "${0%/*}/reference.py" "$work/exported" "$work/xml"
