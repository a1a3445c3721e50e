/*
 * room.h: an array that only grows and is kept between uses.
 *
 * A planner works on batches of similar size again and again. After the first few its arrays are
 * large enough and nothing more is allocated.
 *
 *   memory -> [ element 0 | element 1 | ... | element capacity - 1 ]
 *
 * Invariants: `memory` holds `capacity` elements, NULL if that is 0. A failed reservation leaves
 * the room unchanged.
 *
 * Thread-safety: a room belongs to one thread at a time.
 */
#ifndef VYRE_PLAN_ROOM_H
#define VYRE_PLAN_ROOM_H

#include <stddef.h>

#include <vyre/allocator.h>
#include <vyre/diag.h>
#include <vyre/export.h>

struct vyre_room {
    void *memory; /* Owned */
    size_t capacity;
    size_t element_bytes;
};

/* Empty; allocates nothing yet. */
static inline void vyre_room_init(struct vyre_room *room, size_t element_bytes)
{
    *room = (struct vyre_room){.element_bytes = element_bytes};
}

/* `allocator` is the resolved one that the room grew with. The room is empty afterwards. */
void vyre_room_deinit(struct vyre_room *room, const struct vyre_allocator *allocator);

/*
 * Grows to at least `count` elements, by half of the capacity or more, and keeps the first
 * `keep_count`; the others are undefined. OUT_OF_MEMORY; PLAN_OVERFLOW if 32 bits can no longer
 * number the elements.
 */
VYRE_NODISCARD enum vyre_status vyre_room_grow(struct vyre_room *room,
                                               const struct vyre_allocator *allocator, size_t count,
                                               size_t keep_count, struct vyre_diag *diag);

/* The same, but does nothing if the room is large enough. */
VYRE_NODISCARD static inline enum vyre_status vyre_room_reserve(
    struct vyre_room *room, const struct vyre_allocator *allocator, size_t count, size_t keep_count,
    struct vyre_diag *diag)
{
    if (count <= room->capacity)
        return VYRE_OK;
    return vyre_room_grow(room, allocator, count, keep_count, diag);
}

#endif
