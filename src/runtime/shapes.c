/*
 * shapes.c: the shapes that a device remembers.
 *
 *   buckets   [3][0][1][..]        item + 1, by the key's low half; 0 is "none"
 *              |     |
 *   items     [0] [1] [2] [3]      an item is in one chain
 *
 *   newest -> older -> older -> oldest     entries only: the next to be forgotten
 */
#include "runtime/shapes.h"

#include <string.h>

#include <vyre/learning.h>

#include "base/memory.h"

/* ---- An index --------------------------------------------------------------------------------- */

/* At least as many buckets as items, a power of two. */
static uint32_t bucket_count(uint32_t limit)
{
    uint32_t count = VYRE_SHAPES_MIN;
    while (count < limit)
        count *= 2;
    return count;
}

static size_t index_bytes(uint32_t limit, size_t item_bytes)
{
    return limit * item_bytes + bucket_count(limit) * sizeof(uint32_t);
}

static void index_deinit(struct vyre_shape_index *index, const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, index->items, index->limit * index->item_bytes,
                     _Alignof(struct vyre_shape));
    vyre_memory_free(allocator, index->buckets, bucket_count(index->limit) * sizeof(uint32_t),
                     _Alignof(uint32_t));
    *index = (struct vyre_shape_index){0};
}

static bool index_init(struct vyre_shape_index *index, const struct vyre_allocator *allocator,
                       uint32_t limit, size_t item_bytes)
{
    *index = (struct vyre_shape_index){
        .mask = bucket_count(limit) - 1, .limit = limit, .item_bytes = item_bytes};
    index->items = vyre_memory_allocate(allocator, limit * item_bytes, _Alignof(struct vyre_shape));
    index->buckets =
        vyre_memory_allocate(allocator, bucket_count(limit) * sizeof(uint32_t), _Alignof(uint32_t));
    if (index->items && index->buckets)
        return true;
    index_deinit(index, allocator);
    return false;
}

static struct vyre_shape_link *link_at(const struct vyre_shape_index *index, uint32_t link)
{
    return (struct vyre_shape_link *)(void *)(index->items + (link - 1) * index->item_bytes);
}

static uint32_t index_find(const struct vyre_shape_index *index, struct vyre_hash128 key)
{
    uint32_t link = index->buckets[key.lo & index->mask];
    while (link && !vyre_hash128_equal(link_at(index, link)->key, key))
        link = link_at(index, link)->chain;
    return link;
}

/* Zeroes the item and adds it under the key. */
static void index_add(struct vyre_shape_index *index, uint32_t link, struct vyre_hash128 key)
{
    uint32_t *bucket = &index->buckets[key.lo & index->mask];
    memset(link_at(index, link), 0, index->item_bytes);
    *link_at(index, link) = (struct vyre_shape_link){key, *bucket};
    *bucket = link;
}

static void index_remove(struct vyre_shape_index *index, uint32_t link)
{
    uint32_t *place = &index->buckets[link_at(index, link)->key.lo & index->mask];
    while (*place != link)
        place = &link_at(index, *place)->chain;
    *place = link_at(index, link)->chain;
}

/* ---- Memory ----------------------------------------------------------------------------------- */

static uint32_t resolve(uint32_t limit)
{
    if (limit == 0)
        return VYRE_SHAPES_DEFAULT;
    if (limit < VYRE_SHAPES_MIN)
        return VYRE_SHAPES_MIN;
    return limit > VYRE_SHAPES_MAX ? VYRE_SHAPES_MAX : limit;
}

static size_t profiles_bytes(uint32_t limit)
{
    return limit * sizeof(struct vyre_shape_profile);
}

size_t vyre_shapes_bound(uint32_t limit, bool observed)
{
    limit = resolve(limit);
    return index_bytes(limit, sizeof(struct vyre_shape)) + (observed ? profiles_bytes(limit) : 0);
}

enum vyre_status vyre_shapes_init(struct vyre_shapes *shapes,
                                  const struct vyre_allocator *allocator, uint32_t limit,
                                  bool observed)
{
    *shapes = (struct vyre_shapes){.allocator = *allocator};
    limit = resolve(limit);
    bool taken = index_init(&shapes->entries, allocator, limit, sizeof(struct vyre_shape));
    if (taken && observed) {
        shapes->profiles = vyre_memory_allocate(allocator, profiles_bytes(limit),
                                                _Alignof(struct vyre_shape_profile));
        taken = shapes->profiles != NULL;
    }
    if (taken)
        return VYRE_OK;
    vyre_shapes_deinit(shapes);
    return VYRE_OUT_OF_MEMORY;
}

void vyre_shapes_deinit(struct vyre_shapes *shapes)
{
    struct vyre_allocator allocator = shapes->allocator;
    vyre_memory_free(&allocator, shapes->profiles, profiles_bytes(shapes->entries.limit),
                     _Alignof(struct vyre_shape_profile));
    index_deinit(&shapes->entries, &allocator);
    index_deinit(&shapes->templates, &allocator);
    *shapes = (struct vyre_shapes){.allocator = allocator};
}

/* ---- Entries ---------------------------------------------------------------------------------- */

static struct vyre_shape *at(const struct vyre_shapes *shapes, uint32_t link)
{
    return vyre_shapes_at(shapes, link - 1);
}

static void unlink_use(struct vyre_shapes *shapes, const struct vyre_shape *shape)
{
    if (shape->newer)
        at(shapes, shape->newer)->older = shape->older;
    else
        shapes->newest = shape->older;
    if (shape->older)
        at(shapes, shape->older)->newer = shape->newer;
    else
        shapes->oldest = shape->newer;
}

static void link_newest(struct vyre_shapes *shapes, uint32_t link)
{
    struct vyre_shape *shape = at(shapes, link);
    shape->newer = 0;
    shape->older = shapes->newest;
    if (shapes->newest)
        at(shapes, shapes->newest)->newer = link;
    else
        shapes->oldest = link;
    shapes->newest = link;
}

/* An unused entry: a fresh one, or that of the shape used longest ago. */
static uint32_t take_entry(struct vyre_shapes *shapes)
{
    if (shapes->used < shapes->entries.limit)
        return ++shapes->used;
    uint32_t link = shapes->oldest;
    index_remove(&shapes->entries, link);
    unlink_use(shapes, at(shapes, link));
    shapes->forgotten++;
    shapes->seen_count -= at(shapes, link)->unit.seen > 0;
    return link;
}

static struct vyre_shape *add(struct vyre_shapes *shapes, struct vyre_hash128 key)
{
    uint32_t link = take_entry(shapes);
    struct vyre_shape *shape = at(shapes, link);
    index_add(&shapes->entries, link, key);
    shape->serial = ++shapes->serials;
    if (shapes->profiles) {
        shape->profile = &shapes->profiles[link - 1];
        *shape->profile = (struct vyre_shape_profile){0};
    }
    link_newest(shapes, link);
    return shape;
}

struct vyre_shape *vyre_shapes_find(const struct vyre_shapes *shapes, struct vyre_hash128 key)
{
    uint32_t link = index_find(&shapes->entries, key);
    return link ? at(shapes, link) : NULL;
}

void vyre_shapes_use_again(struct vyre_shapes *shapes, struct vyre_shape *shape)
{
    uint32_t link = (uint32_t)(shape - vyre_shapes_at(shapes, 0)) + 1;
    if (link == shapes->newest)
        return;
    unlink_use(shapes, shape);
    link_newest(shapes, link);
}

struct vyre_shape *vyre_shapes_use(struct vyre_shapes *shapes, struct vyre_hash128 key)
{
    struct vyre_shape *shape = vyre_shapes_find(shapes, key);
    if (!shape)
        return add(shapes, key);
    vyre_shapes_use_again(shapes, shape);
    return shape;
}

/* ---- Templates -------------------------------------------------------------------------------- */

static struct vyre_shape_template *find_template(const struct vyre_shapes *shapes,
                                                 struct vyre_hash128 key)
{
    uint32_t link = shapes->template_count ? index_find(&shapes->templates, key) : 0;
    return link ? (struct vyre_shape_template *)(void *)link_at(&shapes->templates, link) : NULL;
}

const struct vyre_shape_template *vyre_shapes_find_template(const struct vyre_shapes *shapes,
                                                            struct vyre_hash128 key)
{
    return find_template(shapes, key);
}

enum vyre_status vyre_shapes_use_template(struct vyre_shapes *shapes, struct vyre_hash128 key,
                                          struct vyre_shape_template **out_template)
{
    struct vyre_shape_index *templates = &shapes->templates;
    *out_template = find_template(shapes, key);
    if (*out_template)
        return VYRE_OK;
    if (shapes->template_count == VYRE_LEARNED_SHAPES_MAX)
        return VYRE_LIMIT;
    if (!templates->items && !index_init(templates, &shapes->allocator, VYRE_LEARNED_SHAPES_MAX,
                                         sizeof(struct vyre_shape_template)))
        return VYRE_OUT_OF_MEMORY;
    index_add(templates, ++shapes->template_count, key);
    *out_template = find_template(shapes, key);
    return VYRE_OK;
}
