/*
 * heap.h: memory of the device, taken from the driver in few large blocks.
 *
 *   type 0   [block 64 MiB: buffers ...] [block ...]      small and middle requests
 *            [block of one large buffer]                  from half a block on: its own
 *
 * Memory that the host sees is mapped once, as long as it lives. Only coherent memory is mapped, so
 * nothing is ever flushed, and nonCoherentAtomSize does not apply. It is still the smallest
 * alignment, so that the bytes of two buffers never share an atom. Empty blocks go back to the
 * driver, except one of each type.
 *
 * The heap calls the driver through two functions, so that it can be tested without one.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_HEAP_H
#define VYRE_BACKEND_VULKAN_HEAP_H

#include "backend/vulkan/loader.h"
#include "backend/vulkan/ranges.h"

struct vyre_vk_block;

/* Where a request was placed. Zeroed: nowhere. */
struct vyre_vk_place {
    struct vyre_vk_block *block;
    VkDeviceMemory memory;
    uint64_t offset_bytes;
    uint64_t size_bytes;
    unsigned char *mapped; /* NULL: the host does not see it */
};

/* What the heap asks of a driver. */
struct vyre_vk_heap_driver {
    void *user;
    /* *out_mapped is filled in if `map` is set. */
    VkResult (*allocate)(void *user, uint32_t type, uint64_t size_bytes, bool map,
                         VkDeviceMemory *out_memory, void **out_mapped);
    void (*free)(void *user, VkDeviceMemory memory);
};

struct vyre_vk_heap {
    struct vyre_allocator allocator;
    struct vyre_vk_heap_driver driver;
    VkPhysicalDeviceMemoryProperties types;
    uint64_t atom_bytes;
    struct vyre_vk_block *blocks; /* Owned: a list */
    uint64_t reserved_bytes;      /* got from the driver */
    uint32_t allocation_count;
};

/* How the host uses memory, for choosing its type. */
enum vyre_vk_memory_use {
    VYRE_VK_MEMORY_DEVICE = 0, /* the device's; mapped only if all of its memory is */
    VYRE_VK_MEMORY_WRITTEN,    /* the device's and written by the host, if one type allows both */
    VYRE_VK_MEMORY_READ,       /* the same, and read by the host */
    VYRE_VK_MEMORY_STAGING,    /* always mapped */
};

void vyre_vk_heap_init(struct vyre_vk_heap *heap, const struct vyre_allocator *allocator,
                       const struct vyre_vk_heap_driver *driver,
                       const VkPhysicalDeviceMemoryProperties *types, uint64_t atom_bytes);

/* To be called after everything was returned. */
void vyre_vk_heap_deinit(struct vyre_vk_heap *heap);

/* VK_SUCCESS, or the driver's result; if out of memory, the heap is unchanged. */
VkResult vyre_vk_heap_take(struct vyre_vk_heap *heap, enum vyre_vk_memory_use use,
                           const VkMemoryRequirements *requirements,
                           struct vyre_vk_place *out_place);
void vyre_vk_heap_give(struct vyre_vk_heap *heap, struct vyre_vk_place *place);

/* The type for a use among those in `type_bits`; VK_MAX_MEMORY_TYPES: none. */
uint32_t vyre_vk_heap_type(const struct vyre_vk_heap *heap, enum vyre_vk_memory_use use,
                           uint32_t type_bits);

#endif
