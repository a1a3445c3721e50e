/*
 * governor_table.c: the shapes that a governor remembers, the least recently used forgotten.
 *
 *   buckets   [3][0][1][..]        entry + 1, by the key's low half; 0 is "none"
 *              |     |
 *   shapes    [0] [1] [2] [3]      an entry is in one chain and in the list of use
 *
 *   newest -> older -> older -> oldest     the next to be forgotten
 *
 * Links are indices + 1, so that zeroed memory is an empty table.
 */
#include "runtime/governor.h"

#include <string.h>

#include "base/memory.h"

static uint32_t clamp_u32(uint32_t value, uint32_t low, uint32_t high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

struct vyre_governor_options vyre_governor_options_default(void)
{
    return (struct vyre_governor_options){.shape_limit = VYRE_GOVERNOR_SHAPES_DEFAULT,
                                          .explore_bps = VYRE_GOVERNOR_EXPLORE_DEFAULT};
}

static struct vyre_governor_options resolve(const struct vyre_governor_options *options)
{
    struct vyre_governor_options resolved = vyre_governor_options_default();
    if (!options)
        return resolved;
    if (options->shape_limit)
        resolved.shape_limit =
            clamp_u32(options->shape_limit, VYRE_GOVERNOR_SHAPES_MIN, VYRE_GOVERNOR_SHAPES_MAX);
    resolved.explore_bps = clamp_u32(options->explore_bps, 0, VYRE_GOVERNOR_EXPLORE_MAX);
    return resolved;
}

/* At least as many buckets as shapes, a power of two. */
static uint32_t bucket_count(uint32_t shape_limit)
{
    uint32_t count = VYRE_GOVERNOR_SHAPES_MIN;
    while (count < shape_limit)
        count *= 2;
    return count;
}

static size_t shapes_bytes(const struct vyre_governor_options *options)
{
    return options->shape_limit * sizeof(struct vyre_governor_shape);
}

static size_t buckets_bytes(const struct vyre_governor_options *options)
{
    return bucket_count(options->shape_limit) * sizeof(uint32_t);
}

size_t vyre_governor_bound(const struct vyre_governor_options *options)
{
    struct vyre_governor_options resolved = resolve(options);
    return shapes_bytes(&resolved) + buckets_bytes(&resolved);
}

enum vyre_status vyre_governor_init(struct vyre_governor *governor,
                                    const struct vyre_allocator *allocator,
                                    const struct vyre_governor_options *options)
{
    memset(governor, 0, sizeof *governor);
    governor->allocator = *allocator;
    governor->options = resolve(options);
    governor->bucket_mask = bucket_count(governor->options.shape_limit) - 1;
    governor->shapes = vyre_memory_allocate(allocator, shapes_bytes(&governor->options),
                                            _Alignof(struct vyre_governor_shape));
    governor->buckets =
        vyre_memory_allocate(allocator, buckets_bytes(&governor->options), _Alignof(uint32_t));
    if (governor->shapes && governor->buckets)
        return VYRE_OK;
    vyre_governor_deinit(governor);
    return VYRE_OUT_OF_MEMORY;
}

void vyre_governor_deinit(struct vyre_governor *governor)
{
    vyre_memory_free(&governor->allocator, governor->shapes, shapes_bytes(&governor->options),
                     _Alignof(struct vyre_governor_shape));
    vyre_memory_free(&governor->allocator, governor->buckets, buckets_bytes(&governor->options),
                     _Alignof(uint32_t));
    governor->shapes = NULL;
    governor->buckets = NULL;
    governor->used = 0;
}

static struct vyre_governor_shape *at(const struct vyre_governor *governor, uint32_t link)
{
    return &governor->shapes[link - 1];
}

static uint32_t find_link(const struct vyre_governor *governor, struct vyre_hash128 key)
{
    uint32_t link = governor->buckets[key.lo & governor->bucket_mask];
    while (link && !vyre_hash128_equal(at(governor, link)->key, key))
        link = at(governor, link)->chain;
    return link;
}

static void unlink_use(struct vyre_governor *governor, struct vyre_governor_shape *shape)
{
    if (shape->newer)
        at(governor, shape->newer)->older = shape->older;
    else
        governor->newest = shape->older;
    if (shape->older)
        at(governor, shape->older)->newer = shape->newer;
    else
        governor->oldest = shape->newer;
}

static void link_newest(struct vyre_governor *governor, uint32_t link)
{
    struct vyre_governor_shape *shape = at(governor, link);
    shape->newer = 0;
    shape->older = governor->newest;
    if (governor->newest)
        at(governor, governor->newest)->newer = link;
    else
        governor->oldest = link;
    governor->newest = link;
}

static void unlink_chain(struct vyre_governor *governor, uint32_t link)
{
    uint32_t *place = &governor->buckets[at(governor, link)->key.lo & governor->bucket_mask];
    while (*place != link)
        place = &at(governor, *place)->chain;
    *place = at(governor, link)->chain;
}

/* An entry that nobody uses: a fresh one, or that of the shape used longest ago. */
static uint32_t take_entry(struct vyre_governor *governor)
{
    if (governor->used < governor->options.shape_limit)
        return ++governor->used;
    uint32_t link = governor->oldest;
    unlink_chain(governor, link);
    unlink_use(governor, at(governor, link));
    governor->coming_ns -= at(governor, link)->coming_ns;
    governor->counters.shapes_forgotten++;
    return link;
}

static uint32_t add(struct vyre_governor *governor, struct vyre_hash128 key)
{
    uint32_t link = take_entry(governor);
    struct vyre_governor_shape *shape = at(governor, link);
    uint32_t *bucket = &governor->buckets[key.lo & governor->bucket_mask];
    memset(shape, 0, sizeof *shape);
    shape->key = key;
    shape->serial = ++governor->serials;
    shape->chain = *bucket;
    *bucket = link;
    link_newest(governor, link);
    governor->counters.shapes_kept = governor->used;
    return link;
}

struct vyre_governor_shape *vyre_governor_find(const struct vyre_governor *governor,
                                               struct vyre_hash128 key)
{
    uint32_t link = find_link(governor, key);
    return link ? at(governor, link) : NULL;
}

void vyre_governor_see_again(struct vyre_governor *governor, struct vyre_governor_shape *shape)
{
    uint32_t link = (uint32_t)(shape - governor->shapes) + 1;
    if (link != governor->newest) {
        unlink_use(governor, shape);
        link_newest(governor, link);
    }
    shape->seen += shape->seen < UINT32_MAX;
    governor->counters.seen++;
}

struct vyre_governor_shape *vyre_governor_see(struct vyre_governor *governor,
                                              struct vyre_hash128 key)
{
    uint32_t link = find_link(governor, key);
    if (!link) {
        link = add(governor, key);
    } else if (link != governor->newest) {
        unlink_use(governor, at(governor, link));
        link_newest(governor, link);
    }
    struct vyre_governor_shape *shape = at(governor, link);
    shape->seen += shape->seen < UINT32_MAX;
    governor->counters.seen++;
    return shape;
}
