/*
 * arena.h: many small allocations, one release.
 *
 *   head -> [block | used ......... free ...] -> [block | used ....] -> NULL      newest first
 *
 * Invariants: the sum of all block sizes is at most the limit; after a reset the largest block is
 * kept, so that a steady load stops allocating.
 *
 * Thread-safety: an arena belongs to one thread at a time.
 */
#ifndef VYRE_BASE_ARENA_H
#define VYRE_BASE_ARENA_H

#include <stddef.h>

#include <vyre/allocator.h>
#include <vyre/export.h>

struct vyre_arena_block;

struct vyre_arena {
    struct vyre_allocator allocator;
    struct vyre_arena_block *head; /* Owned */
    size_t block_size_bytes;
    size_t limit_bytes;
    size_t total_bytes; /* of all blocks, headers included */
};

/* `limit_bytes` bounds what the arena takes from the allocator, ever at once. Takes nothing yet. */
void vyre_arena_init(struct vyre_arena *arena, const struct vyre_allocator *allocator,
                     size_t block_size_bytes, size_t limit_bytes);
void vyre_arena_deinit(struct vyre_arena *arena);

/*
 * Uninitialised memory until the next reset, or NULL at the limit or out of memory. A size of 0
 * gives a valid pointer. `alignment` is a power of two, at most that of max_align_t.
 */
VYRE_NODISCARD void *vyre_arena_allocate(struct vyre_arena *arena, size_t size_bytes,
                                         size_t alignment);

/*
 * Forgets all that was allocated; keeps one block. If that is too small for the next request it is
 * replaced, so that the request succeeds whenever that of a fresh arena would.
 */
void vyre_arena_reset(struct vyre_arena *arena);

#endif
