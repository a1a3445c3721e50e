/*
 * staging.h: the bounded memory through which plain batches move bytes: a ring of mapped memory.
 *
 *   tail                          head        both only count up; the place is the count modulo
 *    v                             v          the capacity
 *   [ in flight | in flight | now ][ free ...
 *
 * Requests are contiguous. If the room before the end is too short, it is skipped.
 *
 * Who owns what:
 *   capacity     set when the device is opened, before other threads use it; never changes
 *   head, tail   the flight's lock: submits move the head, and the thread that harvests moves the
 *                tail. Only submits write the head: they may read it without the lock
 *   buffer       submits, of which there is one at a time
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_STAGING_H
#define VYRE_BACKEND_VULKAN_STAGING_H

#include "backend/vulkan/buffer.h"

struct vyre_vk_ring {
    uint64_t capacity;
    uint64_t head;
    uint64_t tail;
};

/*
 * A contiguous piece, at a multiple of 64. False if there is no room now. The caller holds the
 * lock.
 */
bool vyre_vk_ring_take(struct vyre_vk_ring *ring, uint64_t size_bytes, uint64_t *out_offset);

struct vyre_vk_staging {
    struct vyre_vk_buffer buffer; /* made when it is first needed */
    struct vyre_vk_ring ring;
};

#define VYRE_VK_STAGING_UNIT 64 /* pieces begin at multiples of it */

/* For a device that is being opened. The memory comes later, see below. */
void vyre_vk_staging_init(struct vyre_vk_staging *staging, uint64_t wanted_bytes);

/* Makes the buffer if it is missing. Does not touch the ring: other threads may use it. */
enum vyre_status vyre_vk_staging_prepare(struct vyre_vk_device *device, struct vyre_diag *diag);

/* The longest piece taken at once. Two of them fit, so that one can follow another. */
static inline uint64_t vyre_vk_staging_piece(const struct vyre_vk_staging *staging)
{
    return staging->ring.capacity / 2;
}

/* Bytes in mapped memory that go to the caller's memory or come from it. */
struct vyre_vk_transfer {
    uint32_t command;       /* of the view */
    uint32_t part;          /* of a recording: the command buffer that it is in */
    uint64_t command_bytes; /* the offset in the command's bytes */
    uint64_t size_bytes;
    unsigned char *mapped;
    bool ahead; /* of a recording on several queues: in the step ahead */
};

/* A list that keeps its memory. */
struct vyre_vk_transfers {
    struct vyre_vk_transfer *items; /* Owned */
    uint32_t count;
    uint32_t capacity;
};

/* Both: false when out of memory. */
bool vyre_vk_transfers_reserve(struct vyre_vk_transfers *transfers,
                               const struct vyre_allocator *allocator); /* room for one more */
bool vyre_vk_transfers_add(struct vyre_vk_transfers *transfers,
                           const struct vyre_allocator *allocator,
                           const struct vyre_vk_transfer *transfer);
void vyre_vk_transfers_deinit(struct vyre_vk_transfers *transfers,
                              const struct vyre_allocator *allocator);

#endif
