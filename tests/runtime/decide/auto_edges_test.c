/*
 * auto_edges_test.c: auto where something goes wrong or looks different from what it is: entries of
 * other shapes, modes that refuse, trials without a time, recordings that are thrown away, callers
 * that think before they wait.
 */
#include <string.h>

#include "runtime/internal.h"
#include "runtime/sim_fixture.h"

enum { BYTES = 256, RECORDS = 256 };

static struct vyre_batch_result run(struct fixture *fixture, struct vyre_batch *batch,
                                    const struct vyre_submit_options *options)
{
    struct vyre_ticket ticket;
    assert_int_equal(vyre_batch_submit(batch, options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    return fixture_result(fixture, ticket);
}

static uint64_t decided(struct fixture *fixture)
{
    struct vyre_decision_counters counters;
    vyre_device_count_decisions(fixture->device, &counters);
    return counters.decided;
}

/* ---- Another shape's entry -------------------------------------------------------------------- */

static void a_rebuilt_batch_is_a_new_shape(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_explanation said;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 2, BYTES);
    for (int i = 0; i < 100; i++)
        (void)run(&fixture, batch, NULL);
    vyre_batch_reset(batch);
    fixture_add_mixes(&fixture, batch, 40, BYTES);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, &fixture.diag), VYRE_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(vyre_batch_explain(batch, 0, &said, &fixture.diag), VYRE_OK);
        assert_int_equal(said.repeats_seen, i);
        assert_int_equal(said.next.command_count, 40);
        (void)run(&fixture, batch, NULL);
    }
    fixture_close(&fixture);
}

static void a_batch_rebuilt_from_other_kernels_is_checked_anew(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_sim_costs costs = fixture_resident_costs();
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs, .unfit_label = "mix"}, NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    for (uint32_t i = 0; i < 10; i++)
        fixture_set(&fixture, batch, (struct vyre_range){.buffer = out}, i);
    for (int i = 0; i < 300; i++)
        (void)run(&fixture, batch, NULL);
    assert_int_equal(run(&fixture, batch, NULL).mode, VYRE_MODE_PERSISTENT);
    vyre_batch_reset(batch);
    fixture_add_mixes(&fixture, batch, 10, BYTES);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, &fixture.diag), VYRE_OK);
    for (int i = 0; i < 5; i++)
        assert_int_not_equal(run(&fixture, batch, NULL).mode, VYRE_MODE_PERSISTENT);
    fixture_close(&fixture);
}

/* ---- Modes that refuse ------------------------------------------------------------------------ */

static void auto_goes_on_when_the_chosen_mode_refuses(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_sim_costs costs = fixture_resident_costs();
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 16, BYTES);
    for (int i = 0; i < 200; i++)
        (void)run(&fixture, batch, NULL);
    assert_int_equal(run(&fixture, batch, NULL).mode, VYRE_MODE_PERSISTENT);
    uint64_t before = decided(&fixture);
    struct vyre_diag untouched;
    memset(&untouched, 0x41, sizeof untouched);
    vyre_sim_fail(fixture.sim, VYRE_SIM_SUBMIT, 1, VYRE_OUT_OF_MEMORY, 7);
    struct vyre_ticket ticket;
    vyre_sim_advance(fixture.sim, 1000000000); /* a record is due again */
    assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &untouched), VYRE_OK);
    assert_int_equal(untouched.message[0], 0x41);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    struct vyre_batch_result result = fixture_result(&fixture, ticket);
    assert_int_not_equal(result.mode, VYRE_MODE_PERSISTENT);
    assert_int_equal(decided(&fixture), before + 1); /* refused attempts are no decisions */
    struct vyre_decision_record record;
    assert_int_equal(vyre_device_read_decisions(fixture.device, before + 1, &record, 1), 1);
    for (uint32_t i = 0; i < record.candidate_count; i++) {
        if (record.candidates[i].mode != VYRE_MODE_PERSISTENT)
            continue;
        assert_int_equal(record.candidates[i].state, VYRE_CANDIDATE_OUT);
        assert_int_equal(record.candidates[i].why, VYRE_WHY_FAILED);
        assert_int_equal(record.candidates[i].predicted_ns, 0);
    }
    fixture_close(&fixture);
}

static void a_failed_recording_shows_in_the_record(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record record;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"}}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 16, BYTES);
    vyre_sim_fail(fixture.sim, VYRE_SIM_RECORD, 1, VYRE_OUT_OF_MEMORY, 7);
    const struct vyre_submit_options options = {.repeat_hint = 100000};
    assert_int_equal(run(&fixture, batch, &options).mode, VYRE_MODE_PLAIN);
    assert_int_equal(vyre_device_read_decisions(fixture.device, 1, &record, 1), 1);
    assert_int_equal(record.mode, VYRE_MODE_PLAIN);
    assert_int_equal(record.candidates[0].why, VYRE_WHY_ONLY_FEASIBLE);
    assert_int_equal(record.candidates[1].mode, VYRE_MODE_REPLAY);
    assert_int_equal(record.candidates[1].why, VYRE_WHY_FAILED);
    assert_int_equal(record.candidates[1].state, VYRE_CANDIDATE_OUT);
    fixture_close(&fixture);
}

static void a_loss_while_recording_has_a_reason(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_diag diag;
    struct vyre_ticket ticket;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"}}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 16, BYTES);
    vyre_sim_fail(fixture.sim, VYRE_SIM_RECORD, 1, VYRE_DEVICE_LOST, 7);
    memset(&diag, 0x41, sizeof diag);
    const struct vyre_submit_options options = {.repeat_hint = 100000};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &diag), VYRE_DEVICE_LOST);
    assert_int_equal(diag.status, VYRE_DEVICE_LOST);
    for (int i = 0; i < 2; i++) {
        vyre_diag_reset(&diag);
        assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &diag), VYRE_DEVICE_LOST);
        assert_int_equal(diag.status, VYRE_DEVICE_LOST);
    }
    fixture_close(&fixture);
}

/* ---- What is measured, and of what ------------------------------------------------------------ */

static void a_trial_is_always_timed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    uint32_t replays = 0;
    costs.group_ns = 1;
    costs.submit_ns = 10;
    costs.submit_command_ns = 40;
    costs.replay_ns = 5;
    costs.replay_command_ns = 1;
    costs.record_ns = 1000000;
    costs.record_command_ns = 100000;
    costs.persistent_setup_ns = UINT64_C(1) << 40;
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    for (int i = 0; i < 700; i++)
        (void)run(&fixture, batch, NULL);
    /* The question opens again although the shape was settled and its batches are short. */
    const struct vyre_submit_options options = {.repeat_hint = 10000000};
    for (int i = 0; i < 2000; i++)
        replays += run(&fixture, batch, &options).mode == VYRE_MODE_REPLAY;
    assert_true(replays > 1500);
    fixture_close(&fixture);
}

static void ignore(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    (void)user;
    (void)ticket;
    (void)result;
}

/* On a backend that finds ends when a thread looks, submit looks while batches are timed, so that each
 * end is seen when it comes; but not where it would call the program back. */
static void submit_looks_for_the_ends_of_timed_batches(void **state)
{
    (void)state;
    for (int called_back = 0; called_back < 2; called_back++) {
        struct fixture fixture;
        struct vyre_sim_costs costs = fixture_resident_costs();
        const struct vyre_submit_options options = {.on_complete = called_back ? ignore : NULL};
        fixture_open(
            &fixture,
            &(struct vyre_sim_desc){.costs = &costs, .completion = VYRE_SIM_COMPLETE_FOUND}, NULL);
        struct vyre_batch *batch = fixture_mixes(&fixture, 16, BYTES);
        struct vyre_ticket ticket;
        for (int i = 0; i < 8; i++) {
            assert_int_equal(vyre_batch_submit(batch, &options, &ticket, NULL), VYRE_OK);
            vyre_sim_advance(fixture.sim, 1000000000);
        }
        assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_WAIT), called_back ? 0 : 7);
        if (!called_back) /* what is found is learned, although no thread waited */
            assert_true(fixture.device->governor.counters.spent_ns > 0);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        fixture_close(&fixture);
    }
}

static void required_batches_do_not_spoil_what_is_learned(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record records[RECORDS];
    struct vyre_sim_costs costs = fixture_resident_costs();
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *governed = fixture_mixes(&fixture, 16, BYTES);
    struct vyre_batch *required = fixture_mixes(&fixture, 1, BYTES);
    for (int i = 0; i < 1100; i++)
        (void)run(&fixture, governed, NULL);
    uint64_t before = decided(&fixture);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN, .timed = true};
    for (int i = 0; i < 300; i++) {
        (void)run(&fixture, required, &options);
        vyre_sim_advance(fixture.sim, 2000000);
    }
    size_t count = vyre_device_read_decisions(fixture.device, before + 1, records, RECORDS);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(records[i].saved_vs_plain_ns, 0);
    fixture_close(&fixture);
}

/* More shapes than recordings are kept: replay is no bargain when each one is recorded again. */
static void recordings_that_are_thrown_away_cost_what_they_cost(void **state)
{
    (void)state;
    enum { SHAPES = 16 };
    struct fixture fixture;
    struct vyre_batch *batches[SHAPES];
    struct vyre_device_counters counters;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.group_ns = 10;
    costs.record_ns = 100000;
    costs.persistent_setup_ns = UINT64_C(1) << 40;
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs},
                 &(struct vyre_device_desc){.recording_limit = 8});
    for (int i = 0; i < SHAPES; i++)
        batches[i] = fixture_mixes(&fixture, 16, BYTES);
    for (int i = 0; i < 6400; i++)
        (void)run(&fixture, batches[i % SHAPES], NULL);
    vyre_device_get_counters(fixture.device, &counters);
    assert_true(counters.recordings_made < 1000); /* of 6,400 */
    fixture_close(&fixture);
}

/* The caller does something else between submit and wait, on a backend that looks only then. */
static void think_time_is_not_learned(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record records[RECORDS];
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.group_ns = 10;
    costs.persistent_setup_ns = UINT64_C(1) << 40;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.costs = &costs, .completion = VYRE_SIM_COMPLETE_LAZY},
                 NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 16, BYTES);
    for (int i = 0; i < 400; i++) {
        struct vyre_ticket ticket;
        assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &fixture.diag), VYRE_OK);
        vyre_sim_advance(fixture.sim, 500000 + 7919 * (uint64_t)(i % 100));
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    }
    size_t count = vyre_device_read_decisions(fixture.device, 0, records, RECORDS);
    for (size_t i = 0; i < count; i++)
        assert_true(records[i].wall_ns < 400000);
    fixture_close(&fixture);
}

/* What a submit has to build is no part of the batch's cost. */
static void what_a_submit_builds_is_not_learned(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record records[RECORDS];
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.group_ns = 10;
    costs.build_ns = 50000000;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){
                     .costs = &costs, .completion = VYRE_SIM_COMPLETE_LAZY, .builds = true},
                 NULL);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PERSISTENT, .timed = true};
    (void)run(&fixture, fixture_mixes(&fixture, 4, BYTES), &options);
    size_t count = vyre_device_read_decisions(fixture.device, 0, records, RECORDS);
    assert_int_equal(count, 1);
    assert_true(records[0].wall_ns > 0);
    assert_true(records[0].wall_ns < costs.build_ns / 2);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1);
    fixture_close(&fixture);
}

/* ---- Calibration ------------------------------------------------------------------------------ */

static void calibration_keeps_to_the_devices_limits(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration calibration;
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY},
                 &(struct vyre_device_desc){.in_flight_limit = 4,
                                            .busy_when_full = true,
                                            .persistent_idle_ns = UINT64_C(3600000000000)});
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &calibration, &fixture.diag),
                     VYRE_OK);
    assert_true(calibration.costs[VYRE_COST_SUBMIT].known);
    assert_false(calibration.costs[VYRE_COST_PERSISTENT_SETUP].known); /* not in an hour */
    fixture_close(&fixture);
}

static void calibration_of_a_device_that_hangs_leaves_its_memory(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration calibration;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.hang_is_lost = true,
                                         .stuck_after_hang = true,
                                         .completion = VYRE_SIM_COMPLETE_LAZY},
                 NULL);
    vyre_sim_hang_at(fixture.sim, 900);
    enum vyre_status status =
        vyre_device_calibrate(fixture.device, NULL, &calibration, &fixture.diag);
    if (status == VYRE_DEVICE_LOST)
        (void)vyre_sim_run_stuck(fixture.sim); /* touches all that it was given */
    else
        assert_int_equal(status, VYRE_OK);
    fixture_close(&fixture);
}

/* ---- Results ---------------------------------------------------------------------------------- */

static void keep_result(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    (void)ticket;
    *(struct vyre_batch_result *)user = *result;
}

static void a_callback_gets_the_variant(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result given = {0};
    struct vyre_ticket ticket;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.variants = VYRE_VARIANT_MASK,
                                         .completion = VYRE_SIM_COMPLETE_MANUAL},
                 NULL);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_REPLAY,
                                                .variant = VYRE_VARIANT_DRIVER,
                                                .on_complete = keep_result,
                                                .user = &given};
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture.diag), VYRE_OK);
    assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    assert_int_equal(given.variant, VYRE_VARIANT_DRIVER);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rebuilt_batch_is_a_new_shape),
        cmocka_unit_test(a_batch_rebuilt_from_other_kernels_is_checked_anew),
        cmocka_unit_test(auto_goes_on_when_the_chosen_mode_refuses),
        cmocka_unit_test(a_failed_recording_shows_in_the_record),
        cmocka_unit_test(a_loss_while_recording_has_a_reason),
        cmocka_unit_test(a_trial_is_always_timed),
        cmocka_unit_test(submit_looks_for_the_ends_of_timed_batches),
        cmocka_unit_test(required_batches_do_not_spoil_what_is_learned),
        cmocka_unit_test(recordings_that_are_thrown_away_cost_what_they_cost),
        cmocka_unit_test(think_time_is_not_learned),
        cmocka_unit_test(what_a_submit_builds_is_not_learned),
        cmocka_unit_test(calibration_keeps_to_the_devices_limits),
        cmocka_unit_test(calibration_of_a_device_that_hangs_leaves_its_memory),
        cmocka_unit_test(a_callback_gets_the_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
