/*
 * arena.h: many small allocations, one release.
 *
 *   head -> [block | used ......... free ...] -> [block | used ....] -> NULL      newest first
 *
 * Invariants: the sum of all block sizes is at most the limit. Each new block is at least twice as
 * large as the one before it, and a reset keeps the largest, so that a steady load soon fits in one
 * block and stops allocating.
 *
 * Thread-safety: an arena belongs to one thread at a time.
 */
#ifndef VYRE_BASE_ARENA_H
#define VYRE_BASE_ARENA_H

#include <stddef.h>

#include <vyre/allocator.h>
#include <vyre/export.h>

struct vyre_arena_block {
    _Alignas(max_align_t) struct vyre_arena_block *next; /* Owned */
    size_t size_bytes;                                   /* with this header */
    size_t used_bytes;                                   /* with this header */
};

struct vyre_arena {
    struct vyre_allocator allocator;
    struct vyre_arena_block *head; /* Owned */
    size_t block_size_bytes;
    size_t limit_bytes;
    size_t total_bytes; /* of all blocks, headers included */
};

/*
 * `limit_bytes` bounds what the arena holds of the allocator's memory at any time. Allocates
 * nothing yet.
 */
void vyre_arena_init(struct vyre_arena *arena, const struct vyre_allocator *allocator,
                     size_t block_size_bytes, size_t limit_bytes);
void vyre_arena_deinit(struct vyre_arena *arena);

/*
 * Uninitialised memory until the next reset, or NULL at the limit or out of memory. A size of 0
 * gives a valid pointer. `alignment` is a power of two, at most that of max_align_t.
 */
VYRE_NODISCARD void *vyre_arena_allocate(struct vyre_arena *arena, size_t size_bytes,
                                         size_t alignment);

/* The same, inline where the newest block has room: for hot paths. */
VYRE_NODISCARD static inline void *vyre_arena_take(struct vyre_arena *arena, size_t size_bytes,
                                                   size_t alignment)
{
    struct vyre_arena_block *block = arena->head;
    if (block) {
        size_t start = (block->used_bytes + alignment - 1) & ~(alignment - 1);
        if (start <= block->size_bytes && size_bytes <= block->size_bytes - start) {
            block->used_bytes = start + size_bytes;
            return (unsigned char *)block + start;
        }
    }
    return vyre_arena_allocate(arena, size_bytes, alignment);
}

/*
 * Releases all allocations and keeps one block. If that is too small for the next request it is
 * replaced, so the request succeeds whenever it would in a fresh arena.
 */
void vyre_arena_reset(struct vyre_arena *arena);

#endif
