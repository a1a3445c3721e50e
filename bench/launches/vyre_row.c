/*
 * vyre_row.c: see vyre_row.h.
 */
#include "vyre_row.h"

#include <stdio.h>
#include <stdlib.h>

struct row {
    const char *name; /* Static */
    struct vyre_row_device on;
    struct vyre_submit_options options;
    struct vyre_buffer *buffer;
    struct vyre_batch *batches[LAUNCHES_CELLS];
    struct vyre_batch *spare; /* for what is no cell */
    bool built[LAUNCHES_CELLS];
    uint64_t modes[LAUNCHES_CELLS][VYRE_MODE_COUNT]; /* batches by mode */
};

bool vyre_row_complain(const char *name, const char *what, const struct vyre_diag *diag)
{
    char text[1024];
    vyre_diag_format(diag, text, sizeof text);
    fprintf(stderr, "%s: %s: %s\n", name, what, text);
    return false;
}

void vyre_row_set_absent(char absent[BENCH_ABSENT_BYTES], const struct vyre_diag *diag)
{
    snprintf(absent, BENCH_ABSENT_BYTES, "%s: %.150s", vyre_diag_id_name(diag->id), diag->message);
}

/* ---- Device and batch ------------------------------------------------------------------------- */

enum vyre_status vyre_row_device_open(const struct vyre_row_desc *desc,
                                      struct vyre_row_device *out_device, struct vyre_diag *diag)
{
    const struct vyre_binding_desc binding = {.slot = 0, .access = VYRE_ACCESS_READWRITE};
    const enum vyre_scalar constant = VYRE_SCALAR_U32;
    const struct vyre_kernel_desc kernel = {
        .label = "lcg",
        .payloads = &desc->payload,
        .payload_count = 1,
        .local_size = {LAUNCHES_LOCAL_SIZE, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &constant,
        .constant_count = 1,
    };
    enum vyre_status status = vyre_instance_create(NULL, &out_device->instance, diag);
    if (status == VYRE_OK)
        status = vyre_device_open(out_device->instance, &desc->device, &out_device->device, diag);
    if (status == VYRE_OK)
        status = vyre_kernel_create(out_device->device, &kernel, &out_device->kernel, diag);
    return status;
}

void vyre_row_device_close(struct vyre_row_device *device)
{
    if (device->device)
        vyre_device_close(&device->device);
    vyre_instance_destroy(&device->instance);
}

void vyre_row_build(struct vyre_batch *batch, struct vyre_kernel *kernel,
                    struct vyre_buffer *buffer, uint32_t groups, uint32_t launches)
{
    uint32_t constant = 0;
    const struct vyre_slot_binding binding = {
        .slot = 0, .range = {.buffer = buffer, .size_bytes = groups * LAUNCHES_GROUP_BYTES}};
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
        constant = launches_constant(k);
        vyre_batch_dispatch(batch, &dispatch);
    }
}

static void build(struct row *row, struct vyre_batch *batch, uint32_t groups, uint32_t launches)
{
    vyre_row_build(batch, row->on.kernel, row->buffer, groups, launches);
}

/* ---- Patterns --------------------------------------------------------------------------------- */

/* Submits `repeats` times, waiting after each or only after the last. */
static bool submit(struct row *row, struct vyre_batch *batch, uint32_t repeats, bool wait_each)
{
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket = {0};
    for (uint32_t r = 0; r < repeats; r++) {
        if (vyre_batch_submit(batch, &row->options, &ticket, &diag) != VYRE_OK)
            return vyre_row_complain(row->name, "submit", &diag);
        if ((wait_each || r + 1 == repeats) &&
            vyre_ticket_wait(row->on.device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
            return vyre_row_complain(row->name, "wait", &diag);
    }
    return true;
}

static bool submit_rebuilt(struct row *row, const struct launches_cell *cell, uint32_t repeats)
{
    struct vyre_batch *batch = row->batches[cell->index];
    for (uint32_t r = 0; r < repeats; r++) {
        build(row, batch, cell->groups, cell->launches);
        if (!submit(row, batch, 1, true))
            return false;
    }
    return true;
}

static bool run_pattern(struct row *row, const struct launches_cell *cell, uint32_t repeats)
{
    struct vyre_batch *batch = row->batches[cell->index];
    switch (cell->pattern) {
    case LAUNCHES_P1:
        return submit(row, batch, repeats, true);
    case LAUNCHES_P1_REBUILT:
    case LAUNCHES_P2:
        return submit_rebuilt(row, cell, repeats);
    case LAUNCHES_P3:
        return submit(row, batch, repeats, false);
    }
    return false;
}

static bool run(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct row *row = state;
    if (!row->built[cell->index]) {
        /* In the round that is not counted. */
        build(row, row->batches[cell->index], cell->groups, cell->launches);
        row->built[cell->index] = true;
    }
    struct vyre_device_counters before;
    struct vyre_device_counters after;
    vyre_device_get_counters(row->on.device, &before);
    bool ok = run_pattern(row, cell, repeats);
    vyre_device_get_counters(row->on.device, &after);
    for (size_t mode = 0; mode < VYRE_MODE_COUNT; mode++)
        row->modes[cell->index][mode] += after.by_mode[mode] - before.by_mode[mode];
    return ok;
}

static bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    struct row *row = state;
    struct vyre_diag diag = {0};
    return vyre_buffer_write(row->buffer, 0, bytes, size_bytes, &diag) == VYRE_OK ||
           vyre_row_complain(row->name, "write", &diag);
}

static bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    struct row *row = state;
    struct vyre_diag diag = {0};
    return vyre_buffer_read(row->buffer, 0, out_bytes, size_bytes, &diag) == VYRE_OK ||
           vyre_row_complain(row->name, "read", &diag);
}

/* "replay 100.0%", or more than one mode when auto changed its mind or explored. */
static void note_modes(const void *state, uint32_t cell, char *out_text, size_t capacity)
{
    const uint64_t *modes = ((const struct row *)state)->modes[cell];
    uint64_t all = 0;
    size_t used = 0;
    for (int m = 0; m < VYRE_MODE_COUNT; m++)
        all += modes[m];
    out_text[0] = '\0';
    for (int m = 0; m < VYRE_MODE_COUNT && used < capacity; m++) {
        if (modes[m] == 0)
            continue;
        int length =
            snprintf(out_text + used, capacity - used, "%s%s %.1f%%", used ? ", " : "",
                     vyre_mode_name((enum vyre_mode)m), 100.0 * (double)modes[m] / (double)all);
        if (length < 0)
            return;
        used += (size_t)length;
    }
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static void close_row(void *state)
{
    struct row *row = state;
    vyre_row_device_close(&row->on);
    free(row);
}

/* Refused here when the device has no such mode, so that the row is absent and does not fail. */
static enum vyre_status check_mode(struct row *row, struct vyre_diag *diag)
{
    const struct vyre_submit_options *options = &row->options;
    if (options->mode == VYRE_MODE_AUTO)
        return VYRE_OK;
    build(row, row->spare, 1, 1);
    enum vyre_status status =
        vyre_batch_check_mode(row->spare, options->mode, options->variant, diag);
    if ((status == VYRE_OK || status == VYRE_BUSY) && options->variant == 0)
        status = vyre_batch_warm_up(row->spare, options->mode, diag);
    return status;
}

static enum vyre_status open_row(const struct vyre_row_desc *desc, struct row *row,
                                 struct vyre_diag *diag)
{
    const struct vyre_buffer_desc buffer = {.size_bytes = LAUNCHES_BUFFER_BYTES};
    enum vyre_status status = vyre_row_device_open(desc, &row->on, diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(row->on.device, &buffer, &row->buffer, diag);
    for (size_t i = 0; status == VYRE_OK && i < LAUNCHES_CELLS; i++)
        status = vyre_batch_create(row->on.device, NULL, &row->batches[i], diag);
    if (status == VYRE_OK)
        status = vyre_batch_create(row->on.device, NULL, &row->spare, diag);
    if (status == VYRE_OK)
        status = check_mode(row, diag);
    return status;
}

static void open_as(const struct vyre_row_desc *desc, struct launches_row *out_row)
{
    struct row *row = calloc(1, sizeof *row);
    struct vyre_diag diag = {0};
    *out_row = (struct launches_row){.name = desc->name,
                                     .role = desc->mode == VYRE_MODE_AUTO ? BENCH_AUTO : BENCH_OWN,
                                     .patterns = LAUNCHES_ALL_PATTERNS,
                                     .run = run,
                                     .write = write_bytes,
                                     .read = read_bytes,
                                     .close = close_row,
                                     .note = note_modes};
    if (!row) {
        snprintf(out_row->absent, sizeof out_row->absent, "out of memory");
        return;
    }
    row->name = desc->name;
    row->options = (struct vyre_submit_options){.mode = desc->mode, .variant = desc->variant};
    if (open_row(desc, row, &diag) != VYRE_OK) {
        vyre_row_set_absent(out_row->absent, &diag);
        close_row(row);
        return;
    }
    out_row->state = row;
}

void vyre_row_add(struct launches *launches, const struct vyre_row_desc *base,
                  const struct vyre_row_mode *modes, size_t mode_count)
{
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_row_desc desc = *base;
        desc.name = modes[i].name;
        desc.mode = modes[i].mode;
        desc.variant = modes[i].variant;
        open_as(&desc, launches_add(launches));
    }
}

/* ---- Host time of a submit -------------------------------------------------------------------- */

void vyre_row_prepare_submit(void *state, uint32_t dispatches)
{
    struct row *row = state;
    build(row, row->spare, 1, dispatches);
}

bool vyre_row_time_submit(void *state, double *out_ns)
{
    struct row *row = state;
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket = {0};
    uint64_t start_ns = bench_now_ns();
    if (vyre_batch_submit(row->spare, &row->options, &ticket, &diag) != VYRE_OK)
        return vyre_row_complain(row->name, "submit", &diag);
    *out_ns = (double)(bench_now_ns() - start_ns);
    return vyre_ticket_wait(row->on.device, ticket, VYRE_FOREVER, &diag) == VYRE_OK ||
           vyre_row_complain(row->name, "wait", &diag);
}
