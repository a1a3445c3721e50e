/*
 * batch.c: creating and building batches.
 *
 * Everything that a backend may assume is checked here, once.
 */
#include "runtime/batch.h"

#include <string.h>

#include "base/checked.h"
#include "base/memory.h"

/* ---- Life ------------------------------------------------------------------------------------- */

static void free_batch(struct vyre_device *device, struct vyre_object *object)
{
    struct vyre_batch *batch = (struct vyre_batch *)object;
    vyre_body_destroy(batch->body);
    while (batch->spares) {
        struct vyre_body *body = batch->spares;
        batch->spares = body->next;
        vyre_body_destroy(body);
    }
    vyre_memory_free(&device->allocator, batch, sizeof *batch, _Alignof(struct vyre_batch));
}

static struct vyre_body *new_body(struct vyre_batch *batch, struct vyre_device *device)
{
    struct vyre_body *body = vyre_body_create(&device->allocator, device->desc.batch_bytes_limit,
                                              device->facts.host_addresses);
    if (body)
        body->view.label = batch->object.label;
    return body;
}

enum vyre_status vyre_batch_create(struct vyre_device *device, const struct vyre_batch_desc *desc,
                                   struct vyre_batch **out_batch, struct vyre_diag *diag)
{
    *out_batch = NULL;
    struct vyre_batch *batch =
        vyre_memory_allocate(&device->allocator, sizeof *batch, _Alignof(struct vyre_batch));
    struct vyre_body *body = batch ? new_body(batch, device) : NULL;
    if (!body) {
        vyre_memory_free(&device->allocator, batch, sizeof *batch, _Alignof(struct vyre_batch));
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc ? desc->label : NULL, 0,
                             "no memory for a batch");
    }
    batch->body = body;
    vyre_lock_acquire(&device->lock);
    vyre_object_link_locked(device, &batch->object, free_batch, desc ? desc->label : NULL);
    vyre_lock_release(&device->lock);
    *out_batch = batch;
    return VYRE_OK;
}

void vyre_batch_destroy(struct vyre_batch **batch)
{
    if (!batch || !*batch)
        return;
    struct vyre_batch *dying = *batch;
    struct vyre_device *device = dying->object.device;
    *batch = NULL;
    vyre_lock_acquire(&device->lock);
    vyre_object_bury_locked(&dying->object);
    vyre_lock_release(&device->lock);
}

/* Sets the body aside and continues with an empty one that is not in flight. */
static bool change_body(struct vyre_batch *batch)
{
    struct vyre_device *device = batch->object.device;
    struct vyre_body **link = &batch->spares;
    while (*link && vyre_body_in_flight(device, *link))
        link = &(*link)->next;
    struct vyre_body *fresh = *link;
    if (fresh)
        *link = fresh->next;
    else
        fresh = new_body(batch, device);
    if (!fresh)
        return false;
    batch->body->next = batch->spares;
    batch->spares = batch->body;
    batch->body = fresh;
    fresh->next = NULL;
    vyre_body_reset(fresh);
    return true;
}

void vyre_batch_fail_memory(struct vyre_batch *batch)
{
    const struct vyre_body *body = batch->body;
    (void)vyre_diag_set(
        &batch->error, body->past_limit ? VYRE_DIAG_BATCH_LIMIT : VYRE_DIAG_OUT_OF_MEMORY,
        batch->object.label, 0, "no room for command %u of a batch (limit %zu bytes)",
        body->view.command_count, body->limit_bytes);
}

void vyre_batch_reset(struct vyre_batch *batch)
{
    if (batch->error.status != VYRE_OK)
        vyre_diag_reset(&batch->error);
    if (!vyre_body_in_flight(batch->object.device, batch->body))
        vyre_body_reset(batch->body);
    else if (!change_body(batch))
        vyre_batch_fail_memory(batch);
}

enum vyre_status vyre_batch_status(const struct vyre_batch *batch, struct vyre_diag *diag)
{
    if (batch->error.status != VYRE_OK && diag)
        *diag = batch->error;
    return batch->error.status;
}

size_t vyre_batch_command_count(const struct vyre_batch *batch)
{
    return batch->body->view.command_count;
}

/* ---- Building --------------------------------------------------------------------------------- */

struct vyre_body *vyre_batch_begin_slow(struct vyre_batch *batch)
{
    struct vyre_body *body = batch->body;
    if (batch->error.status != VYRE_OK)
        return NULL;
    if (!change_body(batch) || !vyre_body_copy(batch->body, body)) {
        vyre_batch_fail_memory(batch);
        return NULL;
    }
    return batch->body;
}

bool vyre_batch_reserve_slow(struct vyre_batch *batch, struct vyre_body *body, uint32_t bindings,
                             uint32_t ranges)
{
    const struct vyre_batch_view *view = &body->view;
    bool room = vyre_body_reserve(body, &body->commands, sizeof(struct vyre_command),
                                  view->command_count, 1) &&
                vyre_body_reserve(body, &body->kernels, sizeof(struct vyre_body_kernel),
                                  view->command_count, 1) &&
                vyre_body_reserve(body, &body->bindings, sizeof(struct vyre_command_binding),
                                  view->binding_count, bindings) &&
                vyre_body_reserve(body, &body->host_buffers, sizeof(struct vyre_host_buffer),
                                  view->binding_count, bindings) &&
                vyre_body_reserve(body, &body->ranges, sizeof(struct vyre_bound_range),
                                  view->range_count, ranges) &&
                vyre_body_reserve(body, &body->owners, sizeof(struct vyre_buffer *),
                                  view->range_count, ranges);
    if (!room)
        vyre_batch_fail_memory(batch);
    return room;
}

bool vyre_batch_refuse_range(struct vyre_batch *batch, const struct vyre_range *range)
{
    const struct vyre_buffer *buffer = range->buffer;
    struct vyre_diag *error = &batch->error;
    uint32_t number = batch->body->view.command_count;
    if (!buffer)
        (void)vyre_diag_set(error, VYRE_DIAG_ARGUMENT_NULL, batch->object.label, 0,
                            "command %u names no buffer", number);
    else if (buffer->object.device != batch->object.device)
        (void)vyre_diag_set(error, VYRE_DIAG_BATCH_FOREIGN, buffer->object.label, 0,
                            "command %u names a buffer of another device", number);
    else if (buffer->object.identity == 0)
        (void)vyre_diag_set(error, VYRE_DIAG_BATCH_STALE, buffer->object.label, 0,
                            "command %u names a destroyed buffer", number);
    else
        (void)vyre_diag_set(error, VYRE_DIAG_BUFFER_RANGE, buffer->object.label, 0,
                            "command %u: %zu bytes at %zu are outside a buffer of %zu bytes",
                            number, range->size_bytes, range->offset_bytes, buffer->size_bytes);
    return false;
}

/* ---- Other commands --------------------------------------------------------------------------- */

static bool spans_meet(struct vyre_body_span a, struct vyre_body_span b)
{
    return a.begin < b.end && b.begin < a.end;
}

static void widen(struct vyre_body_span *span, struct vyre_body_span by)
{
    span->begin = span->end == 0 || by.begin < span->begin ? by.begin : span->begin;
    span->end = by.end > span->end ? by.end : span->end;
}

/*
 * Hazards come from buffers. Commands can also overlap in the caller's memory, if one of them
 * writes there. That is rare, so it is not planned: such a batch runs in order.
 */
static void note_host_memory(struct vyre_body *body, const void *bytes, size_t size_bytes,
                             bool written)
{
    struct vyre_body_span span = {(uintptr_t)bytes, (uintptr_t)bytes + size_bytes};
    body->host_overlap = body->host_overlap || spans_meet(span, body->downloads) ||
                         (written && spans_meet(span, body->borrowed));
    widen(written ? &body->downloads : &body->borrowed, span);
}

/* A command with one range. Returns the body, with room for the command, or NULL. */
static struct vyre_body *begin_simple(struct vyre_batch *batch, struct vyre_range *range,
                                      struct vyre_command *command)
{
    struct vyre_body *body = vyre_batch_begin(batch);
    if (!body || !vyre_batch_check_range(batch, range) || !vyre_batch_reserve(batch, body, 0, 1))
        return NULL;
    command->first_range = body->view.range_count;
    command->range_count = 1;
    return body;
}

static void add_simple(struct vyre_body *body, const struct vyre_command *command)
{
    *vyre_body_next_command(body) = *command;
    vyre_body_add_command(body, NULL);
}

void vyre_batch_fill(struct vyre_batch *batch, struct vyre_range range, uint32_t word)
{
    struct vyre_command command = {.type = VYRE_COMMAND_FILL, .fill_word = word};
    struct vyre_body *body = begin_simple(batch, &range, &command);
    if (!body)
        return;
    if (range.offset_bytes % 4 || range.size_bytes % 4) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_ALIGNMENT, range.buffer->object.label, 0,
                            "a fill of %zu bytes at %zu is not in whole words", range.size_bytes,
                            range.offset_bytes);
        return;
    }
    vyre_body_add_range(body, range.buffer, range.offset_bytes, range.size_bytes,
                        VYRE_ACCESS_WRITE);
    add_simple(body, &command);
}

static void add_upload(struct vyre_batch *batch, struct vyre_range range, const void *bytes,
                       bool owned)
{
    struct vyre_command command = {
        .type = VYRE_COMMAND_UPLOAD, .upload_bytes = bytes, .upload_owned = owned};
    struct vyre_body *body = begin_simple(batch, &range, &command);
    if (!body)
        return;
    if (!bytes) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_ARGUMENT_NULL, range.buffer->object.label, 0,
                            "an upload of no bytes");
        return;
    }
    if (owned) {
        void *copy = vyre_body_take(body, range.size_bytes);
        if (!copy) {
            vyre_batch_fail_memory(batch);
            return;
        }
        memcpy(copy, bytes, range.size_bytes);
        command.upload_bytes = copy;
    } else {
        note_host_memory(body, bytes, range.size_bytes, false);
    }
    vyre_body_add_range(body, range.buffer, range.offset_bytes, range.size_bytes,
                        VYRE_ACCESS_WRITE);
    add_simple(body, &command);
}

void vyre_batch_upload(struct vyre_batch *batch, struct vyre_range range, const void *bytes)
{
    add_upload(batch, range, bytes, true);
}

void vyre_batch_upload_borrowed(struct vyre_batch *batch, struct vyre_range range,
                                const void *bytes)
{
    add_upload(batch, range, bytes, false);
}

void vyre_batch_download(struct vyre_batch *batch, struct vyre_range range, void *out_bytes)
{
    struct vyre_command command = {.type = VYRE_COMMAND_DOWNLOAD, .download_bytes = out_bytes};
    struct vyre_body *body = begin_simple(batch, &range, &command);
    if (!body)
        return;
    if (!out_bytes) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_ARGUMENT_NULL, range.buffer->object.label, 0,
                            "a download into no memory");
        return;
    }
    note_host_memory(body, out_bytes, range.size_bytes, true);
    vyre_body_add_range(body, range.buffer, range.offset_bytes, range.size_bytes, VYRE_ACCESS_READ);
    add_simple(body, &command);
}

void vyre_batch_copy(struct vyre_batch *batch, struct vyre_range from, struct vyre_range to)
{
    struct vyre_body *body = vyre_batch_begin(batch);
    if (!body || !vyre_batch_check_range(batch, &from))
        return;
    if (to.size_bytes == 0)
        to.size_bytes = from.size_bytes;
    if (!vyre_batch_check_range(batch, &to) || !vyre_batch_reserve(batch, body, 0, 2))
        return;
    bool overlap = from.buffer == to.buffer &&
                   from.offset_bytes < to.offset_bytes + to.size_bytes &&
                   to.offset_bytes < from.offset_bytes + from.size_bytes;
    if (overlap || from.size_bytes != to.size_bytes) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_OVERLAP, to.buffer->object.label, 0,
                            "a copy of %zu bytes at %zu to %zu bytes at %zu %s", from.size_bytes,
                            from.offset_bytes, to.size_bytes, to.offset_bytes,
                            overlap ? "of the same buffer overlaps" : "differs in size");
        return;
    }
    struct vyre_command command = {
        .type = VYRE_COMMAND_COPY, .first_range = body->view.range_count, .range_count = 2};
    vyre_body_add_range(body, from.buffer, from.offset_bytes, from.size_bytes, VYRE_ACCESS_READ);
    vyre_body_add_range(body, to.buffer, to.offset_bytes, to.size_bytes, VYRE_ACCESS_WRITE);
    add_simple(body, &command);
}

void vyre_batch_set_constants(struct vyre_batch *batch, size_t command, const void *constants,
                              size_t constants_size_bytes)
{
    const struct vyre_body *before = batch->body;
    bool hashed = batch->body->hashed;
    bool planned = batch->body->planned;
    struct vyre_shape_ref entry = batch->body->entry;
    uint64_t derived[VYRE_VIEW_WORDS];
    memcpy(derived, batch->body->words, sizeof derived);
    struct vyre_body *body = vyre_batch_begin(batch);
    if (!body)
        return;
    const struct vyre_command *target =
        command < body->view.command_count ? &body->view.commands[command] : NULL;
    if (!target || target->type != VYRE_COMMAND_DISPATCH) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_COMMAND, batch->object.label, 0,
                            "command %zu of %u is not a dispatch", command,
                            body->view.command_count);
        return;
    }
    if (constants_size_bytes != target->constants_size_bytes || !constants) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_CONSTANTS, batch->object.label, 0,
                            "command %zu takes %u bytes of constants, not %zu", command,
                            target->constants_size_bytes, constants_size_bytes);
        return;
    }
    /* The body's own memory, not in flight: vyre_batch_begin made sure of that. */
    if (constants_size_bytes > 0)
        memcpy((void *)(uintptr_t)target->constants, constants, constants_size_bytes);
    body->hashed = hashed; /* constants belong neither to the shape nor to the plan */
    if (planned && body == before)
        body->planned = true;
    else if (planned)
        vyre_body_keep_plan(body, &before->plan);
    body->entry = entry;
    memcpy(body->words, derived, sizeof derived);
}
