/*
 * auto_test.c: auto on the simulated device, whose time is virtual: what it chooses with right
 * and with wrong calibrations, and how it follows costs that change.
 */
#include "runtime/sim_fixture.h"

enum { BYTES = 256, COMMANDS = 16 };

static struct vyre_batch *long_batch(struct fixture *fixture)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    struct vyre_buffer *buffer = fixture_buffer(fixture, BYTES);
    struct vyre_buffer *in = fixture_buffer(fixture, BYTES);
    for (uint32_t i = 0; i < COMMANDS; i++)
        fixture_mix(fixture, batch, (struct vyre_range){.buffer = in},
                    (struct vyre_range){.buffer = buffer}, i);
    return batch;
}

/* Submits, waits, and returns the virtual time that it took. */
static uint64_t run(struct fixture *fixture, struct vyre_batch *batch, enum vyre_mode mode,
                    uint32_t hint, enum vyre_mode *out_mode)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = mode, .repeat_hint = hint};
    uint64_t start_ns = vyre_sim_now_ns(fixture->sim);
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    if (out_mode)
        *out_mode = fixture_result(fixture, ticket).mode;
    return vyre_sim_now_ns(fixture->sim) - start_ns;
}

/* What a batch costs once everything is set up, and the mode in which it costs least. */
static enum vyre_mode best_mode(struct fixture *fixture, struct vyre_batch *batch,
                                uint64_t out_ns[VYRE_MODE_COUNT])
{
    enum vyre_mode best = VYRE_MODE_PLAIN;
    for (int mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++) {
        (void)run(fixture, batch, (enum vyre_mode)mode, 0, NULL);
        out_ns[mode] = run(fixture, batch, (enum vyre_mode)mode, 0, NULL);
        if (out_ns[mode] < out_ns[best])
            best = (enum vyre_mode)mode;
    }
    return best;
}

struct scenario {
    const char *name;
    struct vyre_sim_costs costs;
    enum vyre_mode best;
};

/* Costs that make each mode in turn the best one, by a wide and by a narrow margin. */
static struct scenario scenario(int number)
{
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.group_ns = 10;
    switch (number) {
    case 0:
        costs.replay_ns = 400000;
        costs.persistent_round_trip_ns = 900000;
        return (struct scenario){"plain", costs, VYRE_MODE_PLAIN};
    case 1:
        costs.persistent_round_trip_ns = 900000;
        return (struct scenario){"replay", costs, VYRE_MODE_REPLAY};
    default:
        costs.persistent_setup_ns = 50000;
        return (struct scenario){"persistent", costs, VYRE_MODE_PERSISTENT};
    }
}

/* By what calibration is wrong, for each mode: what is paid once, and what every batch pays. */
struct factors {
    double fixed[VYRE_MODE_COUNT];
    double each[VYRE_MODE_COUNT];
};

static void scale(struct vyre_calibration *calibration, const struct factors *factors)
{
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        struct vyre_cost *cost = &calibration->costs[i];
        double factor = 1.0;
        if (i == VYRE_COST_PLAIN_BATCH || i == VYRE_COST_PLAIN_COMMAND)
            factor = factors->each[VYRE_MODE_PLAIN];
        else if (i == VYRE_COST_RECORD_BATCH || i == VYRE_COST_RECORD_COMMAND)
            factor = factors->fixed[VYRE_MODE_REPLAY];
        else if (i > VYRE_COST_RECORD_COMMAND && i <= VYRE_COST_REPLAY_UPDATE)
            factor = factors->each[VYRE_MODE_REPLAY];
        else if (i == VYRE_COST_PERSISTENT_SETUP)
            factor = factors->fixed[VYRE_MODE_PERSISTENT];
        else if (i > VYRE_COST_PERSISTENT_SETUP && i <= VYRE_COST_PERSISTENT_COMMAND)
            factor = factors->each[VYRE_MODE_PERSISTENT];
        cost->median_ns *= factor;
        cost->min_ns *= factor;
    }
}

/* The mode that most of 20 batches run in, after `before` of them. */
static enum vyre_mode settled_mode(struct fixture *fixture, struct vyre_batch *batch,
                                   uint32_t before, uint32_t hint)
{
    uint32_t counts[VYRE_MODE_COUNT] = {0};
    enum vyre_mode mode;
    for (uint32_t i = 0; i < before; i++)
        (void)run(fixture, batch, VYRE_MODE_AUTO, hint, NULL);
    for (uint32_t i = 0; i < 20; i++) {
        (void)run(fixture, batch, VYRE_MODE_AUTO, hint, &mode);
        counts[mode]++;
    }
    enum vyre_mode most = VYRE_MODE_PLAIN;
    for (int i = VYRE_MODE_PLAIN; i < VYRE_MODE_COUNT; i++)
        most = counts[i] > counts[most] ? (enum vyre_mode)i : most;
    return most;
}

/* Returns whether auto ended in the best mode. */
static bool check(const struct scenario *scenario, const struct factors *factors, uint32_t hint)
{
    struct fixture fixture;
    struct vyre_calibration calibration;
    uint64_t ns[VYRE_MODE_COUNT];
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &scenario->costs}, NULL);
    assert_int_equal(best_mode(&fixture, long_batch(&fixture), ns), scenario->best);
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &calibration, &fixture.diag),
                     VYRE_OK);
    /* Where time is virtual, waiting does not make a resident kernel leave. */
    calibration.costs[VYRE_COST_PERSISTENT_SETUP].median_ns =
        (double)scenario->costs.persistent_setup_ns;
    scale(&calibration, factors);
    assert_int_equal(vyre_device_set_calibration(fixture.device, &calibration, &fixture.diag),
                     VYRE_OK);
    enum vyre_mode mode = settled_mode(&fixture, long_batch(&fixture), 50, hint);
    if (mode != scenario->best)
        print_error(
            "%s is best, but auto runs %s (calibrated plain x %g, replay x %g and %g, persistent x "
            "%g and %g, hint %u; true costs %llu, %llu, %llu)\n",
            scenario->name, vyre_mode_name(mode), factors->each[VYRE_MODE_PLAIN],
            factors->fixed[VYRE_MODE_REPLAY], factors->each[VYRE_MODE_REPLAY],
            factors->fixed[VYRE_MODE_PERSISTENT], factors->each[VYRE_MODE_PERSISTENT], hint,
            (unsigned long long)ns[VYRE_MODE_PLAIN], (unsigned long long)ns[VYRE_MODE_REPLAY],
            (unsigned long long)ns[VYRE_MODE_PERSISTENT]);
    fixture_close(&fixture);
    return mode == scenario->best;
}

static void right_calibration_leads_to_the_best_mode(void **state)
{
    (void)state;
    static const struct factors right = {{1.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 1.0, 1.0}};
    for (int i = 0; i < 3; i++) {
        const struct scenario one = scenario(i);
        assert_true(check(&one, &right, 0));
        assert_true(check(&one, &right, 1000));
    }
}

/*
 * Every stored cost off by 10 times either way: all together, mode by mode, and within a mode what is
 * paid once against what every batch pays.
 */
static void wrong_calibration_is_corrected_within_50_batches(void **state)
{
    (void)state;
    static const double wrong[] = {0.1, 10.0};
    int misses = 0;
    for (int i = 0; i < 3; i++) {
        const struct scenario one = scenario(i);
        for (int bits = 0; bits < 32; bits++) {
            const struct factors factors = {
                {1.0, 1.0, wrong[bits >> 1 & 1], wrong[bits >> 2 & 1]},
                {1.0, wrong[bits & 1], wrong[bits >> 3 & 1], wrong[bits >> 4 & 1]}};
            misses += !check(&one, &factors, 0);
            misses += !check(&one, &factors, 1000);
        }
    }
    assert_int_equal(misses, 0); /* of 192 */
}

static void a_mode_that_gets_slower_is_left(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration calibration;
    struct scenario one = scenario(1);
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &one.costs}, NULL);
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &calibration, &fixture.diag),
                     VYRE_OK);
    struct vyre_batch *batch = long_batch(&fixture);
    assert_int_equal(settled_mode(&fixture, batch, 200, 0), VYRE_MODE_REPLAY);
    one.costs.replay_ns = 2000000;
    vyre_sim_set_costs(fixture.sim, &one.costs);
    assert_int_equal(settled_mode(&fixture, batch, 300, 0), VYRE_MODE_PLAIN);
    fixture_close(&fixture);
}

static void records_say_what_was_considered(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record records[64];
    struct vyre_decision_counters counters;
    const struct scenario one = scenario(1);
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.costs = &one.costs,
                                         .absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"}},
                 NULL);
    struct vyre_batch *batch = long_batch(&fixture);
    for (int i = 0; i < 40; i++)
        (void)run(&fixture, batch, VYRE_MODE_AUTO, 0, NULL);
    size_t count = vyre_device_read_decisions(fixture.device, 0, records, 64);
    assert_in_range(count, 1, 40);
    vyre_device_count_decisions(fixture.device, &counters);
    assert_int_equal(counters.decided, 40);
    assert_int_equal(counters.by_mode[VYRE_MODE_PLAIN] + counters.by_mode[VYRE_MODE_REPLAY], 40);
    assert_true(counters.by_mode[VYRE_MODE_REPLAY] > 20);
    const struct vyre_decision_record *first = &records[0];
    assert_int_equal(first->sequence, 1);
    assert_int_equal(first->command_count, COMMANDS);
    assert_int_equal(first->repeats_seen, 1);
    assert_int_equal(first->candidate_count, 3);
    assert_true(first->wall_ns > 0);
    assert_int_equal(first->candidates[2].mode, VYRE_MODE_PERSISTENT);
    assert_int_equal(first->candidates[2].state, VYRE_CANDIDATE_OUT);
    assert_int_equal(first->candidates[2].why, VYRE_WHY_ABILITY_ABSENT);
    bool trial = false;
    for (size_t i = 0; i < count; i++)
        trial = trial || records[i].mode == VYRE_MODE_REPLAY;
    assert_true(trial);
    fixture_close(&fixture);
}

static void no_decisions_keeps_none(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record record;
    struct vyre_decision_counters counters;
    fixture_open(&fixture, NULL, &(struct vyre_device_desc){.no_decisions = true});
    struct vyre_batch *batch = long_batch(&fixture);
    (void)run(&fixture, batch, VYRE_MODE_AUTO, 0, NULL);
    assert_int_equal(vyre_device_read_decisions(fixture.device, 0, &record, 1), 0);
    vyre_device_count_decisions(fixture.device, &counters);
    assert_int_equal(counters.decided, 0);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_calibration_leads_to_the_best_mode),
        cmocka_unit_test(wrong_calibration_is_corrected_within_50_batches),
        cmocka_unit_test(a_mode_that_gets_slower_is_left),
        cmocka_unit_test(records_say_what_was_considered),
        cmocka_unit_test(no_decisions_keeps_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
