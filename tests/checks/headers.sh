#!/bin/sh
# headers.sh INCLUDE_DIR: every public header compiles alone, and twice in a row, as C11 and as C++17.
# gcc and g++ must be there; clang and clang++ are used where they are.
set -eu
include=$1
unit=$(mktemp -d)
trap 'rm -rf "$unit"' EXIT
failures=0
headers=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
    printf '#include <%s>\n#include <%s>\nextern int vyre_header_check;\n' "$4" "$4" >"$unit/unit"
    if ! "$1" -x "$2" -std="$3" -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I"$include" \
        "$unit/unit"; then
        echo "headers: $4 does not compile alone with $1 as $3"
        failures=$((failures + 1))
    fi
}

for path in "$include"/vyre/*.h; do
    header=vyre/$(basename "$path")
    headers=$((headers + 1))
    compile gcc c c11 "$header"
    compile g++ c++ c++17 "$header"
    if command -v clang >/dev/null; then compile clang c c11 "$header"; fi
    if command -v clang++ >/dev/null; then compile clang++ c++ c++17 "$header"; fi
    if [ "$header" != vyre/vyre.h ] && ! grep -q "<$header>" "$include/vyre/vyre.h"; then
        echo "headers: vyre.h leaves out $header"
        failures=$((failures + 1))
    fi
done
if [ "$headers" -lt 2 ]; then
    echo "headers: no header was found in $include/vyre"
    failures=$((failures + 1))
fi
exit $((failures > 0))
