/*
 * checked_test.c: size arithmetic at its edges and against 128-bit arithmetic.
 */
#include "base/checked.h"

#include "support/random.h"
#include "support/test.h"

enum { CASES = 200000 };

static void add_size_edges_fit_or_give_zero(void **state)
{
    (void)state;
    size_t sum = 7;
    assert_true(vyre_checked_add_size(SIZE_MAX, 0, &sum));
    assert_int_equal(sum, SIZE_MAX);
    assert_true(vyre_checked_add_size(SIZE_MAX - 1, 1, &sum));
    assert_int_equal(sum, SIZE_MAX);
    assert_false(vyre_checked_add_size(SIZE_MAX, 1, &sum));
    assert_int_equal(sum, 0);
}

static void mul_size_edges_fit_or_give_zero(void **state)
{
    (void)state;
    size_t product = 7;
    assert_true(vyre_checked_mul_size(SIZE_MAX, 1, &product));
    assert_int_equal(product, SIZE_MAX);
    assert_true(vyre_checked_mul_size(0, SIZE_MAX, &product));
    assert_int_equal(product, 0);
    product = 7;
    assert_false(vyre_checked_mul_size(SIZE_MAX / 2 + 1, 2, &product));
    assert_int_equal(product, 0);
}

static void add_and_mul_random_agree_with_int128(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(11);
    for (int i = 0; i < CASES; i++) {
        size_t a = rng_edge_u64(&rng), b = rng_edge_u64(&rng), result = 7;
        wide sum = (wide)a + b, product = (wide)a * b;
        assert_int_equal(vyre_checked_add_size(a, b, &result), sum <= SIZE_MAX);
        assert_int_equal(result, sum <= SIZE_MAX ? (size_t)sum : 0);
        assert_int_equal(vyre_checked_mul_size(a, b, &result), product <= SIZE_MAX);
        assert_int_equal(result, product <= SIZE_MAX ? (size_t)product : 0);
        assert_int_equal(vyre_saturating_mul_u64(a, b),
                         product <= UINT64_MAX ? (uint64_t)product : UINT64_MAX);
    }
}

static void align_size_random_is_the_next_multiple(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(12);
    for (int i = 0; i < CASES; i++) {
        size_t value = rng_edge_u64(&rng), alignment = (size_t)1 << rng_below(&rng, 64), result = 7;
        wide expected = ((wide)value + alignment - 1) / alignment * alignment;
        bool fits = expected <= SIZE_MAX && (wide)value + alignment - 1 <= SIZE_MAX;
        assert_int_equal(vyre_checked_align_size(value, alignment, &result), fits);
        assert_int_equal(result, fits ? (size_t)expected : 0);
    }
}

static void align_size_edges_are_exact(void **state)
{
    (void)state;
    size_t result = 7;
    assert_true(vyre_checked_align_size(0, 16, &result));
    assert_int_equal(result, 0);
    assert_true(vyre_checked_align_size(16, 16, &result));
    assert_int_equal(result, 16);
    assert_true(vyre_checked_align_size(17, 16, &result));
    assert_int_equal(result, 32);
    assert_true(vyre_checked_align_size(SIZE_MAX, 1, &result));
    assert_int_equal(result, SIZE_MAX);
    assert_false(vyre_checked_align_size(SIZE_MAX, 2, &result));
    assert_int_equal(result, 0);
}

static void saturating_mul_edges_saturate_exactly(void **state)
{
    (void)state;
    assert_int_equal(vyre_saturating_mul_u64(UINT64_MAX, 1), UINT64_MAX);
    assert_int_equal(vyre_saturating_mul_u64(UINT64_MAX, 2), UINT64_MAX);
    assert_int_equal(vyre_saturating_mul_u64(UINT64_C(1) << 32, UINT32_MAX),
                     UINT64_MAX - UINT32_MAX);
    assert_int_equal(vyre_saturating_mul_u64(UINT64_MAX, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_size_edges_fit_or_give_zero),
        cmocka_unit_test(mul_size_edges_fit_or_give_zero),
        cmocka_unit_test(add_and_mul_random_agree_with_int128),
        cmocka_unit_test(align_size_edges_are_exact),
        cmocka_unit_test(align_size_random_is_the_next_multiple),
        cmocka_unit_test(saturating_mul_edges_saturate_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
