/*
 * shapes_test.c: a device's shapes: bounded memory, the least recently used forgotten, and references that
 * show when it is.
 */
#include "runtime/governor.h"
#include "support/counting_allocator.h"
#include "support/random.h"
#include "support/test.h"

#include <vyre/learning.h>

/* Keys that meet in few buckets, so that chains are long. */
static struct vyre_hash128 key_of(uint64_t n)
{
    return (struct vyre_hash128){.lo = n % 5, .hi = n};
}

static void init_takes_its_bound_and_nothing_later(void **state)
{
    (void)state;
    for (int observed = 0; observed < 2; observed++) {
        struct counting_allocator memory = {0};
        struct vyre_allocator allocator = counting_allocator_face(&memory);
        struct vyre_shapes shapes;
        assert_int_equal(vyre_shapes_init(&shapes, &allocator, 100, observed), VYRE_OK);
        assert_int_equal(memory.live_bytes, vyre_shapes_bound(100, observed));
        size_t taken = memory.taken_count;
        for (uint64_t i = 0; i < 10000; i++)
            assert_int_equal(vyre_shapes_use(&shapes, key_of(i))->profile != NULL, observed);
        assert_int_equal(memory.taken_count, taken);
        assert_int_equal(shapes.used, 100);
        assert_int_equal(shapes.forgotten, 9900);
        vyre_shapes_deinit(&shapes);
        assert_int_equal(memory.live_count, 0);
        assert_int_equal(memory.mismatch_count, 0);
    }
}

static void init_without_memory_fails_and_keeps_nothing(void **state)
{
    (void)state;
    struct counting_allocator memory = {.fails = true};
    struct vyre_allocator allocator = counting_allocator_face(&memory);
    struct vyre_shapes shapes;
    assert_int_equal(vyre_shapes_init(&shapes, &allocator, 0, true), VYRE_OUT_OF_MEMORY);
    assert_int_equal(memory.live_count, 0);
    vyre_shapes_deinit(&shapes);
}

static void limits_are_kept(void **state)
{
    (void)state;
    static const struct {
        uint32_t in, out;
    } cases[] = {{0, 1024}, {1, 16}, {100, 100}, {65536, 65536}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct counting_allocator memory = {0};
        struct vyre_allocator allocator = counting_allocator_face(&memory);
        struct vyre_shapes shapes;
        struct vyre_governor governor;
        assert_int_equal(vyre_shapes_init(&shapes, &allocator, cases[i].in, false), VYRE_OK);
        assert_int_equal(shapes.entries.limit, cases[i].out);
        vyre_governor_init(&governor, &shapes, 20000);
        assert_int_equal(governor.explore_bps, 10000);
        vyre_shapes_deinit(&shapes);
    }
}

static void see_counts_and_find_does_not(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator allocator = counting_allocator_face(&memory);
    struct vyre_shapes shapes;
    struct vyre_governor governor;
    assert_int_equal(vyre_shapes_init(&shapes, &allocator, 0, false), VYRE_OK);
    vyre_governor_init(&governor, &shapes, 0);
    assert_null(vyre_shapes_find(&shapes, key_of(7)));
    struct vyre_shape *shape = vyre_governor_see(&governor, key_of(7));
    assert_int_equal(shape->unit.seen, 1);
    assert_ptr_equal(vyre_governor_see(&governor, key_of(7)), shape);
    assert_int_equal(shape->unit.seen, 2);
    assert_ptr_equal(vyre_shapes_find(&shapes, key_of(7)), shape);
    assert_int_equal(shape->unit.seen, 2);
    assert_int_equal(governor.counters.seen, 2);
    /* What is only looked at by an observer is not counted as seen in auto. */
    (void)vyre_shapes_use(&shapes, key_of(8));
    assert_int_equal(shapes.seen_count, 1);
    vyre_shapes_deinit(&shapes);
}

/* Against a plain list in the order of use. */
static void least_recently_used_is_forgotten(void **state)
{
    (void)state;
    enum { LIMIT = 16, KEYS = 40 };
    struct counting_allocator memory = {0};
    struct vyre_allocator allocator = counting_allocator_face(&memory);
    struct vyre_shapes shapes;
    struct vyre_governor governor;
    struct rng rng = rng_seeded(3);
    uint64_t list[LIMIT]; /* newest first */
    uint32_t seen[KEYS] = {0};
    size_t count = 0;
    assert_int_equal(vyre_shapes_init(&shapes, &allocator, LIMIT, false), VYRE_OK);
    vyre_governor_init(&governor, &shapes, 0);
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
        assert_int_equal(vyre_governor_see(&governor, key_of(key))->unit.seen, seen[key]);
        assert_int_equal(shapes.seen_count, count);
        for (uint64_t k = 0; step % 100 == 0 && k < KEYS; k++) {
            bool kept = false;
            for (size_t i = 0; i < count; i++)
                kept |= list[i] == k;
            assert_int_equal(vyre_shapes_find(&shapes, key_of(k)) != NULL, kept);
        }
    }
    vyre_shapes_deinit(&shapes);
}

static void a_reference_to_a_forgotten_shape_gives_nothing(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator allocator = counting_allocator_face(&memory);
    struct vyre_shapes shapes;
    assert_int_equal(vyre_shapes_init(&shapes, &allocator, 16, true), VYRE_OK);
    assert_null(vyre_shape_get((struct vyre_shape_ref){0}));
    struct vyre_shape *first = vyre_shapes_use(&shapes, key_of(0));
    struct vyre_shape_ref ref = vyre_shape_refer(first);
    assert_ptr_equal(vyre_shape_get(ref), first);
    first->unit.tracks[0].count = 5;
    first->weight_ns = 7;
    first->profile->required_seen = 3;
    for (uint64_t i = 1; i <= 16; i++)
        (void)vyre_shapes_use(&shapes, key_of(i));
    assert_true(vyre_hash128_equal(first->link.key, key_of(16)));
    assert_null(vyre_shape_get(ref));
    assert_int_equal(first->unit.tracks[0].count, 0);
    assert_int_equal(first->profile->required_seen, 0);
    vyre_shapes_deinit(&shapes);
}

static void templates_are_kept_up_to_their_limit(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator allocator = counting_allocator_face(&memory);
    struct vyre_shapes shapes;
    struct vyre_shape_template *learned;
    assert_int_equal(vyre_shapes_init(&shapes, &allocator, 16, false), VYRE_OK);
    assert_null(vyre_shapes_find_template(&shapes, key_of(1)));
    long long before = memory.live_bytes;
    memory.fails = true;
    assert_int_equal(vyre_shapes_use_template(&shapes, key_of(1), &learned), VYRE_OUT_OF_MEMORY);
    assert_int_equal(memory.live_bytes, before);
    memory.fails = false;
    for (uint64_t i = 0; i < VYRE_LEARNED_SHAPES_MAX; i++) {
        assert_int_equal(vyre_shapes_use_template(&shapes, key_of(i), &learned), VYRE_OK);
        learned->mean_ns[3] = (float)i;
    }
    assert_int_equal(vyre_shapes_use_template(&shapes, key_of(1u << 20), &learned), VYRE_LIMIT);
    assert_null(learned);
    assert_int_equal(vyre_shapes_use_template(&shapes, key_of(9), &learned), VYRE_OK);
    /* Exact shapes come and go beside them. */
    for (uint64_t i = 0; i < 100; i++)
        (void)vyre_shapes_use(&shapes, key_of(i));
    for (uint64_t i = 0; i < VYRE_LEARNED_SHAPES_MAX; i += 97)
        assert_true(vyre_shapes_find_template(&shapes, key_of(i))->mean_ns[3] == (float)i);
    vyre_shapes_deinit(&shapes);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_takes_its_bound_and_nothing_later),
        cmocka_unit_test(init_without_memory_fails_and_keeps_nothing),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(see_counts_and_find_does_not),
        cmocka_unit_test(least_recently_used_is_forgotten),
        cmocka_unit_test(a_reference_to_a_forgotten_shape_gives_nothing),
        cmocka_unit_test(templates_are_kept_up_to_their_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
