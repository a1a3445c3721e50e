/*
 * builds_test.c: questions build nothing; warm-up and required modes build at once; auto builds beside
 * its batches, by a queue that is bounded and in order and survives close, loss and destroyed kernels.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "runtime/builds.h"
#include "runtime/sim_fixture.h"

/* So many wait in the queue at most; one more is with its thread. */
enum { BYTES = 64, QUEUE_MAX = 16, TRIES = 200, MANY = 20 };

static struct vyre_sim_costs building_costs(void)
{
    struct vyre_sim_costs costs = fixture_resident_costs();
    costs.build_ns = 1000;
    return costs;
}

static void open_limited(struct fixture *fixture, const struct vyre_sim_desc *given,
                         const struct vyre_instance_desc *instance,
                         const struct vyre_device_desc *device)
{
    struct vyre_sim_costs costs = building_costs();
    struct vyre_sim_desc desc = *given;
    desc.builds = true;
    desc.costs = &costs;
    fixture_open_in(fixture, &desc, device, instance);
}

static void open_building(struct fixture *fixture, const struct vyre_sim_desc *given,
                          const struct vyre_instance_desc *instance)
{
    open_limited(fixture, given, instance, NULL);
}

static void do_nothing(const struct vyre_host_group *group)
{
    (void)group;
}

/* A kernel of that label, and a batch of it. */
static struct vyre_batch *batch_of(struct fixture *fixture, const char *label,
                                   struct vyre_kernel **out_kernel)
{
    const struct vyre_binding_desc binding = {.slot = 0, .access = VYRE_ACCESS_READWRITE};
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = do_nothing};
    const struct vyre_kernel_desc desc = {
        .label = label,
        .payloads = &payload,
        .payload_count = 1,
        .local_size = {1, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
    };
    assert_int_equal(vyre_kernel_create(fixture->device, &desc, out_kernel, &fixture->diag),
                     VYRE_OK);
    struct vyre_batch *batch = fixture_batch(fixture);
    const struct vyre_slot_binding slot = {.slot = 0,
                                           .range = {.buffer = fixture_buffer(fixture, BYTES)}};
    for (int i = 0; i < 8; i++)
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = *out_kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = &slot,
                                                           .binding_count = 1});
    return batch;
}

static struct vyre_device_counters counters_of(struct fixture *fixture)
{
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture->device, &counters);
    return counters;
}

static struct vyre_batch_result run(struct fixture *fixture, struct vyre_batch *batch,
                                    enum vyre_mode mode)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {
        .mode = mode, .repeat_hint = mode == VYRE_MODE_AUTO ? 1000000 : 0};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    return fixture_result(fixture, ticket);
}

/* Submits in auto until a build was begun for it. */
static void run_until_begun(struct fixture *fixture, struct vyre_batch *batch)
{
    uint64_t begun = vyre_sim_calls(fixture->sim, VYRE_SIM_BUILD_BEGIN);
    for (int i = 0; vyre_sim_calls(fixture->sim, VYRE_SIM_BUILD_BEGIN) == begun; i++) {
        assert_true(i < TRIES);
        (void)run(fixture, batch, VYRE_MODE_AUTO);
    }
}

static void await_made(struct fixture *fixture, uint64_t count)
{
    while (counters_of(fixture).builds_made < count)
        sched_yield();
}

static void expect_no_builds(struct fixture *fixture)
{
    assert_int_equal(vyre_sim_calls(fixture->sim, VYRE_SIM_BUILD_BEGIN), 0);
    assert_int_equal(vyre_sim_calls(fixture->sim, VYRE_SIM_BUILD_RUN), 0);
    assert_int_equal(counters_of(fixture).builds_made, 0);
}

/* ---- Questions -------------------------------------------------------------------------------- */

static void ignore(void *user, const struct vyre_event *event)
{
    (void)user;
    (void)event;
}

static void asking_builds_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_explanation said;
    const struct vyre_observer observer = {sizeof observer, NULL, ignore};
    open_building(&fixture, &(struct vyre_sim_desc){0},
                  &(struct vyre_instance_desc){.observer = &observer});
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    assert_int_equal(vyre_batch_explain(batch, 1000, &said, &fixture.diag), VYRE_OK);
    assert_string_equal(said.unfit_reason, "");
    assert_diag(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), fixture.diag,
                VYRE_DIAG_SUBMIT_UNBUILT);
    assert_int_equal(vyre_batch_check_mode(batch, VYRE_MODE_PLAIN, 0, &fixture.diag), VYRE_OK);
    for (int i = 0; i < 3; i++)
        (void)run(&fixture, batch, VYRE_MODE_PLAIN);
    assert_true(vyre_sim_calls(fixture.sim, VYRE_SIM_CHECK) > 0);
    expect_no_builds(&fixture);
    fixture_close(&fixture);
}

static void warm_up_builds_once(void **state)
{
    (void)state;
    struct fixture fixture;
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag), VYRE_OK);
        assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1);
        assert_int_equal(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag),
                         VYRE_OK);
    }
    (void)run(&fixture, batch, VYRE_MODE_PERSISTENT);
    assert_int_equal(counters_of(&fixture).builds_made, 1);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1);
    fixture_close(&fixture);
}

static void required_mode_builds_all_kernels_of_the_batch(void **state)
{
    (void)state;
    struct fixture fixture;
    char built[256];
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 2, BYTES);
    fixture_set(&fixture, batch, (struct vyre_range){.buffer = fixture_buffer(&fixture, BYTES)}, 1);
    (void)run(&fixture, batch, VYRE_MODE_PERSISTENT);
    vyre_sim_built(fixture.sim, built, sizeof built);
    assert_string_equal(built, "mix set ");
    assert_int_equal(counters_of(&fixture).builds_made, 2);
    fixture_close(&fixture);
}

static void refused_build_is_kept(void **state)
{
    (void)state;
    struct fixture fixture;
    open_building(&fixture, &(struct vyre_sim_desc){.unbuildable_label = "mix"}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    assert_diag(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag), fixture.diag,
                VYRE_DIAG_SUBMIT_MODE);
    assert_diag(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), fixture.diag,
                VYRE_DIAG_SUBMIT_MODE);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PERSISTENT};
    assert_int_equal(vyre_batch_submit(batch, &options, NULL, &fixture.diag), VYRE_UNSUPPORTED);
    for (int i = 0; i < TRIES; i++)
        assert_int_not_equal(run(&fixture, batch, VYRE_MODE_AUTO).mode, VYRE_MODE_PERSISTENT);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1);
    assert_int_equal(counters_of(&fixture).builds_refused, 1);
    assert_int_equal(counters_of(&fixture).builds_made, 0);
    fixture_close(&fixture);
}

static void poor_fit_runs_where_it_is_required_only(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_explanation said;
    open_building(&fixture, &(struct vyre_sim_desc){.poor_label = "mix"}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    assert_int_equal(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), VYRE_OK);
    for (int i = 0; i < TRIES; i++)
        assert_int_not_equal(run(&fixture, batch, VYRE_MODE_AUTO).mode, VYRE_MODE_PERSISTENT);
    assert_int_equal(vyre_batch_explain(batch, 0, &said, &fixture.diag), VYRE_OK);
    assert_string_equal(said.unfit_reason, "the kernel is slow where it stays resident");
    expect_no_builds(&fixture);
    assert_int_equal(run(&fixture, batch, VYRE_MODE_PERSISTENT).mode, VYRE_MODE_PERSISTENT);
    fixture_close(&fixture);
}

/* ---- The queue -------------------------------------------------------------------------------- */

static void auto_runs_plainly_until_its_choice_is_built(void **state)
{
    (void)state;
    struct fixture fixture;
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    vyre_sim_hold_build(fixture.sim);
    run_until_begun(&fixture, batch);
    vyre_sim_await_builds(fixture.sim, 1);
    for (int i = 0; i < 50; i++)
        assert_int_not_equal(run(&fixture, batch, VYRE_MODE_AUTO).mode, VYRE_MODE_PERSISTENT);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_BEGIN), 1);
    struct vyre_explanation said;
    assert_int_equal(vyre_batch_explain(batch, 0, &said, &fixture.diag), VYRE_OK);
    bool waits = false;
    for (uint32_t i = 0; i < said.next.candidate_count; i++)
        waits = waits || said.next.candidates[i].why == VYRE_WHY_UNBUILT;
    assert_true(waits);
    vyre_sim_let_go(fixture.sim);
    await_made(&fixture, 1);
    int tries = 0;
    while (run(&fixture, batch, VYRE_MODE_AUTO).mode != VYRE_MODE_PERSISTENT)
        assert_true(++tries < TRIES);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1);
    fixture_close(&fixture);
}

/* The batch that has it built runs as the policies ask without it, and explain says so before. */
static void batch_that_waits_runs_the_next_best(void **state)
{
    (void)state;
    static const struct {
        uint64_t replay_command_ns;
        enum vyre_mode next;
    } cases[] = {{10, VYRE_MODE_REPLAY}, {1000000, VYRE_MODE_PLAIN}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture;
        struct vyre_explanation said;
        struct vyre_sim_costs costs = building_costs();
        costs.replay_command_ns = cases[i].replay_command_ns;
        fixture_open(&fixture, &(struct vyre_sim_desc){.builds = true, .costs = &costs}, NULL);
        /* Calibrated, because a backend states no costs of its own for a resident kernel. */
        struct vyre_calibration calibration = {.taken_s = 1};
        calibration.costs[VYRE_COST_PERSISTENT_SETUP] =
            calibration.costs[VYRE_COST_PERSISTENT_BATCH] =
                calibration.costs[VYRE_COST_PERSISTENT_COMMAND] =
                    (struct vyre_cost){.known = true, .min_ns = 1, .median_ns = 1, .spread_ns = 0};
        assert_int_equal(vyre_device_set_calibration(fixture.device, &calibration, &fixture.diag),
                         VYRE_OK);
        struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
        vyre_sim_hold_build(fixture.sim);
        for (int j = 0; j < 3; j++) {
            assert_int_equal(vyre_batch_explain(batch, 1000000, &said, &fixture.diag), VYRE_OK);
            vyre_diag_reset(&fixture.diag);
            struct vyre_batch_result result = run(&fixture, batch, VYRE_MODE_AUTO);
            assert_int_equal(fixture.diag.id, VYRE_DIAG_NONE);
            assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(said.next.mode));
            if (j > 0)
                continue;
            assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(cases[i].next));
            assert_int_equal(result.why, VYRE_WHY_VERDICT);
            assert_int_equal(result.wanted, VYRE_MODE_PERSISTENT);
            assert_int_equal(result.wanted_out, VYRE_WHY_UNBUILT);
        }
        assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_BEGIN), 1);
        vyre_sim_let_go(fixture.sim);
        fixture_close(&fixture);
    }
}

/* What fails to build is not tried again before the shape was seen twice as often. */
static void failing_build_is_tried_ever_less_often(void **state)
{
    (void)state;
    struct fixture fixture;
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    for (int i = 0; i < 400; i++) {
        uint64_t ends = vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_END);
        uint64_t begun = vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_BEGIN);
        vyre_sim_fail(fixture.sim, VYRE_SIM_BUILD_END, 1, VYRE_OUT_OF_MEMORY, 0);
        (void)run(&fixture, batch, VYRE_MODE_AUTO);
        while (vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_BEGIN) != begun &&
               vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_END) == ends)
            sched_yield();
        vyre_builds_drain(fixture.device);
    }
    assert_in_range(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1, 10);
    vyre_sim_fail(fixture.sim, VYRE_SIM_BUILD_END, 0, VYRE_OK, 0);
    fixture_close(&fixture);
}

/* A backend may throw away what it built: building it again is a cost like the first time. */
static void what_is_thrown_away_is_priced_again(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_sim_costs costs = building_costs();
    costs.build_ns = 60000000;
    fixture_open(&fixture, &(struct vyre_sim_desc){.builds = true, .costs = &costs}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag), VYRE_OK);
    const struct vyre_submit_options options = {0};
    uint64_t before = vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN);
    int resident = 0;
    for (int i = 0; i < 450; i++) {
        struct vyre_ticket ticket;
        assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture.diag), VYRE_OK);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        vyre_builds_drain(fixture.device);
        bool was_resident = fixture_result(&fixture, ticket).mode == VYRE_MODE_PERSISTENT;
        resident += was_resident;
        if (was_resident && i >= 50)
            vyre_sim_throw_away(fixture.sim);
    }
    assert_true(resident > 0);
    assert_in_range(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN) - before, 0, 8);
    fixture_close(&fixture);
}

/* A batch of several kernels needs several builds, one after the other: none of them waits for repeats. */
static void all_kernels_of_a_batch_are_built_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    enum { KERNELS = 4, BATCHES = 12 };
    struct vyre_kernel *kernels[KERNELS];
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    const struct vyre_slot_binding slot = {.slot = 0,
                                           .range = {.buffer = fixture_buffer(&fixture, BYTES)}};
    for (int i = 0; i < KERNELS; i++) {
        char label[32];
        snprintf(label, sizeof label, "several%d", i);
        (void)batch_of(&fixture, label, &kernels[i]);
        for (int j = 0; j < 2; j++)
            vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernels[i],
                                                               .groups = {1, 1, 1},
                                                               .bindings = &slot,
                                                               .binding_count = 1});
    }
    int batches = 0;
    while (counters_of(&fixture).builds_made < KERNELS) {
        assert_true(++batches <= BATCHES);
        (void)run(&fixture, batch, VYRE_MODE_AUTO);
        vyre_builds_drain(fixture.device);
    }
    /* Another try may be under way. */
    while (run(&fixture, batch, VYRE_MODE_AUTO).mode != VYRE_MODE_PERSISTENT)
        assert_true(++batches <= BATCHES);
    fixture_close(&fixture);
}

/* What never stays is built ever less often, however often the shape comes. */
static void what_never_stays_is_built_ever_less_often(void **state)
{
    (void)state;
    struct fixture fixture;
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    for (int i = 0; i < 2000; i++) {
        assert_int_not_equal(run(&fixture, batch, VYRE_MODE_AUTO).mode, VYRE_MODE_PERSISTENT);
        vyre_builds_drain(fixture.device);
        vyre_sim_throw_away(fixture.sim); /* before the shape comes back */
    }
    assert_in_range(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1, 12);
    fixture_close(&fixture);
}

/* One is with the thread, 16 wait; what comes then waits for room, and nothing is built inside submit. */
static void queue_is_bounded_and_in_order(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[MANY];
    char built[512];
    char expected[512] = "";
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    vyre_sim_hold_build(fixture.sim);
    for (int i = 0; i < MANY; i++) {
        struct vyre_kernel *kernel;
        char label[16];
        snprintf(label, sizeof label, "k%02d", i);
        batches[i] = batch_of(&fixture, label, &kernel);
        if (i <= QUEUE_MAX)
            run_until_begun(&fixture, batches[i]);
        else /* nothing is begun only to be dropped */
            (void)run(&fixture, batches[i], VYRE_MODE_AUTO);
        if (i == 0)
            vyre_sim_await_builds(fixture.sim, 1);
    }
    vyre_sim_built(fixture.sim, built, sizeof built);
    assert_string_equal(built, "");
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_BEGIN), QUEUE_MAX + 1);
    vyre_sim_let_go(fixture.sim);
    await_made(&fixture, QUEUE_MAX + 1);
    for (int i = QUEUE_MAX + 1; i < MANY; i++)
        run_until_begun(&fixture, batches[i]);
    await_made(&fixture, MANY);
    for (int i = 0; i < MANY; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "k%02d ", i);
    vyre_sim_built(fixture.sim, built, sizeof built);
    assert_string_equal(built, expected);
    fixture_close(&fixture);
}

static void *let_go(void *user)
{
    for (int i = 0; i < 1000; i++)
        sched_yield();
    vyre_sim_let_go(user);
    return NULL;
}

/* Four builds, of which one is held in the middle. */
static void begin_four(struct fixture *fixture, struct vyre_batch *out_batches[4],
                       struct vyre_kernel *out_kernels[4])
{
    static const char *const labels[4] = {"first", "second", "third", "fourth"};
    vyre_sim_hold_build(fixture->sim);
    for (int i = 0; i < 4; i++) {
        out_batches[i] = batch_of(fixture, labels[i], &out_kernels[i]);
        run_until_begun(fixture, out_batches[i]);
    }
    vyre_sim_await_builds(fixture->sim, 1);
}

static void close_lets_the_running_build_end_and_drops_the_others(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[4];
    struct vyre_kernel *kernels[4];
    pthread_t thread;
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    begin_four(&fixture, batches, kernels);
    assert_int_equal(pthread_create(&thread, NULL, let_go, fixture.sim), 0);
    fixture_close_device(&fixture);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_END), 4);
    fixture_close(&fixture);
}

static void loss_drops_what_waits(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[4];
    struct vyre_kernel *kernels[4];
    char built[256];
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    begin_four(&fixture, batches, kernels);
    vyre_sim_lose_now(fixture.sim);
    vyre_sim_let_go(fixture.sim);
    fixture_close_device(&fixture);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_END), 4);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 1);
    vyre_sim_built(fixture.sim, built, sizeof built);
    assert_string_equal(built, "");
    fixture_close(&fixture);
}

static void build_that_loses_the_device_ends_all(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[4];
    struct vyre_kernel *kernels[4];
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    begin_four(&fixture, batches, kernels);
    vyre_sim_fail(fixture.sim, VYRE_SIM_BUILD_END, 1, VYRE_DEVICE_LOST, 7);
    vyre_sim_let_go(fixture.sim);
    while (vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_END) < 4)
        sched_yield();
    assert_int_equal(vyre_batch_submit(batches[0], NULL, NULL, &fixture.diag), VYRE_DEVICE_LOST);
    fixture_close(&fixture);
}

static void destroyed_kernels_are_left_out(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[4];
    struct vyre_kernel *kernels[4];
    char built[256];
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    begin_four(&fixture, batches, kernels);
    for (int i = 0; i < 3; i++) { /* one runs, two wait */
        vyre_batch_destroy(&batches[i]);
        vyre_kernel_destroy(&kernels[i]);
    }
    vyre_sim_let_go(fixture.sim);
    while (vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_END) < 4)
        sched_yield();
    await_made(&fixture, 4);
    vyre_sim_built(fixture.sim, built, sizeof built);
    assert_string_equal(built, "fourth ");
    fixture_close(&fixture);
}

struct submitter {
    struct fixture *fixture;
    struct vyre_batch *batch;
    enum vyre_status status;
    struct vyre_diag diag;
};

static void *submit_required(void *user)
{
    struct submitter *submitter = user;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PERSISTENT};
    submitter->status = vyre_batch_submit(submitter->batch, &options, NULL, &submitter->diag);
    return NULL;
}

/* What is being built is waited for, not built twice; other batches go on meanwhile. */
static void required_mode_waits_for_the_queue(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[4];
    struct vyre_kernel *kernels[4];
    pthread_t thread;
    open_building(&fixture, &(struct vyre_sim_desc){0}, NULL);
    begin_four(&fixture, batches, kernels);
    struct submitter submitter = {&fixture, batches[3], VYRE_INTERNAL, {0}};
    assert_int_equal(pthread_create(&thread, NULL, submit_required, &submitter), 0);
    struct vyre_batch *other = fixture_mixes(&fixture, 2, BYTES);
    for (int i = 0; i < 20; i++)
        (void)run(&fixture, other, VYRE_MODE_PLAIN);
    vyre_sim_let_go(fixture.sim);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(submitter.status, VYRE_OK);
    await_made(&fixture, 4);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_BUILD_RUN), 4);
    fixture_close(&fixture);
}

/* A submit that builds lets others pass: they may take the room that there was for it. */
static void room_is_looked_for_again_after_a_build(void **state)
{
    (void)state;
    struct fixture fixture;
    pthread_t thread;
    open_limited(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL,
                 &(struct vyre_device_desc){.in_flight_limit = 2, .busy_when_full = true});
    struct vyre_batch *other = fixture_mixes(&fixture, 2, BYTES);
    struct submitter submitter = {&fixture, fixture_mixes(&fixture, 3, BYTES), VYRE_INTERNAL, {0}};
    vyre_sim_hold_build(fixture.sim);
    assert_int_equal(pthread_create(&thread, NULL, submit_required, &submitter), 0);
    vyre_sim_await_builds(fixture.sim, 1);
    for (int i = 0; i < 2; i++)
        (void)fixture_submit(&fixture, other, VYRE_MODE_PLAIN);
    vyre_sim_let_go(fixture.sim);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(submitter.status, VYRE_BUSY);
    assert_int_equal(vyre_sim_run_all(fixture.sim), 2);
    (void)submit_required(&submitter);
    assert_int_equal(submitter.status, VYRE_OK);
    assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    assert_int_equal(counters_of(&fixture).builds_made, 1);
    fixture_close(&fixture);
}

static void destroy_kernel(void *user, struct vyre_ticket ticket,
                           const struct vyre_batch_result *result)
{
    (void)ticket;
    (void)result;
    vyre_kernel_destroy(user);
}

/* A submit that built waits for room, and looks at its objects again afterwards. */
static void kernel_destroyed_while_room_is_awaited_is_stale(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_kernel *kernel;
    pthread_t thread;
    open_limited(&fixture,
                 &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL,
                                         .generated_modes = 1u << VYRE_MODE_PERSISTENT},
                 NULL, &(struct vyre_device_desc){.in_flight_limit = 1});
    struct submitter submitter = {
        &fixture, batch_of(&fixture, "victim", &kernel), VYRE_INTERNAL, {0}};
    struct vyre_batch *other = fixture_mixes(&fixture, 2, BYTES);
    vyre_sim_hold_build(fixture.sim);
    assert_int_equal(pthread_create(&thread, NULL, submit_required, &submitter), 0);
    vyre_sim_await_builds(fixture.sim, 1);
    const struct vyre_submit_options options = {
        .mode = VYRE_MODE_PLAIN, .on_complete = destroy_kernel, .user = &kernel};
    assert_int_equal(vyre_batch_submit(other, &options, NULL, &fixture.diag), VYRE_OK);
    uint64_t waits = vyre_sim_calls(fixture.sim, VYRE_SIM_WAIT);
    vyre_sim_let_go(fixture.sim);
    while (vyre_sim_calls(fixture.sim, VYRE_SIM_WAIT) == waits)
        sched_yield(); /* until it waits for room */
    assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_diag(submitter.status, submitter.diag, VYRE_DIAG_BATCH_STALE);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_builds_nothing),
        cmocka_unit_test(warm_up_builds_once),
        cmocka_unit_test(required_mode_builds_all_kernels_of_the_batch),
        cmocka_unit_test(refused_build_is_kept),
        cmocka_unit_test(poor_fit_runs_where_it_is_required_only),
        cmocka_unit_test(auto_runs_plainly_until_its_choice_is_built),
        cmocka_unit_test(batch_that_waits_runs_the_next_best),
        cmocka_unit_test(failing_build_is_tried_ever_less_often),
        cmocka_unit_test(what_is_thrown_away_is_priced_again),
        cmocka_unit_test(all_kernels_of_a_batch_are_built_at_once),
        cmocka_unit_test(what_never_stays_is_built_ever_less_often),
        cmocka_unit_test(queue_is_bounded_and_in_order),
        cmocka_unit_test(close_lets_the_running_build_end_and_drops_the_others),
        cmocka_unit_test(loss_drops_what_waits),
        cmocka_unit_test(build_that_loses_the_device_ends_all),
        cmocka_unit_test(destroyed_kernels_are_left_out),
        cmocka_unit_test(required_mode_waits_for_the_queue),
        cmocka_unit_test(room_is_looked_for_again_after_a_build),
        cmocka_unit_test(kernel_destroyed_while_room_is_awaited_is_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
