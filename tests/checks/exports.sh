#!/bin/sh
# exports.sh SHARED_LIBRARY HEADER_DIR: the library exports exactly what the headers mark VYRE_API.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# Without the version nodes (type A) and the versions behind the names.
nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u \
    >"$work/exported"

# Statements that hold VYRE_API; the function is the word before the first parenthesis that belongs
# to no other macro.
cat "$2"/*.h | sed -e 's/^[[:space:]]*#.*//' | awk '
{ text = text " " $0 }
END {
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
    count = split(text, statements, /[;{}]/)
    for (i = 1; i <= count; i++) {
        if (statements[i] !~ /(^|[^A-Z_])VYRE_API([^A-Z_]|$)/)
            continue
        statement = statements[i]
        gsub(/VYRE_PRINTF[ ]*\([^)]*\)/, "", statement)
        if (match(statement, /[A-Za-z_][A-Za-z0-9_]*[ ]*\(/)) {
            name = substr(statement, RSTART, RLENGTH)
            gsub(/[ (]/, "", name)
            print name
        } else
            print "cannot-read:" statement
    }
}' | sort -u >"$work/declared"

if [ ! -s "$work/exported" ] || [ ! -s "$work/declared" ]; then
    echo "exports: nothing is exported or nothing is declared"
    exit 1
fi
status=0
comm -23 "$work/exported" "$work/declared" >"$work/undeclared"
comm -13 "$work/exported" "$work/declared" >"$work/missing"
if [ -s "$work/undeclared" ]; then
    echo "exports: exported, but in no public header:"
    cat "$work/undeclared"
    status=1
fi
if [ -s "$work/missing" ]; then
    echo "exports: marked VYRE_API, but not exported:"
    cat "$work/missing"
    status=1
fi
exit $status
