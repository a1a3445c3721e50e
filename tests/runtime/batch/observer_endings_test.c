/*
 * observer_endings_test.c: what an observer gets where it matters how a device ends its batches: several
 * found complete at one look, some that fail, and a device that is lost.
 */
#include <string.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 256, MOST = 64 };

struct seen {
    uint32_t count; /* batches */
    uint64_t last;
    uint32_t shapes;
    uint32_t by_status[VYRE_STATUS_COUNT];
    double wall_ns;
    struct vyre_explanation said; /* of the last shape */
    uint64_t shape_lo, shape_hi, batch_lo, batch_hi;
};

static void take(void *user, const struct vyre_event *event)
{
    struct seen *seen = user;
    if (event->type == VYRE_EVENT_SHAPE) {
        seen->shapes++;
        seen->said = *event->as.shape->explanation;
        seen->shape_lo = event->as.shape->shape_lo;
        seen->shape_hi = event->as.shape->shape_hi;
    }
    if (event->type != VYRE_EVENT_BATCH_COMPLETED)
        return;
    const struct vyre_event_batch_completed *batch = event->as.batch_completed;
    assert_int_equal(batch->sequence, seen->last + 1);
    seen->last = batch->sequence;
    seen->count++;
    seen->by_status[batch->status]++;
    seen->wall_ns += (double)batch->decision->wall_ns;
    seen->batch_lo = batch->decision->shape_lo;
    seen->batch_hi = batch->decision->shape_hi;
}

static void open_observed(struct fixture *fixture, struct seen *seen,
                          const struct vyre_sim_desc *desc)
{
    memset(seen, 0, sizeof *seen);
    const struct vyre_observer observer = {sizeof observer, seen, take};
    fixture_open_in(fixture, desc, NULL, &(struct vyre_instance_desc){.observer = &observer});
}

static void idle(struct fixture *fixture)
{
    assert_int_equal(vyre_device_wait_idle(fixture->device, VYRE_FOREVER, &fixture->diag), VYRE_OK);
}

/* What all of them took is shared out, whatever is learned from the first shares on the way. */
static void batches_found_complete_at_one_look_share_the_time_that_there_was(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY});
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    for (int i = 0; i < 100; i++) {
        struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_AUTO);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    }
    idle(&fixture);
    assert_true(vyre_sim_set_kernel_cost(fixture.sim, "mix", 1000000));
    for (int round = 0; round < 8; round++) {
        uint32_t before = seen.count;
        uint64_t start_ns = vyre_sim_now_ns(fixture.sim);
        seen.wall_ns = 0.0;
        for (int i = 0; i < MOST / 2; i++)
            (void)fixture_submit(&fixture, batch, VYRE_MODE_AUTO);
        idle(&fixture);
        assert_int_equal(seen.count, before + MOST / 2);
        assert_true(seen.wall_ns > 0.0);
        assert_true(seen.wall_ns <= (double)(vyre_sim_now_ns(fixture.sim) - start_ns) * 1.01);
    }
    fixture_close(&fixture);
}

static void a_failed_batch_is_reported_with_its_status(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 2, BYTES);
    (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    idle(&fixture);
    vyre_sim_fail_running(fixture.sim, 1, VYRE_INTERNAL, 0);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_INTERNAL);
    idle(&fixture);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.by_status[VYRE_OK], 1);
    assert_int_equal(seen.by_status[VYRE_INTERNAL], 1);
    fixture_close(&fixture);
}

static void batches_of_a_lost_device_are_reported_as_lost(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY});
    struct vyre_batch *batch = fixture_mixes(&fixture, 2, BYTES);
    for (int i = 0; i < 4; i++)
        (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    vyre_sim_lose_now(fixture.sim);
    assert_int_equal(vyre_device_wait_idle(fixture.device, VYRE_FOREVER, &fixture.diag),
                     VYRE_DEVICE_LOST);
    fixture_close_device(&fixture);
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.by_status[VYRE_DEVICE_LOST], 4);
    fixture_close(&fixture);
}

static void a_shape_is_reported_once_before_its_batch_and_again_after_a_calibration(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    struct vyre_calibration calibration;
    open_observed(&fixture, &seen, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 5, BYTES);
    for (int i = 0; i < 20; i++)
        (void)fixture_submit(&fixture, batch, VYRE_MODE_AUTO);
    assert_int_equal(seen.shapes, 1);
    idle(&fixture);
    assert_int_equal(seen.shapes, 1);
    assert_int_equal(seen.shape_lo, seen.batch_lo);
    assert_int_equal(seen.shape_hi, seen.batch_hi);
    /* As reported with the first batch: the next would be the second, of five commands each. */
    assert_int_equal(seen.said.persistent_kernel.batch_size, 10);
    assert_int_equal(seen.said.plain_origin, VYRE_ORIGIN_STATED);
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &calibration, &fixture.diag),
                     VYRE_OK);
    uint64_t muted = 0;
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture.device, &counters);
    muted = counters.submitted - seen.last;
    seen.last += muted; /* its probes have numbers, and are not reported */
    (void)fixture_submit(&fixture, batch, VYRE_MODE_AUTO);
    idle(&fixture);
    assert_int_equal(seen.shapes, 2);
    assert_int_equal(seen.count, 21);
    assert_int_equal(seen.said.plain_origin, VYRE_ORIGIN_CALIBRATED);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_found_complete_at_one_look_share_the_time_that_there_was),
        cmocka_unit_test(a_failed_batch_is_reported_with_its_status),
        cmocka_unit_test(batches_of_a_lost_device_are_reported_as_lost),
        cmocka_unit_test(a_shape_is_reported_once_before_its_batch_and_again_after_a_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
