/*
 * governor_rules_test.c: each rule of the governor, on a device made of three numbers per mode.
 */
#include "runtime/decide/governor_fixture.h"

static void first_batch_without_hint_stays_plain(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 500 * US, 5 * US, 10 * US);
    assert_int_equal(run(&f, 1), PLAIN);
    assert_int_equal(f.choice.why, VYRE_WHY_VERDICT);
    assert_int_equal(f.choice.evidence, VYRE_EVIDENCE_NONE);
    assert_int_equal(f.choice.candidate_count, MODES);
    assert_int_equal(f.choice.candidates[PLAIN].why, VYRE_WHY_VERDICT);
    assert_int_equal(f.choice.candidates[REPLAY].state, VYRE_CANDIDATE_PREDICTED);
    tear_down(&f);
}

static void first_batch_with_hint_pays_the_fixed_cost_at_once(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 500 * US, 5 * US, 10 * US);
    f.hint = 1000;
    assert_int_equal(run(&f, 1), REPLAY);
    assert_int_equal(f.choice.why, VYRE_WHY_VERDICT);
    tear_down(&f);
}

static void hint_too_small_for_the_fixed_cost_stays_plain(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 500 * US, 5 * US, 10 * US);
    f.hint = 8;
    run_many(&f, 1, 8);
    assert_int_equal(f.used[PLAIN], 8);
    tear_down(&f);
}

static void infeasible_candidates_are_out_with_their_reason(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    f.facts[REPLAY].why = VYRE_WHY_ABILITY_ABSENT;
    f.facts[PERSISTENT].why = VYRE_WHY_FAILED;
    f.hint = 1000;
    assert_int_equal(run(&f, 1), PLAIN);
    assert_int_equal(f.choice.why, VYRE_WHY_ONLY_FEASIBLE);
    assert_int_equal(f.choice.candidates[REPLAY].state, VYRE_CANDIDATE_OUT);
    assert_int_equal(f.choice.candidates[REPLAY].why, VYRE_WHY_ABILITY_ABSENT);
    assert_int_equal(f.choice.candidates[PERSISTENT].why, VYRE_WHY_FAILED);
    tear_down(&f);
}

/* As many repeats as were seen: the switch comes when they would have paid for it. */
static void repeats_seen_pay_for_the_fixed_cost(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t at = 0;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 900 * US, 5 * US, 10 * US);
    for (uint32_t i = 1; i <= 100 && at == 0; i++)
        at = run(&f, 1) == REPLAY ? i : 0;
    assert_in_range(at, 15, 21); /* 900 / (50 - 5) = 20; execution may be less, too */
    run_many(&f, 1, 50);
    assert_int_equal(f.used[REPLAY], 51);
    tear_down(&f);
}

/* What the policies ask for runs at once, also where a trial would not be worth it, and is dropped when its
 * measurement says so; the choice then names the evidence. */
static void the_verdict_runs_until_it_measures_worse(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 40 * US, 5 * US, 500 * US);
    assert_int_equal(run(&f, 1), PLAIN);
    assert_int_equal(run(&f, 1), REPLAY);
    assert_int_equal(f.choice.why, VYRE_WHY_VERDICT);
    assert_int_equal(f.choice.evidence, VYRE_EVIDENCE_NONE);
    run_many(&f, 1, 20);
    assert_int_equal(run(&f, 1), PLAIN);
    assert_int_equal(f.choice.why, VYRE_WHY_MEASURED_BEST);
    assert_int_equal(f.choice.evidence, VYRE_EVIDENCE_SHAPE);
    /* A settled choice keeps its reason. */
    while (!f.choice.settled)
        (void)run(&f, 1);
    assert_int_equal(f.choice.why, VYRE_WHY_MEASURED_BEST);
    assert_int_equal(f.choice.evidence, VYRE_EVIDENCE_SHAPE);
    tear_down(&f);
}

/* A new shape with a hint: what other shapes measured of the verdict overrules it from the first batch on. */
static void measurements_of_the_device_overrule_the_verdict(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 40 * US, 5 * US, 500 * US);
    run_many(&f, 1, 50);
    f.hint = 1000;
    assert_int_equal(run(&f, 2), PLAIN);
    assert_int_equal(f.choice.why, VYRE_WHY_PREDICTED_BEST);
    assert_int_equal(f.choice.evidence, VYRE_EVIDENCE_DEVICE);
    tear_down(&f);
}

/* ... and so does what an earlier process learned of the shape. */
static void learnings_overrule_the_verdict(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 40 * US, 5 * US, 500 * US);
    f.facts[PLAIN].execution_ns = 10 * US;
    f.facts[REPLAY].execution_ns = 500 * US;
    f.hint = 1000;
    assert_int_equal(run(&f, 1), PLAIN);
    assert_int_equal(f.choice.why, VYRE_WHY_PREDICTED_BEST);
    assert_int_equal(f.choice.evidence, VYRE_EVIDENCE_STORE);
    tear_down(&f);
}

static void trial_that_measures_worse_is_dropped(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 60 * US, 5 * US, 200 * US);
    run_many(&f, 1, 20);
    struct vyre_shape *entry = vyre_shapes_find(&f.shapes, key_of(1));
    assert_in_range(f.used[REPLAY], 1, 2); /* the first shows fixed and execution in one sum */
    vyre_governor_reopen(entry);
    (void)run(&f, 1);
    assert_int_equal(f.choice.candidates[REPLAY].why, VYRE_WHY_SLOWER_MEASURED);
    run_many(&f, 1, 500);
    assert_in_range(f.used[REPLAY], 1, 2);
    tear_down(&f);
}

static void what_cannot_pay_is_not_tried(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 10 * US, 10 * US);
    set_mode(&f, REPLAY, 1000 * US, 300 * US, 1 * US); /* a tenth of the overhead exceeds plain */
    run_many(&f, 1, 500);
    assert_int_equal(f.used[REPLAY], 0);
    vyre_governor_reopen(vyre_shapes_find(&f.shapes, key_of(1)));
    (void)run(&f, 1);
    assert_int_not_equal(f.choice.candidates[REPLAY].why, VYRE_WHY_NONE);
    tear_down(&f);
}

/* Calibration says that replay cannot pay. It may be wrong: one trial, when the time spent covers it. */
static void what_predictions_speak_against_is_tried_once(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t at = 0;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 10 * US, 10 * US);
    set_mode(&f, REPLAY, 600 * US, 30 * US, 1 * US);
    for (uint32_t i = 1; i <= 500; i++) {
        if (run(&f, 1) == REPLAY && at == 0)
            at = i;
    }
    assert_in_range(at, 30, 60); /* 640 us are 60 % of 53 batches */
    assert_in_range(f.used[REPLAY], 1, 2);
    tear_down(&f);
}

/* The fixed cost is more than calibration says, and passes for execution in the first batch. */
static void trial_whose_first_batch_misleads_is_confirmed(void **state)
{
    (void)state;
    static const uint64_t calibrated[] = {0, 1, 10 * US, 30 * US};
    for (size_t i = 0; i < COUNT_OF(calibrated); i++) {
        struct fixture f;
        set_up(&f, 0);
        set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
        set_mode(&f, REPLAY, 100 * US, 5 * US, 10 * US);
        f.facts[PLAIN].ready = true;
        f.facts[REPLAY].fixed_ns = calibrated[i];
        run_many(&f, 1, 50);
        assert_int_equal(run(&f, 1), calibrated[i] == 1 ? PLAIN : REPLAY); /* by 10,000: no error */
        tear_down(&f);
    }
}

/* What is resident leaves when another mode runs: going there and back is expensive. */
static void cost_of_coming_back_is_counted(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 3 * US, 9 * US);
    set_mode(&f, PERSISTENT, 1000 * US, 1 * US, 9 * US);
    f.facts[PLAIN].ready = true;
    f.facts[PERSISTENT].resident = true;
    f.hint = 5000;
    for (uint32_t i = 0; i < 5000; i++) {
        struct vyre_shape *entry = choose(&f, 1);
        unsigned mode = f.choice.candidate;
        bool first = !f.facts[mode].ready;
        uint64_t fixed = first ? f.fixed[mode] : 0;
        f.facts[PERSISTENT].ready = mode == PERSISTENT;
        f.used[mode]++;
        learn(&f, entry, f.batch[mode] + fixed, first);
    }
    assert_true(f.used[PERSISTENT] > 4900);
    /* The budget is 3 %. */
    assert_true(f.governor.counters.spent_ns < 5000 * 1.1 * (double)f.batch[PERSISTENT]);
    tear_down(&f);
}

static void second_shape_starts_with_what_the_first_found(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 5 * US, 900 * US);
    set_mode(&f, REPLAY, 10 * US, 9 * US, 20 * US);
    f.facts[PLAIN].ready = true;
    run_many(&f, 1, 20);
    assert_int_equal(run(&f, 1), REPLAY);
    f.facts[REPLAY].ready = false;
    assert_int_equal(run(&f, 2), REPLAY);
    tear_down(&f);
}

static void less_than_the_margin_is_no_reason_to_switch(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    f.plain_verdict = true;
    set_mode(&f, PLAIN, 0, 100 * US, 0);
    set_mode(&f, REPLAY, 200 * US, 1 * US, 98 * US);
    run_many(&f, 1, 20);
    uint32_t trials = f.used[REPLAY];
    run_many(&f, 1, 500);
    assert_true(trials > 0);
    assert_int_equal(f.used[REPLAY], trials);
    vyre_governor_reopen(vyre_shapes_find(&f.shapes, key_of(1)));
    (void)run(&f, 1);
    assert_int_equal(f.choice.candidates[REPLAY].why, VYRE_WHY_MARGIN);
    tear_down(&f);
}

static void updates_make_replay_costly(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 5 * US, 10 * US);
    f.facts[REPLAY].per_update_ns = 20 * US;
    f.hint = 1000;
    f.updates = 4;
    run_many(&f, 1, 50);
    assert_int_equal(run(&f, 1), PLAIN);
    f.updates = 0;
    f.facts[PLAIN].ready = f.facts[REPLAY].ready = false;
    run_many(&f, 2, 50);
    assert_int_equal(run(&f, 2), REPLAY);
    f.updates = 4; /* the same shape, now with changing constants */
    assert_int_equal(run(&f, 2), PLAIN);
    f.updates = 0;
    assert_int_equal(run(&f, 2), REPLAY);
    tear_down(&f);
}

/* Resident kernels leave when idle: then the setup is due again. */
static void fixed_cost_due_again_counts_again(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, PERSISTENT, 10000 * US, 5 * US, 10 * US);
    f.hint = 400;
    run_many(&f, 1, 390);
    assert_int_equal(run(&f, 1), PERSISTENT);
    f.facts[PERSISTENT].ready = false;
    vyre_governor_reopen(vyre_shapes_find(&f.shapes, key_of(1)));
    (void)run(&f, 1);
    run_many(&f, 1, 3);
    assert_int_equal(run(&f, 1), PLAIN); /* five more batches do not pay 10 ms */
    assert_int_equal(f.facts[PERSISTENT].ready, false);
    tear_down(&f);
}

static void settled_shape_is_not_compared_again_until_due(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 100 * US, 5 * US, 10 * US);
    run_many(&f, 1, 1000);
    uint64_t compared = f.governor.counters.compared;
    run_many(&f, 1, 1000);
    assert_in_range(f.governor.counters.compared - compared, 1, 60);
    vyre_governor_reopen(vyre_shapes_find(&f.shapes, key_of(1)));
    (void)run(&f, 1);
    assert_false(f.choice.settled);
    (void)run(&f, 1);
    assert_true(f.choice.settled);
    assert_int_equal(f.choice.candidate, REPLAY);
    assert_int_equal(f.choice.candidate_count, 0);
    f.hint = 7; /* another question */
    (void)run(&f, 1);
    assert_false(f.choice.settled);
    tear_down(&f);
}

/* Batches that are submitted before the first of the window is measured belong to it. */
static void trial_goes_on_until_it_is_measured(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    f.plain_verdict = true;
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, REPLAY, 1 * US, 5 * US, 10 * US);
    f.facts[REPLAY].ready = true;
    f.facts[PLAIN].ready = true;
    struct vyre_shape *entry = vyre_governor_see(&f.governor, key_of(1));
    f.choice = (struct vyre_governor_choice){.shape = vyre_shape_refer(entry), .candidate = PLAIN};
    entry->unit.candidate_count = MODES;
    learn(&f, entry, 60 * US, false);
    for (int i = 0; i < 2; i++) {
        (void)choose(&f, 1);
        assert_int_equal(f.choice.candidate, REPLAY);
        assert_int_equal(f.choice.why, VYRE_WHY_TRIAL);
    }
    assert_int_equal(f.governor.counters.trials, 1);
    /* It did not run: it is not tried again at once, but when the shape was seen twice as often. */
    vyre_governor_abandon(&f.governor, vyre_shape_refer(entry), REPLAY);
    (void)choose(&f, 1);
    assert_int_equal(f.choice.candidate, PLAIN);
    run_many(&f, 1, 10);
    assert_int_equal(f.governor.counters.trials, 2);
    assert_int_equal(run(&f, 1), REPLAY);
    tear_down(&f);
}

/* Plain is measured for shapes 1 to 3, and replay is worth a trial for each of them. */
static void measure_plain(struct fixture *f, struct vyre_shape *entries[4])
{
    f->plain_verdict = true;
    set_mode(f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(f, REPLAY, 1 * US, 5 * US, 10 * US);
    f->facts[REPLAY].ready = true;
    f->facts[PLAIN].ready = true;
    for (uint64_t shape = 1; shape <= 3; shape++) {
        entries[shape] = vyre_governor_see(&f->governor, key_of(shape));
        f->choice = (struct vyre_governor_choice){.shape = vyre_shape_refer(entries[shape]),
                                                  .candidate = PLAIN};
        entries[shape]->unit.candidate_count = MODES;
        learn(f, entries[shape], 60 * US, false);
    }
}

/* What is resident serves all shapes that alternate, or none: a batch that runs otherwise makes it leave. */
static void shapes_that_alternate_change_together(void **state)
{
    (void)state;
    struct fixture f;
    unsigned changes = 0, last = PLAIN;
    set_up(&f, 300);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    set_mode(&f, PERSISTENT, 200 * US, 5 * US, 10 * US);
    f.facts[PERSISTENT].resident = true;
    for (uint64_t i = 0; i < 300; i++) {
        unsigned mode = run(&f, 1 + i % 3);
        f.facts[PERSISTENT].ready = mode == PERSISTENT;
        changes += i >= 20 && mode != last;
        last = mode;
    }
    assert_true(f.governor.is_stream);
    assert_int_equal(last, PERSISTENT);
    assert_in_range(f.used[PERSISTENT], 270, 300);
    assert_in_range(changes, 0, 4);
    tear_down(&f);
}

/* Nothing in flight and nothing resident: each shape may run in what is best for it. */
static void shapes_that_do_not_mix_are_judged_one_by_one(void **state)
{
    (void)state;
    struct fixture f;
    unsigned modes[2] = {0};
    set_up(&f, 300);
    for (uint64_t i = 0; i < 200; i++) {
        set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
        set_mode(&f, REPLAY, 60 * US, 5 * US, i % 2 ? 10 * US : 300 * US);
        f.facts[PLAIN].ready = true;
        f.facts[REPLAY].ready = i > 60;
        modes[i % 2] = run(&f, 1 + i % 2);
    }
    assert_false(f.governor.is_stream);
    assert_int_equal(modes[0], PLAIN);
    assert_int_equal(modes[1], REPLAY);
    tear_down(&f);
}

/* The times of two candidates that end together could not be separated. */
static void one_candidate_is_tried_at_a_time(void **state)
{
    (void)state;
    struct fixture f;
    struct vyre_shape *entries[4] = {NULL};
    set_up(&f, 0);
    measure_plain(&f, entries);
    (void)choose(&f, 1);
    assert_int_equal(f.choice.why, VYRE_WHY_TRIAL);
    f.facts[REPLAY].feasible = false; /* for shape 2, which could try another */
    set_mode(&f, PERSISTENT, 1 * US, 1 * US, 1 * US);
    f.facts[PERSISTENT].ready = true;
    (void)choose(&f, 2);
    assert_int_equal(f.choice.candidate, PLAIN);
    /* A window that is never measured does not stop the others for ever. */
    uint32_t waited = 0;
    do
        (void)choose(&f, 2);
    while (f.choice.why != VYRE_WHY_TRIAL && ++waited < 1000);
    assert_in_range(waited, 1, 20);
    tear_down(&f);
}

static void sample_of_a_forgotten_shape_is_only_counted(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 0);
    set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
    struct vyre_shape *entry = choose(&f, 1);
    for (uint64_t shape = 2; shape <= 65; shape++)
        (void)vyre_governor_see(&f.governor, key_of(shape));
    assert_null(vyre_shapes_find(&f.shapes, key_of(1)));
    learn(&f, entry, 60 * US, false);
    assert_int_equal(entry->unit.tracks[PLAIN].count, 0);
    assert_true(entry->unit.spent_ns == 0);
    assert_true(f.governor.counters.spent_ns == 60 * US);
    tear_down(&f);
}

/* Each figure ten times too high or too low: after 50 batches the choice is the right one. */
static void wrong_calibration_does_not_last(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 16; c++) {
        struct fixture f;
        set_up(&f, 300);
        set_mode(&f, PLAIN, 5 * US, 50 * US, 10 * US);
        set_mode(&f, REPLAY, 100 * US, 5 * US, 10 * US);
        for (unsigned mode = PLAIN; mode <= REPLAY; mode++) {
            uint64_t *fixed = &f.facts[mode].fixed_ns, *each = &f.facts[mode].per_command_ns;
            *fixed = c >> mode & 1 ? *fixed * 10 : *fixed / 10;
            *each = c >> (2 + mode) & 1 ? *each * 10 : *each / 10;
        }
        run_many(&f, 1, 50);
        assert_int_equal(run(&f, 1), REPLAY);
        tear_down(&f);
    }
}

static void same_calls_give_the_same_choices(void **state)
{
    (void)state;
    static uint8_t choices[2][2000];
    for (unsigned pass = 0; pass < 2; pass++) {
        struct fixture f;
        set_up(&f, 300);
        set_mode(&f, PLAIN, 0, 50 * US, 10 * US);
        set_mode(&f, REPLAY, 700 * US, 5 * US, 30 * US);
        set_mode(&f, PERSISTENT, 1500 * US, 2 * US, 20 * US);
        for (uint32_t i = 0; i < 2000; i++)
            choices[pass][i] = (uint8_t)run_noisy(&f, i % 3, i % 37 == 0 ? 50 : 1 + (i % 11 == 0));
        tear_down(&f);
    }
    assert_memory_equal(choices[0], choices[1], sizeof choices[0]);
}

static void every_why_and_evidence_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < VYRE_WHY_COUNT; i++) {
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(vyre_why_name((enum vyre_why)i),
                                    vyre_why_name((enum vyre_why)j));
    }
    for (unsigned i = 0; i < VYRE_EVIDENCE_COUNT; i++) {
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(vyre_evidence_name((enum vyre_evidence)i),
                                    vyre_evidence_name((enum vyre_evidence)j));
    }
    assert_string_equal(vyre_why_name(VYRE_WHY_DRIFT_RECHECK), "drift-recheck");
    assert_string_equal(vyre_why_name(VYRE_WHY_MARGIN), "margin");
    assert_string_equal(vyre_why_name((enum vyre_why)99), "unknown");
    assert_string_equal(vyre_evidence_name((enum vyre_evidence)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_batch_without_hint_stays_plain),
        cmocka_unit_test(first_batch_with_hint_pays_the_fixed_cost_at_once),
        cmocka_unit_test(hint_too_small_for_the_fixed_cost_stays_plain),
        cmocka_unit_test(infeasible_candidates_are_out_with_their_reason),
        cmocka_unit_test(repeats_seen_pay_for_the_fixed_cost),
        cmocka_unit_test(the_verdict_runs_until_it_measures_worse),
        cmocka_unit_test(measurements_of_the_device_overrule_the_verdict),
        cmocka_unit_test(learnings_overrule_the_verdict),
        cmocka_unit_test(trial_that_measures_worse_is_dropped),
        cmocka_unit_test(what_cannot_pay_is_not_tried),
        cmocka_unit_test(what_predictions_speak_against_is_tried_once),
        cmocka_unit_test(trial_whose_first_batch_misleads_is_confirmed),
        cmocka_unit_test(cost_of_coming_back_is_counted),
        cmocka_unit_test(second_shape_starts_with_what_the_first_found),
        cmocka_unit_test(less_than_the_margin_is_no_reason_to_switch),
        cmocka_unit_test(updates_make_replay_costly),
        cmocka_unit_test(fixed_cost_due_again_counts_again),
        cmocka_unit_test(settled_shape_is_not_compared_again_until_due),
        cmocka_unit_test(trial_goes_on_until_it_is_measured),
        cmocka_unit_test(shapes_that_alternate_change_together),
        cmocka_unit_test(shapes_that_do_not_mix_are_judged_one_by_one),
        cmocka_unit_test(one_candidate_is_tried_at_a_time),
        cmocka_unit_test(sample_of_a_forgotten_shape_is_only_counted),
        cmocka_unit_test(wrong_calibration_does_not_last),
        cmocka_unit_test(same_calls_give_the_same_choices),
        cmocka_unit_test(every_why_and_evidence_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
