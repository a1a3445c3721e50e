/*
 * room.h: an array that only grows and is kept between uses.
 *
 * A planner works on batches of like size again and again: after the first few its arrays are large
 * enough and nothing is allocated any more.
 *
 *   memory -> [ element 0 | element 1 | ... | element capacity - 1 ]
 *
 * Invariants: `memory` holds `capacity` elements, NULL when that is 0; a reservation that fails
 * leaves the room as it was.
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

/* Empty; takes nothing yet. */
static inline void vyre_room_init(struct vyre_room *room, size_t element_bytes)
{
    *room = (struct vyre_room){.element_bytes = element_bytes};
}

/* `allocator` is the resolved one that the room grew with. The room is empty afterwards. */
void vyre_room_deinit(struct vyre_room *room, const struct vyre_allocator *allocator);

/*
 * Grows to at least `count` elements, by half of the capacity or more, and takes over the first
 * `keep_count`; the others are undefined. OUT_OF_MEMORY; PLAN_OVERFLOW when elements could no longer
 * be numbered with 32 bits.
 */
VYRE_NODISCARD enum vyre_status vyre_room_grow(struct vyre_room *room,
                                               const struct vyre_allocator *allocator, size_t count,
                                               size_t keep_count, struct vyre_diag *diag);

/* The same, doing nothing when the room is large enough. */
VYRE_NODISCARD static inline enum vyre_status vyre_room_reserve(
    struct vyre_room *room, const struct vyre_allocator *allocator, size_t count, size_t keep_count,
    struct vyre_diag *diag)
{
    if (count <= room->capacity)
        return VYRE_OK;
    return vyre_room_grow(room, allocator, count, keep_count, diag);
}

#endif
