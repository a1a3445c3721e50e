/*
 * decisions_test.c: the ring of decision records.
 */
#include "observe/decisions.h"

#include <pthread.h>
#include <stdatomic.h>

#include "support/counting_allocator.h"
#include "support/test.h"

#ifndef VYRE_TEST_DECISION_ROUNDS
#define VYRE_TEST_DECISION_ROUNDS 200000
#endif

#define MS UINT64_C(1000000)

static struct vyre_decisions *create(struct counting_allocator *memory, uint32_t limit,
                                     uint32_t rate)
{
    const struct vyre_decisions_options options = {.record_limit = limit, .rate_per_second = rate};
    struct vyre_allocator allocator = counting_allocator_face(memory);
    struct vyre_decisions *decisions;
    assert_int_equal(vyre_decisions_create(&options, &allocator, &decisions), VYRE_OK);
    return decisions;
}

/* A record whose fields all follow from one number. */
static struct vyre_decision_record record_of(uint64_t n)
{
    struct vyre_decision_record record = {
        .shape_lo = n, .shape_hi = ~n, .time_ns = n, .predicted_ns = n * 3, .candidate_count = 12};
    for (uint64_t i = 0; i < VYRE_CANDIDATES_MAX; i++)
        record.candidates[i].predicted_ns = n + i;
    return record;
}

static uint64_t record(struct vyre_decisions *decisions, uint64_t n)
{
    struct vyre_decision_record made = record_of(n);
    assert_true(vyre_decisions_sample(decisions, VYRE_MODE_PLAIN, VYRE_WHY_TRIAL, true, n));
    return vyre_decisions_begin(decisions, &made);
}

static void ring_keeps_the_last_and_reads_in_order(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_decisions *decisions = create(&memory, 7, 0);
    struct vyre_decision_record out[16];
    assert_int_equal(vyre_decisions_limit(decisions), 8);
    assert_int_equal(vyre_decisions_read(decisions, 0, out, 16), 0);
    for (uint64_t n = 1; n <= 20; n++)
        (void)record(decisions, n);
    assert_int_equal(vyre_decisions_read(decisions, 0, out, 16), 8);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(out[i].sequence, 13 + i);
        assert_int_equal(out[i].shape_lo, 13 + i);
        assert_int_equal(out[i].candidates[11].predicted_ns, 13 + i + 11);
    }
    assert_int_equal(vyre_decisions_read(decisions, 18, out, 16), 3);
    assert_int_equal(out[0].sequence, 18);
    assert_int_equal(vyre_decisions_read(decisions, 0, out, 2), 2);
    assert_int_equal(out[0].sequence, 13);
    assert_int_equal(vyre_decisions_read(decisions, 21, out, 16), 0);
    vyre_decisions_destroy(&decisions);
    assert_null(decisions);
    vyre_decisions_destroy(&decisions);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
}

static void finish_completes_its_record(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_decisions *decisions = create(&memory, 4, 0);
    struct vyre_decision_record out[4];
    struct vyre_decision_counters counters;
    const struct vyre_decision_measured measured = {
        .host_ns = 11, .device_ns = 22, .wall_ns = 33, .saved_vs_plain_ns = -44};
    uint64_t first = record(decisions, 1);
    uint64_t second = record(decisions, 2);
    vyre_decisions_finish(decisions, second, &measured);
    assert_int_equal(vyre_decisions_read(decisions, 0, out, 4), 2);
    assert_int_equal(out[0].wall_ns, 0);
    assert_int_equal(out[1].host_ns, 11);
    assert_int_equal(out[1].device_ns, 22);
    assert_int_equal(out[1].wall_ns, 33);
    assert_int_equal(out[1].saved_vs_plain_ns, -44);
    assert_int_equal(out[1].predicted_ns, 6);
    for (uint64_t n = 3; n <= 5; n++)
        (void)record(decisions, n);
    vyre_decisions_finish(decisions, first, &measured); /* its slot holds record 5 by now */
    vyre_decisions_finish(decisions, 0, &measured);
    assert_int_equal(vyre_decisions_read(decisions, 5, out, 4), 1);
    assert_int_equal(out[0].wall_ns, 0);
    vyre_decisions_count(decisions, &counters);
    assert_int_equal(counters.finished, 1);
    assert_int_equal(counters.late, 1);
    vyre_decisions_destroy(&decisions);
}

static void sampling_limits_the_rate_and_counts_all(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_decisions *decisions = create(&memory, 1024, 100); /* one in 10 ms */
    struct vyre_decision_counters counters;
    struct vyre_decision_record out[128];
    uint64_t kept = 0;
    for (uint64_t n = 0; n < 100000; n++) { /* 1 us apart: 100 ms in all */
        if (vyre_decisions_sample(decisions, VYRE_MODE_REPLAY, VYRE_WHY_MEASURED_BEST, false,
                                  n * 1000)) {
            struct vyre_decision_record made = record_of(n);
            (void)vyre_decisions_begin(decisions, &made);
            kept++;
        }
    }
    assert_int_equal(kept, 10);
    assert_true(vyre_decisions_sample(decisions, VYRE_MODE_PLAIN, VYRE_WHY_EXPLORE, true, 99 * MS));
    assert_false(
        vyre_decisions_sample(decisions, VYRE_MODE_REPLAY, VYRE_WHY_MEASURED_BEST, false, 99 * MS));
    assert_true(vyre_decisions_sample(decisions, VYRE_MODE_REPLAY, VYRE_WHY_MEASURED_BEST, false,
                                      200 * MS));
    vyre_decisions_count(decisions, &counters);
    assert_int_equal(counters.decided, 100003);
    assert_int_equal(counters.kept, 10);
    assert_int_equal(counters.by_mode[VYRE_MODE_REPLAY], 100002);
    assert_int_equal(counters.by_mode[VYRE_MODE_PLAIN], 1);
    assert_int_equal(counters.by_why[VYRE_WHY_MEASURED_BEST], 100002);
    assert_int_equal(counters.by_why[VYRE_WHY_EXPLORE], 1);
    assert_int_equal(vyre_decisions_read(decisions, 0, out, 128), 10);
    assert_int_equal(out[0].sequence, 1);
    assert_int_equal(out[1].sequence, 10001);
    vyre_decisions_destroy(&decisions);
}

static void create_without_memory_fails(void **state)
{
    (void)state;
    struct counting_allocator memory = {.fails = true};
    struct vyre_allocator allocator = counting_allocator_face(&memory);
    struct vyre_decisions *decisions = (void *)1;
    assert_int_equal(vyre_decisions_create(NULL, &allocator, &decisions), VYRE_OUT_OF_MEMORY);
    assert_null(decisions);
}

struct reading {
    const struct vyre_decisions *decisions;
    _Atomic bool stop;
    uint64_t torn;
    uint64_t disordered;
    uint64_t seen;
};

static bool whole(const struct vyre_decision_record *r)
{
    uint64_t n = r->shape_lo;
    bool same =
        r->sequence == n && r->shape_hi == ~n && r->time_ns == n && r->predicted_ns == n * 3;
    for (uint64_t i = 0; i < VYRE_CANDIDATES_MAX; i++)
        same &= r->candidates[i].predicted_ns == n + i;
    /* Finished all at once or not at all. */
    return same && ((r->wall_ns == 0 && r->host_ns == 0 && r->device_ns == 0) ||
                    (r->wall_ns == n * 7 && r->host_ns == n * 5 && r->device_ns == n * 6));
}

static void *read_all(void *argument)
{
    struct reading *reading = argument;
    struct vyre_decision_record out[16];
    while (!atomic_load(&reading->stop)) {
        size_t count = vyre_decisions_read(reading->decisions, 0, out, 16);
        for (size_t i = 0; i < count; i++) {
            reading->torn += !whole(&out[i]);
            reading->disordered += i > 0 && out[i].sequence <= out[i - 1].sequence;
        }
        reading->seen += count;
    }
    return NULL;
}

static void readers_see_whole_records_while_one_writes(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_decisions *decisions = create(&memory, 16, 0);
    struct reading readings[2] = {{.decisions = decisions}, {.decisions = decisions}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readings[i]), 0);
    uint64_t tickets[4] = {0};
    for (uint64_t n = 1; n <= VYRE_TEST_DECISION_ROUNDS; n++) {
        tickets[n % 4] = record(decisions, n);
        if (n > 3) {
            uint64_t m = n - 3; /* three in flight */
            vyre_decisions_finish(decisions, tickets[m % 4],
                                  &(struct vyre_decision_measured){
                                      .host_ns = m * 5, .device_ns = m * 6, .wall_ns = m * 7});
        }
    }
    for (size_t i = 0; i < 2; i++) {
        atomic_store(&readings[i].stop, true);
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readings[i].torn, 0);
        assert_int_equal(readings[i].disordered, 0);
    }
    vyre_decisions_destroy(&decisions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_keeps_the_last_and_reads_in_order),
        cmocka_unit_test(finish_completes_its_record),
        cmocka_unit_test(sampling_limits_the_rate_and_counts_all),
        cmocka_unit_test(create_without_memory_fails),
        cmocka_unit_test(readers_see_whole_records_while_one_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
