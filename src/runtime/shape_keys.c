/*
 * shape_keys.c: when two batches are the same work.
 */
#include "runtime/shape_keys.h"

#include "runtime/internal.h"
#include "runtime/shape_stream.h"

/* Part of every hash, because what is hashed, and how, may change. */
#define FORMAT_VERSION 1

/* ---- Exact ------------------------------------------------------------------------------------ */

static void put_command(struct vyre_shape_stream *stream, const struct vyre_batch_view *view,
                        const struct vyre_command *command, uint64_t kernel)
{
    vyre_shape_put(stream, command->type | (uint64_t)command->range_count << 8 |
                               (uint64_t)command->fill_word << 32);
    if (command->type == VYRE_COMMAND_DISPATCH) {
        vyre_shape_put(stream, kernel);
        vyre_shape_put(stream, command->groups[0] | (uint64_t)command->groups[1] << 32);
        vyre_shape_put(stream, command->groups[2] | (uint64_t)command->specialization_count << 32);
        for (uint32_t i = 0; i < command->specialization_count; i++)
            vyre_shape_put(stream, command->specialization[i]);
        for (uint32_t i = 0; i < command->binding_count; i++) {
            const struct vyre_command_binding *binding =
                &view->bindings[command->first_binding + i];
            if (binding->kind != VYRE_BINDING_RANGE)
                vyre_shape_put(stream, (uint64_t)binding->range_count << 32 | binding->local_bytes);
        }
    }
    for (uint32_t i = 0; i < command->range_count; i++) {
        const struct vyre_bound_range *range = &view->ranges[command->first_range + i];
        vyre_shape_put(stream, range->identity);
        vyre_shape_put(stream, range->offset_bytes);
        vyre_shape_put(stream, range->size_bytes);
    }
}

struct vyre_hash128 vyre_body_shape(struct vyre_body *body)
{
    if (body->hashed)
        return body->shape;
    struct vyre_shape_stream stream;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    stream.count = 0;
    vyre_shape_put(&stream,
                   body->host_overlap); /* it changes the plan that a recording is made from */
    for (uint32_t i = 0; i < body->view.command_count; i++)
        put_command(&stream, &body->view, &body->view.commands[i], kernels[i].identity);
    body->shape = vyre_shape_end(&stream);
    body->hashed = true;
    return body->shape;
}

/* ---- Recording key ---------------------------------------------------------------------------- */

struct vyre_hash128 vyre_body_key(struct vyre_body *body, uint32_t bakes, uint32_t variant)
{
    struct vyre_hash128 shape = vyre_body_shape(body);
    if (bakes == 0 && variant == 0)
        return shape;
    uint32_t salt = bakes | variant << 16;
    if (body->keyed && body->key_salt == salt)
        return body->key;
    struct vyre_shape_stream stream;
    stream.count = 0;
    vyre_shape_put(&stream, shape.lo);
    vyre_shape_put(&stream, shape.hi);
    vyre_shape_put(&stream, salt);
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        const struct vyre_command *command = &body->view.commands[i];
        if (bakes & VYRE_BAKES_CONSTANTS)
            vyre_shape_put_bytes(&stream, command->constants, command->constants_size_bytes);
        if (bakes & VYRE_BAKES_DOWNLOADS && command->type == VYRE_COMMAND_DOWNLOAD)
            vyre_shape_put(&stream, (uintptr_t)command->download_bytes);
    }
    body->key = vyre_shape_end(&stream);
    body->key_salt = salt;
    body->keyed = true;
    return body->key;
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static void put_hash(struct vyre_shape_stream *stream, struct vyre_hash128 hash)
{
    vyre_shape_put(stream, hash.lo);
    vyre_shape_put(stream, hash.hi);
}

static void put_text(struct vyre_shape_stream *stream, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    vyre_shape_put(stream, text ? length + 1 : 0);
    put_hash(stream, vyre_hash128(text, length));
}

static bool has_name(const struct vyre_kernel_desc *desc, const struct vyre_payload *payload)
{
    return (desc->label && desc->label[0]) || (payload->entry && payload->entry[0]);
}

static void put_payload(struct vyre_shape_stream *stream, const struct vyre_payload *payload)
{
    vyre_shape_put(stream, payload->target);
    put_text(stream, payload->entry);
    put_text(stream, payload->target == VYRE_TARGET_HOST_LIBRARY ? payload->path : NULL);
    size_t size_bytes = payload->bytes ? payload->size_bytes : 0;
    vyre_shape_put(stream, size_bytes);
    put_hash(stream, vyre_hash128(payload->bytes, size_bytes));
}

struct vyre_hash128 vyre_kernel_content(const struct vyre_kernel_desc *desc)
{
    struct vyre_shape_stream stream;
    stream.count = 0;
    vyre_shape_put(&stream, FORMAT_VERSION);
    put_text(&stream, desc->label);
    for (size_t i = 0; i < desc->payload_count; i++) {
        const struct vyre_payload *payload = &desc->payloads[i];
        if (payload->target == VYRE_TARGET_HOST && !has_name(desc, payload))
            return (struct vyre_hash128){0};
        put_payload(&stream, payload);
    }
    for (int i = 0; i < 3; i++)
        vyre_shape_put(&stream, desc->local_size[i]);
    for (size_t i = 0; i < desc->specialization_count; i++)
        vyre_shape_put(&stream, desc->specialization_defaults[i]);
    return vyre_shape_end(&stream);
}

/* ---- Template and family ---------------------------------------------------------------------- */

/* A word that changes with the size of the work. */
static void put_size(struct vyre_shape_stream *stream, bool family, uint64_t word)
{
    if (!family)
        vyre_shape_put(stream, word);
}

/* The number of the buffer in this batch, with its size if it is new. */
static void put_buffer(struct vyre_shape_stream *stream, struct vyre_device *device, bool family,
                       struct vyre_buffer *buffer, uint32_t *count)
{
    if (buffer->shape_mark == device->shapes.mark) {
        vyre_shape_put(stream, buffer->shape_number);
        return;
    }
    buffer->shape_mark = device->shapes.mark;
    buffer->shape_number = (*count)++;
    vyre_shape_put(stream, buffer->shape_number);
    put_size(stream, family, buffer->size_bytes);
}

static void put_dispatch(struct vyre_shape_stream *stream, const struct vyre_batch_view *view,
                         bool family, const struct vyre_command *command,
                         const struct vyre_kernel *kernel)
{
    put_hash(stream, kernel->content);
    put_size(stream, family, command->groups[0] | (uint64_t)command->groups[1] << 32);
    vyre_shape_put(stream, (family ? 0 : command->groups[2]) |
                               (uint64_t)command->specialization_count << 32);
    for (uint32_t i = 0; i < command->specialization_count; i++)
        vyre_shape_put(stream, command->specialization[i]);
    vyre_shape_put(stream, command->binding_count);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        vyre_shape_put(stream, binding->slot | (uint64_t)binding->kind << 32);
        vyre_shape_put(stream, (uint64_t)binding->range_count << 32 | binding->local_bytes);
    }
}

static bool put_batch(struct vyre_device *device, const struct vyre_body *body, bool family,
                      struct vyre_hash128 *out_key)
{
    const struct vyre_batch_view *view = &body->view;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    struct vyre_buffer *const *owners = body->owners.items;
    struct vyre_shape_stream stream;
    uint32_t buffers = 0;
    *out_key = (struct vyre_hash128){0};
    device->shapes.mark++;
    stream.count = 0;
    vyre_shape_put(&stream, FORMAT_VERSION | (uint64_t)body->host_overlap << 32);
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        bool dispatches = command->type == VYRE_COMMAND_DISPATCH;
        if (dispatches && vyre_hash128_equal(kernels[i].kernel->content, *out_key))
            return false;
        vyre_shape_put(&stream, command->type | (uint64_t)command->fill_word << 32);
        vyre_shape_put(&stream, command->range_count);
        if (dispatches)
            put_dispatch(&stream, view, family, command, kernels[i].kernel);
        for (uint32_t j = 0; j < command->range_count; j++) {
            const struct vyre_bound_range *range = &view->ranges[command->first_range + j];
            put_buffer(&stream, device, family, owners[command->first_range + j], &buffers);
            put_size(&stream, family, range->offset_bytes);
            put_size(&stream, family, range->size_bytes);
        }
    }
    *out_key = vyre_shape_end(&stream);
    return true;
}

bool vyre_shape_template_locked(struct vyre_device *device, const struct vyre_body *body,
                                struct vyre_hash128 *out_key)
{
    return put_batch(device, body, false, out_key);
}

bool vyre_shape_family_locked(struct vyre_device *device, const struct vyre_body *body,
                              struct vyre_hash128 *out_key)
{
    return put_batch(device, body, true, out_key);
}
