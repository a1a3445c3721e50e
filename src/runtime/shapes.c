/*
 * shapes.c: how often each shape was submitted.
 */
#include "runtime/shapes.h"

#include "base/memory.h"

enum vyre_status vyre_shapes_init(struct vyre_shapes *shapes,
                                  const struct vyre_allocator *allocator)
{
    *shapes = (struct vyre_shapes){.allocator = *allocator};
    shapes->entries = vyre_memory_allocate(allocator, VYRE_SHAPES_LIMIT * sizeof *shapes->entries,
                                           _Alignof(struct vyre_shape));
    return shapes->entries ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

void vyre_shapes_deinit(struct vyre_shapes *shapes)
{
    vyre_memory_free(&shapes->allocator, shapes->entries,
                     VYRE_SHAPES_LIMIT * sizeof *shapes->entries, _Alignof(struct vyre_shape));
    shapes->entries = NULL;
}

struct vyre_shape *vyre_shapes_see(struct vyre_shapes *shapes, struct vyre_hash128 key)
{
    size_t sets = VYRE_SHAPES_LIMIT / VYRE_SHAPES_WAYS;
    struct vyre_shape *set = &shapes->entries[key.hi % sets * VYRE_SHAPES_WAYS];
    struct vyre_shape *oldest = set;
    shapes->clock++;
    for (size_t way = 0; way < VYRE_SHAPES_WAYS; way++) {
        if (set[way].seen > 0 && vyre_hash128_equal(set[way].key, key)) {
            set[way].used = shapes->clock;
            set[way].seen += set[way].seen < UINT32_MAX;
            return &set[way];
        }
        if (set[way].used < oldest->used)
            oldest = &set[way];
    }
    *oldest = (struct vyre_shape){.key = key, .used = shapes->clock, .seen = 1};
    return oldest;
}
