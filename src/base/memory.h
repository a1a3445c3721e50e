/*
 * memory.h: allocation through a user's allocator.
 */
#ifndef VYRE_BASE_MEMORY_H
#define VYRE_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/export.h>

/* The allocator that a desc's value stands for: itself, or the C library's if it is zeroed. */
struct vyre_allocator vyre_allocator_resolve(const struct vyre_allocator *allocator);

/* Zeroed memory, or NULL. `allocator` is a resolved one; size_bytes must not be 0. */
VYRE_NODISCARD void *vyre_memory_allocate(const struct vyre_allocator *allocator, size_t size_bytes,
                                          size_t alignment);

/* NULL is ignored. Size and alignment as in the allocation. */
void vyre_memory_free(const struct vyre_allocator *allocator, void *memory, size_t size_bytes,
                      size_t alignment);

/*
 * Room for one more item in a list of `count` items, which grows by doubling. Returns the list,
 * which may have moved; new items are zeroed. NULL when out of memory: the list is unchanged. It is
 * freed with `*capacity * item_bytes`.
 */
VYRE_NODISCARD void *vyre_memory_grow(const struct vyre_allocator *allocator, void *items,
                                      uint32_t count, uint32_t *capacity, size_t item_bytes,
                                      size_t alignment);

#endif
