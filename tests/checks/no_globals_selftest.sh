#!/bin/sh
# no_globals_selftest.sh NO_GLOBALS_SH COMPILER: the check passes constants and fails on variables.
. "${0%/*}/selftest.sh"
check=$1
compiler=$2

# expect_source pass|fail SOURCE [FLAG]
expect_source() {
    compile "$2" "${3:--fno-common}"
    rm -f "$work/a.a"
    ar rcs "$work/a.a" "$work/a.o"
    expect "$1" "$2" sh "$check" "$work/a.a"
}

expect_source pass 'static const char *const names[] = {"a", "b"}; const char *f(int i) { return names[i]; }'
expect_source pass 'const int a[] = {1, 2}; int f(int i) { static const long b[] = {3, 4}; return (int)b[i]; }'
expect_source fail 'int counter = 5; int f(void) { return counter++; }'
expect_source fail 'int f(void) { static int counter; return counter++; }'
expect_source fail 'static int a; int *f(void) { return &a; }'
expect_source fail 'int a; int *f(void) { return &a; }' -fcommon
expect_source fail '_Thread_local int a; int *f(void) { return &a; }'
expect_source fail 'static _Thread_local int a = 3; int *f(void) { return &a; }'
expect_source fail 'static const char *a = "a"; const char **f(void) { return &a; }'
finish
