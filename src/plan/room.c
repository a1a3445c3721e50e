/*
 * room.c: arrays that only grow.
 */
#include "plan/room.h"

#include <stdint.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory.h"

/* The first reservation takes at least this many elements, so that small batches need only one. */
#define FIRST_CAPACITY 64

#define ROOM_ALIGNMENT _Alignof(max_align_t)

void vyre_room_deinit(struct vyre_room *room, const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, room->memory, room->capacity * room->element_bytes, ROOM_ALIGNMENT);
    vyre_room_init(room, room->element_bytes);
}

enum vyre_status vyre_room_grow(struct vyre_room *room, const struct vyre_allocator *allocator,
                                size_t count, size_t keep_count, struct vyre_diag *diag)
{
    size_t capacity = room->capacity + room->capacity / 2;
    if (capacity < FIRST_CAPACITY)
        capacity = FIRST_CAPACITY;
    if (capacity < count)
        capacity = count;
    /* The planner uses UINT32_MAX itself for "none". */
    size_t size_bytes;
    if (count > UINT32_MAX || !vyre_checked_mul_size(capacity, room->element_bytes, &size_bytes))
        return vyre_diag_set(diag, VYRE_DIAG_PLAN_OVERFLOW, NULL, 0,
                             "a batch plan needs %zu elements in one table; at most %zu fit", count,
                             (size_t)UINT32_MAX);

    void *memory = vyre_memory_allocate(allocator, size_bytes, ROOM_ALIGNMENT);
    if (!memory)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory for %zu bytes of a batch plan", size_bytes);
    if (keep_count > 0)
        memcpy(memory, room->memory, keep_count * room->element_bytes);
    vyre_room_deinit(room, allocator);
    room->memory = memory;
    room->capacity = capacity;
    return VYRE_OK;
}
