/*
 * staging.c: the ring, and lists of the transfers through it.
 */
#include "backend/vulkan/staging.h"

#include "backend/vulkan/device.h"
#include "base/memory.h"

#define UNIT      VYRE_VK_STAGING_UNIT
#define MIN_BYTES 4096

bool vyre_vk_ring_take(struct vyre_vk_ring *ring, uint64_t size_bytes, uint64_t *out_offset)
{
    *out_offset = 0;
    if (size_bytes > ring->capacity)
        return false;
    uint64_t size = (size_bytes + UNIT - 1) / UNIT * UNIT;
    uint64_t at = ring->head % ring->capacity;
    uint64_t skip = size > ring->capacity - at ? ring->capacity - at : 0;
    if (ring->head + skip + size - ring->tail > ring->capacity)
        return false;
    *out_offset = (ring->head + skip) % ring->capacity;
    ring->head += skip + size;
    return true;
}

void vyre_vk_staging_init(struct vyre_vk_staging *staging, uint64_t wanted_bytes)
{
    uint64_t size = wanted_bytes < MIN_BYTES ? MIN_BYTES : wanted_bytes;
    *staging = (struct vyre_vk_staging){.ring = {.capacity = size / UNIT * UNIT}};
}

enum vyre_status vyre_vk_staging_prepare(struct vyre_vk_device *device, struct vyre_diag *diag)
{
    struct vyre_vk_staging *staging = &device->staging;
    if (staging->buffer.handle)
        return VYRE_OK;
    return vyre_vk_buffer_make(device, VYRE_VK_MEMORY_STAGING, staging->ring.capacity, NULL,
                               &staging->buffer, diag);
}

bool vyre_vk_transfers_reserve(struct vyre_vk_transfers *transfers,
                               const struct vyre_allocator *allocator)
{
    struct vyre_vk_transfer *grown =
        vyre_memory_grow(allocator, transfers->items, transfers->count, &transfers->capacity,
                         sizeof *transfers->items, _Alignof(struct vyre_vk_transfer));
    transfers->items = grown ? grown : transfers->items;
    return grown != NULL;
}

bool vyre_vk_transfers_add(struct vyre_vk_transfers *transfers,
                           const struct vyre_allocator *allocator,
                           const struct vyre_vk_transfer *transfer)
{
    if (!vyre_vk_transfers_reserve(transfers, allocator))
        return false;
    transfers->items[transfers->count++] = *transfer;
    return true;
}

void vyre_vk_transfers_deinit(struct vyre_vk_transfers *transfers,
                              const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, transfers->items, transfers->capacity * sizeof *transfers->items,
                     _Alignof(struct vyre_vk_transfer));
    *transfers = (struct vyre_vk_transfers){0};
}
