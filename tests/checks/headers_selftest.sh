#!/bin/sh
# headers_selftest.sh HEADERS_SH: the check passes good headers and fails on each kind of bad one.
. "${0%/*}/selftest.sh"
check=$1

# expect_header pass|fail NAME BODY: with BODY as the header vyre/a.h.
expect_header() {
    mkdir -p "$work/vyre"
    printf '#include <vyre/a.h>\n' >"$work/vyre/vyre.h"
    printf '%s\n' "$3" >"$work/vyre/a.h"
    expect "$1" "$2" sh "$check" "$work"
}

expect_header pass "a good header" '#pragma once
#include <stddef.h>
size_t f(void);'
expect_header fail "a type that is not included" '#pragma once
size_t f(void);'
expect_header fail "no guard" 'struct a { int b; };'
expect_header fail "a word of C++" '#pragma once
int f(int class);'
expect_header fail "what only gcc takes" '#pragma once
struct a { int b; }; static inline struct a f(void) { return (struct a){.b = 1}; }'
rm -rf "$work/vyre"
expect fail "no headers" sh "$check" "$work"
finish
