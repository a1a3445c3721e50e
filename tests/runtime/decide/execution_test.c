/*
 * execution_test.c: what commands take is learned from sampled times, and predicts batches that were
 * never run.
 */
#include <string.h>

#include "runtime/batch.h"
#include "runtime/execution.h"
#include "runtime/facts.h"
#include "runtime/internal.h"
#include "runtime/shape_keys.h"
#include "runtime/sim_fixture.h"

enum { BYTES = 4096 };

static void assert_near(double value, double expected, double part)
{
    if (value < expected * (1.0 - part) || value > expected * (1.0 + part))
        fail_msg("%f is not within %f of %f", value, part, expected);
}

/* ---- Lines ------------------------------------------------------------------------------------ */

static void line_of_nothing_has_no_slope(void **state)
{
    (void)state;
    struct vyre_execution_line line = {0};
    assert_true(vyre_execution_line_slope(&line, 100.0) == 0.0);
    assert_true(vyre_execution_line_part(&line) == 0.0);
    assert_false(vyre_execution_line_is_split(&line));
    vyre_execution_line_learn(&line, 0.0, 5.0);
    vyre_execution_line_learn(&line, 5.0, 0.0);
    assert_int_equal(line.count, 0);
}

static void line_of_two_sizes_separates_part_and_slope(void **state)
{
    (void)state;
    struct vyre_execution_line line = {0};
    vyre_execution_line_learn(&line, 1.0, 5010.0);
    vyre_execution_line_learn(&line, 1000.0, 15000.0);
    assert_true(vyre_execution_line_is_split(&line));
    assert_near(vyre_execution_line_slope(&line, 0.0), 10.0, 0.001);
    assert_near(vyre_execution_line_part(&line), 5000.0, 0.001);
    /* In the middle: the same line. */
    for (int i = 0; i < 20; i++)
        vyre_execution_line_learn(&line, 100.0, 6000.0);
    assert_near(vyre_execution_line_slope(&line, 0.0), 10.0, 0.001);
}

static void line_of_one_size_leaves_out_the_part_of_others(void **state)
{
    (void)state;
    struct vyre_execution_line line = {0};
    vyre_execution_line_learn(&line, 100.0, 6000.0);
    assert_near(vyre_execution_line_slope(&line, 0.0), 60.0, 0.001);
    assert_near(vyre_execution_line_slope(&line, 5000.0), 15.0, 0.001); /* at most 3/4 of it */
    assert_near(vyre_execution_line_slope(&line, 2000.0), 40.0, 0.001);
}

static void line_leans_towards_the_shortest(void **state)
{
    (void)state;
    struct vyre_execution_line line = {0};
    vyre_execution_line_learn(&line, 10.0, 300000000.0); /* a compiler ran first */
    vyre_execution_line_learn(&line, 10.0, 1000.0);
    assert_near(vyre_execution_line_slope(&line, 0.0), 100.0, 0.001);
    vyre_execution_line_learn(&line, 10.0, 50000000.0); /* preempted */
    assert_near(vyre_execution_line_slope(&line, 0.0), 100.0, 0.2);
    for (int i = 0; i < 64; i++) /* it has become slower for good */
        vyre_execution_line_learn(&line, 10.0, 4000.0);
    assert_near(vyre_execution_line_slope(&line, 0.0), 400.0, 0.1);
}

static void line_whose_larger_size_is_faster_keeps_a_slope(void **state)
{
    (void)state;
    struct vyre_execution_line line = {0};
    vyre_execution_line_learn(&line, 1.0, 5000.0);
    vyre_execution_line_learn(&line, 64.0, 4000.0);
    assert_true(vyre_execution_line_slope(&line, 0.0) > 0.0);
    assert_true(vyre_execution_line_slope(&line, 0.0) < 5.0);
}

/* ---- On a device ------------------------------------------------------------------------------ */

/* One that always launches plainly. */
static const struct vyre_sim_desc plain_only = {
    .no_record = true,
    .absent = {[VYRE_ABILITY_PERSISTENT] = "not in this test"},
};

static struct vyre_batch *sets(struct fixture *fixture, uint32_t groups, uint32_t count)
{
    const uint32_t constant = 3;
    struct vyre_batch *batch = fixture_batch(fixture);
    const struct vyre_slot_binding binding = {.slot = 2,
                                              .range = {.buffer = fixture_buffer(fixture, BYTES)}};
    for (uint32_t i = 0; i < count; i++)
        vyre_batch_dispatch(batch,
                            &(struct vyre_dispatch){.kernel = fixture->kernels[KERNEL_SET],
                                                    .groups = {groups, 1, 1},
                                                    .bindings = &binding,
                                                    .binding_count = 1,
                                                    .constants = &constant,
                                                    .constants_size_bytes = sizeof constant});
    return batch;
}

static void run(struct fixture *fixture, struct vyre_batch *batch, uint32_t hint)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.repeat_hint = hint};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
}

/* Predictions in each mode, of all that is complete. */
static void predict_modes(struct fixture *fixture, struct vyre_batch *batch,
                          double out_ns[VYRE_MODE_COUNT])
{
    vyre_lock_acquire(&fixture->device->lock);
    vyre_execution_collect_locked(fixture->device);
    vyre_execution_predict_modes_locked(fixture->device, batch->body, out_ns);
    double plain = vyre_execution_predict_locked(fixture->device, batch->body);
    vyre_lock_release(&fixture->device->lock);
    assert_true(plain == out_ns[VYRE_MODE_PLAIN]);
}

static double predict(struct fixture *fixture, struct vyre_batch *batch)
{
    double ns[VYRE_MODE_COUNT];
    predict_modes(fixture, batch, ns);
    return ns[VYRE_MODE_PLAIN];
}

static uint32_t samples_of(const struct fixture *fixture, enum fixture_kernel kernel)
{
    return fixture->kernels[kernel]->execution.line.count;
}

static void a_new_shape_is_predicted_from_another(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &plain_only, NULL);
    assert_true(vyre_sim_set_kernel_cost(fixture.sim, "set", 7000));
    struct vyre_batch *small = sets(&fixture, 16, 1);
    struct vyre_batch *large = sets(&fixture, 800, 3);
    assert_true(predict(&fixture, large) == 0.0);
    run(&fixture, small, 0);
    assert_true(predict(&fixture, large) == 0.0); /* the first run does not count */
    run(&fixture, small, 0);
    assert_near(predict(&fixture, large), 3 * 800 * 7000.0, 0.05);
    run(&fixture, large, 0); /* another size: sampled at once, and the slope is exact */
    assert_near(predict(&fixture, small), 16 * 7000.0, 0.001);
    fixture_close(&fixture);
}

static void a_new_kernel_is_predicted_from_the_others(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &plain_only, NULL);
    assert_true(vyre_sim_set_kernel_cost(fixture.sim, "set", 5000));
    struct vyre_batch *batch = sets(&fixture, 64, 1);
    struct vyre_batch *other = fixture_mixes(&fixture, 4, BYTES);
    run(&fixture, batch, 0);
    run(&fixture, batch, 0);
    assert_near(predict(&fixture, other), 4 * 5000.0, 0.1);
    assert_int_equal(samples_of(&fixture, KERNEL_MIX), 0);
    fixture_close(&fixture);
}

/* The first submission of a kernel may compile it, also beside one that is known. */
static void a_new_kernel_beside_a_known_one_teaches_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &plain_only, NULL);
    struct vyre_batch *batch = sets(&fixture, 4, 1);
    struct vyre_batch *both = sets(&fixture, 64, 1); /* another size, so it is sampled at once */
    fixture_add_mixes(&fixture, both, 1, BYTES);
    run(&fixture, batch, 0);
    run(&fixture, batch, 0);
    run(&fixture, both, 0);
    (void)predict(&fixture, both);
    assert_int_equal(samples_of(&fixture, KERNEL_SET), 2);
    assert_int_equal(samples_of(&fixture, KERNEL_MIX), 0);
    run(&fixture, both, 0);
    (void)predict(&fixture, both);
    assert_int_equal(samples_of(&fixture, KERNEL_MIX), 1);
    fixture_close(&fixture);
}

static void sampling_becomes_rare(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, &(struct vyre_device_desc){.no_exploration = true});
    struct vyre_batch *batch = sets(&fixture, 4, 1);
    for (int i = 0; i < 2000; i++)
        run(&fixture, batch, 0);
    (void)predict(&fixture, batch);
    assert_in_range(samples_of(&fixture, KERNEL_SET), 2, 12);
    fixture_close(&fixture);
}

static void a_required_mode_is_not_sampled(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_batch *batch = sets(&fixture, 4, 1);
    for (int i = 0; i < 200; i++)
        assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                         VYRE_OK);
    assert_true(predict(&fixture, batch) == 0.0);
    assert_int_equal(fixture.kernels[KERNEL_SET]->execution.runs, 0);
    fixture_close(&fixture);
}

static void without_command_times_nothing_is_predicted(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.no_command_times = true}, NULL);
    struct vyre_batch *batch = sets(&fixture, 4, 1);
    for (int i = 0; i < 20; i++)
        run(&fixture, batch, 0);
    assert_true(predict(&fixture, batch) == 0.0);
    fixture_close(&fixture);
}

static void transfers_are_learned_or_calibrated(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration calibration = {.taken_s = 1};
    fixture_open(&fixture, NULL, NULL);
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.copy_byte_ps = 4000;
    vyre_sim_set_costs(fixture.sim, &costs);
    const struct vyre_range from = {.buffer = fixture_buffer(&fixture, 1 << 20)};
    const struct vyre_range to = {.buffer = fixture_buffer(&fixture, 1 << 20)};
    struct vyre_batch *batch = sets(&fixture, 1, 1);
    struct vyre_batch *copy = fixture_batch(&fixture);
    vyre_batch_copy(batch, from, to);
    vyre_batch_copy(copy, from, to);
    run(&fixture, batch, 0);
    assert_true(predict(&fixture, copy) == 0.0);
    run(&fixture, batch, 0);
    assert_near(predict(&fixture, copy), 4.0 * (1 << 20), 0.01);
    calibration.costs[VYRE_COST_COPY_MIB] = (struct vyre_cost){.known = true, .median_ns = 12345.0};
    assert_int_equal(vyre_device_set_calibration(fixture.device, &calibration, &fixture.diag),
                     VYRE_OK);
    assert_near(predict(&fixture, copy), 12345.0, 0.001);
    fixture_close(&fixture);
}

static void a_destroyed_kernel_teaches_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_batch *batch = sets(&fixture, 4, 1);
    struct vyre_batch *other = fixture_mixes(&fixture, 1, BYTES);
    for (int i = 0; i < 2; i++) {
        (void)fixture_submit(&fixture, batch, VYRE_MODE_AUTO);
        if (i == 0)
            assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    }
    assert_true(fixture.device->execution.sequence != 0);
    vyre_kernel_destroy(&fixture.kernels[KERNEL_SET]);
    assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    assert_true(predict(&fixture, other) == 0.0);
    assert_true(fixture.device->execution.sequence == 0);
    fixture_close(&fixture);
}

static void a_failed_submission_teaches_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_ticket ticket;
    fixture_open(&fixture, &plain_only, NULL);
    struct vyre_batch *batch = sets(&fixture, 4, 1);
    run(&fixture, batch, 0);
    vyre_sim_fail(fixture.sim, VYRE_SIM_SUBMIT, 1, VYRE_OUT_OF_MEMORY, 0);
    assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &fixture.diag), VYRE_OUT_OF_MEMORY);
    assert_true(fixture.device->execution.sequence == 0);
    vyre_sim_fail_running(fixture.sim, 1, VYRE_OUT_OF_MEMORY, 0);
    assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &fixture.diag), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OUT_OF_MEMORY);
    assert_true(predict(&fixture, batch) == 0.0);
    fixture_close(&fixture);
}

/* ---- For a decision --------------------------------------------------------------------------- */

static void candidates_get_the_execution_of_their_mode(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_candidate_facts facts[VYRE_CANDIDATES_MAX];
    fixture_open(
        &fixture,
        &(struct vyre_sim_desc){
            .order = VYRE_SIM_ORDER_DEPS,
            .parallel =
                {[VYRE_MODE_PLAIN] = 8, [VYRE_MODE_REPLAY] = 8, [VYRE_MODE_PERSISTENT] = 1}},
        NULL);
    struct vyre_batch *small = sets(&fixture, 8, 1);
    struct vyre_batch *large = sets(&fixture, 4096, 1);
    for (int i = 0; i < 2; i++) {
        run(&fixture, small, 0);
        run(&fixture, large, 0);
    }
    double ns[VYRE_MODE_COUNT];
    predict_modes(&fixture, large, ns);
    assert_near(ns[VYRE_MODE_PLAIN], 512 * 1000.0, 0.01);
    assert_near(ns[VYRE_MODE_PERSISTENT], 4096 * 1000.0, 0.01);
    vyre_lock_acquire(&fixture.device->lock);
    struct vyre_shape *shape =
        vyre_shapes_find(&fixture.device->shapes, vyre_body_shape(large->body));
    assert_non_null(shape);
    vyre_facts_find_locked(fixture.device, large->body, shape, 0, facts);
    for (uint32_t i = 0; i < fixture.device->candidates.count; i++)
        assert_true(facts[i].work_ns == ns[fixture.device->candidates.list[i].mode]);
    vyre_lock_release(&fixture.device->lock);
    fixture_close(&fixture);
}

/* What the policies ask for with this many groups, once the kernel is known. */
static enum vyre_mode wanted(uint32_t groups)
{
    struct fixture fixture;
    struct vyre_explanation said;
    struct vyre_sim_costs costs = fixture_resident_costs();
    costs.group_ns = 1000;
    costs.record_command_ns = UINT64_C(1000000000);
    costs.persistent_setup_ns = 1000000; /* pays for a thousand, not for the first two */
    fixture_open(
        &fixture,
        &(struct vyre_sim_desc){
            .costs = &costs,
            .parallel =
                {[VYRE_MODE_PLAIN] = 8, [VYRE_MODE_REPLAY] = 8, [VYRE_MODE_PERSISTENT] = 1}},
        NULL);
    struct vyre_batch *seen = sets(&fixture, 8, 1);
    struct vyre_batch *asked = sets(&fixture, groups, 1);
    run(&fixture, seen, 1);
    run(&fixture, seen, 1);
    (void)predict(&fixture, seen);
    assert_int_equal(vyre_batch_explain(asked, 1000, &said, &fixture.diag), VYRE_OK);
    fixture_close(&fixture);
    return said.wanted;
}

static void residents_are_wanted_as_long_as_they_execute_fast_enough(void **state)
{
    (void)state;
    assert_int_equal(wanted(1), VYRE_MODE_PERSISTENT);
    assert_int_not_equal(wanted(4096), VYRE_MODE_PERSISTENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_of_nothing_has_no_slope),
        cmocka_unit_test(line_of_two_sizes_separates_part_and_slope),
        cmocka_unit_test(line_of_one_size_leaves_out_the_part_of_others),
        cmocka_unit_test(line_leans_towards_the_shortest),
        cmocka_unit_test(line_whose_larger_size_is_faster_keeps_a_slope),
        cmocka_unit_test(a_new_shape_is_predicted_from_another),
        cmocka_unit_test(a_new_kernel_is_predicted_from_the_others),
        cmocka_unit_test(a_new_kernel_beside_a_known_one_teaches_nothing),
        cmocka_unit_test(sampling_becomes_rare),
        cmocka_unit_test(a_required_mode_is_not_sampled),
        cmocka_unit_test(without_command_times_nothing_is_predicted),
        cmocka_unit_test(transfers_are_learned_or_calibrated),
        cmocka_unit_test(a_destroyed_kernel_teaches_nothing),
        cmocka_unit_test(a_failed_submission_teaches_nothing),
        cmocka_unit_test(candidates_get_the_execution_of_their_mode),
        cmocka_unit_test(residents_are_wanted_as_long_as_they_execute_fast_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
