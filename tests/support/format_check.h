/*
 * format_check.h: holds a formatter to the contract of snprintf, at every capacity.
 */
#ifndef VYRE_TESTS_SUPPORT_FORMAT_CHECK_H
#define VYRE_TESTS_SUPPORT_FORMAT_CHECK_H

#include "support/test.h"

/* A wrapper round one formatter, so that all of them have one type. */
typedef size_t format_function(const void *value, char *out, size_t capacity);

/*
 * The whole length is returned whatever the capacity; what is written is the text's beginning,
 * terminated; no byte past the capacity is touched; at capacity 0 `out` may be NULL.
 */
static inline void assert_formats_as(format_function *format, const void *value,
                                     const char *expected)
{
    size_t length = strlen(expected);
    assert_int_equal(format(value, NULL, 0), length);
    char *out = malloc(length + 3);
    assert_non_null(out);
    for (size_t capacity = 1; capacity <= length + 2; capacity++) {
        memset(out, '#', length + 3);
        assert_int_equal(format(value, out, capacity), length);
        size_t kept = length < capacity ? length : capacity - 1;
        assert_memory_equal(out, expected, kept);
        assert_int_equal(out[kept], '\0');
        assert_int_equal(out[capacity], '#');
    }
    free(out);
}

/* An explanation holds to the same contract, is one line, and contains every part that is given. */
static inline void assert_explains(format_function *explain, const void *value,
                                   const char *const *parts, size_t part_count)
{
    char text[2048];
    size_t length = explain(value, text, sizeof text);
    assert_in_range(length, 1, sizeof text - 1);
    assert_null(strchr(text, '\n'));
    for (size_t i = 0; i < part_count && parts[i]; i++)
        assert_contains(text, parts[i]);
    assert_formats_as(explain, value, text);
}

#endif
