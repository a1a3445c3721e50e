/*
 * test.h: cmocka with what it wants included before it, and the asserts that the tests share.
 *
 * Asserts leave the case by longjmp: use them on the test's own thread only.
 */
#ifndef VYRE_TESTS_SUPPORT_TEST_H
#define VYRE_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/diag.h>
#include <vyre/u128.h>

/* What the tests compare Vyre's arithmetic with. */
__extension__ typedef unsigned __int128 wide;

static inline wide wide_from(struct vyre_u128 value)
{
    return ((wide)value.hi << 64) | value.lo;
}

static inline struct vyre_u128 u128_from(wide value)
{
    return (struct vyre_u128){.lo = (uint64_t)value, .hi = (uint64_t)(value >> 64)};
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define assert_u128_equal(value, expected_hi, expected_lo) \
    do {                                                   \
        struct vyre_u128 checked_value = (value);          \
        assert_int_equal(checked_value.hi, (expected_hi)); \
        assert_int_equal(checked_value.lo, (expected_lo)); \
    } while (0)

/* A failed call filled its diagnostic: the id, its status (also returned), some text, a fix. */
#define assert_diag(returned, diag, expected_id)                                           \
    do {                                                                                   \
        enum vyre_status checked_status = (returned);                                      \
        assert_string_equal(vyre_diag_id_name((diag).id), vyre_diag_id_name(expected_id)); \
        assert_int_equal(checked_status, vyre_diag_id_status(expected_id));                \
        assert_int_equal((diag).status, checked_status);                                   \
        assert_string_not_equal((diag).message, "");                                       \
        assert_string_not_equal((diag).fix, "");                                           \
    } while (0)

#define assert_contains(text, part)                                                 \
    do {                                                                            \
        const char *checked_text = (text);                                          \
        const char *checked_part = (part);                                          \
        if (!strstr(checked_text, checked_part))                                    \
            fail_msg("\"%s\" does not contain \"%s\"", checked_text, checked_part); \
    } while (0)

#endif
