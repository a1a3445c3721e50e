#!/bin/sh
# exports_selftest.sh EXPORTS_SH COMPILER: the check passes a library that exports what its headers declare, and no other.
. "${0%/*}/selftest.sh"
check=$1
compiler=$2
mkdir "$work/include"

# expect_library pass|fail NAME HEADER SOURCE: with HEADER as a header and SOURCE as the library.
expect_library() {
    printf '%s\n' "$3" >"$work/include/a.h"
    compile "$4"
    "$compiler" -shared -o "$work/a.so" "$work/a.o"
    expect "$1" "$2" sh "$check" "$work/a.so" "$work/include"
}

expect_library pass "what is declared" 'VYRE_API void vyre_a(void);
VYRE_API VYRE_PRINTF(1, 2) int
vyre_b(const char *, ...);' 'void vyre_a(void) {} int vyre_b(const char *a, ...) { return *a; }'
expect_library pass "a name in a comment" 'VYRE_API void vyre_a(void); /* not VYRE_API void vyre_c(void); */' \
    'void vyre_a(void) {}'
expect_library fail "a function that no header declares" 'VYRE_API void vyre_a(void);' \
    'void vyre_a(void) {} void vyre_b(void) {}'
expect_library fail "a function without VYRE_API" 'VYRE_API void vyre_a(void);
void vyre_b(void);' 'void vyre_a(void) {} void vyre_b(void) {}'
expect_library fail "a variable" 'VYRE_API void vyre_a(void);' 'void vyre_a(void) {} int vyre_b;'
expect_library fail "a function that is not exported" 'VYRE_API void vyre_a(void);
VYRE_API void vyre_b(void);' 'void vyre_a(void) {}'
expect_library fail "nothing declared" 'void vyre_a(void);' 'void vyre_a(void) {}'
expect_library fail "nothing exported" 'VYRE_API void vyre_a(void);' \
    '__attribute__((visibility("hidden"))) void vyre_a(void) {}'
finish
