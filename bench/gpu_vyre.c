/*
 * gpu_vyre.c: Vyre's rows: one mode each, on a device of its own, so that what one row learned or
 * left running is not seen by another.
 */
#include "gpu.h"

#include <stdlib.h>

struct row {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_submit_options options;
    struct vyre_batch *batches[GPU_CELLS];
    struct vyre_batch *spare; /* for what is no cell */
    bool built[GPU_CELLS];
};

static bool complain(const struct gpu_contender *contender, const char *what,
                     const struct vyre_diag *diag)
{
    char text[1024];
    vyre_diag_format(diag, text, sizeof text);
    fprintf(stderr, "%s: %s: %s\n", contender->name, what, text);
    return false;
}

static void build(struct row *row, struct vyre_batch *batch, uint32_t groups, uint32_t launches)
{
    uint32_t constant = 0;
    const struct vyre_slot_binding binding = {
        .slot = 0, .range = {.buffer = row->buffer, .size_bytes = groups * GPU_GROUP_BYTES}};
    const struct vyre_dispatch dispatch = {
        .kernel = row->kernel,
        .groups = {groups, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &constant,
        .constants_size_bytes = sizeof constant,
    };
    vyre_batch_reset(batch);
    for (uint32_t k = 0; k < launches; k++) {
        constant = gpu_constant(k);
        vyre_batch_dispatch(batch, &dispatch);
    }
}

static bool submit(struct gpu_contender *contender, struct vyre_batch *batch, bool wait)
{
    struct row *row = contender->state;
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket = {0};
    if (vyre_batch_submit(batch, &row->options, &ticket, &diag) != VYRE_OK)
        return complain(contender, "submit", &diag);
    if (wait && vyre_ticket_wait(row->device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
        return complain(contender, "wait", &diag);
    return true;
}

static bool run_pattern(struct gpu_contender *contender, const struct gpu_cell *cell,
                        uint32_t repeats)
{
    struct row *row = contender->state;
    struct vyre_batch *batch = row->batches[cell->index];
    for (uint32_t r = 0; r < repeats; r++) {
        if (cell->pattern == GPU_P2)
            build(row, batch, cell->groups, cell->launches);
        bool wait = cell->pattern != GPU_P3 || r + 1 == repeats;
        if (!submit(contender, batch, wait))
            return false;
    }
    return true;
}

static bool run(struct gpu_contender *contender, const struct gpu_cell *cell, uint32_t repeats)
{
    struct row *row = contender->state;
    if (!row->built[cell->index]) {
        /* In the round that is not counted. */
        build(row, row->batches[cell->index], cell->groups, cell->launches);
        row->built[cell->index] = true;
    }
    struct vyre_device_counters before;
    struct vyre_device_counters after;
    vyre_device_get_counters(row->device, &before);
    bool ok = run_pattern(contender, cell, repeats);
    vyre_device_get_counters(row->device, &after);
    for (size_t mode = 0; mode < VYRE_MODE_COUNT; mode++)
        contender->modes[cell->index][mode] += after.by_mode[mode] - before.by_mode[mode];
    return ok;
}

static bool write_bytes(struct gpu_contender *contender, const void *bytes, size_t size_bytes)
{
    struct row *row = contender->state;
    struct vyre_diag diag = {0};
    if (vyre_buffer_write(row->buffer, 0, bytes, size_bytes, &diag) != VYRE_OK)
        return complain(contender, "write", &diag);
    return true;
}

static bool read_bytes(struct gpu_contender *contender, void *out_bytes, size_t size_bytes)
{
    struct row *row = contender->state;
    struct vyre_diag diag = {0};
    if (vyre_buffer_read(row->buffer, 0, out_bytes, size_bytes, &diag) != VYRE_OK)
        return complain(contender, "read", &diag);
    return true;
}

static void close_row(struct gpu_contender *contender)
{
    struct row *row = contender->state;
    if (row->device)
        vyre_device_close(&row->device);
    vyre_instance_destroy(&row->instance);
    free(row);
    contender->state = NULL;
}

static enum vyre_status open_kernel(const struct gpu_vyre_desc *desc, struct row *row,
                                    struct vyre_diag *diag)
{
    const struct vyre_binding_desc binding = {.slot = 0, .access = VYRE_ACCESS_READWRITE};
    const enum vyre_scalar constant = VYRE_SCALAR_U32;
    const struct vyre_kernel_desc kernel = {
        .label = "lcg",
        .payloads = &desc->payload,
        .payload_count = 1,
        .local_size = {GPU_LOCAL_SIZE, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &constant,
        .constant_count = 1,
    };
    return vyre_kernel_create(row->device, &kernel, &row->kernel, diag);
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

static enum vyre_status open_row(const struct gpu_vyre_desc *desc, struct row *row,
                                 struct vyre_diag *diag)
{
    const struct vyre_device_desc device = {.backend = desc->backend, .name = desc->device};
    const struct vyre_buffer_desc buffer = {.size_bytes = GPU_BUFFER_BYTES};
    enum vyre_status status = vyre_instance_create(NULL, &row->instance, diag);
    if (status == VYRE_OK)
        status = vyre_device_open(row->instance, &device, &row->device, diag);
    if (status == VYRE_OK)
        status = open_kernel(desc, row, diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(row->device, &buffer, &row->buffer, diag);
    for (size_t i = 0; status == VYRE_OK && i < GPU_CELLS; i++)
        status = vyre_batch_create(row->device, NULL, &row->batches[i], diag);
    if (status == VYRE_OK)
        status = vyre_batch_create(row->device, NULL, &row->spare, diag);
    if (status == VYRE_OK)
        status = check_mode(row, diag);
    return status;
}

void gpu_open_vyre(const struct gpu_vyre_desc *desc, struct gpu_contender *out_contender)
{
    struct row *row = calloc(1, sizeof *row);
    struct vyre_diag diag = {0};
    *out_contender = (struct gpu_contender){
        .name = desc->name, .mode = desc->mode, .patterns = GPU_ALL_PATTERNS, .state = row};
    if (!row) {
        snprintf(out_contender->absent, sizeof out_contender->absent, "out of memory");
        return;
    }
    row->options = (struct vyre_submit_options){.mode = desc->mode, .variant = desc->variant};
    if (open_row(desc, row, &diag) != VYRE_OK) {
        snprintf(out_contender->absent, sizeof out_contender->absent, "%s: %.150s",
                 vyre_diag_id_name(diag.id), diag.message);
        close_row(out_contender);
        return;
    }
    out_contender->run = run;
    out_contender->write = write_bytes;
    out_contender->read = read_bytes;
    out_contender->close = close_row;
}

/* ---- Host time of a submit -------------------------------------------------------------------- */

void gpu_vyre_prepare_submit(struct gpu_contender *contender, uint32_t dispatches)
{
    struct row *row = contender->state;
    build(row, row->spare, 1, dispatches);
}

bool gpu_vyre_time_submit(struct gpu_contender *contender, double *out_ns)
{
    struct row *row = contender->state;
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket = {0};
    uint64_t start = sample_now_ns();
    if (vyre_batch_submit(row->spare, &row->options, &ticket, &diag) != VYRE_OK)
        return complain(contender, "submit", &diag);
    *out_ns = (double)(sample_now_ns() - start);
    if (vyre_ticket_wait(row->device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
        return complain(contender, "wait", &diag);
    return true;
}
