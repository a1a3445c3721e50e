#!/bin/sh
# reference_selftest.sh REFERENCE_SH SOURCE_DIR COMPILER: the check passes described functions and fails on others.
. "${0%/*}/../checks/selftest.sh"
check=$1
source=$2
compiler=$3
mkdir "$work/include"

# expect_header pass|fail NAME BODY [EXPORT]: with BODY in a header, and a library that exports vyre_a and EXPORT.
expect_header() {
    printf '/*\n * a.h: a header.\n *\n * Words\n *   a  the first\n *\n * Thread-safety: any thread.\n */\n%s\n' "$3" >"$work/include/a.h"
    compile "void vyre_a(void) {} void ${4:-vyre_a2}(void) {}"
    if [ $# -gt 3 ]; then exported=; else exported=-Wl,--version-script="$work/map"; fi
    printf '{ global: vyre_a; local: *; };\n' >"$work/map"
    # shellcheck disable=SC2086 # one option or none
    "$compiler" -shared $exported -o "$work/a.so" "$work/a.o"
    expect "$1" "$2" sh "$check" "$work/a.so" "$source" "$work/include"
}

expect_header pass "a described function" '/* Does a. */
VYRE_API void vyre_a(void);'
expect_header pass "two described functions" '/* Does a. */
VYRE_API void vyre_a(void);

/* Does b. */
VYRE_API void vyre_b(void);' vyre_b
expect_header fail "no comment" 'VYRE_API void vyre_a(void);'
expect_header fail "an empty comment" '/* */
VYRE_API void vyre_a(void);'
expect_header fail "a comment that belongs to nothing" '/* Does a. */

VYRE_API void vyre_a(void);'
expect_header fail "one comment for two functions" '/* Does a or b. */
VYRE_API void vyre_a(void);
VYRE_API void vyre_b(void);' vyre_b
expect_header fail "the same comment twice" '/* Does it. */
VYRE_API void vyre_a(void);

/* Does it. */
VYRE_API void vyre_b(void);' vyre_b
expect_header fail "a function that no header declares" '/* Does a. */
VYRE_API void vyre_a(void);' vyre_hidden
expect_header fail "a value without a description" '/* Does a. */
VYRE_API void vyre_a(void);

/* An enum without a word for its value. */
enum vyre_e { VYRE_E = 1 };'
rm "$work/include/a.h"
expect fail "no header" sh "$check" "$work/a.so" "$source" "$work/include"
finish
