/*
 * written.c: the bytes that a batch writes, to be saved and restored.
 */
#include "runtime/written.h"

#include "base/memory.h"
#include "base/sort.h"
#include "runtime/batch.h"

#define GUARD_BYTES ((size_t)4096)

static int compare_extents(const void *left, const void *right)
{
    const struct vyre_written_extent *a = left;
    const struct vyre_written_extent *b = right;
    uint64_t first = a->identity;
    uint64_t second = b->identity;
    if (first != second)
        return first < second ? -1 : 1;
    return (a->begin_bytes > b->begin_bytes) - (a->begin_bytes < b->begin_bytes);
}

static struct vyre_written_extent extent_of(struct vyre_buffer *buffer,
                                            const struct vyre_bound_range *range)
{
    size_t guard = buffer->is_mapped ? 0 : GUARD_BYTES;
    size_t end = range->offset_bytes + range->size_bytes;
    size_t room = buffer->size_bytes - end;
    return (struct vyre_written_extent){
        .buffer = buffer,
        .identity = range->identity,
        .begin_bytes = range->offset_bytes > guard ? range->offset_bytes - guard : 0,
        .end_bytes = end + (room < guard ? room : guard),
    };
}

/* Merges extents that touch, and sums their sizes. */
static void merge(struct vyre_written *written)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < written->count; i++) {
        struct vyre_written_extent *last = kept ? &written->extents[kept - 1] : NULL;
        const struct vyre_written_extent *next = &written->extents[i];
        if (!last || last->buffer != next->buffer || next->begin_bytes > last->end_bytes)
            written->extents[kept++] = *next;
        else if (next->end_bytes > last->end_bytes)
            last->end_bytes = next->end_bytes;
    }
    written->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        written->total_bytes += written->extents[i].end_bytes - written->extents[i].begin_bytes;
}

bool vyre_written_init(struct vyre_written *written, struct vyre_device *device,
                       struct vyre_body *body)
{
    const struct vyre_batch_view *view = &body->view;
    struct vyre_buffer *const *owners = body->owners.items;
    *written =
        (struct vyre_written){.device = device, .body = body, .capacity = view->range_count + 1};
    written->extents =
        vyre_memory_allocate(&device->allocator, written->capacity * sizeof *written->extents,
                             _Alignof(struct vyre_written_extent));
    if (!written->extents)
        return false;
    for (uint32_t i = 0; i < view->range_count; i++) {
        if (view->ranges[i].access & VYRE_ACCESS_WRITE)
            written->extents[written->count++] = extent_of(owners[i], &view->ranges[i]);
    }
    vyre_sort(written->extents, written->count, sizeof *written->extents, compare_extents);
    merge(written);
    return true;
}

void vyre_written_deinit(struct vyre_written *written)
{
    if (written->extents)
        vyre_memory_free(&written->device->allocator, written->extents,
                         written->capacity * sizeof *written->extents,
                         _Alignof(struct vyre_written_extent));
    written->extents = NULL;
}

/* Copies `from` into the buffers or, if that is NULL, the buffers into `to`. */
static enum vyre_status move_locked(const struct vyre_written *written, const unsigned char *from,
                                    unsigned char *to, struct vyre_diag *diag)
{
    struct vyre_device *device = written->device;
    enum vyre_status status = VYRE_OK;
    size_t at = 0;
    for (uint32_t i = 0; status == VYRE_OK && i < written->count; i++) {
        const struct vyre_written_extent *extent = &written->extents[i];
        void *native = extent->buffer->native;
        size_t size = extent->end_bytes - extent->begin_bytes;
        bool is_gone = extent->buffer->object.identity != extent->identity;
        if (!is_gone)
            status = from ? device->ops->buffer_write(device->native, native, extent->begin_bytes,
                                                      from + at, size, diag)
                          : device->ops->buffer_read(device->native, native, extent->begin_bytes,
                                                     to + at, size, diag);
        at += size;
    }
    return status;
}

enum vyre_status vyre_written_save_locked(const struct vyre_written *written,
                                          unsigned char *out_bytes, struct vyre_diag *diag)
{
    return move_locked(written, NULL, out_bytes, diag);
}

enum vyre_status vyre_written_restore_locked(const struct vyre_written *written,
                                             const unsigned char *bytes, struct vyre_diag *diag)
{
    return move_locked(written, bytes, NULL, diag);
}

void vyre_written_heal(const struct vyre_written *written)
{
    struct vyre_device *device = written->device;
    uint64_t cause;
    vyre_lock_acquire(&device->failure_lock);
    for (uint32_t i = 0; i < written->count; i++)
        (void)vyre_poison_touch_locked(device, written->extents[i].buffer,
                                       written->extents[i].begin_bytes,
                                       written->extents[i].end_bytes, true, &cause);
    vyre_lock_release(&device->failure_lock);
}

void vyre_written_poison(const struct vyre_written *written, enum vyre_status status)
{
    struct vyre_device *device = written->device;
    uint64_t submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    vyre_lock_acquire(&device->failure_lock);
    vyre_poison_spread_locked(device, written->body, status, submitted);
    vyre_lock_release(&device->failure_lock);
}

const struct vyre_written_extent *vyre_written_at(const struct vyre_written *written,
                                                  size_t saved_bytes, size_t *out_offset_bytes)
{
    const struct vyre_written_extent *extent = written->extents;
    while (saved_bytes >= extent->end_bytes - extent->begin_bytes) {
        saved_bytes -= extent->end_bytes - extent->begin_bytes;
        extent++;
    }
    *out_offset_bytes = extent->begin_bytes + saved_bytes;
    return extent;
}
