/*
 * probe.c: what a calibration runs, and how it times it.
 *
 * Most figures are slopes or differences: what a command adds to a batch, or how much longer the
 * first submit takes than the second. Both sides of such a pair are timed in turn within one
 * sample, so that a clock that changes its speed changes both.
 *
 * Everything goes through the public API, so the costs are those that a user pays.
 */
#include "runtime/probe.h"

#include <time.h>

#include "base/memory.h"
#include "runtime/probe_kernel.h"
#include "runtime/samples.h"

#define LONG_BATCH       64 /* commands: enough for a slope, short enough at 60 us each */
#define SUBMITS_IN_A_ROW 8
#define COMPILE_SAMPLES  3
#define MIB              ((size_t)1 << 20)
#define BULK_BYTES       (4 * MIB)

/* ---- Timing one batch ------------------------------------------------------------------------- */

static const struct vyre_probe_way plain_way = {VYRE_MODE_PLAIN, 0};

void vyre_probe_fail(struct vyre_probe *probe, enum vyre_status status)
{
    if (probe->status == VYRE_OK)
        probe->status = status;
}

/* Submit and wait. */
static double time_run(struct vyre_probe *probe, struct vyre_batch *batch,
                       struct vyre_probe_way way)
{
    const struct vyre_submit_options options = {.mode = way.mode, .variant = way.variant};
    struct vyre_ticket ticket;
    uint64_t start_ns = vyre_device_now_ns(probe->device);
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, probe->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(probe->device, ticket, VYRE_FOREVER, probe->diag);
    uint64_t end_ns = vyre_device_now_ns(probe->device);
    vyre_probe_fail(probe, status);
    return (double)(end_ns - start_ns);
}

static struct vyre_batch *new_batch(struct vyre_probe *probe)
{
    struct vyre_batch *batch = NULL;
    vyre_probe_fail(probe,
                    vyre_batch_create(probe->device, &(struct vyre_batch_desc){.label = "probe"},
                                      &batch, probe->diag));
    return batch;
}

static void add_dispatches(struct vyre_probe *probe, struct vyre_batch *batch,
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
        vyre_probe_fail(probe, vyre_batch_status(batch, probe->diag));
}

/* ---- What is sampled -------------------------------------------------------------------------- */

static void sample_empty(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    out_ns[0] = time_run(probe, probe->empty, way);
}

/* Submits in a row, timed without the wait that follows. */
static void sample_submit(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    const struct vyre_submit_options options = {.mode = way.mode, .variant = way.variant};
    struct vyre_ticket ticket = {0};
    uint32_t room = probe->device->desc.in_flight_limit;
    uint32_t count = room < SUBMITS_IN_A_ROW ? room : SUBMITS_IN_A_ROW;
    uint64_t start_ns = vyre_device_now_ns(probe->device);
    for (uint32_t i = 0; i < count && probe->status == VYRE_OK; i++)
        vyre_probe_fail(probe, vyre_batch_submit(probe->one, &options, &ticket, probe->diag));
    out_ns[0] = (double)(vyre_device_now_ns(probe->device) - start_ns) / count;
    if (probe->status == VYRE_OK)
        vyre_probe_fail(probe, vyre_ticket_wait(probe->device, ticket, VYRE_FOREVER, probe->diag));
}

/* What a batch costs, and what each command adds. */
static void sample_slope(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    double one = time_run(probe, probe->one, way);
    double many = time_run(probe, probe->many, way);
    out_ns[1] = (many - one) / (LONG_BATCH - 1);
    out_ns[0] = one - out_ns[1];
}

/* How much longer the first submit of a shape takes than the second. */
static double time_recording(struct vyre_probe *probe, struct vyre_probe_way way, uint32_t commands)
{
    struct vyre_buffer *words = NULL;
    const struct vyre_buffer_desc desc = {.size_bytes = VYRE_PROBE_WORDS * sizeof(uint32_t)};
    vyre_probe_fail(probe, vyre_buffer_create(probe->device, &desc, &words, probe->diag));
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

static void sample_recording(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    double one = time_recording(probe, way, 1);
    double many = time_recording(probe, way, LONG_BATCH);
    out_ns[1] = (many - one) / (LONG_BATCH - 1);
    out_ns[0] = one - out_ns[1];
}

/* How much longer a replay takes after all constants changed than after none did. */
static void sample_update(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
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
static uint64_t setup_pause_ns(const struct vyre_probe *probe)
{
    return probe->device->desc.persistent_idle_ns * 2 + UINT64_C(1000000);
}

/* Waits until the backend reports that nothing is resident, but not longer than that. */
static void await_departure(struct vyre_probe *probe)
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

static void sample_setup(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    await_departure(probe);
    double first = time_run(probe, probe->one, way);
    double second = time_run(probe, probe->one, way);
    out_ns[0] = first - second;
}

enum transfer { TRANSFER_COPY, TRANSFER_UPLOAD, TRANSFER_DOWNLOAD };

static double time_transfer(struct vyre_probe *probe, enum transfer transfer, size_t size_bytes)
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

static void sample_transfer(struct vyre_probe *probe, enum transfer transfer, double out_ns[2])
{
    double small = time_transfer(probe, transfer, sizeof(uint32_t));
    double large = time_transfer(probe, transfer, BULK_BYTES);
    out_ns[0] = small;
    out_ns[1] = (large - small) / ((double)BULK_BYTES / (double)MIB);
}

static void sample_copy(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    (void)way;
    sample_transfer(probe, TRANSFER_COPY, out_ns);
}

static void sample_upload(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    (void)way;
    sample_transfer(probe, TRANSFER_UPLOAD, out_ns);
}

static void sample_download(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    (void)way;
    sample_transfer(probe, TRANSFER_DOWNLOAD, out_ns);
}

/* A program that no cache knows, until it has run once. */
static void sample_compile(struct vyre_probe *probe, struct vyre_probe_way way, double out_ns[2])
{
    struct vyre_probe_kernel source;
    struct vyre_kernel *kernel = NULL;
    vyre_probe_kernel_init(&source, vyre_device_now_ns(probe->device));
    double warm = time_run(probe, probe->one, way);
    uint64_t start_ns = vyre_device_now_ns(probe->device);
    vyre_probe_fail(probe, vyre_kernel_create(probe->device, &source.desc, &kernel, probe->diag));
    struct vyre_batch *batch = kernel ? new_batch(probe) : NULL;
    add_dispatches(probe, batch, kernel, probe->words, 1);
    if (probe->status == VYRE_OK)
        (void)time_run(probe, batch, way);
    out_ns[0] = (double)(vyre_device_now_ns(probe->device) - start_ns) - warm;
    vyre_batch_destroy(&batch);
    vyre_kernel_destroy(&kernel);
}

/* ---- The figures ------------------------------------------------------------------------------ */

#define PLAIN              \
    {                      \
        VYRE_MODE_PLAIN, 0 \
    }
#define REPLAY              \
    {                       \
        VYRE_MODE_REPLAY, 0 \
    }
#define DRIVER                                \
    {                                         \
        VYRE_MODE_REPLAY, VYRE_VARIANT_DRIVER \
    }
#define PERSISTENT              \
    {                           \
        VYRE_MODE_PERSISTENT, 0 \
    }
#define MOST      VYRE_SAMPLES_MAX
#define NO_SECOND ((enum vyre_cost_id)VYRE_COST_COUNT)

/* In the order in which they are measured: what stays resident disturbs the others. */
const struct vyre_probe_step vyre_probe_steps[VYRE_PROBE_STEPS] = {
    {sample_compile, PLAIN, COMPILE_SAMPLES, VYRE_COST_COMPILE, NO_SECOND},
    {sample_empty, PLAIN, MOST, VYRE_COST_EMPTY, NO_SECOND},
    {sample_submit, PLAIN, MOST, VYRE_COST_SUBMIT, NO_SECOND},
    {sample_slope, PLAIN, MOST, VYRE_COST_PLAIN_BATCH, VYRE_COST_PLAIN_COMMAND},
    {sample_recording, REPLAY, MOST, VYRE_COST_RECORD_BATCH, VYRE_COST_RECORD_COMMAND},
    {sample_slope, REPLAY, MOST, VYRE_COST_REPLAY_BATCH, VYRE_COST_REPLAY_COMMAND},
    {sample_update, REPLAY, MOST, VYRE_COST_REPLAY_UPDATE, NO_SECOND},
    {sample_recording, DRIVER, MOST, VYRE_COST_DRIVER_RECORD_BATCH,
     VYRE_COST_DRIVER_RECORD_COMMAND},
    {sample_slope, DRIVER, MOST, VYRE_COST_DRIVER_REPLAY_BATCH, VYRE_COST_DRIVER_REPLAY_COMMAND},
    {sample_update, DRIVER, MOST, VYRE_COST_DRIVER_REPLAY_UPDATE, NO_SECOND},
    {sample_slope, PERSISTENT, MOST, VYRE_COST_PERSISTENT_BATCH, VYRE_COST_PERSISTENT_COMMAND},
    {sample_setup, PERSISTENT, MOST, VYRE_COST_PERSISTENT_SETUP, NO_SECOND},
    {sample_copy, PLAIN, MOST, VYRE_COST_COPY_BATCH, VYRE_COST_COPY_MIB},
    {sample_upload, PLAIN, MOST, VYRE_COST_UPLOAD_BATCH, VYRE_COST_UPLOAD_MIB},
    {sample_download, PLAIN, MOST, VYRE_COST_DOWNLOAD_BATCH, VYRE_COST_DOWNLOAD_MIB},
};

/* Whether both of the probe's batches can run this way. */
static bool fits(const struct vyre_probe *probe, enum vyre_mode mode, uint32_t variant)
{
    return vyre_batch_check_mode(probe->one, mode, variant, NULL) == VYRE_OK &&
           vyre_batch_check_mode(probe->many, mode, variant, NULL) == VYRE_OK;
}

/* Builds what persistent mode needs for both batches, and starts it. False: they do not fit. */
static bool stays_resident(struct vyre_probe *probe)
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
        vyre_probe_fail(probe, status);
    }
    return probe->status == VYRE_OK && fits(probe, VYRE_MODE_PERSISTENT, 0);
}

/* Each sample of the setup waits until nothing is resident: it is left out if that takes too long. */
static bool is_in_time(const struct vyre_probe *probe, const struct vyre_probe_step *step)
{
    return step->sample != sample_setup ||
           setup_pause_ns(probe) * VYRE_SAMPLES_MIN <= probe->figure_ns * 2;
}

bool vyre_probe_can(struct vyre_probe *probe, const struct vyre_probe_step *step)
{
    const struct vyre_probe_way *way = &step->way;
    if (way->mode == VYRE_MODE_REPLAY)
        return vyre_device_has(probe->device, VYRE_ABILITY_REPLAY) &&
               (way->variant & ~probe->device->facts.variants[VYRE_MODE_REPLAY]) == 0 &&
               fits(probe, way->mode, way->variant);
    if (way->mode == VYRE_MODE_PERSISTENT)
        return vyre_device_has(probe->device, VYRE_ABILITY_PERSISTENT) && is_in_time(probe, step) &&
               stays_resident(probe);
    return true;
}

/* ---- Around it -------------------------------------------------------------------------------- */

static struct vyre_buffer *new_buffer(struct vyre_probe *probe, size_t size_bytes)
{
    struct vyre_buffer *buffer = NULL;
    const struct vyre_buffer_desc desc = {.size_bytes = size_bytes, .label = "probe"};
    vyre_probe_fail(probe, vyre_buffer_create(probe->device, &desc, &buffer, probe->diag));
    return buffer;
}

void vyre_probe_set_up(struct vyre_probe *probe)
{
    struct vyre_probe_kernel source;
    vyre_probe_kernel_init(&source, 0);
    probe->host_bytes =
        vyre_memory_allocate(&probe->device->allocator, BULK_BYTES, VYRE_CACHE_LINE_BYTES);
    if (!probe->host_bytes)
        vyre_probe_fail(probe,
                        vyre_diag_set(probe->diag, VYRE_DIAG_OUT_OF_MEMORY, probe->device->label, 0,
                                      "no memory for the transfers of a calibration"));
    vyre_probe_fail(probe,
                    vyre_kernel_create(probe->device, &source.desc, &probe->kernel, probe->diag));
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

void vyre_probe_tear_down(struct vyre_probe *probe)
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
