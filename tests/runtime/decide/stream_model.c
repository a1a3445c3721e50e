/*
 * stream_model.c: runs one program on the simulated device.
 */
#include "runtime/decide/stream_model.h"

#include <math.h>

#include "runtime/decide/trap.h"
#include "runtime/sim_fixture.h"
#include "support/random.h"

#define SWING_BATCHES   200 /* in the fastest mode */
#define SLOW_PART       0.25
#define SLOW            1.5
#define OUTLIER         20.0
#define COLD            1000.0
#define COLD_BATCHES    2
#define CALIBRATION_OFF 0.3
#define PERIOD_BATCHES  2 /* in plain mode */
#define GROUP           8
/* The default of persistent_idle_ns. */
#define IDLE_LEAVE_NS UINT64_C(2000000)

enum { BYTES = 64 };

struct entry {
    struct vyre_ticket ticket;
    uint32_t shape;
    struct vyre_batch *batch; /* Owned, with its buffers, if the shape is a new one; else NULL */
    struct vyre_buffer *in, *out;
};

struct run {
    const struct stream_device *device;
    const struct stream_program *program;
    struct stream_result *result;
    struct fixture fixture;
    enum vyre_mode mode;
    struct vyre_batch *batches[STREAM_SHAPES_MAX];
    uint8_t order[STREAM_BATCHES_MAX]; /* the shape of each batch */
    double noise[STREAM_BATCHES_MAX];
    uint64_t swing_ns, swing_at_ns;
    struct entry ring[STREAM_DEPTH_MAX];
    uint32_t submitted, reaped;
    uint8_t last_mode[STREAM_SHAPES_MAX];   /* VYRE_MODE_AUTO: none */
    uint8_t last_choice[STREAM_SHAPES_MAX]; /* ... that was not a try */
    uint64_t idle_ns;
    uint64_t warm_begin_ns; /* without idle time */
};

const char *stream_completion_name(enum stream_completion completion)
{
    static const char *const names[STREAM_COMPLETION_COUNT] = {"at once", "found", "by eight",
                                                               "by period"};
    return names[completion];
}

/* ---- Noise and order -------------------------------------------------------------------------- */

static double unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static double normal(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += unit(rng);
    return sum;
}

static uint32_t shape_count(const struct stream_program *program)
{
    return program->shapes ? program->shapes : 1;
}

/* In turn; or shuffled anew each time all of them have run. */
static void draw_order(struct run *run, struct rng *rng)
{
    uint32_t count = shape_count(run->program);
    uint8_t deck[STREAM_SHAPES_MAX];
    for (uint32_t i = 0; i < count; i++)
        deck[i] = (uint8_t)i;
    for (uint32_t b = 0; b < run->program->batches; b++) {
        uint32_t at = b % count;
        if (run->program->order == STREAM_SHUFFLED) {
            uint32_t other = at + (uint32_t)rng_below(rng, count - at);
            uint8_t drawn = deck[other];
            deck[other] = deck[at];
            deck[at] = drawn;
        }
        run->order[b] = deck[at];
    }
}

/* A batch from submit to its end, without fixed costs. */
static double batch_ns(const struct stream_device *device, const struct stream_mode *mode)
{
    return mode->host_batch + mode->device_batch +
           device->commands * (mode->host_command + mode->device_command + device->execution);
}

static double fastest_ns(const struct stream_device *device)
{
    double least = fmin(batch_ns(device, &device->plain), batch_ns(device, &device->replay));
    return device->no_persistent ? least : fmin(least, batch_ns(device, &device->persistent));
}

static void draw_noise(struct run *run, struct rng *rng)
{
    run->swing_ns = (uint64_t)(SWING_BATCHES * fastest_ns(run->device));
    run->swing_at_ns = rng_below(rng, run->swing_ns);
    for (uint32_t b = 0; b < run->program->batches; b++) {
        run->noise[b] = exp(0.1 * normal(rng));
        if (rng_below(rng, 100) == 0)
            run->noise[b] *= OUTLIER;
    }
}

/* All batches have the same kernel, so the first ones of the stream compile it. */
static struct vyre_sim_pace pace(void *user, uint64_t sequence, uint64_t start_ns)
{
    const struct run *run = user;
    const struct stream_program *program = run->program;
    uint64_t at_ns = (start_ns + run->swing_at_ns) % run->swing_ns;
    bool slow = program->swings && (double)at_ns < SLOW_PART * (double)run->swing_ns;
    bool is_cold = program->cold && sequence <= COLD_BATCHES;
    double noise = run->noise[(sequence - 1) % STREAM_BATCHES_MAX];
    /* Outliers are too few to meet the slow times equally often in every mode. */
    bool is_outlier = noise > OUTLIER / 2;
    return (struct vyre_sim_pace){
        .factor = slow && !is_outlier ? noise * SLOW : noise,
        .added_ns = is_cold ? (uint64_t)(COLD * batch_ns(run->device, &run->device->plain)) : 0,
    };
}

/* ---- The device ------------------------------------------------------------------------------- */

static struct vyre_sim_device_costs on_device(const struct stream_mode *mode)
{
    return (struct vyre_sim_device_costs){(uint64_t)mode->device_batch,
                                          (uint64_t)mode->device_command};
}

static struct vyre_sim_costs costs_of(const struct stream_device *device)
{
    return (struct vyre_sim_costs){
        .submit_ns = (uint64_t)device->plain.host_batch,
        .submit_command_ns = (uint64_t)device->plain.host_command,
        .record_ns = (uint64_t)device->replay.fixed,
        .replay_ns = (uint64_t)device->replay.host_batch,
        .replay_command_ns = (uint64_t)device->replay.host_command,
        .persistent_setup_ns = (uint64_t)device->persistent.fixed,
        .persistent_round_trip_ns = (uint64_t)device->persistent.host_batch,
        .persistent_item_ns = (uint64_t)device->persistent.host_command,
        .group_ns = (uint64_t)device->execution,
        .on_device = {[VYRE_MODE_PLAIN] = on_device(&device->plain),
                      [VYRE_MODE_REPLAY] = on_device(&device->replay),
                      [VYRE_MODE_PERSISTENT] = on_device(&device->persistent)},
    };
}

static void set_cost(struct vyre_calibration *calibration, enum vyre_cost_id id, double ns,
                     struct rng *rng)
{
    double off = ns * (1 + CALIBRATION_OFF * (2 * unit(rng) - 1));
    calibration->costs[id] =
        (struct vyre_cost){.known = true, .samples = 100, .min_ns = off, .median_ns = off};
}

/* As a calibration finds them, which waits for each batch. */
static void calibrate(struct run *run, struct rng *rng)
{
    const struct stream_device *device = run->device;
    const struct stream_mode *modes[] = {&device->plain, &device->replay, &device->persistent};
    static const enum vyre_cost_id batch[] = {VYRE_COST_PLAIN_BATCH, VYRE_COST_REPLAY_BATCH,
                                              VYRE_COST_PERSISTENT_BATCH};
    struct vyre_calibration calibration = {.taken_s = 1};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        set_cost(&calibration, batch[i], modes[i]->host_batch + modes[i]->device_batch, rng);
        set_cost(&calibration, (enum vyre_cost_id)(batch[i] + 1),
                 modes[i]->host_command + modes[i]->device_command, rng);
    }
    set_cost(&calibration, VYRE_COST_RECORD_BATCH, device->replay.fixed, rng);
    set_cost(&calibration, VYRE_COST_RECORD_COMMAND, 0, rng);
    set_cost(&calibration, VYRE_COST_PERSISTENT_SETUP, device->persistent.fixed, rng);
    assert_int_equal(
        vyre_device_set_calibration(run->fixture.device, &calibration, &run->fixture.diag),
        VYRE_OK);
}

static void open_device(struct run *run, uint64_t seed)
{
    const struct stream_program *program = run->program;
    const struct vyre_sim_costs costs = costs_of(run->device);
    bool found = program->completion == STREAM_FOUND || program->completion == STREAM_BY_PERIOD;
    struct vyre_sim_desc desc = {
        .seed = seed,
        .order = VYRE_SIM_ORDER_SERIAL,
        .completion = found ? VYRE_SIM_COMPLETE_FOUND : VYRE_SIM_COMPLETE_ON_TIME,
        .modes_exclude = true,
        .costs = &costs,
        .report_every = program->completion == STREAM_BY_EIGHT ? GROUP : 0,
        .report_period_ns =
            program->completion == STREAM_BY_PERIOD
                ? (uint64_t)(PERIOD_BATCHES * batch_ns(run->device, &run->device->plain))
                : 0,
        .idle_leave_ns = IDLE_LEAVE_NS,
        .switch_drains = true,
        .pace = pace,
        .pace_user = run,
    };
    if (run->device->no_persistent)
        desc.absent[VYRE_ABILITY_PERSISTENT] = "no resident kernels";
    fixture_open(&run->fixture, &desc, NULL);
}

/* ---- The program ------------------------------------------------------------------------------ */

static uint64_t now_ns(const struct run *run)
{
    return vyre_sim_now_ns(run->fixture.sim) - run->idle_ns;
}

static void add_commands(struct run *run, struct entry *entry, uint32_t commands)
{
    entry->in = fixture_buffer(&run->fixture, BYTES);
    entry->out = fixture_buffer(&run->fixture, BYTES);
    entry->batch = fixture_batch(&run->fixture);
    for (uint32_t i = 0; i < commands; i++)
        fixture_mix(&run->fixture, entry->batch, (struct vyre_range){.buffer = entry->in},
                    (struct vyre_range){.buffer = entry->out}, i);
}

/* Shapes that are shuffled have half to one and a half times as many commands. */
static void make_shapes(struct run *run)
{
    uint32_t count = shape_count(run->program);
    for (uint32_t i = 0; run->program->order != STREAM_FRESH && i < count; i++) {
        struct entry entry;
        uint32_t commands = run->device->commands;
        if (run->program->order == STREAM_SHUFFLED)
            commands = commands / 2 + commands * i / count;
        add_commands(run, &entry, commands);
        run->batches[i] = entry.batch;
    }
}

static void note_mode(struct run *run, uint32_t shape, const struct vyre_batch_result *result)
{
    uint8_t mode = (uint8_t)result->mode;
    bool counts = run->reaped >= run->program->warm_up;
    run->result->by_mode[mode]++;
    if (counts && run->last_mode[shape] && run->last_mode[shape] != mode)
        run->result->switches++;
    run->last_mode[shape] = mode;
    if (trap_is_try((uint8_t)result->why))
        return;
    if (counts && run->last_choice[shape] && run->last_choice[shape] != mode)
        run->result->choices++;
    run->last_choice[shape] = mode;
}

static void reap(struct run *run)
{
    struct entry *oldest = &run->ring[run->reaped % STREAM_DEPTH_MAX];
    assert_int_equal(fixture_wait(&run->fixture, oldest->ticket), VYRE_OK);
    struct vyre_batch_result result = fixture_result(&run->fixture, oldest->ticket);
    note_mode(run, oldest->shape, &result);
    run->reaped++;
    if (!oldest->batch)
        return;
    vyre_batch_destroy(&oldest->batch);
    vyre_buffer_destroy(&oldest->in);
    vyre_buffer_destroy(&oldest->out);
}

static void submit(struct run *run)
{
    const struct stream_program *program = run->program;
    struct entry *entry = &run->ring[run->submitted % STREAM_DEPTH_MAX];
    *entry = (struct entry){.shape = run->order[run->submitted]};
    bool fresh = program->order == STREAM_FRESH;
    uint32_t hint = fresh ? 1 : program->batches / shape_count(program);
    if (fresh)
        add_commands(run, entry, run->device->commands);
    const struct vyre_submit_options options = {.mode = run->mode,
                                                .repeat_hint = program->hinted ? hint : 0};
    assert_int_equal(vyre_batch_submit(fresh ? entry->batch : run->batches[entry->shape], &options,
                                       &entry->ticket, &run->fixture.diag),
                     VYRE_OK);
    run->submitted++;
}

static void idle(struct run *run)
{
    uint64_t clock_ns = vyre_sim_now_ns(run->fixture.sim);
    uint64_t rest_ns = run->program->frame_ns - clock_ns % run->program->frame_ns;
    vyre_sim_advance(run->fixture.sim, rest_ns);
    run->idle_ns += rest_ns;
}

/* Leaves at most `count` in flight. */
static void reap_until(struct run *run, uint32_t count)
{
    while (run->submitted - run->reaped > count)
        reap(run);
}

/* The program waits for all batches at the end of the warm-up, so that nothing is in flight where `warm_ns` begins. */
static void run_batches(struct run *run)
{
    const struct stream_program *program = run->program;
    while (run->submitted < program->batches) {
        if (run->submitted == program->warm_up) {
            reap_until(run, 0);
            run->warm_begin_ns = now_ns(run);
        }
        reap_until(run, program->depth - 1);
        submit(run);
        if (program->frame_ns > 0 && run->submitted % program->frame_batches == 0) {
            reap_until(run, 0);
            idle(run);
        }
    }
    reap_until(run, 0);
}

void stream_run(const struct stream_device *device, const struct stream_program *program,
                enum vyre_mode mode, uint64_t seed, struct stream_result *out_result)
{
    static struct run run;
    struct rng rng = rng_seeded(seed * 977 + 13);
    *out_result = (struct stream_result){0};
    run = (struct run){.device = device, .program = program, .result = out_result, .mode = mode};
    draw_order(&run, &rng);
    draw_noise(&run, &rng);
    open_device(&run, seed);
    calibrate(&run, &rng);
    make_shapes(&run);
    uint64_t begin_ns = now_ns(&run);
    run_batches(&run);
    out_result->all_ns = (double)(now_ns(&run) - begin_ns);
    out_result->warm_ns = (double)(now_ns(&run) - run.warm_begin_ns);
    out_result->recordings = vyre_sim_calls(run.fixture.sim, VYRE_SIM_RECORD);
    fixture_close(&run.fixture);
}
