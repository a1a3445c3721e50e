/*
 * buffer.c: buffers.
 */
#include <string.h>

#include "base/memory.h"
#include "runtime/internal.h"
#include "runtime/prove.h"

/* The struct stays with the device, because a batch that still names the buffer reads it. */
static void free_buffer(struct vyre_device *device, struct vyre_object *object)
{
    struct vyre_buffer *buffer = (struct vyre_buffer *)object;
    device->ops->buffer_destroy(device->native, buffer->native);
    vyre_lock_acquire(&device->failure_lock);
    vyre_poison_forget_locked(device, buffer);
    vyre_lock_release(&device->failure_lock);
    device->objects.memory_bytes -= buffer->size_bytes;
    object->next = device->objects.spare_buffers;
    device->objects.spare_buffers = object;
}

static struct vyre_buffer *take_struct_locked(struct vyre_device *device)
{
    struct vyre_object *spare = device->objects.spare_buffers;
    if (!spare)
        return vyre_memory_allocate(&device->allocator, sizeof(struct vyre_buffer),
                                    _Alignof(struct vyre_buffer));
    device->objects.spare_buffers = spare->next;
    return (struct vyre_buffer *)spare;
}

static enum vyre_status create_locked(struct vyre_device *device,
                                      const struct vyre_buffer_desc *desc,
                                      struct vyre_buffer **out_buffer, struct vyre_diag *diag)
{
    vyre_device_reclaim_locked(device);
    if (desc->size_bytes > device->facts.limits.memory_bytes - device->objects.memory_bytes)
        return vyre_diag_set(diag, VYRE_DIAG_MEMORY_LIMIT, desc->label, 0,
                             "%zu bytes do not fit beside the %llu in use of %llu",
                             desc->size_bytes, (unsigned long long)device->objects.memory_bytes,
                             (unsigned long long)device->facts.limits.memory_bytes);
    struct vyre_buffer *buffer = take_struct_locked(device);
    if (!buffer)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a buffer");
    void *native = NULL;
    void *address = NULL;
    enum vyre_status status =
        device->ops->buffer_create(device->native, desc, &native, &address, diag);
    if (status != VYRE_OK) {
        buffer->object.next = device->objects.spare_buffers;
        device->objects.spare_buffers = &buffer->object;
        return status;
    }
    vyre_object_link_locked(device, &buffer->object, free_buffer, desc->label);
    buffer->native = native;
    buffer->address = address;
    buffer->size_bytes = desc->size_bytes;
    buffer->is_mapped = false;
    device->objects.memory_bytes += desc->size_bytes;
    *out_buffer = buffer;
    return VYRE_OK;
}

enum vyre_status vyre_buffer_create(struct vyre_device *device, const struct vyre_buffer_desc *desc,
                                    struct vyre_buffer **out_buffer, struct vyre_diag *diag)
{
    *out_buffer = NULL;
    if (vyre_device_is_lost(device))
        return vyre_device_lost_status(device, diag);
    uint64_t limit = device->facts.limits.buffer_size_bytes;
    if (desc->size_bytes == 0 || desc->size_bytes > limit)
        return vyre_diag_set(diag, VYRE_DIAG_BUFFER_SIZE, desc->label, 0,
                             "a buffer of %zu bytes; the device takes 1 to %llu", desc->size_bytes,
                             (unsigned long long)limit);
    vyre_lock_acquire(&device->lock);
    enum vyre_status status = create_locked(device, desc, out_buffer, diag);
    return vyre_device_unlock(device, status, diag);
}

void vyre_buffer_destroy(struct vyre_buffer **buffer)
{
    if (!buffer || !*buffer)
        return;
    struct vyre_buffer *dying = *buffer;
    struct vyre_device *device = dying->object.device;
    *buffer = NULL;
    vyre_lock_acquire(&device->lock);
    vyre_object_bury_locked(&dying->object);
    vyre_lock_release(&device->lock);
}

size_t vyre_buffer_size(const struct vyre_buffer *buffer)
{
    return buffer->size_bytes;
}

uint64_t vyre_buffer_identity(const struct vyre_buffer *buffer)
{
    return buffer->object.identity;
}

const char *vyre_buffer_label(const struct vyre_buffer *buffer)
{
    return buffer->object.label;
}

enum vyre_status vyre_buffer_map(struct vyre_buffer *buffer, void **out_bytes,
                                 struct vyre_diag *diag)
{
    struct vyre_device *device = buffer->object.device;
    *out_bytes = buffer->address;
    vyre_lock_acquire(&device->lock);
    vyre_prove_gate_locked(device); /* a proof in progress may hold more memory than its batch */
    buffer->is_mapped = buffer->address != NULL;
    vyre_lock_release(&device->lock);
    if (!buffer->address)
        return vyre_diag_set(diag, VYRE_DIAG_BUFFER_NOT_MAPPABLE, buffer->object.label, 0, "%s",
                             device->facts.abilities[VYRE_ABILITY_HOST_VISIBLE].reason);
    return VYRE_OK;
}

/* ---- Write and read --------------------------------------------------------------------------- */

static enum vyre_status check_transfer(const struct vyre_buffer *buffer, size_t offset_bytes,
                                       size_t size_bytes, struct vyre_diag *diag)
{
    if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
        return vyre_diag_set(diag, VYRE_DIAG_BUFFER_RANGE, buffer->object.label, 0,
                             "%zu bytes at %zu are outside a buffer of %zu bytes", size_bytes,
                             offset_bytes, buffer->size_bytes);
    return VYRE_OK;
}

/*
 * Bytes that a failed batch should have written cannot be read. Writing them makes them valid
 * again.
 */
static enum vyre_status check_poison(struct vyre_buffer *buffer, size_t offset_bytes,
                                     size_t size_bytes, bool write, struct vyre_diag *diag)
{
    struct vyre_device *device = buffer->object.device;
    uint64_t cause;
    vyre_lock_acquire(&device->failure_lock);
    enum vyre_status status = vyre_poison_touch_locked(device, buffer, offset_bytes,
                                                       offset_bytes + size_bytes, write, &cause);
    vyre_lock_release(&device->failure_lock);
    if (status == VYRE_OK)
        return VYRE_OK;
    (void)vyre_diag_set(diag, VYRE_DIAG_SUBMIT_POISONED, buffer->object.label, 0,
                        "batch %llu should have written these bytes and failed",
                        (unsigned long long)cause);
    if (diag)
        diag->status = status;
    return status;
}

/* Submits a one-command batch and waits, for devices whose memory the host cannot access. */
static enum vyre_status run_transfer(struct vyre_buffer *buffer, size_t offset_bytes,
                                     const void *bytes, void *out_bytes, size_t size_bytes,
                                     struct vyre_diag *diag)
{
    struct vyre_device *device = buffer->object.device;
    struct vyre_range range = {buffer, offset_bytes, size_bytes};
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    enum vyre_status status = vyre_batch_create(device, NULL, &batch, diag);
    if (status != VYRE_OK)
        return status;
    if (bytes)
        vyre_batch_upload_borrowed(batch, range, bytes);
    else
        vyre_batch_download(batch, range, out_bytes);
    status = vyre_batch_submit(batch, &(struct vyre_submit_options){.mode = VYRE_MODE_PLAIN},
                               &ticket, diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(device, ticket, VYRE_FOREVER, diag);
    vyre_batch_destroy(&batch);
    return status;
}

static enum vyre_status transfer(struct vyre_buffer *buffer, size_t offset_bytes, const void *bytes,
                                 void *out_bytes, size_t size_bytes, struct vyre_diag *diag)
{
    struct vyre_device *device = buffer->object.device;
    enum vyre_status status = check_transfer(buffer, offset_bytes, size_bytes, diag);
    if (status != VYRE_OK || size_bytes == 0)
        return status;
    bool direct = bytes ? device->ops->buffer_write != NULL : device->ops->buffer_read != NULL;
    if (!direct)
        return run_transfer(buffer, offset_bytes, bytes, out_bytes, size_bytes, diag);
    status = vyre_device_wait_idle(device, VYRE_FOREVER, diag);
    if (status == VYRE_OK)
        status = check_poison(buffer, offset_bytes, size_bytes, bytes != NULL, diag);
    if (status != VYRE_OK)
        return status;
    vyre_lock_acquire(&device->lock);
    vyre_prove_gate_locked(device);
    status = bytes ? device->ops->buffer_write(device->native, buffer->native, offset_bytes, bytes,
                                               size_bytes, diag)
                   : device->ops->buffer_read(device->native, buffer->native, offset_bytes,
                                              out_bytes, size_bytes, diag);
    return vyre_device_unlock(device, status, diag);
}

enum vyre_status vyre_buffer_write(struct vyre_buffer *buffer, size_t offset_bytes,
                                   const void *bytes, size_t size_bytes, struct vyre_diag *diag)
{
    return transfer(buffer, offset_bytes, bytes, NULL, size_bytes, diag);
}

enum vyre_status vyre_buffer_read(struct vyre_buffer *buffer, size_t offset_bytes, void *out_bytes,
                                  size_t size_bytes, struct vyre_diag *diag)
{
    return transfer(buffer, offset_bytes, NULL, out_bytes, size_bytes, diag);
}
