/*
 * sort_test.c: order and contents after sorting, for every shape of input that trips sorts.
 */
#include "base/sort.h"

#include "support/random.h"
#include "support/test.h"

static int compare_u32(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Sorts and compares with the C library's sort: sorted, and the same numbers. */
static void assert_sorts(uint32_t *items, size_t count)
{
    uint32_t *expected = malloc((count + 1) * sizeof *expected);
    assert_non_null(expected);
    if (count > 0)
        memcpy(expected, items, count * sizeof *items);
    qsort(expected, count, sizeof *expected, compare_u32);
    vyre_sort(items, count, sizeof *items, compare_u32);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(items[i], expected[i]);
    free(expected);
}

static void sort_none_one_and_two_items(void **state)
{
    (void)state;
    vyre_sort(NULL, 0, sizeof(uint32_t), compare_u32);
    uint32_t one[] = {7};
    assert_sorts(one, 0);
    assert_sorts(one, 1);
    assert_int_equal(one[0], 7);
    uint32_t ascending[] = {1, 2}, descending[] = {2, 1}, equal[] = {2, 2};
    assert_sorts(ascending, 2);
    assert_sorts(descending, 2);
    assert_sorts(equal, 2);
}

/* All sequences of up to 7 items out of 0 .. n - 1: every order, and every kind of duplicate. */
static void sort_every_short_sequence(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 7; count++) {
        size_t sequences = 1;
        for (size_t i = 0; i < count; i++)
            sequences *= count;
        for (size_t sequence = 0; sequence < sequences; sequence++) {
            uint32_t items[7];
            size_t digits = sequence;
            size_t tally[7] = {0};
            for (size_t i = 0; i < count; i++, digits /= count) {
                items[i] = (uint32_t)(digits % count);
                tally[items[i]]++;
            }
            vyre_sort(items, count, sizeof *items, compare_u32);
            for (size_t i = 0; i < count; i++) {
                tally[items[i]]--;
                if (i > 0 && items[i - 1] > items[i])
                    fail_msg("sequence %zu of %zu is not sorted", sequence, count);
            }
            for (size_t i = 0; i < count; i++)
                assert_int_equal(tally[i], 0);
        }
    }
}

static void sort_random_numbers_with_duplicates(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(71);
    for (int round = 0; round < 300; round++) {
        uint32_t items[1000];
        size_t count = rng_below(&rng, COUNT_OF(items) + 1);
        uint32_t values = rng_edge_u32(&rng);
        for (size_t i = 0; i < count; i++)
            items[i] = (uint32_t)rng_below(&rng, (uint64_t)values + 1);
        assert_sorts(items, count);
    }
}

enum { LARGE = 100000 };

static size_t compare_count;

static int compare_counted(const void *a, const void *b)
{
    compare_count++;
    return compare_u32(a, b);
}

/* 2 n log2 n comparisons at the most, whatever the order: no input makes it quadratic. */
static void sort_large_inputs_stay_n_log_n(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(72);
    uint32_t *items = malloc(LARGE * sizeof *items);
    assert_non_null(items);
    enum { ASCENDING, DESCENDING, EQUAL, ORGAN_PIPE, RANDOM, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        for (uint32_t i = 0; i < LARGE; i++) {
            const uint32_t values[KINDS] = {i, LARGE - i, 5, i < LARGE / 2 ? i : LARGE - i,
                                            (uint32_t)rng_next(&rng)};
            items[i] = values[kind];
        }
        compare_count = 0;
        vyre_sort(items, LARGE, sizeof *items, compare_counted);
        assert_in_range(compare_count, LARGE - 1, 2 * LARGE * 17);
        for (size_t i = 1; i < LARGE; i++)
            assert_true(items[i - 1] <= items[i]);
        assert_sorts(items, LARGE);
    }
    free(items);
}

static int compare_first_byte(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* Items of many sizes move whole: each carries its key in all its bytes. */
static void sort_items_of_any_size_move_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 7, 8, 56, 63, 64, 65, 128, 200};
    struct rng rng = rng_seeded(73);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        unsigned char items[100 * 200 + 1];
        size_t size = sizes[s];
        items[100 * size] = 0xee; /* nothing is written past the last item */
        for (size_t i = 0; i < 100; i++)
            memset(items + i * size, (int)rng_below(&rng, 128), size);
        vyre_sort(items, 100, size, compare_first_byte);
        for (size_t i = 0; i < 100; i++) {
            for (size_t j = 1; j < size; j++)
                assert_int_equal(items[i * size + j], items[i * size]);
            if (i > 0)
                assert_true(items[(i - 1) * size] <= items[i * size]);
        }
        assert_int_equal(items[100 * size], 0xee);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_none_one_and_two_items),
        cmocka_unit_test(sort_every_short_sequence),
        cmocka_unit_test(sort_random_numbers_with_duplicates),
        cmocka_unit_test(sort_large_inputs_stay_n_log_n),
        cmocka_unit_test(sort_items_of_any_size_move_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
