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

/* Makes all modes `numerator / denominator` times as slow. */
static void change_pace(struct fixture *f, uint64_t numerator, uint64_t denominator)
{
    for (unsigned mode = 0; mode < MODES; mode++)
        f->batch[mode] = f->batch[mode] * numerator / denominator;
}

/*
 * Each swing may change the choice between two modes that are alike. What is assumed of a third one, which is
 * hardly ever measured, stays near what was measured.
 */
static void swings_do_not_add_up(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 0, 50 * US, 10 * US);
    set_mode(&f, PERSISTENT, 0, 50 * US, 100 * US);
    run_many(&f, 1, 200);
    struct vyre_unit *unit = &vyre_shapes_find(&f.shapes, key_of(1))->unit;
    unit->tracks[PERSISTENT].mean_ns = unit->tracks[PERSISTENT].taken_ns = 150 * US;
    for (uint32_t i = 0; i < 20; i++) {
        change_pace(&f, 18, 10);
        run_many(&f, 1, 100);
        change_pace(&f, 10, 18);
        unit->current ^= PLAIN ^ REPLAY; /* a few windows showed it as the better one */
        unit->tracks[unit->current].windows = 2;
        unit->pace_ns = unit->tracks[unit->current].mean_ns;
        vyre_governor_reopen(vyre_shapes_find(&f.shapes, key_of(1)));
        run_many(&f, 1, 100);
    }
    assert_in_range(unit->tracks[PERSISTENT].mean_ns, 70 * US, 310 * US);
    tear_down(&f);
}

/* The end before a window was seen late, so that it looks too short. */
static void one_low_window_changes_nothing(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 40 * US, 10 * US);
    run_many(&f, 1, 200);
    struct vyre_unit *unit = &vyre_shapes_find(&f.shapes, key_of(1))->unit;
    assert_int_equal(unit->current, REPLAY);
    assert_true(unit->tracks[PLAIN].mean_ns >= 59 * US);
    for (uint32_t looks = 0, i = 0; looks == 0 || f.governor.trying.is_open; i++) {
        struct vyre_shape *entry = choose(&f, 1);
        bool is_look = f.choice.candidate == PLAIN;
        looks += is_look;
        learn(&f, entry, is_look ? 10 * US : f.batch[REPLAY], false);
        assert_in_range(i, 0, 2000);
    }
    assert_true(unit->tracks[PLAIN].mean_ns >= 59 * US);
    for (uint32_t i = 0; i < 200; i++)
        assert_true(run(&f, 1) == REPLAY || vyre_why_is_try((enum vyre_why)f.choice.why));
    assert_int_equal(unit->current, REPLAY);
    tear_down(&f);
}

/* ... and if that was all that was known, the choice is taken back, and the others keep their figures. */
static void low_first_window_is_corrected(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 0, 40 * US, 10 * US);
    run_many(&f, 1, 200);
    struct vyre_shape *entry = vyre_shapes_find(&f.shapes, key_of(1));
    struct vyre_candidate_track *wrong = &entry->unit.tracks[PLAIN];
    *wrong = (struct vyre_candidate_track){.mean_ns = 20.0 * US,
                                           .taken_ns = 20.0 * US,
                                           .count = 2,
                                           .windows = 1,
                                           .flags = VYRE_TRACK_CONFIRMED};
    vyre_governor_reopen(entry);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(run(&f, 1), PLAIN);
    assert_int_equal(run(&f, 1), REPLAY);
    assert_true(wrong->mean_ns >= 59 * US);
    assert_int_equal(f.governor.counters.drifts, 0);
    assert_false(entry->unit.tracks[REPLAY].flags & VYRE_TRACK_STALE);
    tear_down(&f);
}

/* A mean of few windows was wrong, and its candidate stays the choice: nothing drifted. */
static void corrected_choice_is_no_drift(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 0, 130 * US, 10 * US);
    run_many(&f, 1, 200);
    struct vyre_shape *entry = vyre_shapes_find(&f.shapes, key_of(1));
    struct vyre_candidate_track *tracks = entry->unit.tracks;
    tracks[REPLAY] = (struct vyre_candidate_track){.mean_ns = 140.0 * US,
                                                   .taken_ns = 140.0 * US,
                                                   .count = 5,
                                                   .windows = 5,
                                                   .flags = VYRE_TRACK_CONFIRMED,
                                                   .look_at = UINT32_MAX};
    tracks[PLAIN].mean_ns = 20.0 * US;
    tracks[PLAIN].count = 2;
    tracks[PLAIN].windows = 1;
    entry->unit.anchor_ns = entry->unit.recent_ns = entry->unit.pace_ns = 20.0 * US;
    vyre_governor_reopen(entry);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(run(&f, 1), PLAIN);
    assert_true(tracks[PLAIN].mean_ns >= 59 * US);
    assert_in_range(tracks[REPLAY].mean_ns, 139 * US, 141 * US);
    assert_false(tracks[REPLAY].flags & VYRE_TRACK_STALE);
    assert_int_equal(f.governor.counters.drifts, 0);
    tear_down(&f);
}

/* What takes more than the whole budget does not keep cheap looks waiting. */
static void slow_candidate_does_not_block_the_looks(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 0, 60 * US, 10 * US);
    set_mode(&f, PERSISTENT, 0, 10 * US, 10 * US);
    f.batch[PERSISTENT] = 200000 * US;
    for (uint32_t i = 0; i < MODES; i++)
        f.facts[i].ready = true;
    run_many(&f, 1, 10000);
    const struct vyre_unit *unit = &vyre_shapes_find(&f.shapes, key_of(1))->unit;
    assert_int_equal(unit->current, PLAIN);
    f.batch[REPLAY] = 20 * US;
    run_many(&f, 1, 10000); /* looks come at doubled distances */
    assert_int_equal(unit->current, REPLAY);
    tear_down(&f);
}

/* A candidate that is to be measured once more, and whose tries are never measured, is put off like others. */
static void suspect_that_is_not_measured_is_put_off(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 0, 60 * US, 10 * US);
    for (uint32_t i = 0; i < MODES; i++)
        f.facts[i].ready = true;
    run_many(&f, 1, 1000);
    struct vyre_shape *entry = vyre_shapes_find(&f.shapes, key_of(1));
    entry->unit.tracks[REPLAY].look_at = 0;
    entry->unit.tracks[REPLAY].flags |= VYRE_TRACK_SUSPECT;
    vyre_governor_reopen(entry);
    uint64_t before = f.governor.counters.explorations;
    for (uint32_t i = 0; i < 5000; i++) {
        entry = choose(&f, 1);
        if (f.choice.candidate == PLAIN)
            learn(&f, entry, f.batch[PLAIN], false);
    }
    assert_in_range(f.governor.counters.explorations - before, 1, 8);
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
        cmocka_unit_test(swings_do_not_add_up),
        cmocka_unit_test(one_low_window_changes_nothing),
        cmocka_unit_test(low_first_window_is_corrected),
        cmocka_unit_test(corrected_choice_is_no_drift),
        cmocka_unit_test(slow_candidate_does_not_block_the_looks),
        cmocka_unit_test(suspect_that_is_not_measured_is_put_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
