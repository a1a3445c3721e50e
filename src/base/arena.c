/*
 * arena.c: many small allocations, one release.
 */
#include "base/arena.h"

#include <stdint.h>

#include "base/checked.h"
#include "base/memory.h"

void vyre_arena_init(struct vyre_arena *arena, const struct vyre_allocator *allocator,
                     size_t block_size_bytes, size_t limit_bytes)
{
    *arena = (struct vyre_arena){
        .allocator = vyre_allocator_resolve(allocator),
        .block_size_bytes = block_size_bytes,
        .limit_bytes = limit_bytes,
    };
}

static void free_block(struct vyre_arena *arena, struct vyre_arena_block *block)
{
    arena->total_bytes -= block->size_bytes;
    vyre_memory_free(&arena->allocator, block, block->size_bytes, _Alignof(max_align_t));
}

void vyre_arena_deinit(struct vyre_arena *arena)
{
    while (arena->head) {
        struct vyre_arena_block *block = arena->head;
        arena->head = block->next;
        free_block(arena, block);
    }
}

/* Frees the newest block if it is empty, which happens after a reset. */
static void drop_empty_head(struct vyre_arena *arena)
{
    struct vyre_arena_block *block = arena->head;
    if (block && block->used_bytes == sizeof *block) {
        arena->head = block->next;
        free_block(arena, block);
    }
}

/* A new block of at least `size_bytes`, or NULL. */
static struct vyre_arena_block *add_block(struct vyre_arena *arena, size_t size_bytes)
{
    size_t wanted;
    if (!vyre_checked_add_size(size_bytes, sizeof(struct vyre_arena_block), &wanted) ||
        wanted > arena->limit_bytes)
        return NULL;
    /* A kept block that is too small would only count against the limit. */
    drop_empty_head(arena);
    size_t room = arena->limit_bytes - arena->total_bytes;
    if (wanted > room)
        return NULL;
    size_t usual = arena->head ? 2 * arena->head->size_bytes : arena->block_size_bytes;
    if (wanted < usual)
        wanted = usual < room ? usual : room;

    struct vyre_arena_block *block =
        arena->allocator.allocate(arena->allocator.user, wanted, _Alignof(max_align_t));
    if (!block)
        return NULL;
    *block = (struct vyre_arena_block){
        .next = arena->head, .size_bytes = wanted, .used_bytes = sizeof *block};
    arena->head = block;
    arena->total_bytes += wanted;
    return block;
}

void *vyre_arena_allocate(struct vyre_arena *arena, size_t size_bytes, size_t alignment)
{
    struct vyre_arena_block *block = arena->head;
    size_t start = 0;
    if (size_bytes == 0)
        size_bytes = 1; /* a block with an allocation in it must not look empty */
    bool fits = block && vyre_checked_align_size(block->used_bytes, alignment, &start) &&
                start <= block->size_bytes && size_bytes <= block->size_bytes - start;
    if (!fits) {
        block = add_block(arena, size_bytes);
        if (!block)
            return NULL;
        start = block->used_bytes; /* the header keeps the alignment of max_align_t */
    }
    block->used_bytes = start + size_bytes;
    return (unsigned char *)block + start;
}

void vyre_arena_reset(struct vyre_arena *arena)
{
    struct vyre_arena_block *kept = NULL;
    while (arena->head) {
        struct vyre_arena_block *block = arena->head;
        arena->head = block->next;
        struct vyre_arena_block *smaller = block;
        if (!kept || block->size_bytes > kept->size_bytes) {
            smaller = kept;
            kept = block;
        }
        if (smaller)
            free_block(arena, smaller);
    }
    if (kept) {
        kept->next = NULL;
        kept->used_bytes = sizeof *kept;
    }
    arena->head = kept;
}
