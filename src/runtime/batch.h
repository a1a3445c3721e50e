/*
 * batch.h: the object behind a batch handle, and the steps that all building calls share.
 *
 * The steps are inline: a batch of thousands of small dispatches is built in tens of nanoseconds
 * each, and calls would be most of that.
 */
#ifndef VYRE_RUNTIME_BATCH_H
#define VYRE_RUNTIME_BATCH_H

#include <string.h>

#include "runtime/body.h"
#include "runtime/internal.h"

struct vyre_batch {
    struct vyre_object object;
    struct vyre_body *body;   /* Owned: the one that the building calls fill */
    struct vyre_body *spares; /* Owned: a list; some may be in flight */
    struct vyre_diag error;   /* the first building error; status VYRE_OK: none */
};

/* Sets the batch's error: no memory, or past its limit. */
void vyre_batch_fail_memory(struct vyre_batch *batch);

static inline bool vyre_body_in_flight(const struct vyre_device *device,
                                       const struct vyre_body *body)
{
    return !vyre_device_is_complete(device, body->last_sequence);
}

struct vyre_body *vyre_batch_begin_slow(struct vyre_batch *batch);

/*
 * The body to change, or NULL if building has failed before. If the body is in flight, the batch
 * continues with a copy of it.
 */
static inline struct vyre_body *vyre_batch_begin(struct vyre_batch *batch)
{
    struct vyre_body *body = batch->body;
    if (batch->error.status != VYRE_OK || vyre_body_in_flight(batch->object.device, body))
        body = vyre_batch_begin_slow(batch);
    if (body) {
        body->hashed = false;
        body->planned = false;
        body->keyed = false;
        body->entry.entry = NULL;
        body->proven = 0;
        memset(body->words, 0, sizeof body->words);
    }
    return body;
}

/*
 * Makes room for one command with its bindings and ranges. On failure sets the batch's error and
 * returns false.
 */
bool vyre_batch_reserve_slow(struct vyre_batch *batch, struct vyre_body *body, uint32_t bindings,
                             uint32_t ranges);

static inline bool vyre_batch_reserve(struct vyre_batch *batch, struct vyre_body *body,
                                      uint32_t bindings, uint32_t ranges)
{
    const struct vyre_batch_view *view = &body->view;
    /* The other three arrays grow together with these and never have less room. */
    if (view->command_count < body->kernels.capacity &&
        bindings <= body->host_buffers.capacity - view->binding_count &&
        ranges <= body->owners.capacity - view->range_count)
        return true;
    return vyre_batch_reserve_slow(batch, body, bindings, ranges);
}

/* Sets the batch's error for an invalid range, and returns false. */
bool vyre_batch_refuse_range(struct vyre_batch *batch, const struct vyre_range *range);

/*
 * Checks a range and replaces a size of 0 by the rest of the buffer. On failure sets the batch's
 * error and returns false.
 */
static inline bool vyre_batch_check_range(struct vyre_batch *batch, struct vyre_range *range)
{
    const struct vyre_buffer *buffer = range->buffer;
    if (!buffer || buffer->object.device != batch->object.device || buffer->object.identity == 0 ||
        range->offset_bytes >= buffer->size_bytes ||
        range->size_bytes > buffer->size_bytes - range->offset_bytes)
        return vyre_batch_refuse_range(batch, range);
    if (range->size_bytes == 0)
        range->size_bytes = buffer->size_bytes - range->offset_bytes;
    return true;
}

/* Appends a range; the caller has made room. */
static inline void vyre_body_add_range(struct vyre_body *body, struct vyre_buffer *buffer,
                                       size_t offset_bytes, size_t size_bytes,
                                       enum vyre_access access)
{
    uint32_t index = body->view.range_count++;
    struct vyre_bound_range *range = (struct vyre_bound_range *)body->ranges.items + index;
    range->buffer = buffer->native;
    range->identity = buffer->object.identity;
    range->offset_bytes = offset_bytes;
    range->size_bytes = size_bytes;
    range->access = access;
    ((struct vyre_buffer **)body->owners.items)[index] = buffer;
}

/* Where to write the next command; the caller has made room. */
static inline struct vyre_command *vyre_body_next_command(struct vyre_body *body)
{
    return (struct vyre_command *)body->commands.items + body->view.command_count;
}

/*
 * Counts the command just written, and keeps track of whether each command touches what the one
 * before it wrote.
 */
static inline void vyre_body_add_command(struct vyre_body *body, struct vyre_kernel *kernel)
{
    struct vyre_batch_view *view = &body->view;
    const struct vyre_command *command = &view->commands[view->command_count];
    const struct vyre_bound_range *ranges = view->ranges + command->first_range;
    const struct vyre_body_extent last = body->last_write;
    struct vyre_body_extent written = {0};
    bool linked = view->command_count == 0;
    for (uint32_t i = 0; i < command->range_count; i++) {
        size_t end_bytes = ranges[i].offset_bytes + ranges[i].size_bytes;
        linked =
            linked || (ranges[i].identity == last.identity &&
                       ranges[i].offset_bytes < last.end_bytes && last.begin_bytes < end_bytes);
        if (written.identity == 0 && (ranges[i].access & VYRE_ACCESS_WRITE))
            written =
                (struct vyre_body_extent){ranges[i].identity, ranges[i].offset_bytes, end_bytes};
    }
    body->chained = body->chained && linked;
    view->is_chain = body->chained || body->host_overlap;
    body->last_write = written;
    struct vyre_body_kernel *slot =
        (struct vyre_body_kernel *)body->kernels.items + view->command_count;
    slot->kernel = kernel;
    slot->identity = kernel ? kernel->object.identity : 0;
    view->command_count++;
}

/*
 * To be called after objects were destroyed: VYRE_OK if all objects of the body are alive. In
 * submit.c.
 */
enum vyre_status vyre_batch_check_alive_locked(const struct vyre_device *device,
                                               struct vyre_body *body, struct vyre_diag *diag);

/*
 * VYRE_OK if the device is not lost and all objects of the body are alive. To be asked again
 * whenever the lock was released.
 */
static inline enum vyre_status vyre_batch_check_locked(const struct vyre_device *device,
                                                       struct vyre_body *body,
                                                       struct vyre_diag *diag)
{
    if (device->loss.is_known)
        return vyre_device_lost_status(device, diag);
    return body->epoch == device->objects.epoch ? VYRE_OK
                                                : vyre_batch_check_alive_locked(device, body, diag);
}

#endif
