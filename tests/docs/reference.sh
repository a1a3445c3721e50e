#!/bin/sh
# reference.sh SHARED_LIBRARY SOURCE_DIR [HEADER_DIR]: the API reference builds, and every function that the
# library exports is in it with a description of its own, and has a man page. The pages format without a warning.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2/docs/reference/build" "$work" ${3:+"$3"}
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' >"$work/exported"
python3 "${0%/*}/reference.py" "$work/exported" "$work/xml"

while read -r name; do
    [ -s "$work/man/man3/$name.3" ] || { echo "reference: $name has no man page"; exit 1; }
done <"$work/exported"
groff -mdoc -Tascii -ww -z "$work"/man/man3/* >"$work/warnings" 2>&1 || true
if grep -v "can't break line" "$work/warnings"; then # a long name is no mistake
    echo "reference: the man pages have the mistakes above"
    exit 1
fi
