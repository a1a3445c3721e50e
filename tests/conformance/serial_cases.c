/*
 * serial_cases.c: "as if serial", the one definition of correct. Random batches over few buffers, so
 * that hazards of every kind meet, are run on the device and on a model that knows no parallelism.
 */
#include "conformance/conformance.h"

#include "support/random.h"

enum { BUFFERS = 4, UNIT_WORDS = 64, UNITS = 6, WORDS = UNIT_WORDS * UNITS, COMMANDS_MAX = 24 };

/* Ranges start and end at units, which are aligned on every device that we know. */
struct stage {
    struct fixture *f;
    struct vyre_device *device;
    struct vyre_buffer *buffers[BUFFERS];
    struct vyre_kernel *add;
    struct vyre_kernel *mix;
    struct vyre_batch *batch;
    struct rng rng;
    uint32_t model[BUFFERS][WORDS];
    uint32_t downloads[COMMANDS_MAX][WORDS]; /* what the device wrote */
    uint32_t expected[COMMANDS_MAX][WORDS];  /* what the model says */
};

struct part {
    uint32_t buffer, first, count; /* in words */
};

static struct part random_part(struct stage *stage)
{
    uint32_t first = (uint32_t)rng_below(&stage->rng, UNITS);
    uint32_t count = 1 + (uint32_t)rng_below(&stage->rng, UNITS - first);
    return (struct part){(uint32_t)rng_below(&stage->rng, BUFFERS), first * UNIT_WORDS,
                         count * UNIT_WORDS};
}

static bool overlap(struct part a, struct part b)
{
    return a.buffer == b.buffer && a.first < b.first + b.count && b.first < a.first + a.count;
}

/* Another part of the same length that does not overlap; false: none was found. */
static bool random_other_part(struct stage *stage, struct part part, struct part *out_other)
{
    uint32_t starts = UNITS - part.count / UNIT_WORDS + 1;
    for (size_t i = 0; i < 20; i++) {
        *out_other =
            (struct part){(uint32_t)rng_below(&stage->rng, BUFFERS),
                          (uint32_t)rng_below(&stage->rng, starts) * UNIT_WORDS, part.count};
        if (!overlap(part, *out_other))
            return true;
    }
    return false;
}

static struct vyre_range range_at(const struct stage *stage, struct part part)
{
    return range_of(stage->buffers[part.buffer], part.first * sizeof(uint32_t),
                    part.count * sizeof(uint32_t));
}

static uint32_t *model_at(struct stage *stage, struct part part)
{
    return &stage->model[part.buffer][part.first];
}

static void add_random_command(struct stage *stage, size_t index)
{
    struct part part = random_part(stage), other;
    uint32_t *at = model_at(stage, part);
    uint32_t value = (uint32_t)rng_next(&stage->rng);
    uint32_t words[WORDS];
    switch (rng_below(&stage->rng, 10)) {
    case 0:
        vyre_batch_fill(stage->batch, range_at(stage, part), value);
        for (uint32_t i = 0; i < part.count; i++)
            at[i] = value;
        break;
    case 1:
        for (uint32_t i = 0; i < part.count; i++)
            at[i] = words[i] = value + i;
        vyre_batch_upload(stage->batch, range_at(stage, part), words);
        break;
    case 2:
        vyre_batch_download(stage->batch, range_at(stage, part), stage->downloads[index]);
        memcpy(stage->expected[index], at, part.count * sizeof *at);
        break;
    case 3:
    case 4:
        if (!random_other_part(stage, part, &other))
            break;
        vyre_batch_copy(stage->batch, range_at(stage, part), range_at(stage, other));
        memcpy(model_at(stage, other), at, part.count * sizeof *at);
        break;
    case 5:
    case 6:
        add_add(stage->batch, stage->add, range_at(stage, part), value, part.count);
        for (uint32_t i = 0; i < part.count; i++)
            at[i] += value;
        break;
    default:
        if (!random_other_part(stage, part, &other))
            break;
        add_mix(stage->batch, stage->mix, range_at(stage, part), range_at(stage, other), value,
                part.count);
        for (uint32_t i = 0; i < part.count; i++)
            model_at(stage, other)[i] = model_at(stage, other)[i] * value + at[i] + i;
    }
}

static void stage_init(struct stage *stage, struct fixture *f, uint64_t seed)
{
    memset(stage, 0, sizeof *stage);
    stage->f = f;
    stage->device = f->device;
    stage->rng = rng_seeded(seed);
    stage->add = make_kernel(f, f->device, KERNEL_ADD);
    stage->mix = make_kernel(f, f->device, KERNEL_MIX);
    stage->batch = make_batch(f, f->device);
    for (size_t i = 0; i < BUFFERS; i++)
        stage->buffers[i] = make_buffer(f, f->device, WORDS * sizeof(uint32_t));
}

static void check_buffers(struct stage *stage)
{
    for (size_t i = 0; i < BUFFERS; i++)
        assert_words(stage->f, stage->buffers[i], stage->model[i], WORDS);
}

/* One random batch at a time, each checked. */
static void random_batches(struct fixture *f, enum vyre_mode mode, uint64_t seed)
{
    struct stage *stage = malloc(sizeof *stage);
    assert_non_null(stage);
    stage_init(stage, f, seed);
    for (size_t round = 0; round < 60; round++) {
        size_t count = 1 + rng_below(&stage->rng, COMMANDS_MAX);
        memset(stage->downloads, 0, sizeof stage->downloads);
        memset(stage->expected, 0, sizeof stage->expected);
        vyre_batch_reset(stage->batch);
        for (size_t i = 0; i < count; i++)
            add_random_command(stage, i);
        run_in(f, f->device, stage->batch, mode);
        assert_memory_equal(stage->downloads, stage->expected, sizeof stage->expected);
        check_buffers(stage);
    }
    free(stage);
}

static void random_batches_plain(struct fixture *f)
{
    random_batches(f, VYRE_MODE_PLAIN, 1);
}

static void random_batches_replay(struct fixture *f)
{
    random_batches(f, VYRE_MODE_REPLAY, 2);
}

static void random_batches_persistent(struct fixture *f)
{
    random_batches(f, VYRE_MODE_PERSISTENT, 3);
}

static void random_batches_auto(struct fixture *f)
{
    random_batches(f, VYRE_MODE_AUTO, 4);
}

/* Many batches in flight, modes mixed, checked at the end only. */
static void random_stream_of_mixed_modes(struct fixture *f)
{
    struct stage *stage = malloc(sizeof *stage);
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(f->device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    assert_non_null(stage);
    stage_init(stage, f, 5);
    for (size_t round = 0; round < 20; round++) {
        memset(stage->downloads, 0, sizeof stage->downloads);
        memset(stage->expected, 0, sizeof stage->expected);
        for (size_t i = 0; i < COMMANDS_MAX; i++) {
            vyre_batch_reset(stage->batch);
            add_random_command(stage, i);
            submit_in(f, stage->batch, modes[rng_below(&stage->rng, mode_count)]);
        }
        assert_ok(f, vyre_device_wait_idle(f->device, VYRE_FOREVER, &f->diag));
        assert_memory_equal(stage->downloads, stage->expected, sizeof stage->expected);
        check_buffers(stage);
    }
    free(stage);
}

/* Arms that touch nothing of each other, and one command at the end that reads them all. */
static void independent_arms_then_join(struct fixture *f)
{
    enum { ARMS = 8, LENGTH = 10, ARM_WORDS = 1024 };
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *mix = make_kernel(f, f->device, KERNEL_MIX);
    struct vyre_buffer *arms[ARMS], *sum = make_buffer(f, f->device, ARM_WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    uint32_t expected[ARM_WORDS];
    for (uint32_t i = 0; i < ARMS; i++)
        arms[i] = make_buffer(f, f->device, ARM_WORDS * 4);
    vyre_batch_fill(batch, whole(sum), 0);
    for (uint32_t j = 0; j < LENGTH; j++) {
        for (uint32_t i = 0; i < ARMS; i++)
            add_add(batch, add, whole(arms[i]), i + j, ARM_WORDS);
    }
    for (uint32_t i = 0; i < ARMS; i++)
        add_mix(batch, mix, whole(arms[i]), whole(sum), 1, ARM_WORDS);
    for (uint32_t round = 1; round <= 4 * mode_count; round++) {
        run_in(f, f->device, batch, modes[round % mode_count]);
        for (uint32_t i = 0; i < ARM_WORDS; i++) /* each arm: 10 i + 45 a round */
            expected[i] = ARMS * i + round * (LENGTH * (ARMS * (ARMS - 1) / 2) + ARMS * 45);
        assert_words(f, sum, expected, ARM_WORDS);
    }
}

/* Dependent batches in flight together, on more threads than there are cores. */
static void stream_on_many_workers(struct fixture *f)
{
    enum { COUNT = 1 << 14, ROUNDS = 120 };
    static uint32_t a_model[COUNT], b_model[COUNT];
    struct vyre_device *device = open_device(f, &(struct vyre_device_desc){.cpu_workers = 5});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_kernel *mix = make_kernel(f, device, KERNEL_MIX);
    struct vyre_buffer *a = make_buffer(f, device, sizeof a_model);
    struct vyre_buffer *b = make_buffer(f, device, sizeof b_model);
    struct vyre_batch *adds = make_batch(f, device), *mixes = make_batch(f, device);
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    add_add(adds, add, whole(a), 7, COUNT);
    add_mix(mixes, mix, whole(a), whole(b), 3, COUNT);
    memset(a_model, 0, sizeof a_model);
    memset(b_model, 0, sizeof b_model);
    for (size_t round = 0; round < ROUNDS; round++) {
        submit_in(f, adds, modes[round % mode_count]);
        submit_in(f, mixes, modes[round / 2 % mode_count]);
        for (uint32_t i = 0; i < COUNT; i++) {
            a_model[i] += 7;
            b_model[i] = b_model[i] * 3 + a_model[i] + i;
        }
    }
    assert_words(f, a, a_model, COUNT);
    assert_words(f, b, b_model, COUNT);
}

static const struct conformance_case cases[] = {
    {"random_batches_plain", random_batches_plain, 0},
    {"random_batches_replay", random_batches_replay, NEEDS(REPLAY)},
    {"random_batches_persistent", random_batches_persistent, NEEDS(PERSISTENT)},
    {"random_batches_auto", random_batches_auto, 0},
    {"random_stream_of_mixed_modes", random_stream_of_mixed_modes, 0},
    {"independent_arms_then_join", independent_arms_then_join, 0},
    {"stream_on_many_workers", stream_on_many_workers, 0},
};

const struct conformance_group serial_cases = {"serial", cases, COUNT_OF(cases)};
