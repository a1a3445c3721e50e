/*
 * ranges.h: which bytes of a block are free.
 *
 *   0        a           b      c            size
 *   |xxxxxxxx|...........|xxxxxx|............|       free: [a, b) [c, size)
 *
 * Free ranges are kept in ascending order and never touch each other. A request takes the smallest
 * one that it fits into, so that large ones stay whole. This is arithmetic only: no memory is
 * accessed.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_RANGES_H
#define VYRE_BACKEND_VULKAN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>

struct vyre_vk_range {
    uint64_t begin;
    uint64_t end;
};

struct vyre_vk_ranges {
    struct vyre_vk_range *items; /* Owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t taken; /* ranges taken */
    uint64_t size;
    uint64_t used; /* bytes taken */
};

/* All of `size` bytes free. False when out of memory. */
bool vyre_vk_ranges_init(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator,
                         uint64_t size);
void vyre_vk_ranges_deinit(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator);

/*
 * Takes `size` bytes (not 0) at a multiple of `alignment`, a power of two. False if there is no
 * such room, or no memory for a list entry; giving back a range never needs one.
 */
bool vyre_vk_ranges_take(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator,
                         uint64_t size, uint64_t alignment, uint64_t *out_begin);

/* Gives back exactly what was taken. */
void vyre_vk_ranges_give(struct vyre_vk_ranges *ranges, uint64_t begin, uint64_t size);

#endif
