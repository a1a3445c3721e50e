#!/bin/sh
# pure_selftest.sh PURE_SH COMPILER: the check passes pure code and fails on what is not.
. "${0%/*}/selftest.sh"
check=$1
compiler=$2

# expect_source pass|fail SOURCE
expect_source() {
    compile "$2"
    expect "$1" "$2" sh "$check" "$work/a.o"
}

expect_source pass 'int f(int a) { return a + 1; }'
expect_source pass '#include <string.h>
void f(char *a, size_t n) { memmove(a + 1, a, n); }'
expect_source pass 'void vyre_sort(void *); void f(void *a) { vyre_sort(a); }'
expect_source fail '#include <stdlib.h>
void *f(size_t n) { return malloc(n); }'
expect_source fail '#include <stdlib.h>
void f(void *a) { free(a); }'
expect_source fail '#include <stdlib.h>
void f(int *a, size_t n, int (*c)(const void *, const void *)) { qsort(a, n, sizeof *a, c); }'
expect_source fail '#include <stdio.h>
void f(void) { puts("a"); }'
expect_source fail '#include <time.h>
time_t f(void) { return time(0); }'
expect_source fail 'void *vyre_memory_allocate(int); void *f(void) { return vyre_memory_allocate(1); }'
expect_source fail 'long vyre_clock_now_ns(void); long f(void) { return vyre_clock_now_ns(); }'
expect_source fail 'extern int errors; int f(void) { return errors; }'
expect fail "no object" sh "$check"
expect fail "a missing object" sh "$check" "$work/missing.o"
finish
