/*
 * heap.c: blocks of device memory, divided.
 */
#include "backend/vulkan/heap.h"

#include <string.h>

#include "base/memory.h"

#define BLOCK_BYTES       (UINT64_C(64) << 20)
#define BLOCK_BYTES_SMALL (UINT64_C(16) << 20) /* of heaps below 1 GiB */
#define SMALL_HEAP_BYTES  (UINT64_C(1) << 30)

struct vyre_vk_block {
    struct vyre_vk_block *next;
    VkDeviceMemory memory;
    unsigned char *mapped; /* NULL: not mapped */
    uint32_t type;
    bool dedicated;
    struct vyre_vk_ranges ranges;
};

void vyre_vk_heap_init(struct vyre_vk_heap *heap, const struct vyre_allocator *allocator,
                       const struct vyre_vk_heap_driver *driver,
                       const VkPhysicalDeviceMemoryProperties *types, uint64_t atom_bytes)
{
    *heap = (struct vyre_vk_heap){
        .allocator = *allocator, .driver = *driver, .types = *types, .atom_bytes = atom_bytes};
}

static bool has(const struct vyre_vk_heap *heap, uint32_t type, VkMemoryPropertyFlags flags)
{
    return (heap->types.memoryTypes[type].propertyFlags & flags) == flags;
}

/* Whether the host sees all memory of the device. Mapping then uses up nothing scarce. */
static bool is_unified(const struct vyre_vk_heap *heap)
{
    for (uint32_t i = 0; i < heap->types.memoryHeapCount; i++) {
        if (!(heap->types.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT))
            return false;
    }
    return heap->types.memoryHeapCount > 0;
}

static uint32_t find_type(const struct vyre_vk_heap *heap, uint32_t type_bits,
                          VkMemoryPropertyFlags flags)
{
    for (uint32_t i = 0; i < heap->types.memoryTypeCount; i++) {
        if ((type_bits >> i & 1) && has(heap, i, flags))
            return i;
    }
    return VK_MAX_MEMORY_TYPES;
}

enum { WISHES = 3 };

/* The types for a use, in order of preference; VK_MAX_MEMORY_TYPES: none. */
static void find_types(const struct vyre_vk_heap *heap, enum vyre_vk_memory_use use,
                       uint32_t type_bits, uint32_t out_types[WISHES])
{
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags seen =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags cached = seen | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    /* 0 accepts any type. */
    VkMemoryPropertyFlags wishes[WISHES] = {local, local, 0};
    if (use == VYRE_VK_MEMORY_WRITTEN || (use == VYRE_VK_MEMORY_DEVICE && is_unified(heap)))
        wishes[0] = local | seen;
    if (use == VYRE_VK_MEMORY_READ) {
        wishes[0] = local | cached;
        wishes[1] = is_unified(heap) ? local | seen : local;
    }
    if (use == VYRE_VK_MEMORY_STAGING) {
        wishes[0] = cached;
        wishes[1] = seen;
        wishes[2] = seen;
    }
    for (int i = 0; i < WISHES; i++)
        out_types[i] = find_type(heap, type_bits, wishes[i]);
    /*
     * "Any type" is for devices that have nothing better, not for when the better type has run out.
     */
    if (wishes[2] == 0 && out_types[1] < VK_MAX_MEMORY_TYPES)
        out_types[2] = VK_MAX_MEMORY_TYPES;
}

uint32_t vyre_vk_heap_type(const struct vyre_vk_heap *heap, enum vyre_vk_memory_use use,
                           uint32_t type_bits)
{
    uint32_t types[WISHES];
    find_types(heap, use, type_bits, types);
    for (int i = 0; i < WISHES; i++) {
        if (types[i] < VK_MAX_MEMORY_TYPES)
            return types[i];
    }
    return VK_MAX_MEMORY_TYPES;
}

static void free_block(struct vyre_vk_heap *heap, struct vyre_vk_block *block)
{
    if (block->memory) {
        heap->driver.free(heap->driver.user, block->memory);
        heap->reserved_bytes -= block->ranges.size;
        heap->allocation_count--;
    }
    vyre_vk_ranges_deinit(&block->ranges, &heap->allocator);
    vyre_memory_free(&heap->allocator, block, sizeof *block, _Alignof(struct vyre_vk_block));
}

void vyre_vk_heap_deinit(struct vyre_vk_heap *heap)
{
    while (heap->blocks) {
        struct vyre_vk_block *block = heap->blocks;
        heap->blocks = block->next;
        free_block(heap, block);
    }
}

static VkResult make_block(struct vyre_vk_heap *heap, uint32_t type, uint64_t size_bytes,
                           bool dedicated, struct vyre_vk_block **out_block)
{
    struct vyre_vk_block *block =
        vyre_memory_allocate(&heap->allocator, sizeof *block, _Alignof(struct vyre_vk_block));
    if (!block)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    block->type = type;
    block->dedicated = dedicated;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (vyre_vk_ranges_init(&block->ranges, &heap->allocator, size_bytes)) {
        bool map = has(heap, type,
                       VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        void *mapped = NULL;
        result = heap->driver.allocate(heap->driver.user, type, size_bytes, map, &block->memory,
                                       &mapped);
        block->mapped = mapped;
    }
    if (result != VK_SUCCESS) {
        block->memory = VK_NULL_HANDLE;
        free_block(heap, block);
        return result;
    }
    heap->reserved_bytes += size_bytes;
    heap->allocation_count++;
    block->next = heap->blocks;
    heap->blocks = block;
    *out_block = block;
    return VK_SUCCESS;
}

static uint64_t block_bytes(const struct vyre_vk_heap *heap, uint32_t type)
{
    uint32_t index = heap->types.memoryTypes[type].heapIndex;
    return heap->types.memoryHeaps[index].size < SMALL_HEAP_BYTES ? BLOCK_BYTES_SMALL : BLOCK_BYTES;
}

static bool take_from(struct vyre_vk_heap *heap, struct vyre_vk_block *block, uint64_t size_bytes,
                      uint64_t alignment, struct vyre_vk_place *out_place)
{
    uint64_t offset;
    if (!vyre_vk_ranges_take(&block->ranges, &heap->allocator, size_bytes, alignment, &offset))
        return false;
    *out_place = (struct vyre_vk_place){
        .block = block,
        .memory = block->memory,
        .offset_bytes = offset,
        .size_bytes = size_bytes,
        .mapped = block->mapped ? block->mapped + offset : NULL,
    };
    return true;
}

static VkResult take_of_type(struct vyre_vk_heap *heap, uint32_t type,
                             const VkMemoryRequirements *requirements,
                             struct vyre_vk_place *out_place)
{
    uint64_t alignment = requirements->alignment;
    alignment = alignment < heap->atom_bytes ? heap->atom_bytes : alignment;
    uint64_t size =
        (requirements->size + heap->atom_bytes - 1) / heap->atom_bytes * heap->atom_bytes;
    uint64_t whole = block_bytes(heap, type);
    bool dedicated = size >= whole / 2;
    for (struct vyre_vk_block *block = heap->blocks; block && !dedicated; block = block->next) {
        if (block->type == type && !block->dedicated &&
            take_from(heap, block, size, alignment, out_place))
            return VK_SUCCESS;
    }
    struct vyre_vk_block *block;
    VkResult result = make_block(heap, type, dedicated ? size : whole, dedicated, &block);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && !dedicated) {
        /* A whole block does not fit any more, but the request itself may. */
        result = make_block(heap, type, size, true, &block);
    }
    if (result != VK_SUCCESS)
        return result;
    return take_from(heap, block, size, alignment, out_place) ? VK_SUCCESS
                                                              : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult vyre_vk_heap_take(struct vyre_vk_heap *heap, enum vyre_vk_memory_use use,
                           const VkMemoryRequirements *requirements,
                           struct vyre_vk_place *out_place)
{
    uint32_t types[WISHES];
    uint32_t last = VK_MAX_MEMORY_TYPES;
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    *out_place = (struct vyre_vk_place){0};
    find_types(heap, use, requirements->memoryTypeBits, types);
    /* Device memory that the host sees may be scarce. What does not fit there is staged. */
    for (int i = 0; i < WISHES && result == VK_ERROR_OUT_OF_DEVICE_MEMORY; i++) {
        if (types[i] == VK_MAX_MEMORY_TYPES || types[i] == last)
            continue;
        last = types[i];
        result = take_of_type(heap, last, requirements, out_place);
    }
    return result;
}

static bool another_is_empty(const struct vyre_vk_heap *heap, const struct vyre_vk_block *than)
{
    for (const struct vyre_vk_block *block = heap->blocks; block; block = block->next) {
        if (block != than && block->type == than->type && block->ranges.taken == 0)
            return true;
    }
    return false;
}

void vyre_vk_heap_give(struct vyre_vk_heap *heap, struct vyre_vk_place *place)
{
    struct vyre_vk_block *block = place->block;
    if (!block)
        return;
    vyre_vk_ranges_give(&block->ranges, place->offset_bytes, place->size_bytes);
    *place = (struct vyre_vk_place){0};
    if (block->ranges.taken > 0 || (!block->dedicated && !another_is_empty(heap, block)))
        return;
    struct vyre_vk_block **link = &heap->blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    free_block(heap, block);
}
