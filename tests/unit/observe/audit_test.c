/*
 * audit_test.c: limits, what the ring keeps and drops, and the counters, on one thread.
 */
#include <vyre/audit.h>

#include "support/counting_allocator.h"
#include "support/test.h"

static struct vyre_audit *create(uint32_t event_limit)
{
    struct vyre_audit_desc desc = {.event_limit = event_limit};
    struct vyre_audit *audit = NULL;
    assert_int_equal(vyre_audit_create(&desc, &audit, NULL), VYRE_OK);
    assert_non_null(audit);
    return audit;
}

static struct vyre_audit_snapshot look(const struct vyre_audit *audit,
                                       struct vyre_audit_event *events, size_t capacity)
{
    struct vyre_audit_snapshot snapshot;
    memset(&snapshot, 0x5a, sizeof snapshot);
    vyre_audit_snapshot(audit, events, capacity, &snapshot);
    return snapshot;
}

/* Records `count` events; event n saves n + 2^64 ns. */
static void record(struct vyre_audit *audit, uint64_t first, uint64_t count)
{
    for (uint64_t n = first; n < first + count; n++) {
        struct vyre_policy_event event = {
            VYRE_POLICY_TRACE_JIT, VYRE_ACTION_SPECULATE, VYRE_DETAIL_PREDICTED_SHAPE, {n, 1}};
        vyre_audit_record_event(audit, &event);
    }
}

static void assert_run(const struct vyre_audit_event *events, size_t count, uint64_t first)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].sequence, first + i);
        assert_int_equal(events[i].event.policy, VYRE_POLICY_TRACE_JIT);
        assert_int_equal(events[i].event.action, VYRE_ACTION_SPECULATE);
        assert_int_equal(events[i].event.detail, VYRE_DETAIL_PREDICTED_SHAPE);
        assert_u128_equal(events[i].event.saved_ns, 1, first + i);
        assert_true(i == 0 || events[i - 1].time_ns <= events[i].time_ns);
        assert_true(events[i].time_ns > 0);
    }
}

static void create_limit_becomes_a_power_of_two(void **state)
{
    (void)state;
    static const uint32_t cases[][2] = {{0, 1024},    {1, 1},       {2, 2},
                                        {3, 4},       {5, 8},       {1000, 1024},
                                        {1024, 1024}, {1025, 2048}, {40000, 65536}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_audit *audit = create(cases[i][0]);
        assert_int_equal(look(audit, NULL, 0).event_limit, cases[i][1]);
        vyre_audit_destroy(&audit);
        assert_null(audit);
    }
}

static void create_null_desc_means_defaults(void **state)
{
    (void)state;
    struct vyre_audit *audit = NULL;
    assert_int_equal(vyre_audit_create(NULL, &audit, NULL), VYRE_OK);
    assert_int_equal(look(audit, NULL, 0).event_limit, VYRE_AUDIT_DEFAULT_EVENTS);
    vyre_audit_destroy(&audit);
}

static void create_past_the_maximum_is_refused(void **state)
{
    (void)state;
    static const uint32_t cases[] = {VYRE_AUDIT_MAX_EVENTS + 1, UINT32_MAX};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_audit_desc desc = {.event_limit = cases[i]};
        struct vyre_diag diag = {0};
        int rubbish;
        struct vyre_audit *audit = (void *)&rubbish;
        assert_diag(vyre_audit_create(&desc, &audit, &diag), diag, VYRE_DIAG_ARGUMENT_RANGE);
        assert_null(audit);
    }
}

/* The allocator only notes what it is asked: 2^24 events take more memory than a test should. */
static void create_at_the_maximum_asks_for_that_much(void **state)
{
    (void)state;
    struct counting_allocator memory = {.fails = true};
    struct vyre_audit_desc desc = {counting_allocator_face(&memory), VYRE_AUDIT_MAX_EVENTS};
    struct vyre_audit *audit = NULL;
    struct vyre_diag diag = {0};
    assert_diag(vyre_audit_create(&desc, &audit, &diag), diag, VYRE_DIAG_OUT_OF_MEMORY);
    assert_int_equal(memory.refused_count, 1);
}

static void create_failing_allocator_is_out_of_memory(void **state)
{
    (void)state;
    struct counting_allocator memory = {.fails = true};
    struct vyre_audit_desc desc = {counting_allocator_face(&memory), 16};
    int rubbish;
    struct vyre_audit *audit = (void *)&rubbish;
    struct vyre_diag diag = {0};
    assert_diag(vyre_audit_create(&desc, &audit, &diag), diag, VYRE_DIAG_OUT_OF_MEMORY);
    assert_null(audit);
    assert_int_equal(vyre_audit_create(&desc, &audit, NULL), VYRE_OUT_OF_MEMORY);
}

static void destroy_gives_all_memory_back_and_nulls(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_audit_desc desc = {counting_allocator_face(&memory), 100};
    struct vyre_audit *audit = NULL;
    assert_int_equal(vyre_audit_create(&desc, &audit, NULL), VYRE_OK);
    size_t taken = memory.taken_count;
    record(audit, 0, 1000);
    assert_int_equal(memory.taken_count, taken);
    vyre_audit_destroy(&audit);
    assert_null(audit);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
    vyre_audit_destroy(&audit);
    vyre_audit_destroy(NULL);
}

static void snapshot_new_audit_is_empty(void **state)
{
    (void)state;
    struct vyre_audit *audit = create(8);
    struct vyre_audit_event events[8];
    struct vyre_audit_snapshot snapshot = look(audit, events, 8);
    assert_int_equal(snapshot.count, 0);
    assert_int_equal(snapshot.recorded, 0);
    assert_int_equal(snapshot.dropped, 0);
    static const struct vyre_audit_counters zeroed;
    assert_memory_equal(&snapshot.counters, &zeroed, sizeof zeroed);
    vyre_audit_destroy(&audit);
}

/* After every single event, over several laps of the ring. */
static void record_past_the_ring_drops_the_oldest_and_counts(void **state)
{
    (void)state;
    static const uint32_t limits[] = {1, 2, 8, 64};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        uint64_t ring = limits[i];
        struct vyre_audit *audit = create(limits[i]);
        for (uint64_t recorded = 1; recorded <= 4 * ring + 3; recorded++) {
            record(audit, recorded - 1, 1);
            struct vyre_audit_event events[64];
            struct vyre_audit_snapshot snapshot = look(audit, events, 64);
            uint64_t kept = recorded < ring ? recorded : ring;
            assert_int_equal(snapshot.recorded, recorded);
            assert_int_equal(snapshot.count, kept);
            assert_int_equal(snapshot.dropped, recorded - kept);
            assert_run(events, snapshot.count, recorded - kept);
        }
        vyre_audit_destroy(&audit);
    }
}

static void snapshot_smaller_than_the_ring_is_the_newest(void **state)
{
    (void)state;
    struct vyre_audit *audit = create(16);
    record(audit, 0, 21);
    for (size_t capacity = 0; capacity <= 17; capacity++) {
        struct vyre_audit_event events[18];
        memset(events, 0x5a, sizeof events);
        struct vyre_audit_event untouched = events[17];
        struct vyre_audit_snapshot snapshot = look(audit, capacity ? events : NULL, capacity);
        size_t count = capacity < 16 ? capacity : 16;
        assert_int_equal(snapshot.count, count);
        assert_int_equal(snapshot.recorded, 21);
        assert_int_equal(snapshot.dropped, 5);
        assert_run(events, count, 21 - count);
        assert_memory_equal(&events[count], &untouched, sizeof untouched);
    }
    vyre_audit_destroy(&audit);
}

static void record_event_counts_no_verdict(void **state)
{
    (void)state;
    struct vyre_audit *audit = create(8);
    record(audit, 0, 5);
    static const struct vyre_audit_counters zeroed;
    struct vyre_audit_snapshot snapshot = look(audit, NULL, 0);
    assert_memory_equal(&snapshot.counters, &zeroed, sizeof zeroed);
    vyre_audit_destroy(&audit);
}

static struct vyre_bundle aggressive_bundle(void)
{
    return (struct vyre_bundle){
        .persistent_kernel = {VYRE_PERSISTENT_KERNEL, {7, 8}},
        .arms = {VYRE_ARMS_INDEPENDENT, VYRE_CONFLICT_NONE},
        .copy = {VYRE_COPY_OVERLAP},
        .command_reuse = {VYRE_RECORD_AND_REPLAY, 9},
        .bindless = {VYRE_BINDLESS},
        .trace_jit = {VYRE_SPECULATE, 10},
    };
}

static struct vyre_bundle conservative_bundle(void)
{
    return (struct vyre_bundle){
        .persistent_kernel = {VYRE_STANDARD_LAUNCHES, {0, 0}},
        .arms = {VYRE_ARMS_SERIALIZE, VYRE_CONFLICT_WRITE_WRITE},
        .copy = {VYRE_COPY_ABSENT},
        .command_reuse = {VYRE_PLAIN_LAUNCHES, 0},
        .bindless = {VYRE_TRADITIONAL_BINDINGS},
        .trace_jit = {VYRE_HOLD_STEADY, 0},
    };
}

static void record_bundle_aggressive_leaves_its_four_events(void **state)
{
    (void)state;
    struct vyre_audit *audit = create(8);
    struct vyre_bundle bundle = aggressive_bundle();
    vyre_audit_record_bundle(audit, &bundle);
    struct vyre_audit_event events[8];
    struct vyre_policy_event expected[VYRE_BUNDLE_EVENTS_MAX];
    struct vyre_audit_snapshot snapshot = look(audit, events, 8);
    assert_int_equal(vyre_bundle_events(&bundle, expected), 4);
    assert_int_equal(snapshot.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(events[i].sequence, i);
        assert_int_equal(events[i].event.policy, expected[i].policy);
        assert_int_equal(events[i].event.action, expected[i].action);
        assert_int_equal(events[i].event.detail, expected[i].detail);
        assert_u128_equal(events[i].event.saved_ns, expected[i].saved_ns.hi,
                          expected[i].saved_ns.lo);
    }
    vyre_audit_destroy(&audit);
}

static void record_bundle_conservative_leaves_no_event(void **state)
{
    (void)state;
    struct vyre_audit *audit = create(8);
    struct vyre_bundle bundle = conservative_bundle();
    vyre_audit_record_bundle(audit, &bundle);
    struct vyre_audit_event events[8];
    struct vyre_audit_snapshot snapshot = look(audit, events, 8);
    assert_int_equal(snapshot.count, 0);
    assert_int_equal(snapshot.recorded, 0);
    vyre_audit_destroy(&audit);
}

static void record_bundle_every_verdict_is_counted(void **state)
{
    (void)state;
    struct vyre_audit *audit = create(8);
    struct vyre_bundle aggressive = aggressive_bundle(), conservative = conservative_bundle();
    for (int i = 0; i < 300; i++)
        vyre_audit_record_bundle(audit, &aggressive);
    for (int i = 0; i < 70; i++)
        vyre_audit_record_bundle(audit, &conservative);
    struct vyre_audit_snapshot snapshot = look(audit, NULL, 0);
    for (size_t policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        bool copy = policy == VYRE_POLICY_COPY_OVERLAP; /* absent in the conservative bundle */
        assert_int_equal(snapshot.counters.verdicts[policy][1], copy ? 0 : 70);
        assert_int_equal(snapshot.counters.verdicts[policy][2], 300);
    }
    for (size_t choice = 0; choice < VYRE_AUDIT_CHOICES; choice++)
        assert_int_equal(snapshot.counters.verdicts[VYRE_POLICY_NONE][choice], 0);
    assert_int_equal(snapshot.recorded, 1200);
    assert_int_equal(snapshot.dropped, 1192);
    vyre_audit_destroy(&audit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_limit_becomes_a_power_of_two),
        cmocka_unit_test(create_null_desc_means_defaults),
        cmocka_unit_test(create_past_the_maximum_is_refused),
        cmocka_unit_test(create_at_the_maximum_asks_for_that_much),
        cmocka_unit_test(create_failing_allocator_is_out_of_memory),
        cmocka_unit_test(destroy_gives_all_memory_back_and_nulls),
        cmocka_unit_test(snapshot_new_audit_is_empty),
        cmocka_unit_test(record_past_the_ring_drops_the_oldest_and_counts),
        cmocka_unit_test(snapshot_smaller_than_the_ring_is_the_newest),
        cmocka_unit_test(record_event_counts_no_verdict),
        cmocka_unit_test(record_bundle_aggressive_leaves_its_four_events),
        cmocka_unit_test(record_bundle_conservative_leaves_no_event),
        cmocka_unit_test(record_bundle_every_verdict_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
