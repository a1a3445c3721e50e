/*
 * calibration_noise_test.c: calibrations of a device whose times vary: what is measured again, what is marked, how
 * long it is good, and what auto uses instead of a figure that is lost. Time is virtual; only the date is real.
 */
#include <time.h>

#include "runtime/calibration_age.h"
#include "runtime/candidates.h"
#include "runtime/samples.h"
#include "runtime/sim_fixture.h"

enum {
    NOISE_PERCENT = 90,
    /* Without recordings of the driver, and without the setup, whose samples wait in real time. */
    FIGURES = VYRE_COST_COUNT - 6,
};

static void set_noise(struct vyre_sim *sim, uint32_t percent)
{
    struct vyre_sim_costs costs = vyre_sim_costs(sim);
    costs.noise_percent = percent;
    vyre_sim_set_costs(sim, &costs);
}

static void open_noisy(struct fixture *fixture, uint32_t percent)
{
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.noise_percent = percent;
    fixture_open(fixture, &(struct vyre_sim_desc){.costs = &costs, .seed = 5},
                 &(struct vyre_device_desc){.persistent_idle_ns = UINT64_C(3600000000000)});
}

/* ---- Measured again --------------------------------------------------------------------------- */

struct seen {
    struct vyre_sim *sim;
    uint32_t calls;
    uint32_t done;
    uint32_t again;    /* reports of figures that were reported before */
    uint32_t quiet_at; /* figures after which the noise ends; 0: never */
    uint32_t stop_at;  /* calls; 0: never */
    bool known[VYRE_COST_COUNT];
};

static bool on_progress(void *user, uint32_t done, uint32_t count, enum vyre_cost_id cost,
                        const struct vyre_cost *result)
{
    struct seen *seen = user;
    assert_int_equal(count, VYRE_COST_COUNT);
    assert_true(result->known);
    assert_int_equal(done, seen->done + !seen->known[cost]);
    seen->again += seen->known[cost];
    seen->known[cost] = true;
    seen->done = done;
    seen->calls++;
    if (seen->quiet_at && done >= seen->quiet_at)
        set_noise(seen->sim, 0);
    return seen->calls != seen->stop_at;
}

static struct vyre_calibration calibrate(struct fixture *fixture, struct seen *seen)
{
    struct vyre_calibration calibration;
    seen->sim = fixture->sim;
    const struct vyre_calibration_options options = {.progress = on_progress, .user = seen};
    assert_int_equal(vyre_device_calibrate(fixture->device, &options, &calibration, &fixture->diag),
                     VYRE_OK);
    assert_int_equal(seen->done, FIGURES);
    return calibration;
}

static void a_quiet_device_is_measured_once(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen = {0};
    open_noisy(&fixture, 0);
    struct vyre_calibration calibration = calibrate(&fixture, &seen);
    assert_int_equal(seen.again, 0);
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        assert_false(calibration.costs[i].noisy);
        assert_true(vyre_cost_bound_ns(&calibration.costs[i]) == 0.0); /* 0 without noise is 0 */
    }
    assert_int_equal(calibration.noisy_runs, 0);
    assert_int_equal(vyre_calibration_lifetime_s(&calibration), VYRE_CALIBRATION_AGE_MAX_S);
    fixture_close(&fixture);
}

static void noise_that_ends_leaves_no_mark(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen = {.quiet_at = FIGURES};
    open_noisy(&fixture, NOISE_PERCENT);
    struct vyre_calibration calibration = calibrate(&fixture, &seen);
    assert_true(seen.again > 0);
    for (int i = 0; i < VYRE_COST_COUNT; i++)
        assert_true(!calibration.costs[i].noisy || i == VYRE_COST_COMPILE);
    assert_int_equal(calibration.noisy_runs, 0);
    fixture_close(&fixture);
}

static void noise_that_stays_is_marked_after_bounded_effort(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen = {0};
    open_noisy(&fixture, NOISE_PERCENT);
    struct vyre_calibration calibration = calibrate(&fixture, &seen);
    assert_true(seen.again > 0 && seen.again <= 3 * FIGURES);
    assert_true(vyre_calibration_is_noisy(&calibration));
    assert_int_equal(calibration.noisy_runs, 1);
    assert_int_equal(vyre_calibration_lifetime_s(&calibration), VYRE_CALIBRATION_NOISY_AGE_MAX_S);
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        if (calibration.costs[i].noisy) /* predictions can be widened by this */
            assert_true(vyre_cost_error_ns(&calibration.costs[i]) >=
                        calibration.costs[i].spread_ns / 2.0);
    }
    /* It was taken again before it was due. */
    seen = (struct seen){0};
    assert_int_equal(calibrate(&fixture, &seen).noisy_runs, 1);
    set_noise(fixture.sim, 0);
    seen = (struct seen){0};
    assert_int_equal(calibrate(&fixture, &seen).noisy_runs, 0);
    fixture_close(&fixture);
}

static void a_repeated_figure_can_be_stopped(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration calibration;
    open_noisy(&fixture, NOISE_PERCENT);
    struct seen seen = {.sim = fixture.sim, .stop_at = FIGURES + 1};
    const struct vyre_calibration_options options = {.progress = on_progress, .user = &seen};
    assert_diag(vyre_device_calibrate(fixture.device, &options, &calibration, &fixture.diag),
                fixture.diag, VYRE_DIAG_CALIBRATION_STOPPED);
    assert_int_equal(seen.calls, FIGURES + 1);
    assert_int_equal(seen.again, 1);
    assert_int_equal(calibration.taken_s, 0);
    fixture_close(&fixture);
}

/* ---- How long it is good ---------------------------------------------------------------------- */

static struct vyre_calibration taken_at(uint64_t taken_s, enum vyre_cost_id noisy, uint32_t runs)
{
    struct vyre_calibration calibration = {.taken_s = taken_s, .noisy_runs = runs};
    calibration.costs[noisy] = (struct vyre_cost){
        .known = true, .noisy = true, .samples = 9, .median_ns = 100.0, .spread_ns = 90.0};
    return calibration;
}

static void lifetime_grows_with_noisy_runs(void **state)
{
    (void)state;
    uint64_t last_s = 0;
    for (uint32_t runs = 1; runs <= 11; runs++) {
        struct vyre_calibration calibration = taken_at(1, VYRE_COST_REPLAY_BATCH, runs);
        uint64_t lifetime_s = vyre_calibration_lifetime_s(&calibration);
        assert_int_equal(lifetime_s, last_s ? last_s * 2 < VYRE_CALIBRATION_AGE_MAX_S
                                                  ? last_s * 2
                                                  : VYRE_CALIBRATION_AGE_MAX_S
                                            : VYRE_CALIBRATION_NOISY_AGE_MAX_S);
        last_s = lifetime_s;
    }
    assert_int_equal(last_s, VYRE_CALIBRATION_AGE_MAX_S);
    struct vyre_calibration most = taken_at(1, VYRE_COST_REPLAY_BATCH, UINT32_MAX);
    assert_int_equal(vyre_calibration_lifetime_s(&most), VYRE_CALIBRATION_AGE_MAX_S);
    /* A mark without a count, as of a store of an earlier version. */
    struct vyre_calibration none = taken_at(1, VYRE_COST_REPLAY_BATCH, 0);
    assert_int_equal(vyre_calibration_lifetime_s(&none), VYRE_CALIBRATION_NOISY_AGE_MAX_S);
    /* Auto does not decide by copies. */
    struct vyre_calibration copy = taken_at(1, VYRE_COST_COPY_MIB, 0);
    assert_int_equal(vyre_calibration_lifetime_s(&copy), VYRE_CALIBRATION_AGE_MAX_S);
}

static void runs_count_when_the_last_was_due(void **state)
{
    (void)state;
    const uint64_t start = 1000000;
    const struct vyre_calibration none = {0};
    const struct vyre_calibration clean = {.taken_s = start};
    struct vyre_calibration last = taken_at(start, VYRE_COST_PLAIN_COMMAND, 2); /* 20 minutes */
    struct vyre_calibration early = taken_at(start + 1200, VYRE_COST_REPLAY_UPDATE, 0);
    struct vyre_calibration due = taken_at(start + 1201, VYRE_COST_REPLAY_UPDATE, 0);
    struct vyre_calibration past = taken_at(start - 5000, VYRE_COST_REPLAY_UPDATE, 0);
    assert_int_equal(vyre_calibration_count_runs(&none, &early), 1);
    assert_int_equal(vyre_calibration_count_runs(&clean, &early), 1);
    assert_int_equal(vyre_calibration_count_runs(&last, &early), 2);
    assert_int_equal(vyre_calibration_count_runs(&last, &due), 3);
    assert_int_equal(vyre_calibration_count_runs(&last, &past), 2); /* the clock was set back */
    assert_int_equal(vyre_calibration_count_runs(&last, &clean), 0);
}

/* ---- Kept in a store -------------------------------------------------------------------------- */

static struct vyre_hash128 signature_of(struct fixture *fixture, struct vyre_store *store)
{
    struct vyre_device_info info;
    struct vyre_store_device described;
    struct vyre_hash128 signature;
    vyre_device_get_info(fixture->device, &info);
    vyre_device_describe(&info, 0, &described);
    assert_int_equal(vyre_store_put_device(store, &described, &signature, NULL), VYRE_OK);
    return signature;
}

/* Puts one noisy cost, measured so long ago, and loads it. */
static struct vyre_knowledge load_noisy(struct fixture *fixture, struct vyre_store *store,
                                        enum vyre_cost_id cost, uint32_t runs, int64_t age_s)
{
    struct vyre_knowledge knowledge;
    struct vyre_store_calibration stored = {
        .taken_at = (int64_t)time(NULL) - age_s,
        .tool = "test",
        .cost_count = 1,
        .costs = {{.median_ns = 4000.0, .spread_ns = 3000.0, .samples = 96, .noisy = true}},
        .noisy_runs = runs,
    };
    snprintf(stored.costs[0].name, sizeof stored.costs[0].name, "%s", vyre_cost_name(cost));
    assert_int_equal(vyre_store_put_calibration(store, signature_of(fixture, store), &stored, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_device_load(fixture->device, store, VYRE_KNOWS_CALIBRATION, &knowledge,
                                      &fixture->diag),
                     VYRE_OK);
    return knowledge;
}

static struct vyre_store *open_store(void)
{
    struct vyre_store *store = NULL;
    assert_int_equal(vyre_store_open(&(struct vyre_store_desc){0}, &store, NULL), VYRE_OK);
    return store;
}

static void load_noisy_costs_are_due_soon(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration used;
    struct vyre_store *store = open_store();
    open_noisy(&fixture, 0);
    assert_int_equal(load_noisy(&fixture, store, VYRE_COST_PLAIN_BATCH, 0, 60).costs,
                     VYRE_STORED_COSTS_LOADED);
    struct vyre_knowledge due = load_noisy(&fixture, store, VYRE_COST_PLAIN_BATCH, 0, 3000);
    assert_int_equal(due.costs, VYRE_STORED_COSTS_DUE);
    assert_int_equal(due.calibration.noisy_runs, 1); /* a mark counts as one */
    /* They are used until there are others, with an error that comes from the spread. */
    vyre_device_get_calibration(fixture.device, &used);
    assert_true(used.costs[VYRE_COST_PLAIN_BATCH].median_ns == 4000.0);
    assert_true(used.costs[VYRE_COST_PLAIN_BATCH].confidence_ns > 400.0);
    assert_int_equal(load_noisy(&fixture, store, VYRE_COST_PLAIN_BATCH, 4, 3000).costs,
                     VYRE_STORED_COSTS_LOADED); /* good for 80 minutes */
    assert_int_equal(load_noisy(&fixture, store, VYRE_COST_PLAIN_BATCH, 4, 9000).costs,
                     VYRE_STORED_COSTS_DUE);
    assert_int_equal(load_noisy(&fixture, store, VYRE_COST_PLAIN_BATCH, 4, 8 * 86400).costs,
                     VYRE_STORED_COSTS_OLD);
    struct vyre_knowledge copy = load_noisy(&fixture, store, VYRE_COST_COPY_MIB, 0, 3000);
    assert_int_equal(copy.costs, VYRE_STORED_COSTS_LOADED);
    assert_int_equal(copy.calibration.noisy_runs, 0);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

static uint32_t calibrate_and_save(struct fixture *fixture, struct vyre_store *store)
{
    struct seen seen = {0};
    struct vyre_calibration now;
    struct vyre_store_calibration stored;
    (void)calibrate(fixture, &seen);
    assert_int_equal(vyre_device_save(fixture->device, store, VYRE_KNOWS_CALIBRATION, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_store_get_calibration(store, signature_of(fixture, store), &stored, NULL),
                     VYRE_OK);
    vyre_device_get_calibration(fixture->device, &now);
    /* Copies may be noisy: the store does not know that auto does not decide by them. */
    assert_true(now.noisy_runs == 0 || stored.noisy_runs == now.noisy_runs);
    return now.noisy_runs;
}

static void save_counts_the_runs_of_other_processes(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    open_noisy(&fixture, NOISE_PERCENT);
    (void)load_noisy(&fixture, store, VYRE_COST_PLAIN_BATCH, 3, 9000);
    fixture_close(&fixture);
    open_noisy(&fixture, NOISE_PERCENT); /* another process, which did not load */
    assert_int_equal(calibrate_and_save(&fixture, store), 4);
    assert_int_equal(calibrate_and_save(&fixture, store), 4); /* before it was due */
    set_noise(fixture.sim, 0);
    assert_int_equal(calibrate_and_save(&fixture, store), 0);
    set_noise(fixture.sim, NOISE_PERCENT);
    assert_int_equal(calibrate_and_save(&fixture, store), 1);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

/* ---- Lost figures ----------------------------------------------------------------------------- */

static struct vyre_cost lost(double spread_ns)
{
    return (struct vyre_cost){
        .known = true, .noisy = true, .samples = 96, .median_ns = 0.0, .spread_ns = spread_ns};
}

static void a_figure_is_lost_when_its_interval_holds_0(void **state)
{
    (void)state;
    struct vyre_cost cost = lost(1000.0);
    double bound_ns = vyre_cost_bound_ns(&cost);
    assert_true(bound_ns > 100.0 && bound_ns < 1000.0);
    cost.median_ns = bound_ns * 0.9; /* more samples than noise */
    assert_true(vyre_cost_bound_ns(&cost) > bound_ns);
    cost.median_ns = bound_ns * 1.1;
    assert_true(vyre_cost_bound_ns(&cost) == 0.0);
    cost.samples = 3; /* fewer samples know less */
    assert_true(vyre_cost_bound_ns(&cost) > 1000.0);
    cost.known = false;
    assert_true(vyre_cost_bound_ns(&cost) == 0.0);
    cost = (struct vyre_cost){.known = true, .samples = 9}; /* 0 without noise */
    assert_true(vyre_cost_bound_ns(&cost) == 0.0 && vyre_cost_error_ns(&cost) == 0.0);
}

static struct vyre_candidate price(const struct vyre_device_facts *facts,
                                   const struct vyre_calibration *calibration, enum vyre_mode mode)
{
    struct vyre_candidates candidates = {0};
    vyre_candidates_init(&candidates, facts);
    vyre_candidates_price(&candidates, facts, calibration);
    for (uint32_t i = 0; i < candidates.count; i++) {
        if (candidates.list[i].mode == mode)
            return candidates.list[i];
    }
    fail();
    return candidates.list[0];
}

static void a_lost_figure_costs_what_is_stated_or_its_bound(void **state)
{
    (void)state;
    struct vyre_device_facts facts = {
        .costs = {.record_command_ns = 150, .replay_command_ns = 900}};
    struct vyre_calibration calibration = {.taken_s = 1};
    for (int i = 0; i < VYRE_COST_COUNT; i++)
        calibration.costs[i] = lost(1000.0);
    double bound_ns = vyre_cost_bound_ns(&calibration.costs[0]);
    struct vyre_candidate replay = price(&facts, &calibration, VYRE_MODE_REPLAY);
    assert_true(replay.costs.fixed_batch_ns == 150.0);  /* stated, and possible */
    assert_true(replay.costs.command_ns == bound_ns);   /* less than what is stated */
    assert_true(replay.costs.update_ns == bound_ns);    /* nothing is stated */
    assert_true(replay.errors.fixed_batch_ns == 500.0); /* half of the spread */
    for (int i = 0; i < VYRE_COST_COUNT; i++)
        calibration.costs[i].noisy = false;
    replay = price(&facts, &calibration, VYRE_MODE_REPLAY);
    assert_true(replay.errors.fixed_batch_ns == bound_ns); /* from 0 to the bound */
    struct vyre_candidate plain = price(&facts, &calibration, VYRE_MODE_PLAIN);
    assert_true(plain.costs.batch_ns == bound_ns && plain.costs.command_ns == bound_ns);
    struct vyre_candidate persistent = price(&facts, &calibration, VYRE_MODE_PERSISTENT);
    assert_true(persistent.costs.fixed_batch_ns == bound_ns);
}

static void errors_follow_where_a_cost_comes_from(void **state)
{
    (void)state;
    struct vyre_device_facts facts = {.costs = {.plain_command_ns = 700}};
    struct vyre_calibration calibration = {.taken_s = 1};
    calibration.costs[VYRE_COST_PLAIN_BATCH] = (struct vyre_cost){
        .known = true, .samples = 96, .median_ns = 9e3, .spread_ns = 2e3, .confidence_ns = 300.0};
    struct vyre_candidate plain = price(&facts, &calibration, VYRE_MODE_PLAIN);
    assert_true(plain.costs.batch_ns == 9e3 && plain.errors.batch_ns == 300.0);
    assert_true(plain.costs.command_ns == 700.0 && plain.errors.command_ns == 700.0); /* stated */
    calibration.costs[VYRE_COST_PLAIN_BATCH].noisy = true;
    plain = price(&facts, &calibration, VYRE_MODE_PLAIN);
    assert_true(plain.costs.batch_ns == 9e3 && plain.errors.batch_ns == 1e3);
}

/* Noise that hides the cost of a recording does not make recordings free. */
static void a_lost_recording_is_not_free(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_explanation said;
    open_noisy(&fixture, 0);
    struct vyre_calibration calibration = {.taken_s = 1};
    calibration.costs[VYRE_COST_RECORD_BATCH] = lost(50000.0);
    calibration.costs[VYRE_COST_RECORD_COMMAND] = lost(50000.0);
    assert_int_equal(vyre_device_set_calibration(fixture.device, &calibration, &fixture.diag),
                     VYRE_OK);
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, 256);
    assert_int_equal(vyre_batch_explain(batch, 0, &said, &fixture.diag), VYRE_OK);
    assert_true(said.command_reuse.record_overhead_ns > 0);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_device_is_measured_once),
        cmocka_unit_test(noise_that_ends_leaves_no_mark),
        cmocka_unit_test(noise_that_stays_is_marked_after_bounded_effort),
        cmocka_unit_test(a_repeated_figure_can_be_stopped),
        cmocka_unit_test(lifetime_grows_with_noisy_runs),
        cmocka_unit_test(runs_count_when_the_last_was_due),
        cmocka_unit_test(load_noisy_costs_are_due_soon),
        cmocka_unit_test(save_counts_the_runs_of_other_processes),
        cmocka_unit_test(a_figure_is_lost_when_its_interval_holds_0),
        cmocka_unit_test(a_lost_figure_costs_what_is_stated_or_its_bound),
        cmocka_unit_test(errors_follow_where_a_cost_comes_from),
        cmocka_unit_test(a_lost_recording_is_not_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
