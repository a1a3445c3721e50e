/*
 * transfers.c: copies, fills, uploads, downloads.
 */
#include "backend/vulkan/transfers.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"

static VkBuffer handle_of(const struct vyre_bound_range *range)
{
    return ((const struct vyre_vk_buffer *)range->buffer)->handle;
}

void vyre_vk_encode_copy(struct vyre_vk_encoder *e, const struct vyre_bound_range *from,
                         const struct vyre_bound_range *to)
{
    const VkBufferCopy region = {from->offset_bytes, to->offset_bytes, from->size_bytes};
    if (region.size > 0)
        e->device->vk.CmdCopyBuffer(e->commands, handle_of(from), handle_of(to), 1, &region);
}

void vyre_vk_encode_fill(struct vyre_vk_encoder *e, const struct vyre_bound_range *range,
                         uint32_t word)
{
    if (range->size_bytes > 0)
        e->device->vk.CmdFillBuffer(e->commands, handle_of(range), range->offset_bytes,
                                    range->size_bytes, word);
}

/* ---- The caller's memory ---------------------------------------------------------------------- */

bool vyre_vk_transfers_meet(const struct vyre_vk_transfers *transfers,
                            const struct vyre_batch_view *view, const void *bytes,
                            size_t size_bytes)
{
    uintptr_t begin = (uintptr_t)bytes;
    for (uint32_t i = 0; i < transfers->count; i++) {
        const struct vyre_vk_transfer *transfer = &transfers->items[i];
        uintptr_t to =
            (uintptr_t)view->commands[transfer->command].download_bytes + transfer->command_bytes;
        if (to < begin + size_bytes && begin < to + transfer->size_bytes)
            return true;
    }
    return false;
}

enum vyre_status vyre_vk_await_downloads(struct vyre_vk_device *device, const void *bytes,
                                         size_t size_bytes, struct vyre_diag *diag)
{
    struct vyre_flight *flight = &device->flight;
    uint64_t value = 0;
    vyre_lock_acquire(&flight->lock);
    uint64_t first = vyre_flight_harvested(flight) + 1;
    for (uint64_t sequence = first; sequence <= vyre_flight_submitted(flight); sequence++) {
        const struct vyre_vk_entry *entry = vyre_flight_at(flight, sequence);
        if (entry->downloads && entry->downloads->count > 0 &&
            vyre_vk_transfers_meet(entry->downloads, entry->view, bytes, size_bytes))
            value = entry->value;
    }
    vyre_lock_release(&flight->lock);
    if (value == 0)
        return VYRE_OK;
    return vyre_vk_check(vyre_vk_reach(device, value), "vkWaitSemaphores", NULL, diag);
}

/* ---- Uploads into mapped memory --------------------------------------------------------------- */

/* The most ranges to look at: finding out must not cost more than staging. */
#define RANGES_LOOKED_AT 4096

/* Whether a batch in flight touches the range. At most *inout_left ranges are looked at. */
static bool touches(const struct vyre_vk_entry *entry, const struct vyre_bound_range *range,
                    uint32_t *inout_left)
{
    const struct vyre_batch_view *view = entry->view;
    if (entry->take && !vyre_vk_recording_touches(entry->take->recording, range->buffer))
        return false;
    if (view->range_count > *inout_left)
        return true;
    *inout_left -= view->range_count;
    for (uint32_t i = 0; i < view->range_count; i++) {
        const struct vyre_bound_range *other = &view->ranges[i];
        if (other->buffer == range->buffer &&
            other->offset_bytes < range->offset_bytes + range->size_bytes &&
            range->offset_bytes < other->offset_bytes + other->size_bytes)
            return true;
    }
    return false;
}

bool vyre_vk_is_busy(struct vyre_vk_device *device, const struct vyre_bound_range *range)
{
    struct vyre_flight *flight = &device->flight;
    uint32_t left = RANGES_LOOKED_AT;
    bool busy = false;
    vyre_lock_acquire(&flight->lock);
    (void)vyre_vk_harvest_locked(device); /* the submit will show a loss again */
    uint64_t first = vyre_flight_harvested(flight) + 1;
    for (uint64_t sequence = first; !busy && sequence <= vyre_flight_submitted(flight); sequence++)
        busy = touches(vyre_flight_at(flight, sequence), range, &left);
    vyre_lock_release(&flight->lock);
    return busy;
}

bool vyre_vk_upload_directly(struct vyre_vk_encoder *e, const struct vyre_command *command)
{
    const struct vyre_bound_range *range = &e->view->ranges[command->first_range];
    const struct vyre_vk_buffer *buffer = range->buffer;
    if (!buffer->place.mapped || e->ran || vyre_vk_is_busy(e->device, range))
        return false;
    if (!command->upload_owned && vyre_vk_await_downloads(e->device, command->upload_bytes,
                                                          range->size_bytes, NULL) != VYRE_OK)
        return false;
    /* Carried out once the batch is sure to be queued. */
    const struct vyre_vk_transfer transfer = {
        (uint32_t)(command - e->view->commands),    0,    0, range->size_bytes,
        buffer->place.mapped + range->offset_bytes, false};
    return vyre_vk_transfers_add(&e->frame->uploads, &e->device->allocator, &transfer);
}

void vyre_vk_copy_in(const struct vyre_vk_transfers *uploads, const struct vyre_batch_view *view,
                     uint32_t part)
{
    for (uint32_t i = 0; i < uploads->count; i++) {
        const struct vyre_vk_transfer *upload = &uploads->items[i];
        const unsigned char *bytes = view->commands[upload->command].upload_bytes;
        if (upload->part == part)
            memcpy(upload->mapped, bytes + upload->command_bytes, upload->size_bytes);
    }
}

void vyre_vk_copy_out(const struct vyre_vk_transfers *downloads, const struct vyre_batch_view *view,
                      uint32_t part)
{
    for (uint32_t i = 0; i < downloads->count; i++) {
        const struct vyre_vk_transfer *download = &downloads->items[i];
        unsigned char *bytes = view->commands[download->command].download_bytes;
        if (part == VYRE_VK_ALL_PARTS || download->part == part)
            memcpy(bytes + download->command_bytes, download->mapped, download->size_bytes);
    }
}

/* ---- Staged bytes ----------------------------------------------------------------------------- */

/* A piece of staging memory for a command buffer. */
struct piece {
    VkBuffer buffer;
    uint64_t offset;
    unsigned char *mapped;
};

/* Room in the ring: first waits for what is in flight, then runs the batch's own part. */
static enum vyre_status take_from_ring(struct vyre_vk_encoder *e, uint64_t size_bytes,
                                       uint32_t level, struct piece *out_piece)
{
    struct vyre_vk_device *device = e->device;
    struct vyre_vk_staging *staging = &device->staging;
    uint64_t offset = 0;
    for (;;) {
        vyre_lock_acquire(&device->flight.lock);
        bool taken = vyre_vk_ring_take(&staging->ring, size_bytes, &offset);
        uint64_t oldest = vyre_flight_harvested(&device->flight) + 1;
        const struct vyre_vk_entry *entry = vyre_flight_at(&device->flight, oldest);
        bool others = oldest <= vyre_flight_submitted(&device->flight);
        uint64_t value = others ? entry->value : 0;
        vyre_lock_release(&device->flight.lock);
        if (taken)
            break;
        enum vyre_status status;
        if (others)
            status = vyre_vk_check(vyre_vk_reach(device, value), "vkWaitSemaphores", e->view->label,
                                   e->diag);
        else
            status = vyre_vk_encoder_cut(e, level);
        if (status != VYRE_OK)
            return status;
    }
    *out_piece =
        (struct piece){staging->buffer.handle, offset, staging->buffer.place.mapped + offset};
    return VYRE_OK;
}

static enum vyre_status take_piece(struct vyre_vk_encoder *e, uint64_t size_bytes, uint32_t level,
                                   struct piece *out_piece)
{
    if (!e->take)
        return take_from_ring(e, size_bytes, level, out_piece);
    struct vyre_vk_buffer *region = &e->take->region;
    *out_piece =
        (struct piece){region->handle, e->region_used, region->place.mapped + e->region_used};
    e->region_used +=
        (size_bytes + VYRE_VK_REGION_UNIT - 1) / VYRE_VK_REGION_UNIT * VYRE_VK_REGION_UNIT;
    return VYRE_OK;
}

static enum vyre_status note_transfer(struct vyre_vk_encoder *e,
                                      struct vyre_vk_transfers *transfers,
                                      const struct vyre_vk_transfer *transfer)
{
    if (vyre_vk_transfers_add(transfers, &e->device->allocator, transfer))
        return VYRE_OK;
    return vyre_diag_set(e->diag, VYRE_DIAG_OUT_OF_MEMORY, e->view->label, 0,
                         "no memory for a list of transfers");
}

/* The part of a recording that is being written. */
static uint32_t part_of(const struct vyre_vk_encoder *e)
{
    return e->take && !e->lanes ? e->take->part_count - 1 : 0;
}

/* The longest run of bytes staged at once. */
static uint64_t piece_limit(const struct vyre_vk_encoder *e)
{
    return e->take ? UINT64_MAX : vyre_vk_staging_piece(&e->device->staging);
}

/* A borrowed upload reads what earlier downloads have written. */
static enum vyre_status settle_borrowed(struct vyre_vk_encoder *e,
                                        const struct vyre_command *command, size_t size_bytes,
                                        uint32_t level)
{
    if (e->lanes) /* no download precedes an upload that reads its bytes */
        return e->take || command->upload_owned
                   ? VYRE_OK
                   : vyre_vk_await_downloads(e->device, command->upload_bytes, size_bytes, e->diag);
    if (e->take) /* the submit knows which bytes overlap, and lets a part wait */
        return e->downloads_in_part ? vyre_vk_encoder_cut(e, level) : VYRE_OK;
    if (command->upload_owned)
        return VYRE_OK;
    if (vyre_vk_transfers_meet(&e->frame->downloads, e->view, command->upload_bytes, size_bytes))
        return vyre_vk_encoder_cut(e, level);
    return vyre_vk_await_downloads(e->device, command->upload_bytes, size_bytes, e->diag);
}

enum vyre_status vyre_vk_encode_upload(struct vyre_vk_encoder *e, uint32_t index, uint32_t level)
{
    const struct vyre_command *command = &e->view->commands[index];
    const struct vyre_bound_range *range = &e->view->ranges[command->first_range];
    enum vyre_status status = e->take ? VYRE_OK : vyre_vk_staging_prepare(e->device, e->diag);
    if (status == VYRE_OK)
        status = settle_borrowed(e, command, range->size_bytes, level);
    uint64_t limit = piece_limit(e);
    for (uint64_t done = 0; status == VYRE_OK && done < range->size_bytes;) {
        uint64_t left = range->size_bytes - done;
        uint64_t size = left < limit ? left : limit;
        struct piece piece;
        status = take_piece(e, size, level, &piece);
        if (status != VYRE_OK)
            break;
        const VkBufferCopy region = {piece.offset, range->offset_bytes + done, size};
        e->device->vk.CmdCopyBuffer(e->commands, piece.buffer, handle_of(range), 1, &region);
        if (e->take) {
            bool ahead = e->lanes && e->lanes->steps[e->step].ahead;
            const struct vyre_vk_transfer transfer = {index, part_of(e),   done,
                                                      size,  piece.mapped, ahead};
            status = note_transfer(e, &e->take->uploads, &transfer);
        } else {
            memcpy(piece.mapped, (const unsigned char *)command->upload_bytes + done, size);
        }
        done += size;
    }
    return status;
}

enum vyre_status vyre_vk_encode_download(struct vyre_vk_encoder *e, uint32_t index, uint32_t level)
{
    const struct vyre_command *command = &e->view->commands[index];
    const struct vyre_bound_range *range = &e->view->ranges[command->first_range];
    enum vyre_status status = e->take ? VYRE_OK : vyre_vk_staging_prepare(e->device, e->diag);
    uint64_t limit = piece_limit(e);
    for (uint64_t done = 0; status == VYRE_OK && done < range->size_bytes;) {
        uint64_t left = range->size_bytes - done;
        uint64_t size = left < limit ? left : limit;
        struct piece piece;
        status = take_piece(e, size, level, &piece);
        if (status != VYRE_OK)
            break;
        const VkBufferCopy region = {range->offset_bytes + done, piece.offset, size};
        e->device->vk.CmdCopyBuffer(e->commands, handle_of(range), piece.buffer, 1, &region);
        e->downloads_in_part = true;
        const struct vyre_vk_transfer transfer = {index, part_of(e),   done,
                                                  size,  piece.mapped, false};
        status = note_transfer(e, e->take ? &e->take->downloads : &e->frame->downloads, &transfer);
        done += size;
    }
    return status;
}
