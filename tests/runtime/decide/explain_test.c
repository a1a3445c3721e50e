/*
 * explain_test.c: what explain says of a batch before it runs is what happens when it runs.
 */
#include "runtime/sim_fixture.h"

enum { BYTES = 256 };

static struct vyre_batch *batch_of(struct fixture *fixture, uint32_t commands)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    struct vyre_buffer *in = fixture_buffer(fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(fixture, BYTES);
    for (uint32_t i = 0; i < commands; i++)
        fixture_mix(fixture, batch, (struct vyre_range){.buffer = in},
                    (struct vyre_range){.buffer = out}, i);
    return batch;
}

static struct vyre_explanation explain(struct fixture *fixture, struct vyre_batch *batch,
                                       uint32_t hint)
{
    struct vyre_explanation explanation;
    assert_int_equal(vyre_batch_explain(batch, hint, &explanation, &fixture->diag), VYRE_OK);
    return explanation;
}

static void the_next_submit_does_what_was_said(void **state)
{
    (void)state;
    static const uint32_t hints[] = {0, 1, 7, 1000};
    for (size_t h = 0; h < COUNT_OF(hints); h++) {
        struct fixture fixture;
        fixture_open(&fixture, NULL, NULL);
        struct vyre_batch *batch = batch_of(&fixture, 8);
        for (uint32_t i = 0; i < 60; i++) {
            struct vyre_explanation said = explain(&fixture, batch, hints[h]);
            struct vyre_explanation again = explain(&fixture, batch, hints[h]);
            assert_int_equal(said.next.mode, again.next.mode); /* asking changes nothing */
            assert_int_equal(said.repeats_seen, i);
            struct vyre_ticket ticket;
            const struct vyre_submit_options options = {.repeat_hint = hints[h]};
            assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture.diag), VYRE_OK);
            assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
            struct vyre_batch_result result = fixture_result(&fixture, ticket);
            /* A choice that stands is not compared again at every submit. */
            if (i < 4) {
                assert_string_equal(vyre_mode_name((enum vyre_mode)said.next.mode),
                                    vyre_mode_name(result.mode));
                assert_string_equal(vyre_mode_name(said.wanted), vyre_mode_name(result.wanted));
            }
        }
        fixture_close(&fixture);
    }
}

static void asking_counts_and_records_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_device_counters counters;
    struct vyre_decision_counters decisions;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_batch *batch = batch_of(&fixture, 8);
    for (int i = 0; i < 100; i++)
        (void)explain(&fixture, batch, 1000);
    vyre_device_get_counters(fixture.device, &counters);
    vyre_device_count_decisions(fixture.device, &decisions);
    assert_int_equal(counters.submitted, 0);
    assert_int_equal(counters.recordings_made, 0);
    assert_int_equal(decisions.decided, 0);
    assert_int_equal(explain(&fixture, batch, 0).repeats_seen, 0);
    fixture_close(&fixture);
}

/* One repeat less, and the verdict is the other one. */
static void turning_points_are_exact(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    for (uint32_t commands = 1; commands < 40; commands += 3) {
        struct vyre_batch *batch = batch_of(&fixture, commands);
        struct vyre_explanation said = explain(&fixture, batch, 1);
        uint32_t turn = said.replay_from_repeats;
        assert_in_range(turn, 2, 100000);
        assert_int_equal(explain(&fixture, batch, turn).verdicts.command_reuse.choice,
                         VYRE_RECORD_AND_REPLAY);
        assert_int_equal(explain(&fixture, batch, turn - 1).verdicts.command_reuse.choice,
                         VYRE_PLAIN_LAUNCHES);
        bool resident = said.verdicts.persistent_kernel.choice == VYRE_PERSISTENT_KERNEL;
        assert_int_equal(resident, commands >= said.persistent_from_commands);
    }
    fixture_close(&fixture);
}

static void inputs_have_origins(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration calibration;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"}}, NULL);
    struct vyre_batch *batch = batch_of(&fixture, 4);
    struct vyre_explanation said = explain(&fixture, batch, 0);
    assert_int_equal(said.plain_origin, VYRE_ORIGIN_STATED);
    assert_int_equal(said.repeats_origin, VYRE_ORIGIN_OBSERVED);
    assert_string_equal(said.unfit_reason, "no ring");
    assert_int_equal(said.next.candidates[2].why, VYRE_WHY_ABILITY_ABSENT);
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &calibration, &fixture.diag),
                     VYRE_OK);
    said = explain(&fixture, batch, 12);
    assert_int_equal(said.plain_origin, VYRE_ORIGIN_CALIBRATED);
    assert_int_equal(said.replay_origin, VYRE_ORIGIN_CALIBRATED);
    assert_int_equal(said.persistent_origin, VYRE_ORIGIN_STATED);
    assert_int_equal(said.repeats_origin, VYRE_ORIGIN_HINT);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_submit_does_what_was_said),
        cmocka_unit_test(asking_counts_and_records_nothing),
        cmocka_unit_test(turning_points_are_exact),
        cmocka_unit_test(inputs_have_origins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
