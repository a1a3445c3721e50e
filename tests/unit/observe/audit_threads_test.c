/*
 * audit_threads_test.c: four threads record while one reads. Every field of an event is derived
 * from one number, so that an event put together from two shows.
 *
 *   number = writer << 56 | count        saved = {number, mix(number)}, codes from mix(number)
 */
#include <vyre/audit.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "support/test.h"

enum { WRITERS = 4, RING_MAX = 1024 };

/*
 * A case ends after so many rounds, or after this time once it has done a tenth of them: on a
 * machine whose cores others use, a round waits for the scheduler.
 */
#define CASE_NS UINT64_C(4000000000)

static bool goes_on(int done, int wanted, uint64_t begin_ns)
{
    if (done < wanted / 10)
        return true;
    return done < wanted && (done % 64 != 0 || vyre_clock_now_ns() - begin_ns < CASE_NS);
}

static uint64_t mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

static struct vyre_policy_event event_of(uint64_t number)
{
    uint64_t mixed = mix(number);
    return (struct vyre_policy_event){
        .policy = (enum vyre_policy)(1 + mixed % 6),
        .action = (enum vyre_policy_action)(1 + mixed / 8 % 4),
        .detail = (enum vyre_policy_detail)(1 + mixed / 64 % 4),
        .saved_ns = {number, mixed},
    };
}

struct writer {
    pthread_t thread;
    struct vyre_audit *audit; /* Borrowed */
    uint64_t number;          /* of the writer */
    _Atomic bool *stop;       /* Borrowed */
    uint64_t recorded;        /* written by the thread, read after it was joined */
};

static void *write_events(void *argument)
{
    struct writer *writer = argument;
    while (!atomic_load_explicit(writer->stop, memory_order_relaxed)) {
        struct vyre_policy_event event = event_of(writer->number << 56 | writer->recorded);
        vyre_audit_record_event(writer->audit, &event);
        writer->recorded++;
    }
    return NULL;
}

/* What is wrong with an event on its own, or NULL. */
static const char *flaw_of_event(const struct vyre_audit_event *event)
{
    struct vyre_policy_event expected = event_of(event->event.saved_ns.lo);
    if (event->event.saved_ns.hi != expected.saved_ns.hi)
        return "the savings' halves are of two events";
    if (event->event.policy != expected.policy || event->event.action != expected.action ||
        event->event.detail != expected.detail)
        return "the codes are of another event than the savings";
    return event->time_ns == 0 ? "the event has no time" : NULL;
}

/* What is wrong with a snapshot, or NULL. No assert: the writers may still run. */
static const char *flaw_of_snapshot(const struct vyre_audit_snapshot *snapshot,
                                    const struct vyre_audit_event *events)
{
    if (snapshot->count > snapshot->event_limit || snapshot->dropped > snapshot->recorded)
        return "the counts do not fit";
    uint64_t newest[WRITERS] = {0};
    for (size_t i = 0; i < snapshot->count; i++) {
        const char *flaw = flaw_of_event(&events[i]);
        if (flaw)
            return flaw;
        if (i > 0 && events[i - 1].sequence >= events[i].sequence)
            return "the sequences do not ascend";
        if (events[i].sequence >= snapshot->recorded)
            return "a sequence is beyond what was recorded";
        uint64_t writer = events[i].event.saved_ns.lo >> 56;
        uint64_t count = (events[i].event.saved_ns.lo & (UINT64_MAX >> 8)) + 1;
        if (writer >= WRITERS || newest[writer] >= count)
            return "what one thread recorded later does not stand later";
        newest[writer] = count;
    }
    return NULL;
}

struct observation {
    struct vyre_audit_snapshot snapshot;
    struct vyre_audit_event events[RING_MAX];
};

static void record_four_threads_and_a_reader(uint32_t ring, size_t capacity, int snapshots)
{
    static struct observation seen, last;
    _Atomic bool stop = false;
    struct vyre_audit_desc desc = {.event_limit = ring};
    struct vyre_audit *audit = NULL;
    struct writer writers[WRITERS];
    assert_int_equal(vyre_audit_create(&desc, &audit, NULL), VYRE_OK);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.audit = audit, .number = i, .stop = &stop};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_events, &writers[i]), 0);
    }

    const char *flaw = NULL;
    uint64_t recorded_before = 0;
    bool recorded_went_back = false;
    size_t events_seen = 0;
    int changes = 0; /* snapshots between which something was recorded */
    uint64_t begin_ns = vyre_clock_now_ns();
    while (goes_on(changes, snapshots, begin_ns) && !flaw) {
        vyre_audit_snapshot(audit, seen.events, capacity, &seen.snapshot);
        flaw = flaw_of_snapshot(&seen.snapshot, seen.events);
        events_seen += seen.snapshot.count;
        recorded_went_back |= seen.snapshot.recorded < recorded_before;
        if (seen.snapshot.recorded != recorded_before)
            changes++;
        else
            sched_yield();
        recorded_before = seen.snapshot.recorded;
    }
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    uint64_t recorded = 0;
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        recorded += writers[i].recorded;
    }
    vyre_audit_snapshot(audit, last.events, ring, &last.snapshot);
    vyre_audit_destroy(&audit);

    if (flaw)
        fail_msg("%s", flaw);
    assert_false(recorded_went_back);
    assert_true(events_seen > 0);
    assert_null(flaw_of_snapshot(&last.snapshot, last.events));
    assert_int_equal(last.snapshot.recorded, recorded);
    assert_int_equal(last.snapshot.count + last.snapshot.dropped, recorded);
    assert_in_range(last.snapshot.count, 0, ring);
}

static void snapshot_while_a_small_ring_wraps_has_whole_events(void **state)
{
    (void)state;
    record_four_threads_and_a_reader(8, 8, VYRE_TEST_SNAPSHOTS);
}

static void snapshot_while_a_large_ring_wraps_has_whole_events(void **state)
{
    (void)state;
    record_four_threads_and_a_reader(RING_MAX, RING_MAX, VYRE_TEST_SNAPSHOTS / 10);
}

static void snapshot_smaller_than_the_ring_has_whole_events(void **state)
{
    (void)state;
    record_four_threads_and_a_reader(64, 5, VYRE_TEST_SNAPSHOTS);
}

/* Two threads in step: both record one event into the only slot, then both stop. */
struct duel {
    struct vyre_audit *audit; /* Borrowed */
    _Atomic int turn;         /* 2r: round r has not begun; 2r + 1: it has; -1: no more rounds */
    _Atomic int done;         /* rounds that the opponent has finished */
};

static void *fight(void *argument)
{
    struct duel *duel = argument;
    unsigned spins = 0;
    for (int round = 0;; round++) {
        int turn;
        /* Acquire and release pair with the other side's: what a round did is seen after it. */
        while ((turn = atomic_load_explicit(&duel->turn, memory_order_acquire)) < 2 * round + 1) {
            if (turn < 0)
                return NULL;
            if (++spins % 1000 == 0)
                sched_yield();
        }
        struct vyre_policy_event event = event_of(UINT64_C(1) << 56 | (uint64_t)round);
        vyre_audit_record_event(duel->audit, &event);
        atomic_store_explicit(&duel->done, round + 1, memory_order_release);
    }
}

static void snapshot_after_two_fought_for_a_slot_has_a_whole_event(void **state)
{
    (void)state;
    struct vyre_audit_desc desc = {.event_limit = 1};
    struct duel duel = {.audit = NULL};
    assert_int_equal(vyre_audit_create(&desc, &duel.audit, NULL), VYRE_OK);
    pthread_t opponent;
    assert_int_equal(pthread_create(&opponent, NULL, fight, &duel), 0);

    const char *flaw = NULL;
    int kept = 0, rounds = 40 * VYRE_TEST_SNAPSHOTS, round = 0;
    uint64_t begin_ns = vyre_clock_now_ns();
    for (; goes_on(round, rounds, begin_ns) && !flaw; round++) {
        struct vyre_policy_event event = event_of((uint64_t)round);
        atomic_store_explicit(&duel.turn, 2 * round + 1, memory_order_release);
        /* The opponent sees it some 100 ns later; every round another lead meets it. */
        for (volatile int lead = 0; lead < round % 128; lead++)
            continue;
        vyre_audit_record_event(duel.audit, &event);
        while (atomic_load_explicit(&duel.done, memory_order_acquire) <= round)
            sched_yield();
        struct vyre_audit_event seen;
        struct vyre_audit_snapshot snapshot;
        vyre_audit_snapshot(duel.audit, &seen, 1, &snapshot);
        flaw = flaw_of_snapshot(&snapshot, &seen);
        if (snapshot.recorded != 2 * ((uint64_t)round + 1))
            flaw = "an event was not counted";
        kept += snapshot.count == 1;
    }
    atomic_store_explicit(&duel.turn, -1, memory_order_release);
    pthread_join(opponent, NULL);
    vyre_audit_destroy(&duel.audit);
    if (flaw)
        fail_msg("%s in round %d", flaw, round);
    assert_true(kept > 0);
}

static void *record_bundles(void *argument)
{
    struct writer *writer = argument;
    struct vyre_bundle bundle = {.persistent_kernel = {VYRE_PERSISTENT_KERNEL, {1, 0}},
                                 .arms = {VYRE_ARMS_SERIALIZE, VYRE_CONFLICT_WRITE_WRITE},
                                 .command_reuse = {VYRE_PLAIN_LAUNCHES, 0},
                                 .bindless = {VYRE_BINDLESS},
                                 .trace_jit = {VYRE_HOLD_STEADY, 0}};
    for (uint64_t i = 0; i < writer->recorded; i++)
        vyre_audit_record_bundle(writer->audit, &bundle);
    return NULL;
}

static void record_bundle_four_threads_lose_no_count(void **state)
{
    (void)state;
    enum { EACH = 20000 };
    struct vyre_audit_desc desc = {.event_limit = 64};
    struct vyre_audit *audit = NULL;
    struct writer writers[WRITERS];
    assert_int_equal(vyre_audit_create(&desc, &audit, NULL), VYRE_OK);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.audit = audit, .recorded = EACH};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, record_bundles, &writers[i]), 0);
    }
    for (size_t i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    struct vyre_audit_snapshot snapshot;
    vyre_audit_snapshot(audit, NULL, 0, &snapshot);
    vyre_audit_destroy(&audit);
    assert_int_equal(snapshot.recorded, WRITERS * EACH * 2);
    static const unsigned choice_of[VYRE_POLICY_COUNT] = {0, 2, 1, 0, 1, 2, 1};
    for (size_t policy = 0; policy < VYRE_POLICY_COUNT; policy++) {
        for (unsigned choice = 1; choice < VYRE_AUDIT_CHOICES; choice++)
            assert_int_equal(snapshot.counters.verdicts[policy][choice],
                             choice == choice_of[policy] ? WRITERS * EACH : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshot_while_a_small_ring_wraps_has_whole_events),
        cmocka_unit_test(snapshot_while_a_large_ring_wraps_has_whole_events),
        cmocka_unit_test(snapshot_smaller_than_the_ring_has_whole_events),
        cmocka_unit_test(snapshot_after_two_fought_for_a_slot_has_a_whole_event),
        cmocka_unit_test(record_bundle_four_threads_lose_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
