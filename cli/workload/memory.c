/*
 * memory.c: the arena that a workload lives in.
 *
 *   arena -> block -> block -> ...     each: a header, then memory, handed out from the front
 */
#include <stdalign.h>
#include <stdlib.h>

#include "workload/internal.h"

#define BLOCK_BYTES ((size_t)64 << 10)

struct block {
    alignas(max_align_t) struct block *next; /* Owned */
};

struct workload_arena {
    struct block *blocks; /* Owned */
    char *free;
    size_t free_bytes;
};

struct workload_arena *workload_arena_create(void)
{
    return calloc(1, sizeof(struct workload_arena));
}

void workload_arena_destroy(struct workload_arena *arena)
{
    if (!arena)
        return;
    struct block *block = arena->blocks;
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

/* Adds a block with `size_bytes` of memory. Large things get a block of their own. */
static char *add_block(struct workload_arena *arena, size_t size_bytes)
{
    size_t total;
    if (__builtin_add_overflow(sizeof(struct block), size_bytes, &total))
        return NULL;
    struct block *block = calloc(1, total);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    return (char *)(block + 1);
}

void *workload_arena_take(struct workload_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    size_t mask = alignof(max_align_t) - 1;
    if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, mask, &bytes))
        return NULL;
    bytes &= ~mask;
    if (bytes > BLOCK_BYTES / 4)
        return add_block(arena, bytes);
    if (bytes > arena->free_bytes || !arena->free) {
        arena->free = add_block(arena, BLOCK_BYTES);
        arena->free_bytes = arena->free ? BLOCK_BYTES : 0;
        if (!arena->free)
            return NULL;
    }
    void *taken = arena->free;
    arena->free += bytes;
    arena->free_bytes -= bytes;
    return taken;
}
