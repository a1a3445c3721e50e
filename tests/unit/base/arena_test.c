/*
 * arena_test.c: alignment, the limit, what a reset keeps, and allocators that fail.
 */
#include "base/arena.h"

#include "support/counting_allocator.h"
#include "support/random.h"
#include "support/test.h"

#define NO_LIMIT SIZE_MAX

static void assert_all_returned(const struct counting_allocator *memory)
{
    assert_int_equal(memory->live_count, 0);
    assert_int_equal(memory->live_bytes, 0);
    assert_int_equal(memory->mismatch_count, 0);
}

static void init_takes_nothing_from_the_allocator(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 1024, NO_LIMIT);
    assert_int_equal(memory.taken_count, 0);
    vyre_arena_reset(&arena);
    vyre_arena_deinit(&arena);
    assert_int_equal(memory.taken_count, 0);
}

static void init_zeroed_allocator_uses_the_system(void **state)
{
    (void)state;
    struct vyre_allocator zeroed = {0};
    struct vyre_arena arena;
    vyre_arena_init(&arena, &zeroed, 256, NO_LIMIT);
    char *bytes = vyre_arena_allocate(&arena, 100, 1);
    assert_non_null(bytes);
    memset(bytes, 1, 100);
    vyre_arena_deinit(&arena);
}

static void allocate_zero_bytes_gives_a_pointer(void **state)
{
    (void)state;
    struct vyre_arena arena;
    for (size_t block_size = 0; block_size <= 64; block_size += 64) {
        vyre_arena_init(&arena, NULL, block_size, NO_LIMIT);
        assert_non_null(vyre_arena_allocate(&arena, 0, 1));
        assert_non_null(vyre_arena_allocate(&arena, 0, 16));
        vyre_arena_deinit(&arena);
    }
}

/* Fills each piece with its own byte and looks at all of them at the end. */
static void allocate_random_pieces_are_aligned_and_disjoint(void **state)
{
    (void)state;
    enum { PIECES = 2000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 512, NO_LIMIT);
    struct rng rng = rng_seeded(31);
    for (size_t i = 0; i < PIECES; i++) {
        size_t alignment = (size_t)1 << rng_below(&rng, 5);
        sizes[i] = rng_below(&rng, rng_below(&rng, 20) == 0 ? 2000 : 60);
        pieces[i] = vyre_arena_allocate(&arena, sizes[i], alignment);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignment, 0);
        memset(pieces[i], (int)(i & 0xff), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], i & 0xff);
    }
    assert_int_equal(arena.total_bytes, memory.live_bytes);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

static void allocate_small_pieces_share_a_block(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 4096, NO_LIMIT);
    for (int i = 0; i < 100; i++)
        assert_non_null(vyre_arena_allocate(&arena, 16, 16));
    assert_int_equal(memory.taken_count, 1);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

static void allocate_at_the_limit_gives_null(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 256, 1000);
    size_t taken = 0;
    while (vyre_arena_allocate(&arena, 50, 1))
        taken++;
    assert_in_range(taken, 10, 20);
    assert_in_range(memory.peak_bytes, 1, 1000);
    assert_int_equal(memory.refused_count, 0);
    /* The limit is not a state that sticks. */
    vyre_arena_reset(&arena);
    assert_non_null(vyre_arena_allocate(&arena, 50, 1));
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

static void allocate_random_sizes_never_exceed_the_limit(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(32);
    for (int round = 0; round < 500; round++) {
        struct counting_allocator memory = {0};
        struct vyre_allocator face = counting_allocator_face(&memory);
        struct vyre_arena arena;
        size_t limit = rng_below(&rng, 5000);
        vyre_arena_init(&arena, &face, rng_below(&rng, 1000), limit);
        for (int i = 0; i < 50; i++) {
            size_t size = rng_below(&rng, 8) == 0 ? rng_edge_u64(&rng) : rng_below(&rng, 300);
            unsigned char *piece = vyre_arena_allocate(&arena, size, (size_t)1 << (i % 5));
            if (piece)
                memset(piece, 0x5a, size);
            if (rng_below(&rng, 16) == 0)
                vyre_arena_reset(&arena);
            assert_in_range(memory.live_bytes, 0, limit);
            assert_int_equal(arena.total_bytes, memory.live_bytes);
        }
        vyre_arena_deinit(&arena);
        assert_int_equal(memory.refused_count, 0);
        assert_all_returned(&memory);
    }
}

static void allocate_sizes_near_the_maximum_give_null(void **state)
{
    (void)state;
    struct vyre_arena arena;
    vyre_arena_init(&arena, NULL, 1024, (size_t)1 << 20);
    assert_non_null(vyre_arena_allocate(&arena, 10, 1));
    for (size_t below = 0; below < 100; below++) {
        assert_null(vyre_arena_allocate(&arena, SIZE_MAX - below, 1));
        assert_null(vyre_arena_allocate(&arena, SIZE_MAX - below, 16));
    }
    assert_non_null(vyre_arena_allocate(&arena, 10, 1));
    vyre_arena_deinit(&arena);
}

static void allocate_failing_allocator_gives_null_and_recovers(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 128, NO_LIMIT);
    unsigned char *first = vyre_arena_allocate(&arena, 40, 8);
    assert_non_null(first);
    memset(first, 7, 40);
    size_t total = arena.total_bytes;
    memory.fails = true;
    assert_null(vyre_arena_allocate(&arena, 1000, 8));
    assert_int_equal(memory.refused_count, 1);
    assert_int_equal(arena.total_bytes, total);
    memory.fails = false;
    assert_non_null(vyre_arena_allocate(&arena, 1000, 8));
    for (int i = 0; i < 40; i++)
        assert_int_equal(first[i], 7);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

static void reset_steady_load_stops_allocating(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 1024, NO_LIMIT);
    assert_non_null(vyre_arena_allocate(&arena, 900, 8));
    vyre_arena_reset(&arena);
    assert_int_equal(memory.live_count, 1);
    for (int round = 0; round < 100; round++) {
        assert_non_null(vyre_arena_allocate(&arena, 400, 8));
        assert_non_null(vyre_arena_allocate(&arena, 500, 8));
        vyre_arena_reset(&arena);
    }
    assert_int_equal(memory.taken_count, 1);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

static void reset_several_blocks_keeps_the_largest(void **state)
{
    (void)state;
    static const size_t orders[][3] = {{5000, 100, 100}, {100, 5000, 100}, {100, 100, 5000}};
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct counting_allocator memory = {0};
        struct vyre_allocator face = counting_allocator_face(&memory);
        struct vyre_arena arena;
        vyre_arena_init(&arena, &face, 0, NO_LIMIT);
        for (size_t j = 0; j < 3; j++)
            assert_non_null(vyre_arena_allocate(&arena, orders[i][j], 1));
        assert_in_range(memory.live_count, 2, 3);
        vyre_arena_reset(&arena);
        assert_int_equal(memory.live_count, 1);
        assert_in_range(memory.live_bytes, 5000, 4 * 5099);
        size_t taken = memory.taken_count;
        assert_non_null(vyre_arena_allocate(&arena, 5000, 1));
        assert_int_equal(memory.taken_count, taken);
        vyre_arena_deinit(&arena);
        assert_all_returned(&memory);
    }
}

static void reset_kept_block_does_not_count_against_the_next_request(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 256, 1000);
    for (int round = 0; round < 3; round++) {
        assert_non_null(vyre_arena_allocate(&arena, 200, 8));
        vyre_arena_reset(&arena);
        assert_int_equal(memory.live_count, 1);
        unsigned char *large = vyre_arena_allocate(&arena, 900, 8); /* a fresh arena takes it */
        assert_non_null(large);
        memset(large, 1, 900);
        assert_int_equal(memory.live_count, 1);
        assert_in_range(memory.peak_bytes, 900, 1000);
        vyre_arena_deinit(&arena);
        assert_all_returned(&memory);
    }
}

static void reset_request_above_the_limit_keeps_the_block(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 256, 1000);
    assert_non_null(vyre_arena_allocate(&arena, 200, 8));
    vyre_arena_reset(&arena);
    assert_null(vyre_arena_allocate(&arena, 1000, 8));
    assert_int_equal(memory.live_count, 1);
    assert_non_null(vyre_arena_allocate(&arena, 200, 8));
    assert_int_equal(memory.taken_count, 1);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

/* The pointer to no bytes is still one that was handed out. */
static void reset_block_with_zero_bytes_handed_out_stays(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 256, NO_LIMIT);
    assert_non_null(vyre_arena_allocate(&arena, 100, 8));
    vyre_arena_reset(&arena);
    assert_non_null(vyre_arena_allocate(&arena, 0, 1));
    assert_non_null(vyre_arena_allocate(&arena, 900, 8));
    assert_int_equal(memory.live_count, 2);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

static void deinit_twice_frees_once(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &face, 128, NO_LIMIT);
    assert_non_null(vyre_arena_allocate(&arena, 1000, 1));
    assert_non_null(vyre_arena_allocate(&arena, 1000, 1));
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
    vyre_arena_deinit(&arena);
    assert_all_returned(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_takes_nothing_from_the_allocator),
        cmocka_unit_test(init_zeroed_allocator_uses_the_system),
        cmocka_unit_test(allocate_zero_bytes_gives_a_pointer),
        cmocka_unit_test(allocate_random_pieces_are_aligned_and_disjoint),
        cmocka_unit_test(allocate_small_pieces_share_a_block),
        cmocka_unit_test(allocate_at_the_limit_gives_null),
        cmocka_unit_test(allocate_random_sizes_never_exceed_the_limit),
        cmocka_unit_test(allocate_sizes_near_the_maximum_give_null),
        cmocka_unit_test(allocate_failing_allocator_gives_null_and_recovers),
        cmocka_unit_test(reset_steady_load_stops_allocating),
        cmocka_unit_test(reset_several_blocks_keeps_the_largest),
        cmocka_unit_test(reset_kept_block_does_not_count_against_the_next_request),
        cmocka_unit_test(reset_request_above_the_limit_keeps_the_block),
        cmocka_unit_test(reset_block_with_zero_bytes_handed_out_stays),
        cmocka_unit_test(deinit_twice_frees_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
