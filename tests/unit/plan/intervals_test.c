/*
 * intervals_test.c: the numbers that ranges get, by hand and against a bitmap of bytes.
 */
#include "plan/intervals.h"

#include "support/batch_builder.h"

struct fixture {
    struct counting_allocator memory;
    struct vyre_intervals intervals;
};

static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    struct vyre_allocator face = counting_allocator_face(&fixture->memory);
    vyre_intervals_init(&fixture->intervals, &face);
}

static void tear_down(struct fixture *fixture)
{
    vyre_intervals_deinit(&fixture->intervals);
    assert_int_equal(fixture->memory.live_count, 0);
    assert_int_equal(fixture->memory.mismatch_count, 0);
}

static enum vyre_status number(struct fixture *fixture, const struct vyre_bound_range *ranges,
                               uint32_t count, struct vyre_diag *diag)
{
    enum vyre_status status = vyre_intervals_begin(&fixture->intervals, count, diag);
    if (status != VYRE_OK)
        return status;
    vyre_intervals_add(&fixture->intervals, ranges, count);
    return vyre_intervals_finish(&fixture->intervals, diag);
}

static struct vyre_bound_range range(uint64_t identity, size_t offset, size_t size)
{
    return (struct vyre_bound_range){.identity = identity,
                                     .offset_bytes = offset,
                                     .size_bytes = size,
                                     .access = VYRE_ACCESS_READ};
}

static void assert_run(const struct fixture *fixture, uint32_t added, uint32_t first, uint32_t last)
{
    struct vyre_interval_run run = vyre_intervals_run(&fixture->intervals, added);
    assert_int_equal(run.first, first);
    assert_int_equal(run.last, last);
}

/* The drawing in the header. */
static void finish_headers_example_numbers_as_drawn(void **state)
{
    (void)state;
    const struct vyre_bound_range ranges[] = {range(7, 0, 12), range(7, 6, 12), range(7, 19, 4),
                                              range(9, 0, 12)};
    struct fixture fixture;
    set_up(&fixture);
    assert_int_equal(number(&fixture, ranges, COUNT_OF(ranges), NULL), VYRE_OK);
    assert_int_equal(fixture.intervals.interval_count, 5);
    assert_run(&fixture, 0, 0, 1);
    assert_run(&fixture, 1, 1, 2);
    assert_run(&fixture, 2, 3, 3);
    assert_run(&fixture, 3, 4, 4);
    tear_down(&fixture);
}

static void finish_nothing_or_empty_ranges_has_no_intervals(void **state)
{
    (void)state;
    const struct vyre_bound_range ranges[] = {range(1, 0, 0), range(1, 64, 0)};
    struct fixture fixture;
    set_up(&fixture);
    assert_int_equal(number(&fixture, NULL, 0, NULL), VYRE_OK);
    assert_int_equal(fixture.intervals.interval_count, 0);
    assert_int_equal(number(&fixture, ranges, COUNT_OF(ranges), NULL), VYRE_OK);
    assert_int_equal(fixture.intervals.interval_count, 0);
    assert_run(&fixture, 0, 1, 0);
    assert_run(&fixture, 1, 1, 0);
    tear_down(&fixture);
}

static void finish_neighbours_do_not_share(void **state)
{
    (void)state;
    const struct vyre_bound_range ranges[] = {range(1, 16, 16), range(1, 0, 16), range(1, 16, 16),
                                              range(1, 20, 0)};
    struct fixture fixture;
    set_up(&fixture);
    assert_int_equal(number(&fixture, ranges, COUNT_OF(ranges), NULL), VYRE_OK);
    assert_int_equal(fixture.intervals.interval_count, 2);
    assert_run(&fixture, 0, 1, 1);
    assert_run(&fixture, 1, 0, 0);
    assert_run(&fixture, 2, 1, 1);
    assert_run(&fixture, 3, 1, 0);
    tear_down(&fixture);
}

static void finish_ends_at_size_max_are_numbered(void **state)
{
    (void)state;
    const struct vyre_bound_range ranges[] = {
        range(UINT64_MAX, SIZE_MAX - 16, 16), range(UINT64_MAX, 0, SIZE_MAX),
        range(UINT64_MAX - 1, 0, SIZE_MAX), range(0, SIZE_MAX - 1, 1)};
    struct fixture fixture;
    set_up(&fixture);
    assert_int_equal(number(&fixture, ranges, COUNT_OF(ranges), NULL), VYRE_OK);
    assert_int_equal(fixture.intervals.interval_count, 4);
    assert_run(&fixture, 3, 0, 0);
    assert_run(&fixture, 2, 1, 1);
    assert_run(&fixture, 1, 2, 3);
    assert_run(&fixture, 0, 3, 3);
    tear_down(&fixture);
}

static void add_in_parts_counts_on(void **state)
{
    (void)state;
    const struct vyre_bound_range ranges[] = {range(1, 0, 8), range(1, 8, 8), range(1, 0, 16)};
    struct fixture fixture;
    set_up(&fixture);
    assert_int_equal(vyre_intervals_begin(&fixture.intervals, 3, NULL), VYRE_OK);
    vyre_intervals_add(&fixture.intervals, ranges + 2, 1);
    vyre_intervals_add(&fixture.intervals, ranges, 2);
    assert_int_equal(vyre_intervals_finish(&fixture.intervals, NULL), VYRE_OK);
    assert_run(&fixture, 0, 0, 1);
    assert_run(&fixture, 1, 0, 0);
    assert_run(&fixture, 2, 1, 1);
    tear_down(&fixture);
}

static void begin_too_many_ranges_is_plan_overflow(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_diag diag;
    set_up(&fixture);
    vyre_diag_reset(&diag);
    assert_diag(vyre_intervals_begin(&fixture.intervals, UINT32_MAX, &diag), diag,
                VYRE_DIAG_PLAN_OVERFLOW);
    assert_int_equal(number(&fixture, NULL, 0, NULL), VYRE_OK);
    tear_down(&fixture);
}

/* Every byte of every buffer against its interval: runs meet where bytes do, and are dense. */
enum { BUFFERS = 5, BYTES = 40, RANDOM_RANGES = 60 };

/* Identities that differ in every part of their 64 bits. */
static uint64_t identity_of(uint64_t buffer)
{
    static const uint64_t identities[BUFFERS] = {0, 1, 0x500, UINT64_C(0x70000000000),
                                                 UINT64_C(0x8000000000000000)};
    return identities[buffer];
}

static bool covers(const struct vyre_bound_range *range, uint64_t identity, size_t byte)
{
    return range->identity == identity && byte >= range->offset_bytes &&
           byte - range->offset_bytes < range->size_bytes;
}

/* The expected number of intervals: where the set of covering ranges changes, and is not empty. */
static uint32_t count_intervals(const struct vyre_bound_range *ranges, uint32_t count)
{
    uint32_t intervals = 0;
    for (uint64_t buffer = 0; buffer < BUFFERS; buffer++) {
        uint64_t identity = identity_of(buffer);
        for (size_t byte = 0; byte < BYTES; byte++) {
            bool touched = false;
            bool changes = byte == 0;
            for (uint32_t i = 0; i < count; i++) {
                touched = touched || covers(&ranges[i], identity, byte);
                changes = changes || (ranges[i].identity == identity && ranges[i].size_bytes > 0 &&
                                      (byte == ranges[i].offset_bytes ||
                                       byte == ranges[i].offset_bytes + ranges[i].size_bytes));
            }
            intervals += touched && changes;
        }
    }
    return intervals;
}

static bool ranges_meet(const struct vyre_bound_range *a, const struct vyre_bound_range *b)
{
    for (size_t byte = 0; byte < BYTES; byte++) {
        if (covers(a, a->identity, byte) && covers(b, a->identity, byte))
            return true;
    }
    return false;
}

static void assert_numbers_fit(const struct fixture *fixture, const struct vyre_bound_range *ranges,
                               uint32_t count)
{
    assert_int_equal(fixture->intervals.interval_count, count_intervals(ranges, count));
    for (uint32_t i = 0; i < count; i++) {
        struct vyre_interval_run a = vyre_intervals_run(&fixture->intervals, i);
        if (ranges[i].size_bytes > 0)
            assert_true(a.first <= a.last && a.last < fixture->intervals.interval_count);
        for (uint32_t j = 0; j < count; j++) {
            struct vyre_interval_run b = vyre_intervals_run(&fixture->intervals, j);
            bool share =
                a.first <= a.last && b.first <= b.last && a.first <= b.last && b.first <= a.last;
            assert_int_equal(share, ranges_meet(&ranges[i], &ranges[j]));
        }
    }
}

static void finish_random_ranges_share_numbers_where_they_share_bytes(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(1);
    struct fixture fixture;
    set_up(&fixture);
    for (int round = 0; round < 1500; round++) {
        struct vyre_bound_range ranges[RANDOM_RANGES];
        uint32_t count = (uint32_t)rng_below(&rng, RANDOM_RANGES + 1);
        uint64_t size_max = 1 + rng_below(&rng, BYTES - 1);
        for (uint32_t i = 0; i < count; i++) {
            size_t size = rng_below(&rng, size_max + 1);
            ranges[i] =
                range(identity_of(rng_below(&rng, BUFFERS)), rng_below(&rng, BYTES - size), size);
        }
        assert_int_equal(number(&fixture, ranges, count, NULL), VYRE_OK);
        assert_numbers_fit(&fixture, ranges, count);
    }
    tear_down(&fixture);
}

static void finish_again_allocates_nothing(void **state)
{
    (void)state;
    struct vyre_bound_range ranges[500];
    for (uint32_t i = 0; i < COUNT_OF(ranges); i++)
        ranges[i] = range(i % 7, i * 8, 12);
    struct fixture fixture;
    set_up(&fixture);
    assert_int_equal(number(&fixture, ranges, COUNT_OF(ranges), NULL), VYRE_OK);
    size_t taken = fixture.memory.taken_count;
    for (uint32_t i = 0; i < COUNT_OF(ranges); i++)
        assert_int_equal(number(&fixture, ranges, i, NULL), VYRE_OK);
    assert_int_equal(fixture.memory.taken_count, taken);
    tear_down(&fixture);
}

static void number_without_memory_fails_and_recovers(void **state)
{
    (void)state;
    const struct vyre_bound_range ranges[] = {range(1, 0, 16), range(1, 8, 16)};
    bool has_failed = true;
    size_t failures = 0;
    for (size_t left = 0; has_failed; left++) {
        struct fixture fixture;
        struct vyre_diag diag;
        set_up(&fixture);
        vyre_diag_reset(&diag);
        counting_fail_after(&fixture.memory, left);
        enum vyre_status status = number(&fixture, ranges, COUNT_OF(ranges), &diag);
        has_failed = fixture.memory.refused_count > 0;
        failures += has_failed;
        if (has_failed)
            assert_diag(status, diag, VYRE_DIAG_OUT_OF_MEMORY);
        counting_fail_never(&fixture.memory);
        assert_int_equal(number(&fixture, ranges, COUNT_OF(ranges), NULL), VYRE_OK);
        assert_int_equal(fixture.intervals.interval_count, 3);
        tear_down(&fixture);
    }
    assert_int_equal(failures, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finish_headers_example_numbers_as_drawn),
        cmocka_unit_test(finish_nothing_or_empty_ranges_has_no_intervals),
        cmocka_unit_test(finish_neighbours_do_not_share),
        cmocka_unit_test(finish_ends_at_size_max_are_numbered),
        cmocka_unit_test(add_in_parts_counts_on),
        cmocka_unit_test(begin_too_many_ranges_is_plan_overflow),
        cmocka_unit_test(finish_random_ranges_share_numbers_where_they_share_bytes),
        cmocka_unit_test(finish_again_allocates_nothing),
        cmocka_unit_test(number_without_memory_fails_and_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
