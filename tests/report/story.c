/*
 * story.c: made-up events of two devices.
 */
#include "story.h"

#include <stdio.h>
#include <string.h>

#define SHAPES     4
#define CANDIDATES 6
#define DEVICES    2

const char *const story_hostile_labels[STORY_HOSTILE_LABELS] = {
    "</script><script>document.title='pwned'</script>",
    "\"><img src=x onerror=\"document.title='pwned'\">",
    "<!--<script>",
    "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xae gnp.exe",
    "nul\x01\x1b[31m tab\t \xff\xfe not utf-8",
    "javascript:document.title='pwned'",
    "{{constructor}} ${1+1} \\u003cb\\u003e",
    "long long long long long long long long long long long long long long long long long long "
    "long "
    "long long long long long long long long long long long long long long long long long long "
    "long "
    "long long long long long long long long long long long long long long long long long long end",
};

/* A candidate as the story knows it: what it truly costs, and what calibration predicts. */
struct way {
    uint8_t mode;
    uint8_t variant;
    uint32_t true_ns;
    uint32_t predicted_ns;
    uint32_t fixed_ns;
    uint16_t out; /* enum vyre_why; 0: it can run */
};

struct kind {
    const char *label;
    const char *kernels[5];
    uint32_t dispatches[5];
    uint32_t commands[VYRE_COMMAND_TYPE_COUNT];
    uint32_t copied_bytes;
    uint32_t device; /* from 0 */
    struct way ways[CANDIDATES];
};

static const struct kind kinds[SHAPES] = {
    {"decode step",
     {"rmsnorm", "matvec", "rope", "softmax", "argmax"},
     {9, 28, 8, 4, 1},
     {50, 0, 0, 1, 1},
     8192,
     0,
     {{1, 0, 410000, 395000, 0, 0},
      {1, 1, 455000, 431000, 0, 0},
      {2, 0, 268000, 240000, 160000, 0},
      {2, 2, 305000, 225000, 310000, 0},
      {3, 0, 231000, 250000, 900000, 0},
      {3, 1, 0, 0, 0, VYRE_WHY_NOT_APPLICABLE}}},
    {"frame upload",
     {"sobel", "box", "fold"},
     {1, 1, 1},
     {3, 0, 0, 2, 1},
     2097152,
     0,
     {{1, 0, 620000, 640000, 0, 0},
      {1, 1, 780000, 760000, 0, 0},
      {2, 0, 602000, 588000, 120000, 0},
      {2, 2, 660000, 570000, 200000, 0},
      {3, 0, 0, 0, 0, VYRE_WHY_FAILED},
      {3, 1, 0, 0, 0, VYRE_WHY_UNPROVEN}}},
    {"mix tracks",
     {"gain", "lowpass", "echo", "limit", "mix_tracks"},
     {16, 16, 16, 16, 1},
     {65, 4, 1, 0, 1},
     65536,
     1,
     {{1, 0, 190000, 210000, 0, 0},
      {1, 1, 240000, 250000, 0, 0},
      {2, 0, 118000, 120000, 60000, 0},
      {2, 2, 0, 0, 0, VYRE_WHY_ABILITY_ABSENT},
      {3, 0, 96000, 101000, 250000, 0},
      {3, 1, 131000, 140000, 250000, 0}}},
    {"gather",
     {"lookup", "update"},
     {32, 8},
     {40, 0, 0, 0, 2},
     16384,
     1,
     {{1, 0, 84000, 92000, 0, 0},
      {1, 1, 88000, 95000, 0, 0},
      {2, 0, 91000, 70000, 45000, 0},
      {2, 2, 0, 0, 0, VYRE_WHY_ABILITY_ABSENT},
      {3, 0, 79000, 83000, 250000, 0},
      {3, 1, 90000, 88000, 250000, 0}}},
};

struct shape_state {
    uint64_t mean_ns[CANDIDATES]; /* 0: not measured */
    uint32_t count[CANDIDATES];
    uint32_t seen;
    unsigned chosen;
    bool is_drifted;
    bool is_recorded;
    bool is_reported;
};

struct story {
    const struct story_options *options;
    struct vyre_observer observer;
    uint64_t random;
    uint64_t now_ns;
    uint64_t device_free_ns[DEVICES];
    uint64_t sequences[DEVICES];
    uint64_t lease[DEVICES];
    uint64_t lease_begin_ns[DEVICES]; /* 0: none is running */
    struct vyre_device_counters counters[DEVICES];
    struct vyre_decision_counters decisions[DEVICES];
    struct shape_state shapes[SHAPES];
};

/* splitmix64 */
static uint64_t draw(struct story *story)
{
    uint64_t value = (story->random += UINT64_C(0x9e3779b97f4a7c15));
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* A measurement: mostly within 6 %, now and then up to twice as long. */
static uint64_t scatter(struct story *story, uint64_t true_ns)
{
    uint64_t percent = 94 + draw(story) % 13;
    if (draw(story) % 40 == 0)
        percent += draw(story) % 90;
    return true_ns * percent / 100 + draw(story) % 97;
}

static const char *name_of(const struct story *story, const char *label, unsigned number)
{
    return story->options->hostile ? story_hostile_labels[number % STORY_HOSTILE_LABELS] : label;
}

static void emit(struct story *story, unsigned device, struct vyre_event event)
{
    event.size_bytes = sizeof event;
    event.time_ns = story->now_ns;
    event.device = story->options->device_base + device + 1;
    story->observer.event(story->observer.user, &event);
}

/* ---- Devices, kernels, leases, recordings ------------------------------------------------------ */

static void calibrate(struct vyre_calibration *calibration, unsigned device)
{
    memset(calibration, 0, sizeof *calibration);
    calibration->taken_s = 1763200000;
    calibration->took_ns = 2400000000;
    for (unsigned i = 0; i < VYRE_COST_COUNT; i++) {
        bool is_driver = i >= VYRE_COST_DRIVER_RECORD_BATCH && i <= VYRE_COST_DRIVER_REPLAY_UPDATE;
        double median = (double)(1200 + (i * 7919 % 23) * 640) / (device + 1);
        calibration->costs[i] = (struct vyre_cost){
            .known = device == 0 || !is_driver,
            .noisy = i % 11 == 7,
            .samples = 40 + i,
            .min_ns = median * 0.93,
            .median_ns = median,
            .spread_ns = median * 0.08,
            .confidence_ns = median * 0.02,
        };
        if (!calibration->costs[i].known)
            memset(&calibration->costs[i], 0, sizeof calibration->costs[i]);
    }
}

static void open_device(struct story *story, unsigned device)
{
    struct vyre_device_info infos[DEVICES] = {
        {"vulkan",
         0,
         VYRE_DEVICE_KIND_SOFTWARE,
         "llvmpipe (LLVM 15.0.6, 256 bits)",
         "llvmpipe Mesa 22.3.6",
         {0x6d, 0x65, 0x73, 0x61, 0x32, 0x32}},
        {"cpu", 0, VYRE_DEVICE_KIND_CPU, "AMD EPYC, 2 cores", "vyre 0.1.0", {0}},
    };
    struct vyre_ability abilities[VYRE_ABILITY_COUNT];
    memset(abilities, 0, sizeof abilities);
    for (unsigned i = 0; i < VYRE_ABILITY_COUNT; i++)
        abilities[i].value = i == VYRE_ABILITY_BINDLESS ? 4096 : 1 + i % 2;
    if (device == 1) {
        abilities[VYRE_ABILITY_TIMESTAMPS].value = 0;
        strcpy(abilities[VYRE_ABILITY_TIMESTAMPS].reason, "times are taken on the host's clock");
    }
    struct vyre_calibration calibration;
    calibrate(&calibration, device);
    if (story->options->hostile)
        strcpy(infos[device].name, story_hostile_labels[0]);
    struct vyre_event_device_opened opened = {sizeof opened,  VYRE_ABILITY_COUNT,
                                              &infos[device], name_of(story, infos[device].name, 1),
                                              abilities,      device == 1 ? &calibration : NULL};
    emit(story, device,
         (struct vyre_event){.type = VYRE_EVENT_DEVICE_OPENED, .as.device_opened = &opened});
    story->now_ns += 900000;
    if (device == 0) {
        struct vyre_event_calibrated calibrated = {sizeof calibrated, 0, &calibration};
        emit(story, device,
             (struct vyre_event){.type = VYRE_EVENT_CALIBRATED, .as.calibrated = &calibrated});
    }
}

static void create_kernels(struct story *story, const struct kind *kind, unsigned number)
{
    for (unsigned i = 0; i < 5 && kind->kernels[i]; i++) {
        uint64_t took_ns = scatter(story, kind->device == 0 ? 3800000 : 40000);
        struct vyre_event_kernel_created created = {sizeof created, 0,
                                                    name_of(story, kind->kernels[i], number + i),
                                                    story->now_ns, took_ns};
        story->now_ns += took_ns + 20000;
        emit(story, kind->device,
             (struct vyre_event){.type = VYRE_EVENT_KERNEL_CREATED, .as.kernel_created = &created});
    }
}

static void end_lease(struct story *story, unsigned device)
{
    if (story->lease_begin_ns[device] == 0)
        return;
    struct vyre_event_lease lease = {
        sizeof lease,        0, story->lease[device], story->lease_begin_ns[device], story->now_ns,
        VYRE_RESIDENCY_IDLE, 0};
    story->lease_begin_ns[device] = 0;
    emit(story, device, (struct vyre_event){.type = VYRE_EVENT_LEASE, .as.lease = &lease});
}

static void begin_lease(struct story *story, unsigned device)
{
    if (story->lease_begin_ns[device] != 0 &&
        story->now_ns - story->lease_begin_ns[device] > 40000000)
        end_lease(story, device);
    if (story->lease_begin_ns[device] != 0)
        return;
    story->lease_begin_ns[device] = story->now_ns;
    struct vyre_event_lease lease = {
        sizeof lease, 0, ++story->lease[device], story->now_ns, 0, VYRE_RESIDENCY_NONE, 0};
    emit(story, device, (struct vyre_event){.type = VYRE_EVENT_LEASE, .as.lease = &lease});
}

static void make_recording(struct story *story, unsigned number, const struct way *way)
{
    struct vyre_event_recording recording = {
        .size_bytes = sizeof recording,
        .change = VYRE_RECORDING_MADE,
        .shape_lo = number + 1,
        .shape_hi = UINT64_C(0xfeed000000000000),
        .size_of_recording_bytes = 4096 * (number + 1),
        .begin_ns = story->now_ns,
        .record_ns = way->fixed_ns,
    };
    story->now_ns += way->fixed_ns;
    story->counters[kinds[number].device].recordings_made++;
    emit(story, kinds[number].device,
         (struct vyre_event){.type = VYRE_EVENT_RECORDING, .as.recording = &recording});
}

static void report_shape(struct story *story, unsigned number)
{
    const struct kind *kind = &kinds[number];
    uint32_t commands = kind->commands[0] + kind->commands[3];
    struct vyre_explanation said = {
        .persistent_kernel = {.batch_size = commands,
                              .per_launch_overhead_ns = 40,
                              .persistent_setup_overhead_ns = 250000},
        .command_reuse = {.per_launch_overhead_ns = kind->ways[0].predicted_ns,
                          .record_overhead_ns = 6000,
                          .replay_overhead_ns = kind->ways[1].predicted_ns},
        .bindless = {.resource_count = 3, .support = VYRE_BINDLESS_FULL},
        .plain_origin = VYRE_ORIGIN_CALIBRATED,
        .replay_origin = VYRE_ORIGIN_CALIBRATED,
        .persistent_origin = VYRE_ORIGIN_STATED,
        .verdicts.arms = {VYRE_ARMS_SERIALIZE, VYRE_CONFLICT_READ_AFTER_WRITE},
        .verdicts.copy = {kind->commands[3] ? VYRE_COPY_OVERLAP : VYRE_COPY_ABSENT},
        .arm_count = 1,
    };
    snprintf(said.unfit_reason, sizeof said.unfit_reason, "%.*s", VYRE_REASON_BYTES - 1,
             name_of(story, "", number));
    struct vyre_event_shape shape = {
        .size_bytes = sizeof shape,
        .shape_lo = number + 1,
        .shape_hi = UINT64_C(0xfeed000000000000),
        .explanation = &said,
    };
    emit(story, kind->device, (struct vyre_event){.type = VYRE_EVENT_SHAPE, .as.shape = &shape});
}

/* ---- The story's governor ---------------------------------------------------------------------- */

static uint64_t cost_of(const struct shape_state *shape, const struct way *way, unsigned index)
{
    return shape->count[index] > 0 ? shape->mean_ns[index] : way->predicted_ns;
}

static unsigned cheapest(const struct shape_state *shape, const struct way *ways)
{
    unsigned best = 0;
    for (unsigned i = 1; i < CANDIDATES; i++) {
        if (ways[i].out == 0 && cost_of(shape, &ways[i], i) < cost_of(shape, &ways[best], best))
            best = i;
    }
    return best;
}

static void choose(struct story *story, struct shape_state *shape, const struct kind *kind,
                   struct vyre_decision_record *record)
{
    const struct way *ways = kind->ways;
    shape->seen++;
    record->settled = 1;
    record->why = shape->seen > 24 ? VYRE_WHY_MEASURED_BEST : VYRE_WHY_PREDICTED_BEST;
    unsigned candidate = shape->seen / 3;
    if (shape->seen == 1) {
        shape->chosen = 0;
        record->settled = 0;
    } else if (candidate < CANDIDATES && ways[candidate].out == 0 && shape->seen % 3 == 0) {
        shape->chosen = candidate;
        record->why = VYRE_WHY_TRIAL;
        record->settled = 0;
    } else if (draw(story) % 97 == 0) {
        do
            shape->chosen = (unsigned)(draw(story) % CANDIDATES);
        while (ways[shape->chosen].out != 0);
        record->why = VYRE_WHY_EXPLORE;
        record->settled = 0;
    } else {
        unsigned best = cheapest(shape, ways);
        record->settled = best == shape->chosen;
        shape->chosen = best;
        if (shape->is_drifted && shape->seen % 2 == 0) {
            record->why = VYRE_WHY_DRIFT_RECHECK;
            record->settled = 0;
            shape->is_drifted = false;
        }
    }
}

static uint8_t why_of(const struct shape_state *shape, const struct way *ways, unsigned index,
                      uint8_t why)
{
    if (ways[index].out != 0)
        return (uint8_t)ways[index].out;
    if (index == shape->chosen)
        return why;
    if (cost_of(shape, &ways[index], index) < cost_of(shape, &ways[shape->chosen], shape->chosen))
        return VYRE_WHY_MARGIN;
    if (shape->count[index] > 0)
        return VYRE_WHY_SLOWER_MEASURED;
    return ways[index].fixed_ns > 200000 ? VYRE_WHY_FIXED_TOO_SLOW : VYRE_WHY_SLOWER_PREDICTED;
}

static void fill_candidates(const struct shape_state *shape, const struct way *ways,
                            struct vyre_decision_record *record)
{
    record->candidate_count = CANDIDATES;
    for (unsigned i = 0; i < CANDIDATES; i++) {
        bool is_out = ways[i].out != 0;
        bool is_measured = shape->count[i] > 0;
        record->candidates[i] = (struct vyre_decision_candidate){
            .predicted_ns = is_out ? 0 : cost_of(shape, &ways[i], i),
            .measured_ns = shape->mean_ns[i],
            .count = shape->count[i],
            .why = why_of(shape, ways, i, record->why),
            .mode = ways[i].mode,
            .variant = ways[i].variant,
            .state = (uint8_t)(is_out        ? VYRE_CANDIDATE_OUT
                               : is_measured ? VYRE_CANDIDATE_MEASURED
                                             : VYRE_CANDIDATE_PREDICTED),
        };
    }
}

static void learn(struct shape_state *shape, uint64_t wall_ns)
{
    uint64_t *mean = &shape->mean_ns[shape->chosen];
    uint32_t *count = &shape->count[shape->chosen];
    *mean = *count == 0 ? wall_ns : (*mean * 7 + wall_ns) / 8;
    (*count)++;
}

/* ---- Batches ----------------------------------------------------------------------------------- */

/* Midway, what was cheapest for the decode step becomes slow. */
static uint64_t true_cost(struct story *story, unsigned number, uint64_t batch, unsigned way)
{
    uint64_t cost = kinds[number].ways[way].true_ns;
    bool is_late = batch > story->options->batch_count * 3 / 5;
    if (number == 0 && is_late && kinds[number].ways[way].mode == VYRE_MODE_PERSISTENT)
        cost = cost * 17 / 10;
    return cost;
}

static void fill_batch(struct story *story, unsigned number, struct vyre_event_batch_completed *out)
{
    const struct kind *kind = &kinds[number];
    out->size_bytes = sizeof *out;
    out->label = name_of(story, kind->label, number);
    memcpy(out->commands, kind->commands, sizeof out->commands);
    out->copied_bytes = kind->copied_bytes;
    for (unsigned i = 0; i < 5 && kind->kernels[i]; i++) {
        out->kernels[i].label = name_of(story, kind->kernels[i], number + i);
        out->kernels[i].dispatch_count = kind->dispatches[i];
        out->kernel_count = i + 1;
    }
}

static void time_batch(struct story *story, unsigned device, uint64_t wall_ns,
                       struct vyre_event_batch_completed *out)
{
    uint64_t submit_ns = wall_ns / 9 + draw(story) % 1500;
    out->submit_begin_ns = story->now_ns;
    out->submit_ns = submit_ns;
    out->complete_ns = story->now_ns + wall_ns;
    if (device == 0 && !story->options->no_device_times) {
        out->device_begin_ns = story->now_ns + submit_ns;
        if (out->device_begin_ns < story->device_free_ns[device])
            out->device_begin_ns = story->device_free_ns[device];
        if (out->device_begin_ns >= out->complete_ns)
            out->complete_ns = out->device_begin_ns + 1000;
        out->device_ns = out->complete_ns - out->device_begin_ns;
        story->device_free_ns[device] = out->complete_ns;
    }
}

static void run_batch(struct story *story, uint64_t batch)
{
    unsigned number = (unsigned)(draw(story) % 10);
    number = number < 5 ? 0 : number < 7 ? 1 : number < 9 ? 2 : 3;
    const struct kind *kind = &kinds[number];
    struct shape_state *shape = &story->shapes[number];
    struct vyre_decision_record record = {
        .shape_lo = number + 1, .shape_hi = UINT64_C(0xfeed000000000000), .time_ns = story->now_ns};
    if (number == 0 && batch == story->options->batch_count * 3 / 5 + 40)
        shape->is_drifted = true;
    if (!shape->is_reported)
        report_shape(story, number);
    shape->is_reported = true;
    choose(story, shape, kind, &record);
    const struct way *way = &kind->ways[shape->chosen];
    fill_candidates(shape, kind->ways, &record);
    if (way->mode == VYRE_MODE_REPLAY && !shape->is_recorded) {
        make_recording(story, number, way);
        shape->is_recorded = true;
    }
    if (way->mode == VYRE_MODE_PERSISTENT)
        begin_lease(story, kind->device);

    struct vyre_event_batch_completed completed;
    memset(&completed, 0, sizeof completed);
    fill_batch(story, number, &completed);
    uint64_t wall_ns = scatter(story, true_cost(story, number, batch, shape->chosen));
    time_batch(story, kind->device, wall_ns, &completed);
    completed.sequence = ++story->sequences[kind->device];
    completed.status = batch % 1009 == 1000 ? VYRE_DRIVER : VYRE_OK;
    record.sequence = completed.sequence;
    record.repeats_seen = shape->seen;
    record.repeat_hint = number == 1 ? 500 : 0;
    record.command_count = kind->commands[0] + kind->commands[3];
    record.mode = way->mode;
    record.variant = way->variant;
    record.predicted_ns = cost_of(shape, way, shape->chosen);
    record.host_ns = completed.submit_ns;
    record.device_ns = completed.device_ns;
    record.wall_ns = completed.complete_ns - completed.submit_begin_ns;
    record.saved_vs_plain_ns = (int64_t)cost_of(shape, &kind->ways[0], 0) - (int64_t)record.wall_ns;
    if (way->mode == VYRE_MODE_PLAIN)
        record.saved_vs_plain_ns = 0;
    completed.decision = &record;
    learn(shape, record.wall_ns);
    story->counters[kind->device].submitted++;
    story->counters[kind->device].completed++;
    story->counters[kind->device].failed += completed.status != VYRE_OK;
    story->counters[kind->device].by_mode[way->mode]++;
    story->decisions[kind->device].decided++;
    story->decisions[kind->device].by_why[record.why]++;
    uint64_t begin_ns = story->now_ns;
    story->now_ns = completed.complete_ns;
    emit(story, kind->device,
         (struct vyre_event){.type = VYRE_EVENT_BATCH_COMPLETED, .as.batch_completed = &completed});
    /* Half of the time the next batch is submitted before this one is complete. */
    story->now_ns = draw(story) % 2 ? begin_ns + completed.submit_ns + 2000
                                    : completed.complete_ns + draw(story) % 60000;
}

void story_tell(const struct story_options *options, struct vyre_observer observer)
{
    static const struct story zero;
    struct story story = zero;
    story.options = options;
    story.observer = observer;
    story.random = options->seed;
    story.now_ns = options->start_ns;
    for (unsigned i = 0; i < DEVICES; i++)
        open_device(&story, i);
    for (unsigned i = 0; i < SHAPES; i++)
        create_kernels(&story, &kinds[i], i);
    for (uint64_t batch = 0; batch < options->batch_count; batch++)
        run_batch(&story, batch);
    story.now_ns += 2000000;
    for (unsigned i = 0; i < DEVICES; i++) {
        end_lease(&story, i);
        struct vyre_event_device_closed closed = {sizeof closed, 0, &story.counters[i],
                                                  &story.decisions[i]};
        emit(&story, i,
             (struct vyre_event){.type = VYRE_EVENT_DEVICE_CLOSED, .as.device_closed = &closed});
    }
}
