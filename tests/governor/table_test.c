/*
 * table_test.c: the governor's shapes: bounded memory, the least recently used forgotten.
 */
#include "runtime/governor.h"
#include "support/allocator.h"
#include "support/random.h"
#include "support/test.h"

static struct vyre_allocator counting(struct test_allocator *self)
{
    return (struct vyre_allocator){
        .user = self, .allocate = test_allocate, .deallocate = test_deallocate};
}

/* Keys that meet in few buckets, so that chains are long. */
static struct vyre_hash128 key_of(uint64_t n)
{
    return (struct vyre_hash128){.lo = n % 5, .hi = n};
}

static void init_takes_its_bound_and_nothing_later(void **state)
{
    (void)state;
    struct test_allocator memory = {0};
    struct vyre_allocator allocator = counting(&memory);
    const struct vyre_governor_options options = {.shape_limit = 100};
    struct vyre_governor governor;
    assert_int_equal(vyre_governor_init(&governor, &allocator, &options), VYRE_OK);
    assert_int_equal(memory.live_bytes, vyre_governor_bound(&options));
    size_t taken = memory.taken_count;
    for (uint64_t i = 0; i < 10000; i++)
        (void)vyre_governor_see(&governor, key_of(i));
    assert_int_equal(memory.taken_count, taken);
    assert_int_equal(governor.counters.shapes_kept, 100);
    assert_int_equal(governor.counters.shapes_forgotten, 9900);
    vyre_governor_deinit(&governor);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
}

static void init_without_memory_fails_and_keeps_nothing(void **state)
{
    (void)state;
    struct test_allocator memory = {.fails = true};
    struct vyre_allocator allocator = counting(&memory);
    struct vyre_governor governor;
    assert_int_equal(vyre_governor_init(&governor, &allocator, NULL), VYRE_OUT_OF_MEMORY);
    assert_int_equal(memory.live_count, 0);
    vyre_governor_deinit(&governor);
}

static void options_become_limits(void **state)
{
    (void)state;
    static const struct {
        struct vyre_governor_options in, out;
    } cases[] = {
        {{0, 0}, {1024, 0}},
        {{1, 300}, {16, 300}},
        {{100, 20000}, {100, 10000}},
        {{65536, 5}, {65536, 5}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct test_allocator memory = {0};
        struct vyre_allocator allocator = counting(&memory);
        struct vyre_governor governor;
        assert_int_equal(vyre_governor_init(&governor, &allocator, &cases[i].in), VYRE_OK);
        assert_int_equal(governor.options.shape_limit, cases[i].out.shape_limit);
        assert_int_equal(governor.options.explore_bps, cases[i].out.explore_bps);
        vyre_governor_deinit(&governor);
    }
    struct vyre_governor_options defaults = vyre_governor_options_default();
    assert_int_equal(defaults.shape_limit, 1024);
    assert_int_equal(defaults.explore_bps, 300);
}

static void see_counts_and_find_does_not(void **state)
{
    (void)state;
    struct test_allocator memory = {0};
    struct vyre_allocator allocator = counting(&memory);
    struct vyre_governor governor;
    assert_int_equal(vyre_governor_init(&governor, &allocator, NULL), VYRE_OK);
    assert_null(vyre_governor_find(&governor, key_of(7)));
    struct vyre_governor_shape *shape = vyre_governor_see(&governor, key_of(7));
    assert_int_equal(shape->seen, 1);
    assert_ptr_equal(vyre_governor_see(&governor, key_of(7)), shape);
    assert_int_equal(shape->seen, 2);
    assert_ptr_equal(vyre_governor_find(&governor, key_of(7)), shape);
    assert_int_equal(shape->seen, 2);
    assert_int_equal(governor.counters.seen, 2);
    vyre_governor_deinit(&governor);
}

/* Against a plain list in the order of use. */
static void least_recently_used_is_forgotten(void **state)
{
    (void)state;
    enum { LIMIT = 16, KEYS = 40 };
    struct test_allocator memory = {0};
    struct vyre_allocator allocator = counting(&memory);
    const struct vyre_governor_options options = {.shape_limit = LIMIT};
    struct vyre_governor governor;
    struct rng rng = rng_seeded(3);
    uint64_t list[LIMIT]; /* newest first */
    uint32_t seen[KEYS] = {0};
    size_t count = 0;
    assert_int_equal(vyre_governor_init(&governor, &allocator, &options), VYRE_OK);
    for (uint32_t step = 0; step < 20000; step++) {
        uint64_t key = rng_below(&rng, 1 + rng_below(&rng, KEYS));
        size_t at = 0;
        while (at < count && list[at] != key)
            at++;
        if (at == count) {
            at = count < LIMIT ? count++ : LIMIT - 1;
            seen[key] = 0;
        }
        memmove(&list[1], &list[0], at * sizeof list[0]);
        list[0] = key;
        seen[key]++;
        assert_int_equal(vyre_governor_see(&governor, key_of(key))->seen, seen[key]);
        for (uint64_t k = 0; step % 100 == 0 && k < KEYS; k++) {
            bool kept = false;
            for (size_t i = 0; i < count; i++)
                kept |= list[i] == k;
            assert_int_equal(vyre_governor_find(&governor, key_of(k)) != NULL, kept);
        }
    }
    vyre_governor_deinit(&governor);
}

static void entry_used_again_starts_afresh(void **state)
{
    (void)state;
    struct test_allocator memory = {0};
    struct vyre_allocator allocator = counting(&memory);
    const struct vyre_governor_options options = {.shape_limit = 16};
    struct vyre_governor governor;
    assert_int_equal(vyre_governor_init(&governor, &allocator, &options), VYRE_OK);
    struct vyre_governor_shape *first = vyre_governor_see(&governor, key_of(0));
    uint64_t serial = first->serial;
    first->tracks[0].count = 5;
    for (uint64_t i = 1; i <= 16; i++)
        (void)vyre_governor_see(&governor, key_of(i));
    assert_true(vyre_hash128_equal(first->key, key_of(16)));
    assert_int_not_equal(first->serial, serial);
    assert_int_equal(first->tracks[0].count, 0);
    assert_int_equal(first->seen, 1);
    vyre_governor_deinit(&governor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_takes_its_bound_and_nothing_later),
        cmocka_unit_test(init_without_memory_fails_and_keeps_nothing),
        cmocka_unit_test(options_become_limits),
        cmocka_unit_test(see_counts_and_find_does_not),
        cmocka_unit_test(least_recently_used_is_forgotten),
        cmocka_unit_test(entry_used_again_starts_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
