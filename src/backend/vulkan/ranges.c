/*
 * ranges.c: best fit in an ascending list.
 *
 * Invariant: between two free ranges there is a taken one, so there are at most `taken` + 1 free
 * ranges. The list always has room for that many, so giving back never needs memory.
 */
#include "backend/vulkan/ranges.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_CAPACITY 16

static bool grow(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator,
                 uint32_t capacity)
{
    struct vyre_vk_range *items =
        vyre_memory_allocate(allocator, capacity * sizeof *items, _Alignof(struct vyre_vk_range));
    if (!items)
        return false;
    if (ranges->count > 0)
        memcpy(items, ranges->items, ranges->count * sizeof *items);
    vyre_vk_ranges_deinit(ranges, allocator);
    ranges->items = items;
    ranges->capacity = capacity;
    return true;
}

bool vyre_vk_ranges_init(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator,
                         uint64_t size)
{
    *ranges = (struct vyre_vk_ranges){.size = size};
    if (!grow(ranges, allocator, FIRST_CAPACITY))
        return false;
    ranges->items[0] = (struct vyre_vk_range){0, size};
    ranges->count = 1;
    return true;
}

void vyre_vk_ranges_deinit(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, ranges->items, ranges->capacity * sizeof *ranges->items,
                     _Alignof(struct vyre_vk_range));
    ranges->items = NULL;
    ranges->capacity = 0;
}

static void insert(struct vyre_vk_ranges *ranges, uint32_t at, struct vyre_vk_range range)
{
    memmove(&ranges->items[at + 1], &ranges->items[at],
            (ranges->count - at) * sizeof *ranges->items);
    ranges->items[at] = range;
    ranges->count++;
}

static void erase(struct vyre_vk_ranges *ranges, uint32_t at)
{
    ranges->count--;
    memmove(&ranges->items[at], &ranges->items[at + 1],
            (ranges->count - at) * sizeof *ranges->items);
}

static uint64_t align(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* The smallest free range that fits the request; `count` if there is none. */
static uint32_t find(const struct vyre_vk_ranges *ranges, uint64_t size, uint64_t alignment)
{
    uint32_t best = ranges->count;
    uint64_t best_size = UINT64_MAX;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct vyre_vk_range *range = &ranges->items[i];
        uint64_t begin = align(range->begin, alignment);
        uint64_t whole = range->end - range->begin;
        if (begin <= range->end && range->end - begin >= size && whole < best_size) {
            best = i;
            best_size = whole;
        }
    }
    return best;
}

bool vyre_vk_ranges_take(struct vyre_vk_ranges *ranges, const struct vyre_allocator *allocator,
                         uint64_t size, uint64_t alignment, uint64_t *out_begin)
{
    *out_begin = 0;
    uint32_t at = find(ranges, size, alignment);
    if (at == ranges->count)
        return false;
    if (ranges->capacity < ranges->taken + 2 && !grow(ranges, allocator, ranges->capacity * 2))
        return false;
    ranges->taken++;
    struct vyre_vk_range old = ranges->items[at];
    uint64_t begin = align(old.begin, alignment);
    struct vyre_vk_range before = {old.begin, begin};
    struct vyre_vk_range after = {begin + size, old.end};
    erase(ranges, at);
    if (after.begin < after.end)
        insert(ranges, at, after);
    if (before.begin < before.end)
        insert(ranges, at, before);
    ranges->used += size;
    *out_begin = begin;
    return true;
}

void vyre_vk_ranges_give(struct vyre_vk_ranges *ranges, uint64_t begin, uint64_t size)
{
    uint32_t at = 0;
    while (at < ranges->count && ranges->items[at].begin < begin)
        at++;
    struct vyre_vk_range range = {begin, begin + size};
    ranges->used -= size;
    ranges->taken--;
    if (at < ranges->count && ranges->items[at].begin == range.end) {
        range.end = ranges->items[at].end;
        erase(ranges, at);
    }
    if (at > 0 && ranges->items[at - 1].end == range.begin) {
        ranges->items[at - 1].end = range.end;
        return;
    }
    insert(ranges, at, range);
}
