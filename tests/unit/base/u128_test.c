/*
 * u128_test.c: built twice; with VYRE_TEST_PORTABLE_U128 the header takes the path for compilers
 * that have no 128-bit type.
 */
#ifdef VYRE_TEST_PORTABLE_U128
#undef __SIZEOF_INT128__
#endif
#include <vyre/u128.h>

#include "support/format_check.h"
#include "support/random.h"
#include "support/test.h"

enum { CASES = 200000 };

static struct vyre_u128 edge_u128(struct rng *rng)
{
    return (struct vyre_u128){.lo = rng_edge_u64(rng), .hi = rng_edge_u64(rng)};
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void from_u64_any_value_has_no_high_half(void **state)
{
    (void)state;
    assert_u128_equal(vyre_u128_from_u64(0), 0, 0);
    assert_u128_equal(vyre_u128_from_u64(UINT64_MAX), 0, UINT64_MAX);
}

static void is_zero_either_half_set_is_false(void **state)
{
    (void)state;
    assert_true(vyre_u128_is_zero((struct vyre_u128){0, 0}));
    assert_false(vyre_u128_is_zero((struct vyre_u128){1, 0}));
    assert_false(vyre_u128_is_zero((struct vyre_u128){0, 1}));
}

static void compare_edges_follows_the_numbers(void **state)
{
    (void)state;
    struct vyre_u128 ascending[] = {
        {0, 0}, {1, 0},          {UINT64_MAX, 0}, {0, 1},
        {1, 1}, {UINT64_MAX, 1}, {0, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    for (int i = 0; i < (int)COUNT_OF(ascending); i++) {
        for (int j = 0; j < (int)COUNT_OF(ascending); j++)
            assert_int_equal(sign(vyre_u128_compare(ascending[i], ascending[j])), sign(i - j));
    }
}

static void compare_random_agrees_with_int128(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(1);
    for (int i = 0; i < CASES; i++) {
        struct vyre_u128 a = edge_u128(&rng), b = edge_u128(&rng);
        int expected = (wide_from(a) > wide_from(b)) - (wide_from(a) < wide_from(b));
        assert_int_equal(sign(vyre_u128_compare(a, b)), expected);
    }
}

static void add_carry_reaches_the_high_half(void **state)
{
    (void)state;
    struct vyre_u128 sum;
    assert_true(vyre_u128_add((struct vyre_u128){UINT64_MAX, 0}, vyre_u128_from_u64(1), &sum));
    assert_u128_equal(sum, 1, 0);
}

static void add_past_the_maximum_is_false_and_zeroed(void **state)
{
    (void)state;
    struct vyre_u128 max = {UINT64_MAX, UINT64_MAX};
    struct vyre_u128 sum = {7, 7};
    assert_true(vyre_u128_add(max, vyre_u128_from_u64(0), &sum));
    assert_u128_equal(sum, UINT64_MAX, UINT64_MAX);
    assert_false(vyre_u128_add(max, vyre_u128_from_u64(1), &sum));
    assert_u128_equal(sum, 0, 0);
    /* Only the carry overflows: the high halves alone add up to the maximum. */
    sum = (struct vyre_u128){7, 7};
    assert_false(vyre_u128_add((struct vyre_u128){1, UINT64_MAX - 1},
                               (struct vyre_u128){UINT64_MAX, 1}, &sum));
    assert_u128_equal(sum, 0, 0);
}

static void add_random_agrees_with_int128(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(2);
    int overflows = 0;
    for (int i = 0; i < CASES; i++) {
        struct vyre_u128 a = edge_u128(&rng), b = edge_u128(&rng), sum = {7, 7};
        wide expected = wide_from(a) + wide_from(b);
        bool fits = expected >= wide_from(a);
        assert_int_equal(vyre_u128_add(a, b, &sum), fits);
        assert_true(wide_from(sum) == (fits ? expected : 0));
        overflows += !fits;
    }
    assert_in_range(overflows, 1, CASES - 1);
}

static void sub_below_zero_is_false_and_zeroed(void **state)
{
    (void)state;
    struct vyre_u128 difference = {7, 7};
    assert_false(vyre_u128_sub(vyre_u128_from_u64(1), vyre_u128_from_u64(2), &difference));
    assert_u128_equal(difference, 0, 0);
    assert_true(vyre_u128_sub((struct vyre_u128){0, 1}, vyre_u128_from_u64(1), &difference));
    assert_u128_equal(difference, 0, UINT64_MAX);
}

static void sub_random_agrees_with_int128(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(3);
    int borrows = 0;
    for (int i = 0; i < CASES; i++) {
        struct vyre_u128 a = edge_u128(&rng), b = edge_u128(&rng), difference = {7, 7};
        bool fits = wide_from(a) >= wide_from(b);
        assert_int_equal(vyre_u128_sub(a, b, &difference), fits);
        assert_true(wide_from(difference) == (fits ? wide_from(a) - wide_from(b) : 0));
        borrows += !fits;
    }
    assert_in_range(borrows, 1, CASES - 1);
}

static void mul_u64_edges_are_exact(void **state)
{
    (void)state;
    assert_u128_equal(vyre_u128_mul_u64(0, UINT64_MAX), 0, 0);
    assert_u128_equal(vyre_u128_mul_u64(1, UINT64_MAX), 0, UINT64_MAX);
    assert_u128_equal(vyre_u128_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32), 1, 0);
    assert_u128_equal(vyre_u128_mul_u64(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1, 1);
}

static void mul_u64_random_agrees_with_int128(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(4);
    for (int i = 0; i < CASES; i++) {
        uint64_t a = rng_edge_u64(&rng), b = rng_edge_u64(&rng);
        assert_true(wide_from(vyre_u128_mul_u64(a, b)) == (wide)a * b);
    }
}

static size_t format(const void *value, char *out, size_t capacity)
{
    return vyre_u128_format(*(const struct vyre_u128 *)value, out, capacity);
}

static void format_edges_are_exact_at_every_capacity(void **state)
{
    (void)state;
    static const struct {
        struct vyre_u128 value;
        const char *text;
    } cases[] = {
        {{0, 0}, "0"},
        {{9, 0}, "9"},
        {{10, 0}, "10"},
        {{UINT64_MAX, 0}, "18446744073709551615"},
        {{0, 1}, "18446744073709551616"},
        {{UINT64_C(7766279631452241920), 5}, "100000000000000000000"},
        {{UINT64_C(7766279631452241919), 5}, "99999999999999999999"},
        {{UINT64_C(687399551400673280), UINT64_C(5421010862427522170)},
         "100000000000000000000000000000000000000"},
        {{UINT64_MAX - 1, UINT64_MAX}, "340282366920938463463374607431768211454"},
        {{UINT64_MAX, UINT64_MAX}, "340282366920938463463374607431768211455"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_formats_as(format, &cases[i].value, cases[i].text);
}

static void format_the_maximum_fills_text_bytes(void **state)
{
    (void)state;
    struct vyre_u128 max = {UINT64_MAX, UINT64_MAX};
    assert_int_equal(vyre_u128_format(max, NULL, 0), VYRE_U128_TEXT_BYTES - 1);
}

static void format_random_reads_back_as_the_number(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(5);
    for (int i = 0; i < CASES; i++) {
        struct vyre_u128 value = edge_u128(&rng);
        char text[VYRE_U128_TEXT_BYTES];
        size_t length = vyre_u128_format(value, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_true(length == 1 || text[0] != '0');
        wide read = 0;
        for (size_t j = 0; j < length; j++) {
            assert_in_range(text[j], '0', '9');
            read = read * 10 + (unsigned)(text[j] - '0');
        }
        assert_true(read == wide_from(value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_u64_any_value_has_no_high_half),
        cmocka_unit_test(is_zero_either_half_set_is_false),
        cmocka_unit_test(compare_edges_follows_the_numbers),
        cmocka_unit_test(compare_random_agrees_with_int128),
        cmocka_unit_test(add_carry_reaches_the_high_half),
        cmocka_unit_test(add_past_the_maximum_is_false_and_zeroed),
        cmocka_unit_test(add_random_agrees_with_int128),
        cmocka_unit_test(sub_below_zero_is_false_and_zeroed),
        cmocka_unit_test(sub_random_agrees_with_int128),
        cmocka_unit_test(mul_u64_edges_are_exact),
        cmocka_unit_test(mul_u64_random_agrees_with_int128),
        cmocka_unit_test(format_edges_are_exact_at_every_capacity),
        cmocka_unit_test(format_the_maximum_fills_text_bytes),
        cmocka_unit_test(format_random_reads_back_as_the_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
