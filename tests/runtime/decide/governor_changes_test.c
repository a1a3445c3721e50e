/*
 * governor_changes_test.c: what the governor makes of costs that vary: outliers, a clock that swings, drift, and
 * what exploration finds and costs.
 */
#include "runtime/decide/governor_fixture.h"

/* The one batch that measures a mode anew after the costs drifted is an outlier. */
static void recheck_that_meets_an_outlier_is_made_again(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 40 * US, 10 * US);
    f.facts[PLAIN].ready = true;
    run_many(&f, 1, 200);
    struct vyre_shape *entry = vyre_shapes_find(&f.shapes, key_of(1));
    assert_int_equal(entry->unit.current, REPLAY);
    entry->unit.tracks[PLAIN].flags |= VYRE_TRACK_STALE;
    vyre_governor_reopen(entry);
    assert_int_equal(run_noisy(&f, 1, 20), PLAIN);
    assert_int_equal(f.choice.why, VYRE_WHY_DRIFT_RECHECK);
    assert_int_equal(run(&f, 1), PLAIN);
    assert_true(entry->unit.tracks[PLAIN].mean_ns <= 61 * US);
    assert_int_equal(run(&f, 1), REPLAY);
    tear_down(&f);
}

/* A clock that swings slows all modes alike: no reason to change. */
static void swinging_clock_changes_nothing(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 45 * US, 10 * US);
    run_many(&f, 1, 200);
    uint32_t plain = f.used[PLAIN];
    for (uint32_t i = 0; i < 1000; i++) {
        f.batch[PLAIN] = (i / 50 % 2 ? 60 : 84) * US;
        f.batch[REPLAY] = (i / 50 % 2 ? 55 : 77) * US;
        (void)run(&f, 1);
    }
    assert_true(f.used[PLAIN] - plain <= 10); /* of 20 swings */
    tear_down(&f);
}

static void one_outlier_flips_nothing(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 5 * US, 10 * US);
    run_many(&f, 1, 40);
    uint32_t plain = f.used[PLAIN];
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(run_noisy(&f, 1, 50), REPLAY);
        run_many(&f, 1, 5);
    }
    assert_int_equal(f.used[PLAIN], plain);
    assert_int_equal(f.governor.counters.drifts, 0);
    tear_down(&f);
}

static void drift_reopens_and_the_new_best_is_followed(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 5 * US, 10 * US);
    run_many(&f, 1, 200);
    assert_int_equal(run(&f, 1), REPLAY);
    f.batch[REPLAY] = 400 * US;
    run_many(&f, 1, 10);
    assert_int_equal(run(&f, 1), PLAIN);
    assert_true(f.governor.counters.drifts > 0);
    assert_true(f.whys[VYRE_WHY_DRIFT_RECHECK] > 0);
    f.batch[PLAIN] = 4000 * US;
    run_many(&f, 1, 10);
    assert_int_equal(run(&f, 1), REPLAY);
    tear_down(&f);
}

/* Nothing about the mode in use changes; only exploration can find out. */
static void exploration_finds_what_became_better(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 10 * US, 5 * US, 100 * US);
    run_many(&f, 1, 100);
    assert_true(f.used[PLAIN] > 90);
    f.batch[REPLAY] = 10 * US;
    run_many(&f, 1, 1000);
    assert_true(f.used[REPLAY] > 700);
    tear_down(&f);
}

static void exploration_of_0_is_none(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 10 * US, 5 * US, 100 * US);
    run_many(&f, 1, 100);
    uint32_t tried = f.used[REPLAY];
    f.batch[REPLAY] = 10 * US;
    run_many(&f, 1, 5000);
    assert_int_equal(f.used[REPLAY], tried);
    assert_int_equal(f.whys[VYRE_WHY_EXPLORE], 0);
    assert_int_equal(f.governor.counters.explorations, 0);
    tear_down(&f);
}

static void exploration_stays_within_its_budget(void **state)
{
    (void)state;
    static const uint32_t budgets[] = {10, 100, 300, 2000};
    for (size_t i = 0; i < COUNT_OF(budgets); i++) {
        struct fixture f;
        set_up(&f, budgets[i]);
        set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
        set_mode(&f, REPLAY, 10 * US, 5 * US, 100 * US);
        set_mode(&f, PERSISTENT, 10 * US, 5 * US, 300 * US);
        run_many(&f, 1, 20000);
        const struct vyre_governor_counters *counters = &f.governor.counters;
        double allowed = counters->spent_ns * budgets[i] / 10000.0;
        assert_true(counters->explored_ns > 0);
        assert_true(counters->explored_ns <= allowed + 300 * US);
        tear_down(&f);
    }
}

static void mean_is_robust(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    (void)run_noisy(&f, 1, 50);
    (void)run_noisy(&f, 1, 50); /* the first real sample is an outlier */
    struct vyre_shape *entry = vyre_shapes_find(&f.shapes, key_of(1));
    run_many(&f, 1, 3);
    assert_true(entry->unit.tracks[PLAIN].mean_ns <= 61 * US);
    for (uint32_t i = 0; i < 100; i++)
        (void)run_noisy(&f, 1, i % 10 == 9 ? 50 : 1);
    assert_true(entry->unit.tracks[PLAIN].mean_ns >= 59 * US);
    assert_true(entry->unit.tracks[PLAIN].mean_ns <= 61 * US);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recheck_that_meets_an_outlier_is_made_again),
        cmocka_unit_test(swinging_clock_changes_nothing),
        cmocka_unit_test(one_outlier_flips_nothing),
        cmocka_unit_test(drift_reopens_and_the_new_best_is_followed),
        cmocka_unit_test(exploration_finds_what_became_better),
        cmocka_unit_test(exploration_of_0_is_none),
        cmocka_unit_test(exploration_stays_within_its_budget),
        cmocka_unit_test(mean_is_robust),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
