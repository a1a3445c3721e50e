/*
 * windows_test.c: what the governor measures in a stream: which batches count, what is paid again, when a
 * try ends, and when the last choice is measured again.
 */
#include "base/memory.h"
#include "runtime/governor.h"
#include "support/test.h"

enum { PLAIN, RESIDENT, MODES };

#define US UINT64_C(1000)

struct fixture {
    struct vyre_shapes shapes;
    struct vyre_governor governor;
    struct vyre_candidate_facts facts[MODES];
    struct vyre_governor_batch batch;
    struct vyre_governor_choice choice; /* the last one */
    struct vyre_shape *shape;
};

static void set_up(struct fixture *f)
{
    struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    memset(f, 0, sizeof *f);
    assert_int_equal(vyre_shapes_init(&f->shapes, &allocator, 64, false), VYRE_OK);
    vyre_governor_init(&f->governor, &f->shapes, 300);
    f->batch = (struct vyre_governor_batch){.command_count = 1, .verdict = PLAIN};
    f->facts[PLAIN] =
        (struct vyre_candidate_facts){.feasible = true, .ready = true, .per_command_ns = 50 * US};
    f->facts[RESIDENT] = (struct vyre_candidate_facts){
        .feasible = true, .resident = true, .fixed_ns = 500 * US, .per_command_ns = 5 * US};
}

static void tear_down(struct fixture *f)
{
    vyre_shapes_deinit(&f->shapes);
}

static uint8_t choose(struct fixture *f)
{
    f->shape = vyre_governor_see(&f->governor, (struct vyre_hash128){.lo = 1, .hi = 1});
    if (!vyre_governor_settled(&f->governor, f->shape, &f->batch, &f->choice))
        vyre_governor_choose(&f->governor, f->shape, f->facts, MODES, &f->batch, &f->choice);
    vyre_governor_ran(&f->governor, f->shape, &f->choice);
    return f->choice.candidate;
}

static void learn(struct fixture *f, uint64_t measured_ns, bool was_first)
{
    const struct vyre_governor_sample sample = {
        .shape = f->choice.shape,
        .measured_ns = measured_ns,
        .expected_ns = f->choice.expected_ns,
        .candidate = f->choice.candidate,
        .why = f->choice.why,
        .was_first = was_first,
        .switched = f->choice.switched,
        .leads_in = f->choice.leads_in,
    };
    vyre_governor_learn(&f->governor, &sample);
}

/* A program: a resident kernel stays for `stays` batches, and coming back costs `setup_ns`. */
struct program {
    uint64_t plain_ns, resident_ns, setup_ns;
    uint32_t stays;  /* 0: until another candidate runs */
    uint32_t leaves; /* the first so many batches leave at once */
    uint32_t left_for;
};

/* Runs `batches`; returns how many of them were in RESIDENT. */
static uint32_t run(struct fixture *f, struct program *program, uint32_t batches)
{
    uint32_t resident = 0;
    for (uint32_t i = 0; i < batches; i++) {
        if (choose(f) == PLAIN) {
            f->facts[RESIDENT].ready = false;
            learn(f, program->plain_ns, false);
            continue;
        }
        bool first = !f->facts[RESIDENT].ready;
        resident++;
        program->left_for = first ? program->stays : program->left_for;
        learn(f, program->resident_ns + (first ? program->setup_ns : 0), first);
        bool leaves = program->leaves > 0 || (program->stays > 0 && --program->left_for == 0);
        program->leaves -= program->leaves > 0;
        f->facts[RESIDENT].ready = !leaves;
    }
    return resident;
}

/* 2 ms every ten batches is more than 90 us of each batch save; 200 us is less. */
static void what_is_paid_again_is_a_part_of_every_batch(void **state)
{
    (void)state;
    struct program dear = {
        .plain_ns = 100 * US, .resident_ns = 10 * US, .setup_ns = 2000 * US, .stays = 10};
    struct program cheap = {
        .plain_ns = 100 * US, .resident_ns = 10 * US, .setup_ns = 200 * US, .stays = 10};
    struct fixture f;
    set_up(&f);
    (void)run(&f, &dear, 2000);
    assert_in_range(run(&f, &dear, 1000), 0, 100);
    tear_down(&f);
    set_up(&f);
    (void)run(&f, &cheap, 2000);
    assert_in_range(run(&f, &cheap, 1000), 900, 1000);
    tear_down(&f);
}

/* Each of the first batches pays the setup, as while threads have not found their cores. */
static void a_slow_start_is_not_the_usual_time(void **state)
{
    (void)state;
    struct program program = {
        .plain_ns = 100 * US, .resident_ns = 1 * US, .setup_ns = 600 * US, .leaves = 7};
    struct fixture f;
    set_up(&f);
    (void)run(&f, &program, 200);
    assert_in_range(run(&f, &program, 1000), 950, 1000);
    tear_down(&f);
}

/* A batch leads in while one from before the change is in flight, and not for longer. */
static void batches_lead_in_while_others_are_in_flight(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.facts[RESIDENT].feasible = false;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(choose(&f), PLAIN);
        learn(&f, 100 * US, false);
    }
    f.facts[RESIDENT].feasible = true;
    f.facts[RESIDENT].ready = true;
    f.batch.depth = 3;
    vyre_governor_reopen(f.shape);
    assert_int_equal(choose(&f), RESIDENT);
    assert_true(f.choice.leads_in);
    (void)choose(&f);
    assert_true(f.choice.leads_in);
    f.batch.depth = 1; /* those before the change have ended */
    (void)choose(&f);
    assert_false(f.choice.leads_in);
    tear_down(&f);
}

/* The batches of a try end among others, so that none of them is measured: the try is over, and not forever open. */
static void a_try_that_is_not_measured_ends_with_its_batches(void **state)
{
    (void)state;
    enum { DEPTH = 8 };
    struct fixture f;
    uint32_t batches = 0;
    set_up(&f);
    f.facts[RESIDENT].feasible = false;
    for (int i = 0; i < 100; i++) {
        (void)choose(&f);
        learn(&f, 100 * US, false);
    }
    f.facts[RESIDENT].feasible = true;
    f.batch.depth = DEPTH;
    vyre_governor_reopen(f.shape);
    while (batches < 1000 && choose(&f) != RESIDENT)
        batches++;
    assert_true(f.governor.trying.is_open);
    uint32_t window = f.shape->unit.tracks[RESIDENT].window;
    for (batches = 0; batches < 1000 && f.governor.trying.is_open; batches++) {
        vyre_governor_reopen(f.shape);
        (void)choose(&f);
    }
    assert_in_range(batches, window, 2 * (window + 2 * DEPTH) + 4);
    tear_down(&f);
}

/* The machine becomes slower while the resident kernel runs, and plain is measured when it is fast again. */
static void the_last_choice_is_measured_again_soon(void **state)
{
    (void)state;
    struct program usual = {.plain_ns = 100 * US, .resident_ns = 60 * US, .setup_ns = 100 * US};
    struct program slow = {.plain_ns = 100 * US, .resident_ns = 110 * US, .setup_ns = 100 * US};
    struct fixture f;
    set_up(&f);
    (void)run(&f, &usual, 2000);
    assert_int_equal(f.shape->unit.current, RESIDENT);
    for (int i = 0; i < 2000 && f.shape->unit.current == RESIDENT; i++)
        (void)run(&f, &slow, 1);
    assert_int_equal(f.shape->unit.current, PLAIN);
    /* Long before the shape was seen twice as often. */
    (void)run(&f, &usual, 400);
    assert_int_equal(f.shape->unit.current, RESIDENT);
    tear_down(&f);
}

/* Plain takes 100 us of which its kernel takes 2: another mode needs 2 and its overhead, not 100. */
static void times_of_kernels_bound_the_execution(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.facts[PLAIN].per_command_ns = 1 * US; /* 100 times too little */
    f.facts[PLAIN].work_ns = (double)(2 * US);
    f.facts[RESIDENT].work_ns = (double)(2 * US);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(choose(&f), PLAIN);
        learn(&f, 100 * US, false);
        vyre_governor_reopen(f.shape);
    }
    (void)choose(&f);
    assert_int_equal(f.choice.candidates[RESIDENT].state, VYRE_CANDIDATE_PREDICTED);
    assert_in_range(f.choice.candidates[RESIDENT].predicted_ns, 500 * US / 4,
                    500 * US / 4 + 10 * US);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_paid_again_is_a_part_of_every_batch),
        cmocka_unit_test(a_slow_start_is_not_the_usual_time),
        cmocka_unit_test(batches_lead_in_while_others_are_in_flight),
        cmocka_unit_test(a_try_that_is_not_measured_ends_with_its_batches),
        cmocka_unit_test(the_last_choice_is_measured_again_soon),
        cmocka_unit_test(times_of_kernels_bound_the_execution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
