/*
 * memory.c: allocation through a user's allocator.
 */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

#define FIRST_CAPACITY 8 /* of a list */

static void *system_allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    if (alignment <= _Alignof(max_align_t))
        return malloc(size_bytes);
    /* aligned_alloc needs a size that is a multiple of the alignment. */
    size_t rounded;
    if (!vyre_checked_align_size(size_bytes, alignment, &rounded))
        return NULL;
    return aligned_alloc(alignment, rounded);
}

static void system_deallocate(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    (void)user;
    (void)size_bytes;
    (void)alignment;
    free(memory);
}

struct vyre_allocator vyre_allocator_resolve(const struct vyre_allocator *allocator)
{
    if (allocator && allocator->allocate && allocator->deallocate)
        return *allocator;
    return (struct vyre_allocator){.allocate = system_allocate, .deallocate = system_deallocate};
}

void *vyre_memory_allocate(const struct vyre_allocator *allocator, size_t size_bytes,
                           size_t alignment)
{
    void *memory = allocator->allocate(allocator->user, size_bytes, alignment);
    if (memory)
        memset(memory, 0, size_bytes);
    return memory;
}

void vyre_memory_free(const struct vyre_allocator *allocator, void *memory, size_t size_bytes,
                      size_t alignment)
{
    if (memory)
        allocator->deallocate(allocator->user, memory, size_bytes, alignment);
}

void *vyre_memory_grow(const struct vyre_allocator *allocator, void *items, uint32_t count,
                       uint32_t *capacity, size_t item_bytes, size_t alignment)
{
    if (count < *capacity)
        return items;
    if (*capacity > UINT32_MAX / 2)
        return NULL;
    uint32_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    size_t size_bytes;
    void *grown = NULL;
    if (vyre_checked_mul_size(wanted, item_bytes, &size_bytes))
        grown = vyre_memory_allocate(allocator, size_bytes, alignment);
    if (!grown)
        return NULL;
    if (count > 0)
        memcpy(grown, items, count * item_bytes);
    vyre_memory_free(allocator, items, *capacity * item_bytes, alignment);
    *capacity = wanted;
    return grown;
}
