/*
 * calibrate.c: measures what launching costs on a live device.
 *
 * Most figures are slopes or differences: what a command adds to a batch, or how much longer the
 * first submit takes than the second. Both sides of such a pair are timed in turn within one
 * sample, so that a clock that changes its speed changes both.
 *
 * Everything goes through the public API, so the costs are those that a user pays.
 */
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "runtime/emit.h"
#include "runtime/probe_kernel.h"
#include "runtime/samples.h"

#define DEFAULT_TIME_NS  UINT64_C(3000000000)
#define LONG_BATCH       64 /* commands: enough for a slope, short enough at 60 us each */
#define SUBMITS_IN_A_ROW 8
#define WARM_UP_ROUNDS   3
#define GOOD_PERCENT     5.0
#define NOISY_PERCENT    10.0
#define MIB              ((size_t)1 << 20)
#define BULK_BYTES       (4 * MIB)
#define COMPILE_SAMPLES  3

struct probe {
    struct vyre_device *device; /* Borrowed */
    const struct vyre_calibration_options *options;
    struct vyre_calibration *out;
    struct vyre_diag *diag;
    struct vyre_kernel *kernel;
    struct vyre_buffer *words, *bulk, *bulk_target;
    void *host_bytes; /* Owned: BULK_BYTES */
    struct vyre_batch *empty, *one, *many;
    uint64_t figure_ns; /* time for one figure */
    uint64_t salt;
    enum vyre_status status; /* the first failure */
    uint32_t done;
};

/* ---- Timing one batch ------------------------------------------------------------------------- */

struct way {
    enum vyre_mode mode;
    uint32_t variant;
};

static const struct way plain_way = {VYRE_MODE_PLAIN, 0};

static void fail(struct probe *probe, enum vyre_status status)
{
    if (probe->status == VYRE_OK)
        probe->status = status;
}

/* Submit and wait. */
static double time_run(struct probe *probe, struct vyre_batch *batch, struct way way)
{
    const struct vyre_submit_options options = {.mode = way.mode, .variant = way.variant};
    struct vyre_ticket ticket;
    uint64_t start_ns = vyre_device_now_ns(probe->device);
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, probe->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(probe->device, ticket, VYRE_FOREVER, probe->diag);
    uint64_t end_ns = vyre_device_now_ns(probe->device);
    fail(probe, status);
    return (double)(end_ns - start_ns);
}

static struct vyre_batch *new_batch(struct probe *probe)
{
    struct vyre_batch *batch = NULL;
    fail(probe, vyre_batch_create(probe->device, &(struct vyre_batch_desc){.label = "probe"},
                                  &batch, probe->diag));
    return batch;
}

static void add_dispatches(struct probe *probe, struct vyre_batch *batch,
                           struct vyre_kernel *kernel, struct vyre_buffer *words, uint32_t count)
{
    const uint32_t add = 1;
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = words}};
    const struct vyre_dispatch dispatch = {
        .kernel = kernel,
        .groups = {1, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &add,
        .constants_size_bytes = sizeof add,
    };
    for (uint32_t i = 0; batch && i < count; i++)
        vyre_batch_dispatch(batch, &dispatch);
    if (batch)
        fail(probe, vyre_batch_status(batch, probe->diag));
}

/* ---- One figure ------------------------------------------------------------------------------- */

/* Takes one sample of up to two figures. */
typedef void sample_function(struct probe *probe, struct way way, double out_ns[2]);

static void sample_until_good(struct probe *probe, sample_function *sample, struct way way,
                              uint32_t most, struct vyre_cost out_costs[2])
{
    struct vyre_samples samples[2] = {{.count = 0}, {.count = 0}};
    uint64_t end_ns = vyre_device_now_ns(probe->device) + probe->figure_ns;
    bool good = false;
    while (probe->status == VYRE_OK && !good && samples[0].count < most) {
        double values[2] = {0.0, 0.0};
        sample(probe, way, values);
        for (int i = 0; i < 2; i++) {
            vyre_samples_add(&samples[i], values[i]);
            out_costs[i] = vyre_samples_cost(&samples[i]);
        }
        good = samples[0].count >= VYRE_SAMPLES_MIN &&
               vyre_cost_within(&out_costs[0], GOOD_PERCENT) &&
               vyre_cost_within(&out_costs[1], GOOD_PERCENT);
        if (vyre_device_now_ns(probe->device) > end_ns && samples[0].count >= 3)
            break;
    }
}

static bool both_within(const struct vyre_cost costs[2], double percent)
{
    return vyre_cost_within(&costs[0], percent) && vyre_cost_within(&costs[1], percent);
}

static void report(struct probe *probe, enum vyre_cost_id id, const struct vyre_cost *cost)
{
    const struct vyre_calibration_options *options = probe->options;
    probe->out->costs[id] = *cost;
    probe->done++;
    if (probe->status == VYRE_OK && options->progress &&
        !options->progress(options->user, probe->done, VYRE_COST_COUNT, id, cost))
        fail(probe,
             vyre_diag_set(probe->diag, VYRE_DIAG_CALIBRATION_STOPPED, probe->device->label, 0,
                           "stopped after %u of %d figures", probe->done, VYRE_COST_COUNT));
}

static const enum vyre_cost_id no_second = (enum vyre_cost_id)VYRE_COST_COUNT;

/* Measures one or two figures, again if they are noisy, and reports them. */
static void measure(struct probe *probe, sample_function *sample, struct way way, uint32_t most,
                    enum vyre_cost_id first, enum vyre_cost_id second)
{
    struct vyre_cost costs[2] = {{.known = false}, {.known = false}};
    if (probe->status != VYRE_OK)
        return;
    for (int i = 0; i < WARM_UP_ROUNDS && most > WARM_UP_ROUNDS; i++) {
        double unused[2];
        sample(probe, way, unused);
    }
    sample_until_good(probe, sample, way, most, costs);
    if (probe->status == VYRE_OK && !both_within(costs, NOISY_PERCENT) && most > COMPILE_SAMPLES) {
        struct vyre_cost again[2];
        sample_until_good(probe, sample, way, most, again);
        for (int i = 0; i < 2; i++) {
            if (again[i].known && again[i].confidence_ns < costs[i].confidence_ns)
                costs[i] = again[i];
        }
    }
    for (int i = 0; i < 2; i++)
        costs[i].noisy = !vyre_cost_within(&costs[i], NOISY_PERCENT);
    report(probe, first, &costs[0]);
    if (second != no_second)
        report(probe, second, &costs[1]);
}

/* ---- What is sampled -------------------------------------------------------------------------- */

static void sample_empty(struct probe *probe, struct way way, double out_ns[2])
{
    out_ns[0] = time_run(probe, probe->empty, way);
}

/* Submits in a row, timed without the wait that follows. */
static void sample_submit(struct probe *probe, struct way way, double out_ns[2])
{
    const struct vyre_submit_options options = {.mode = way.mode, .variant = way.variant};
    struct vyre_ticket ticket = {0};
    uint32_t room = probe->device->desc.in_flight_limit;
    uint32_t count = room < SUBMITS_IN_A_ROW ? room : SUBMITS_IN_A_ROW;
    uint64_t start_ns = vyre_device_now_ns(probe->device);
    for (uint32_t i = 0; i < count && probe->status == VYRE_OK; i++)
        fail(probe, vyre_batch_submit(probe->one, &options, &ticket, probe->diag));
    out_ns[0] = (double)(vyre_device_now_ns(probe->device) - start_ns) / count;
    if (probe->status == VYRE_OK)
        fail(probe, vyre_ticket_wait(probe->device, ticket, VYRE_FOREVER, probe->diag));
}

/* What a batch costs, and what each command adds. */
static void sample_slope(struct probe *probe, struct way way, double out_ns[2])
{
    double one = time_run(probe, probe->one, way);
    double many = time_run(probe, probe->many, way);
    out_ns[1] = (many - one) / (LONG_BATCH - 1);
    out_ns[0] = one - out_ns[1];
}

/* How much longer the first submit of a shape takes than the second. */
static double time_recording(struct probe *probe, struct way way, uint32_t commands)
{
    struct vyre_buffer *words = NULL;
    const struct vyre_buffer_desc desc = {.size_bytes = VYRE_PROBE_WORDS * sizeof(uint32_t)};
    fail(probe, vyre_buffer_create(probe->device, &desc, &words, probe->diag));
    struct vyre_batch *batch = words ? new_batch(probe) : NULL;
    double first = 0.0;
    double second = 0.0;
    add_dispatches(probe, batch, probe->kernel, words, commands);
    if (probe->status == VYRE_OK) {
        first = time_run(probe, batch, way);
        second = time_run(probe, batch, way);
    }
    vyre_batch_destroy(&batch);
    vyre_buffer_destroy(&words);
    return first - second;
}

static void sample_recording(struct probe *probe, struct way way, double out_ns[2])
{
    double one = time_recording(probe, way, 1);
    double many = time_recording(probe, way, LONG_BATCH);
    out_ns[1] = (many - one) / (LONG_BATCH - 1);
    out_ns[0] = one - out_ns[1];
}

/* How much longer a replay takes after all constants changed than after none did. */
static void sample_update(struct probe *probe, struct way way, double out_ns[2])
{
    double same = time_run(probe, probe->many, way);
    uint32_t add = (uint32_t)++probe->salt;
    for (uint32_t i = 0; i < LONG_BATCH; i++)
        vyre_batch_set_constants(probe->many, i, &add, sizeof add);
    double changed = time_run(probe, probe->many, way);
    out_ns[0] = (changed - same) / LONG_BATCH;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                            .tv_nsec = (long)(ns % UINT64_C(1000000000))};
    nanosleep(&time, NULL);
}

/* How long an idle resident kernel may take to leave. */
#define DEPARTURE_NAP_NS UINT64_C(200000)
static uint64_t setup_pause_ns(const struct probe *probe)
{
    return probe->device->desc.persistent_idle_ns * 2 + UINT64_C(1000000);
}

/* Waits until the backend reports that nothing is resident, but not longer than that. */
static void await_departure(struct probe *probe)
{
    struct vyre_device *device = probe->device;
    uint64_t begin_ns = vyre_clock_now_ns();
    struct vyre_residency residency;
    do {
        sleep_ns(DEPARTURE_NAP_NS);
        vyre_lock_acquire(&device->lock);
        vyre_device_residency(device, NULL, &residency);
        vyre_lock_release(&device->lock);
    } while (residency.number != residency.ended &&
             vyre_clock_now_ns() - begin_ns < setup_pause_ns(probe));
}

static void sample_setup(struct probe *probe, struct way way, double out_ns[2])
{
    await_departure(probe);
    double first = time_run(probe, probe->one, way);
    double second = time_run(probe, probe->one, way);
    out_ns[0] = first - second;
}

enum transfer { TRANSFER_COPY, TRANSFER_UPLOAD, TRANSFER_DOWNLOAD };

static double time_transfer(struct probe *probe, enum transfer transfer, size_t size_bytes)
{
    struct vyre_batch *batch = new_batch(probe);
    double ns = 0.0;
    if (!batch)
        return ns;
    const struct vyre_range range = {.buffer = probe->bulk, .size_bytes = size_bytes};
    if (transfer == TRANSFER_COPY)
        vyre_batch_copy(
            batch, range,
            (struct vyre_range){.buffer = probe->bulk_target, .size_bytes = size_bytes});
    else if (transfer == TRANSFER_UPLOAD)
        vyre_batch_upload_borrowed(batch, range, probe->host_bytes);
    else
        vyre_batch_download(batch, range, probe->host_bytes);
    ns = time_run(probe, batch, plain_way);
    vyre_batch_destroy(&batch);
    return ns;
}

static void sample_transfer(struct probe *probe, enum transfer transfer, double out_ns[2])
{
    double small = time_transfer(probe, transfer, sizeof(uint32_t));
    double large = time_transfer(probe, transfer, BULK_BYTES);
    out_ns[0] = small;
    out_ns[1] = (large - small) / ((double)BULK_BYTES / (double)MIB);
}

static void sample_copy(struct probe *probe, struct way way, double out_ns[2])
{
    (void)way;
    sample_transfer(probe, TRANSFER_COPY, out_ns);
}

static void sample_upload(struct probe *probe, struct way way, double out_ns[2])
{
    (void)way;
    sample_transfer(probe, TRANSFER_UPLOAD, out_ns);
}

static void sample_download(struct probe *probe, struct way way, double out_ns[2])
{
    (void)way;
    sample_transfer(probe, TRANSFER_DOWNLOAD, out_ns);
}

/* A program that no cache knows, until it has run once. */
static void sample_compile(struct probe *probe, struct way way, double out_ns[2])
{
    struct vyre_probe_kernel source;
    struct vyre_kernel *kernel = NULL;
    vyre_probe_kernel_init(&source, vyre_device_now_ns(probe->device));
    double warm = time_run(probe, probe->one, way);
    uint64_t start_ns = vyre_device_now_ns(probe->device);
    fail(probe, vyre_kernel_create(probe->device, &source.desc, &kernel, probe->diag));
    struct vyre_batch *batch = kernel ? new_batch(probe) : NULL;
    add_dispatches(probe, batch, kernel, probe->words, 1);
    if (probe->status == VYRE_OK)
        (void)time_run(probe, batch, way);
    out_ns[0] = (double)(vyre_device_now_ns(probe->device) - start_ns) - warm;
    vyre_batch_destroy(&batch);
    vyre_kernel_destroy(&kernel);
}

/* ---- All of it -------------------------------------------------------------------------------- */

/* Whether both of the probe's batches can run this way. */
static bool fits(const struct probe *probe, enum vyre_mode mode, uint32_t variant)
{
    return vyre_batch_check_mode(probe->one, mode, variant, NULL) == VYRE_OK &&
           vyre_batch_check_mode(probe->many, mode, variant, NULL) == VYRE_OK;
}

/* Builds what persistent mode needs for both batches, and starts it. False: they do not fit. */
static bool stays_resident(struct probe *probe)
{
    struct vyre_batch *const batches[] = {probe->one, probe->many};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        struct vyre_diag diag;
        vyre_diag_reset(&diag);
        enum vyre_status status = vyre_batch_warm_up(batches[i], VYRE_MODE_PERSISTENT, &diag);
        if (status == VYRE_UNSUPPORTED)
            return false;
        if (status != VYRE_OK && probe->diag)
            *probe->diag = diag;
        fail(probe, status);
    }
    return probe->status == VYRE_OK && fits(probe, VYRE_MODE_PERSISTENT, 0);
}

static void measure_replay(struct probe *probe, uint32_t variant, enum vyre_cost_id record_batch)
{
    const struct way way = {VYRE_MODE_REPLAY, variant};
    if (!fits(probe, VYRE_MODE_REPLAY, variant))
        return;
    const enum vyre_cost_id record_command = (enum vyre_cost_id)(record_batch + 1);
    const enum vyre_cost_id replay_batch = (enum vyre_cost_id)(record_batch + 2);
    const enum vyre_cost_id replay_command = (enum vyre_cost_id)(record_batch + 3);
    const enum vyre_cost_id update = (enum vyre_cost_id)(record_batch + 4);
    measure(probe, sample_recording, way, VYRE_SAMPLES_MAX, record_batch, record_command);
    measure(probe, sample_slope, way, VYRE_SAMPLES_MAX, replay_batch, replay_command);
    measure(probe, sample_update, way, VYRE_SAMPLES_MAX, update, no_second);
}

static void measure_all(struct probe *probe)
{
    const struct way persistent = {VYRE_MODE_PERSISTENT, 0};
    uint32_t variants = probe->device->facts.variants[VYRE_MODE_REPLAY];
    measure(probe, sample_compile, plain_way, COMPILE_SAMPLES, VYRE_COST_COMPILE, no_second);
    measure(probe, sample_empty, plain_way, VYRE_SAMPLES_MAX, VYRE_COST_EMPTY, no_second);
    measure(probe, sample_submit, plain_way, VYRE_SAMPLES_MAX, VYRE_COST_SUBMIT, no_second);
    measure(probe, sample_slope, plain_way, VYRE_SAMPLES_MAX, VYRE_COST_PLAIN_BATCH,
            VYRE_COST_PLAIN_COMMAND);
    if (vyre_device_has(probe->device, VYRE_ABILITY_REPLAY))
        measure_replay(probe, 0, VYRE_COST_RECORD_BATCH);
    if (vyre_device_has(probe->device, VYRE_ABILITY_REPLAY) && variants & VYRE_VARIANT_DRIVER)
        measure_replay(probe, VYRE_VARIANT_DRIVER, VYRE_COST_DRIVER_RECORD_BATCH);
    if (vyre_device_has(probe->device, VYRE_ABILITY_PERSISTENT) && stays_resident(probe)) {
        measure(probe, sample_slope, persistent, VYRE_SAMPLES_MAX, VYRE_COST_PERSISTENT_BATCH,
                VYRE_COST_PERSISTENT_COMMAND);
        /*
         * Each sample waits until nothing is resident. The cost stays unknown if that takes too
         * long.
         */
        if (setup_pause_ns(probe) * VYRE_SAMPLES_MIN <= probe->figure_ns * 2)
            measure(probe, sample_setup, persistent, VYRE_SAMPLES_MAX, VYRE_COST_PERSISTENT_SETUP,
                    no_second);
    }
    measure(probe, sample_copy, plain_way, VYRE_SAMPLES_MAX, VYRE_COST_COPY_BATCH,
            VYRE_COST_COPY_MIB);
    measure(probe, sample_upload, plain_way, VYRE_SAMPLES_MAX, VYRE_COST_UPLOAD_BATCH,
            VYRE_COST_UPLOAD_MIB);
    measure(probe, sample_download, plain_way, VYRE_SAMPLES_MAX, VYRE_COST_DOWNLOAD_BATCH,
            VYRE_COST_DOWNLOAD_MIB);
}

static struct vyre_buffer *new_buffer(struct probe *probe, size_t size_bytes)
{
    struct vyre_buffer *buffer = NULL;
    const struct vyre_buffer_desc desc = {.size_bytes = size_bytes, .label = "probe"};
    fail(probe, vyre_buffer_create(probe->device, &desc, &buffer, probe->diag));
    return buffer;
}

static void set_up(struct probe *probe)
{
    struct vyre_probe_kernel source;
    vyre_probe_kernel_init(&source, 0);
    probe->host_bytes =
        vyre_memory_allocate(&probe->device->allocator, BULK_BYTES, VYRE_CACHE_LINE_BYTES);
    if (!probe->host_bytes)
        fail(probe, vyre_diag_set(probe->diag, VYRE_DIAG_OUT_OF_MEMORY, probe->device->label, 0,
                                  "no memory for the transfers of a calibration"));
    fail(probe, vyre_kernel_create(probe->device, &source.desc, &probe->kernel, probe->diag));
    if (probe->status != VYRE_OK)
        return;
    probe->words = new_buffer(probe, VYRE_PROBE_WORDS * sizeof(uint32_t));
    probe->bulk = new_buffer(probe, BULK_BYTES);
    probe->bulk_target = new_buffer(probe, BULK_BYTES);
    probe->empty = new_batch(probe);
    probe->one = new_batch(probe);
    probe->many = new_batch(probe);
    if (probe->status != VYRE_OK)
        return;
    add_dispatches(probe, probe->one, probe->kernel, probe->words, 1);
    add_dispatches(probe, probe->many, probe->kernel, probe->words, LONG_BATCH);
}

static void tear_down(struct probe *probe)
{
    vyre_batch_destroy(&probe->many);
    vyre_batch_destroy(&probe->one);
    vyre_batch_destroy(&probe->empty);
    vyre_buffer_destroy(&probe->bulk_target);
    vyre_buffer_destroy(&probe->bulk);
    vyre_buffer_destroy(&probe->words);
    vyre_kernel_destroy(&probe->kernel);
    /* A lost device may still be transferring: its memory is freed when it is closed. */
    if (vyre_device_is_lost(probe->device) && !probe->device->loss.left_behind) {
        probe->device->loss.left_behind = probe->host_bytes;
        probe->device->loss.left_behind_bytes = BULK_BYTES;
    } else {
        vyre_memory_free(&probe->device->allocator, probe->host_bytes, BULK_BYTES,
                         VYRE_CACHE_LINE_BYTES);
    }
}

/* ---- The costs that a device uses ------------------------------------------------------------- */

static bool is_sane(const struct vyre_cost *cost)
{
    /* Not-a-number compares false. */
    return !cost->known ||
           (cost->min_ns >= 0.0 && cost->median_ns >= 0.0 && cost->median_ns < 1e15 &&
            cost->spread_ns >= 0.0 && cost->confidence_ns >= 0.0);
}

static enum vyre_status adopt(struct vyre_device *device,
                              const struct vyre_calibration *calibration, bool is_own,
                              struct vyre_diag *diag)
{
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        if (!is_sane(&calibration->costs[i]))
            return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                                 "the cost %s is no time", vyre_cost_name((enum vyre_cost_id)i));
    }
    vyre_lock_acquire(&device->lock);
    device->costs.calibration = *calibration;
    device->costs.is_own = is_own;
    device->costs.number++;
    vyre_candidates_price(&device->candidates, &device->facts, calibration);
    for (uint32_t i = 0; i < device->shapes.used; i++) {
        struct vyre_shape *shape = vyre_shapes_at(&device->shapes, i);
        vyre_governor_reopen(shape); /* the inputs of the policies have changed */
        if (shape->profile)
            shape->profile->compared = false;
    }
    if (device->emit)
        vyre_emit_calibrated_locked(device);
    vyre_lock_release(&device->lock);
    return VYRE_OK;
}

enum vyre_status vyre_device_calibrate(struct vyre_device *device,
                                       const struct vyre_calibration_options *options,
                                       struct vyre_calibration *out_calibration,
                                       struct vyre_diag *diag)
{
    static const struct vyre_calibration_options defaults = {0};
    uint64_t start_ns = vyre_device_now_ns(device);
    struct vyre_calibration calibration = {.taken_s = (uint64_t)time(NULL)};
    struct probe probe = {
        .device = device,
        .options = options ? options : &defaults,
        .out = &calibration,
        .diag = diag,
        .salt = start_ns,
    };
    uint64_t time_ns = probe.options->time_ns ? probe.options->time_ns : DEFAULT_TIME_NS;
    probe.figure_ns = time_ns / VYRE_COST_COUNT;
    memset(out_calibration, 0, sizeof *out_calibration);
    vyre_builds_drain(device);
    vyre_emit_mute(device, true);
    set_up(&probe);
    if (probe.status == VYRE_OK)
        measure_all(&probe);
    tear_down(&probe);
    vyre_emit_mute(device, false);
    if (probe.status != VYRE_OK)
        return probe.status;
    calibration.took_ns = vyre_device_now_ns(device) - start_ns;
    *out_calibration = calibration;
    return adopt(device, &calibration, true, diag);
}

enum vyre_status vyre_device_set_calibration(struct vyre_device *device,
                                             const struct vyre_calibration *calibration,
                                             struct vyre_diag *diag)
{
    return adopt(device, calibration, false, diag);
}

void vyre_device_get_calibration(struct vyre_device *device,
                                 struct vyre_calibration *out_calibration)
{
    vyre_lock_acquire(&device->lock);
    *out_calibration = device->costs.calibration;
    vyre_lock_release(&device->lock);
}
