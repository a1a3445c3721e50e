/*
 * launch_vyre.c: Vyre's rows: one mode each, on a device of its own, so that what one row learned or
 * left running is not seen by another.
 */
#include <vyre/vyre.h>

#include <stdlib.h>
#include <string.h>

#include "launch.h"

struct row {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_submit_options options;
    struct vyre_buffer *buffer;
    struct vyre_batch *batches[LAUNCH_CELLS];
    bool built[LAUNCH_CELLS];
    uint64_t modes[LAUNCH_CELLS][VYRE_MODE_COUNT];
};

/* What the rows and the streamers share: an instance, a device and the kernel on it. */
static enum vyre_status open_device(const struct vyre_device_desc *desc, struct row *row,
                                    struct vyre_diag *diag)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = launch_kernel};
    const struct vyre_binding_desc binding = {.slot = 0, .access = VYRE_ACCESS_READWRITE};
    const enum vyre_scalar constant = VYRE_SCALAR_U32;
    const struct vyre_kernel_desc kernel = {
        .label = "lcg",
        .payloads = &payload,
        .payload_count = 1,
        .local_size = {LAUNCH_LOCAL_SIZE, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &constant,
        .constant_count = 1,
    };
    enum vyre_status status = vyre_instance_create(NULL, &row->instance, diag);
    if (status == VYRE_OK)
        status = vyre_device_open(row->instance, desc, &row->device, diag);
    if (status == VYRE_OK)
        status = vyre_kernel_create(row->device, &kernel, &row->kernel, diag);
    return status;
}

static void close_device(struct row *row)
{
    if (row->device)
        vyre_device_close(&row->device);
    vyre_instance_destroy(&row->instance);
}

static bool complain(const char *what, const struct vyre_diag *diag)
{
    char text[1024];
    vyre_diag_format(diag, text, sizeof text);
    fprintf(stderr, "bench_launch: %s: %s\n", what, text);
    return false;
}

/* A diagnostic in one line. */
static void set_absent(char absent[LAUNCH_ABSENT_BYTES], const struct vyre_diag *diag)
{
    snprintf(absent, LAUNCH_ABSENT_BYTES, "%s: %.120s", vyre_diag_id_name(diag->id), diag->message);
}

static void build(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                  uint32_t groups, uint32_t launches)
{
    uint32_t constant = 0;
    const struct vyre_slot_binding binding = {
        .slot = 0, .range = {.buffer = buffer, .size_bytes = groups * LAUNCH_GROUP_BYTES}};
    const struct vyre_dispatch dispatch = {
        .kernel = kernel,
        .groups = {groups, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &constant,
        .constants_size_bytes = sizeof constant,
    };
    vyre_batch_reset(batch);
    for (uint32_t k = 0; k < launches; k++) {
        constant = launch_constant(k);
        vyre_batch_dispatch(batch, &dispatch);
    }
}

/* Submits `repeats` times, waiting after each or only after the last. */
static bool submit(struct row *row, struct vyre_batch *batch, uint32_t repeats, bool wait_each)
{
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket = {0};
    for (uint32_t r = 0; r < repeats; r++) {
        if (vyre_batch_submit(batch, &row->options, &ticket, &diag) != VYRE_OK)
            return complain("submit", &diag);
        if ((wait_each || r + 1 == repeats) &&
            vyre_ticket_wait(row->device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
            return complain("wait", &diag);
    }
    return true;
}

static bool submit_rebuilt(struct row *row, const struct launch_cell *cell, uint32_t repeats)
{
    struct vyre_batch *batch = row->batches[cell->index];
    for (uint32_t r = 0; r < repeats; r++) {
        build(batch, row->kernel, row->buffer, cell->groups, cell->launches);
        if (!submit(row, batch, 1, true))
            return false;
    }
    return true;
}

static bool run_pattern(struct row *row, const struct launch_cell *cell, uint32_t repeats)
{
    struct vyre_batch *batch = row->batches[cell->index];
    switch (cell->pattern) {
    case LAUNCH_P1:
        return submit(row, batch, repeats, true);
    case LAUNCH_P1_REBUILT:
    case LAUNCH_P2:
        return submit_rebuilt(row, cell, repeats);
    case LAUNCH_P3:
        return submit(row, batch, repeats, false);
    }
    return false;
}

static bool run(void *state, const struct launch_cell *cell, uint32_t repeats)
{
    struct row *row = state;
    if (!row->built[cell->index]) {
        /* In the round that is not counted. */
        build(row->batches[cell->index], row->kernel, row->buffer, cell->groups, cell->launches);
        row->built[cell->index] = true;
    }
    struct vyre_device_counters before;
    struct vyre_device_counters after;
    vyre_device_get_counters(row->device, &before);
    bool ok = run_pattern(row, cell, repeats);
    vyre_device_get_counters(row->device, &after);
    for (size_t mode = 0; mode < VYRE_MODE_COUNT; mode++)
        row->modes[cell->index][mode] += after.by_mode[mode] - before.by_mode[mode];
    return ok;
}

static bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    struct row *row = state;
    struct vyre_diag diag = {0};
    if (vyre_buffer_write(row->buffer, 0, bytes, size_bytes, &diag) != VYRE_OK)
        return complain("write", &diag);
    return true;
}

static bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    struct row *row = state;
    struct vyre_diag diag = {0};
    if (vyre_buffer_read(row->buffer, 0, out_bytes, size_bytes, &diag) != VYRE_OK)
        return complain("read", &diag);
    return true;
}

static void close_row(void *state)
{
    struct row *row = state;
    close_device(row);
    free(row);
}

static enum vyre_status open_row(struct row *row, struct vyre_diag *diag)
{
    const struct vyre_device_desc device = {.backend = "cpu"};
    const struct vyre_buffer_desc buffer = {.size_bytes = LAUNCH_BUFFER_BYTES};
    enum vyre_status status = open_device(&device, row, diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(row->device, &buffer, &row->buffer, diag);
    for (size_t i = 0; status == VYRE_OK && i < LAUNCH_CELLS; i++)
        status = vyre_batch_create(row->device, NULL, &row->batches[i], diag);
    if (status == VYRE_OK && row->options.mode != VYRE_MODE_AUTO) {
        build(row->batches[0], row->kernel, row->buffer, 1, 1);
        status = vyre_batch_warm_up(row->batches[0], row->options.mode, diag);
    }
    return status;
}

void launch_open_vyre(enum vyre_mode mode, struct launch_contender *out_contender)
{
    static const char *const names[VYRE_MODE_COUNT] = {"Vyre auto", "Vyre plain", "Vyre replay",
                                                       "Vyre persistent"};
    struct row *row = calloc(1, sizeof *row);
    struct vyre_diag diag = {0};
    out_contender->name = names[mode];
    if (!row) {
        snprintf(out_contender->absent, LAUNCH_ABSENT_BYTES, "out of memory");
        return;
    }
    row->options.mode = mode;
    if (open_row(row, &diag) != VYRE_OK) {
        set_absent(out_contender->absent, &diag);
        close_row(row);
        return;
    }
    out_contender->state = row;
    out_contender->measure = launch_measure;
    out_contender->run = run;
    out_contender->write = write_bytes;
    out_contender->read = read_bytes;
    out_contender->close = close_row;
}

const uint64_t *launch_vyre_modes(const struct launch_contender *contender, uint32_t cell_index)
{
    const struct row *row = contender->state;
    return row->modes[cell_index];
}

/* ---- Streaming -------------------------------------------------------------------------------- */

struct streamer {
    struct row row;
    struct vyre_buffer *buffers[LAUNCH_STREAM_BUFFERS];
    struct vyre_batch *batches[LAUNCH_STREAM_BUFFERS];
};

static bool stream(void *state, uint32_t items)
{
    struct streamer *streamer = state;
    struct vyre_ticket ticket = {0};
    struct vyre_diag diag = {0};
    for (uint32_t i = 0; i < items; i++) {
        if (vyre_batch_submit(streamer->batches[i % LAUNCH_STREAM_BUFFERS], &streamer->row.options,
                              &ticket, &diag) != VYRE_OK)
            return complain("submit", &diag);
    }
    if (vyre_ticket_wait(streamer->row.device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
        return complain("wait", &diag);
    return true;
}

static bool round_trip(void *state, uint32_t items)
{
    struct streamer *streamer = state;
    return submit(&streamer->row, streamer->batches[0], items, true);
}

static bool fill(void *state)
{
    struct streamer *streamer = state;
    struct vyre_diag diag = {0};
    unsigned char bytes[LAUNCH_STREAM_BYTES];
    launch_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < LAUNCH_STREAM_BUFFERS; i++) {
        if (vyre_buffer_write(streamer->buffers[i], 0, bytes + i * LAUNCH_GROUP_BYTES,
                              LAUNCH_GROUP_BYTES, &diag) != VYRE_OK)
            return complain("write", &diag);
    }
    return true;
}

static bool digest(void *state, struct vyre_hash128 *out_digest)
{
    struct streamer *streamer = state;
    struct vyre_diag diag = {0};
    unsigned char bytes[LAUNCH_STREAM_BYTES];
    for (size_t i = 0; i < LAUNCH_STREAM_BUFFERS; i++) {
        if (vyre_buffer_read(streamer->buffers[i], 0, bytes + i * LAUNCH_GROUP_BYTES,
                             LAUNCH_GROUP_BYTES, &diag) != VYRE_OK)
            return complain("read", &diag);
    }
    *out_digest = vyre_hash128(bytes, sizeof bytes);
    return true;
}

static void close_streamer(void *state)
{
    struct streamer *streamer = state;
    close_device(&streamer->row);
    free(streamer);
}

static enum vyre_status open_streamer(struct streamer *streamer, bool workers_only,
                                      struct vyre_diag *diag)
{
    const struct vyre_device_desc device = {.backend = "cpu", .cpu_no_inline = workers_only};
    const struct vyre_buffer_desc buffer = {.size_bytes = LAUNCH_GROUP_BYTES};
    struct row *row = &streamer->row;
    row->options.mode = VYRE_MODE_PERSISTENT;
    enum vyre_status status = open_device(&device, row, diag);
    for (size_t i = 0; status == VYRE_OK && i < LAUNCH_STREAM_BUFFERS; i++) {
        status = vyre_buffer_create(row->device, &buffer, &streamer->buffers[i], diag);
        if (status == VYRE_OK)
            status = vyre_batch_create(row->device, NULL, &streamer->batches[i], diag);
        if (status == VYRE_OK)
            build(streamer->batches[i], row->kernel, streamer->buffers[i], 1, 1);
    }
    if (status == VYRE_OK)
        status = vyre_batch_warm_up(streamer->batches[0], VYRE_MODE_PERSISTENT, diag);
    return status;
}

void launch_stream_open_vyre(bool workers_only, struct launch_streamer *out_streamer)
{
    struct streamer *streamer = calloc(1, sizeof *streamer);
    struct vyre_diag diag = {0};
    out_streamer->name = workers_only ? "Vyre persistent, workers only" : "Vyre persistent";
    if (!streamer) {
        snprintf(out_streamer->absent, LAUNCH_ABSENT_BYTES, "out of memory");
        return;
    }
    if (open_streamer(streamer, workers_only, &diag) != VYRE_OK) {
        set_absent(out_streamer->absent, &diag);
        close_streamer(streamer);
        return;
    }
    out_streamer->state = streamer;
    out_streamer->stream = stream;
    out_streamer->round_trip = round_trip;
    out_streamer->fill = fill;
    out_streamer->digest = digest;
    out_streamer->close = close_streamer;
}
