/*
 * residency_test.c: an observer gets leases as the backend reports them: numbers count up, ends come after begins,
 * and the reason is the backend's.
 */
#include <string.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 64, MOST = 16 };

struct seen {
    uint32_t count;
    struct vyre_event_lease leases[MOST];
};

static void take(void *user, const struct vyre_event *event)
{
    struct seen *seen = user;
    if (event->type != VYRE_EVENT_LEASE)
        return;
    assert_true(seen->count < MOST);
    seen->leases[seen->count++] = *event->as.lease;
}

static void open_observed(struct fixture *fixture, struct seen *seen,
                          const struct vyre_sim_desc *desc)
{
    memset(seen, 0, sizeof *seen);
    const struct vyre_observer observer = {sizeof observer, seen, take};
    fixture_open_in(fixture, desc, NULL, &(struct vyre_instance_desc){.observer = &observer});
}

static struct vyre_batch *one_set(struct fixture *fixture)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_set(fixture, batch, (struct vyre_range){.buffer = fixture_buffer(fixture, BYTES)}, 1);
    return batch;
}

static void run(struct fixture *fixture, struct vyre_batch *batch, enum vyre_mode mode)
{
    struct vyre_ticket ticket = fixture_submit(fixture, batch, mode);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
}

/* A begin and an end, of this number and for this reason. */
static void expect_pair(const struct seen *seen, uint32_t at, uint64_t number,
                        enum vyre_residency_end why)
{
    const struct vyre_event_lease *begin = &seen->leases[at];
    const struct vyre_event_lease *end = &seen->leases[at + 1];
    assert_true(seen->count >= at + 2);
    assert_int_equal(begin->lease, number);
    assert_int_equal(begin->end_ns, 0);
    assert_int_equal(begin->why, VYRE_RESIDENCY_NONE);
    assert_int_equal(end->lease, number);
    assert_int_equal(end->begin_ns, begin->begin_ns);
    assert_true(end->end_ns >= end->begin_ns);
    assert_int_equal(end->why, why);
    assert_int_equal(end->is_derived, why == VYRE_RESIDENCY_NONE);
}

static void ends_are_reported_with_their_reason(void **state)
{
    (void)state;
    static const enum vyre_residency_end ends[] = {VYRE_RESIDENCY_IDLE, VYRE_RESIDENCY_LEASE,
                                                   VYRE_RESIDENCY_CHANGED};
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, NULL);
    struct vyre_batch *batch = one_set(&fixture);
    for (uint32_t i = 0; i < 3; i++) {
        run(&fixture, batch, VYRE_MODE_PERSISTENT);
        run(&fixture, batch, VYRE_MODE_PERSISTENT);
        vyre_sim_advance(fixture.sim, 100);
        vyre_sim_end_residency(fixture.sim, ends[i]);
    }
    run(&fixture, batch, VYRE_MODE_PLAIN);
    for (uint32_t i = 0; i < 3; i++)
        expect_pair(&seen, 2 * i, i + 1, ends[i]);
    assert_int_equal(seen.count, 6);
    fixture_close(&fixture);
    assert_int_equal(seen.count, 6);
}

static void other_modes_end_it_where_the_backend_says_so(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, &(struct vyre_sim_desc){.modes_exclude = true});
    struct vyre_batch *batch = one_set(&fixture);
    run(&fixture, batch, VYRE_MODE_PERSISTENT);
    run(&fixture, batch, VYRE_MODE_PLAIN);
    expect_pair(&seen, 0, 1, VYRE_RESIDENCY_STOPPED);
    assert_int_equal(seen.count, 2);
    fixture_close(&fixture);
}

static void close_and_loss_end_it(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct fixture fixture;
        struct seen seen;
        open_observed(&fixture, &seen, NULL);
        run(&fixture, one_set(&fixture), VYRE_MODE_PERSISTENT);
        assert_int_equal(seen.count, 1);
        if (lost)
            vyre_sim_lose_now(fixture.sim);
        fixture_close(&fixture);
        expect_pair(&seen, 0, 1, VYRE_RESIDENCY_STOPPED);
        assert_int_equal(seen.count, 2);
    }
}

/* Of two that came and went between two looks, the first is known by its begin alone. */
static void what_was_not_looked_at_is_derived(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, NULL);
    struct vyre_batch *batch = one_set(&fixture);
    run(&fixture, batch, VYRE_MODE_PERSISTENT);
    vyre_sim_end_residency(fixture.sim, VYRE_RESIDENCY_IDLE);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag), VYRE_OK);
    vyre_sim_end_residency(fixture.sim, VYRE_RESIDENCY_LEASE);
    run(&fixture, batch, VYRE_MODE_PLAIN);
    expect_pair(&seen, 0, 1, VYRE_RESIDENCY_NONE);
    expect_pair(&seen, 2, 2, VYRE_RESIDENCY_LEASE);
    assert_int_equal(seen.count, 4);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_reported_with_their_reason),
        cmocka_unit_test(other_modes_end_it_where_the_backend_says_so),
        cmocka_unit_test(close_and_loss_end_it),
        cmocka_unit_test(what_was_not_looked_at_is_derived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
