/*
 * calibrate_test.c: what a calibration measures, reports and leaves behind. No time is asserted.
 */
#include <math.h>

#include "runtime/cpu_fixture.h"
#include "runtime/samples.h"

struct seen {
    uint32_t calls;
    uint32_t done;
    uint32_t stop_at; /* 0: never */
    bool known[VYRE_COST_COUNT];
};

static bool on_progress(void *user, uint32_t done, uint32_t count, enum vyre_cost_id cost,
                        const struct vyre_cost *result)
{
    struct seen *seen = user;
    seen->calls++;
    assert_int_equal(count, VYRE_COST_COUNT);
    assert_true((unsigned)cost < VYRE_COST_COUNT);
    assert_int_equal(done, seen->done + !seen->known[cost]); /* noisy ones come again */
    seen->done = done;
    seen->known[cost] = true;
    assert_true(result->known);
    assert_true(result->samples >= 3);
    assert_true(result->min_ns >= 0.0 && result->min_ns <= result->median_ns);
    return seen->calls != seen->stop_at;
}

static void every_cost_of_the_cpu_is_measured(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen = {0};
    struct vyre_calibration calibration, kept;
    struct vyre_diag diag = {0};
    fixture_open(&fixture, &(struct vyre_device_desc){0});
    vyre_device_get_calibration(fixture.device, &kept);
    assert_int_equal(kept.taken_s, 0);
    const struct vyre_calibration_options options = {.progress = on_progress, .user = &seen};
    assert_ok(vyre_device_calibrate(fixture.device, &options, &calibration, &diag), &diag);
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        bool driver = i >= VYRE_COST_DRIVER_RECORD_BATCH && i <= VYRE_COST_DRIVER_REPLAY_UPDATE;
        assert_int_equal(calibration.costs[i].known, !driver);
        assert_int_equal(seen.known[i], !driver);
        assert_string_not_equal(vyre_cost_name((enum vyre_cost_id)i), "unknown");
    }
    assert_true(calibration.taken_s > 0 && calibration.took_ns > 0);
    vyre_device_get_calibration(fixture.device, &kept);
    assert_memory_equal(&kept, &calibration, sizeof kept);
    fixture_close(&fixture); /* which looks for what is left */
}

static void a_stopped_calibration_changes_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen = {.stop_at = 4};
    struct vyre_calibration calibration, kept;
    struct vyre_diag diag = {0};
    fixture_open(&fixture, &(struct vyre_device_desc){0});
    const struct vyre_calibration_options options = {.progress = on_progress, .user = &seen};
    assert_int_equal(vyre_device_calibrate(fixture.device, &options, &calibration, &diag),
                     VYRE_BUSY);
    assert_int_equal(diag.id, VYRE_DIAG_CALIBRATION_STOPPED);
    assert_int_equal(calibration.taken_s, 0);
    vyre_device_get_calibration(fixture.device, &kept);
    assert_int_equal(kept.taken_s, 0);
    fixture_close(&fixture);
}

static void costs_that_are_no_times_are_refused(void **state)
{
    (void)state;
    static const double wrong[] = {-1.0, 1e300, INFINITY, NAN};
    struct fixture fixture;
    struct vyre_diag diag = {0};
    fixture_open(&fixture, &(struct vyre_device_desc){0});
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct vyre_calibration calibration = {.taken_s = 1};
        calibration.costs[VYRE_COST_EMPTY] =
            (struct vyre_cost){.known = true, .median_ns = wrong[i]};
        assert_int_equal(vyre_device_set_calibration(fixture.device, &calibration, &diag),
                         VYRE_INVALID);
        assert_non_null(strstr(diag.message, "empty"));
    }
    fixture_close(&fixture);
}

/* ---- Samples ---------------------------------------------------------------------------------- */

static void an_outlier_moves_no_median(void **state)
{
    (void)state;
    struct vyre_samples samples = {.count = 0};
    assert_false(vyre_samples_cost(&samples).known);
    for (int i = 0; i < 20; i++)
        vyre_samples_add(&samples, 1000.0 + i);
    vyre_samples_add(&samples, 1e9);
    struct vyre_cost cost = vyre_samples_cost(&samples);
    assert_true(cost.known);
    assert_int_equal(cost.samples, 21);
    assert_true(cost.median_ns >= 1005.0 && cost.median_ns <= 1015.0);
    assert_true(cost.spread_ns <= 12.0);
    assert_true(vyre_cost_within(&cost, 5.0));
}

/* A difference of two times that is lost in their noise is no exact 0. */
static void noise_around_nothing_is_noisy(void **state)
{
    (void)state;
    struct vyre_samples samples = {.count = 0};
    for (int i = 0; i < 40; i++)
        vyre_samples_add(&samples, i % 4 == 0 ? 3000.0 + i : -4000.0 - i);
    struct vyre_cost cost = vyre_samples_cost(&samples);
    assert_true(cost.median_ns >= 0.0 && cost.min_ns >= 0.0);
    assert_true(cost.spread_ns > 1000.0);
    assert_true(cost.confidence_ns >= 4000.0); /* no cost is negative: so wrong is the median */
    assert_false(vyre_cost_within(&cost, 10.0));
    assert_true(vyre_cost_bound_ns(&cost) >= 4000.0);
    samples.count = 0;
    for (int i = 0; i < 40; i++)
        vyre_samples_add(&samples, i % 2 == 0 ? 3000.0 + i : -3500.0 - i);
    cost = vyre_samples_cost(&samples);
    assert_true(cost.median_ns >= 0.0);
    assert_false(vyre_cost_within(&cost, 10.0));
    assert_true(vyre_cost_bound_ns(&cost) > 1000.0);
}

static void scattered_samples_are_not_within(void **state)
{
    (void)state;
    struct vyre_samples samples = {.count = 0};
    for (int i = 0; i < 9; i++)
        vyre_samples_add(&samples, i % 2 ? 1000.0 : 9000.0);
    struct vyre_cost cost = vyre_samples_cost(&samples);
    assert_false(vyre_cost_within(&cost, 10.0));
    /* The count is bounded. */
    for (int i = 0; i < 2 * VYRE_SAMPLES_MAX; i++)
        vyre_samples_add(&samples, 1.0);
    assert_int_equal(samples.count, VYRE_SAMPLES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cost_of_the_cpu_is_measured),
        cmocka_unit_test(a_stopped_calibration_changes_nothing),
        cmocka_unit_test(costs_that_are_no_times_are_refused),
        cmocka_unit_test(an_outlier_moves_no_median),
        cmocka_unit_test(noise_around_nothing_is_noisy),
        cmocka_unit_test(scattered_samples_are_not_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
