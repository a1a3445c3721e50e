/*
 * batch_builder.h: batch views made by hand or at random, and what planners are compared with: the
 * bytes that commands share, looked at pair by pair.
 */
#ifndef VYRE_TESTS_SUPPORT_BATCH_BUILDER_H
#define VYRE_TESTS_SUPPORT_BATCH_BUILDER_H

#include <vyre/backend.h>

#include "support/counting_allocator.h"
#include "support/random.h"
#include "support/test.h"

enum { BUILDER_COMMANDS_MAX = 4096, BUILDER_RANGES_MAX = 16384 };

struct batch_builder {
    struct vyre_command commands[BUILDER_COMMANDS_MAX];
    struct vyre_bound_range ranges[BUILDER_RANGES_MAX];
    struct vyre_batch_view view;
};

/* On the heap: it is too large for a stack. */
static inline struct batch_builder *batch_builder_create(void)
{
    struct batch_builder *builder = calloc(1, sizeof *builder);
    assert_non_null(builder);
    builder->view.commands = builder->commands;
    builder->view.ranges = builder->ranges;
    return builder;
}

static inline void batch_builder_reset(struct batch_builder *builder)
{
    builder->view.command_count = 0;
    builder->view.range_count = 0;
    builder->view.is_chain = false;
}

/* A new command without ranges; returns its index. */
static inline uint32_t batch_command(struct batch_builder *builder, enum vyre_command_type type)
{
    uint32_t index = builder->view.command_count++;
    assert_in_range(index, 0, BUILDER_COMMANDS_MAX - 1);
    builder->commands[index] =
        (struct vyre_command){.type = type, .first_range = builder->view.range_count};
    return index;
}

/* One more range of the newest command. */
static inline void batch_range(struct batch_builder *builder, uint64_t identity, size_t offset,
                               size_t size, enum vyre_access access)
{
    uint32_t index = builder->view.range_count++;
    assert_in_range(index, 0, BUILDER_RANGES_MAX - 1);
    builder->ranges[index] = (struct vyre_bound_range){
        .identity = identity, .offset_bytes = offset, .size_bytes = size, .access = access};
    builder->commands[builder->view.command_count - 1].range_count++;
}

/* A dispatch with one range. */
static inline uint32_t batch_dispatch(struct batch_builder *builder, uint64_t identity,
                                      size_t offset, size_t size, enum vyre_access access)
{
    uint32_t index = batch_command(builder, VYRE_COMMAND_DISPATCH);
    batch_range(builder, identity, offset, size, access);
    return index;
}

static inline uint32_t batch_upload(struct batch_builder *builder, uint64_t identity, size_t offset,
                                    size_t size)
{
    uint32_t index = batch_command(builder, VYRE_COMMAND_UPLOAD);
    batch_range(builder, identity, offset, size, VYRE_ACCESS_WRITE);
    return index;
}

static inline uint32_t batch_copy(struct batch_builder *builder, uint64_t identity, size_t from,
                                  size_t to, size_t size)
{
    uint32_t index = batch_command(builder, VYRE_COMMAND_COPY);
    batch_range(builder, identity, from, size, VYRE_ACCESS_READ);
    batch_range(builder, identity, to, size, VYRE_ACCESS_WRITE);
    return index;
}

static inline bool ranges_conflict(const struct vyre_bound_range *a,
                                   const struct vyre_bound_range *b)
{
    return a->identity == b->identity && a->size_bytes > 0 && b->size_bytes > 0 &&
           a->offset_bytes < b->offset_bytes + b->size_bytes &&
           b->offset_bytes < a->offset_bytes + a->size_bytes &&
           ((a->access | b->access) & VYRE_ACCESS_WRITE);
}

static inline bool commands_conflict(const struct vyre_batch_view *view, uint32_t first,
                                     uint32_t second)
{
    const struct vyre_command *a = &view->commands[first];
    const struct vyre_command *b = &view->commands[second];
    for (uint32_t i = 0; i < a->range_count; i++) {
        for (uint32_t j = 0; j < b->range_count; j++) {
            if (ranges_conflict(&view->ranges[a->first_range + i],
                                &view->ranges[b->first_range + j]))
                return true;
        }
    }
    return false;
}

/* What a random batch is drawn from. */
struct batch_recipe {
    uint32_t command_count;
    uint32_t ranges_max; /* per command */
    uint32_t buffer_count;
    uint32_t grain; /* offsets and sizes are multiples of it */
    uint32_t grains;
    uint32_t write_percent;
};

static inline void batch_random_range(struct batch_builder *builder, struct rng *rng,
                                      const struct batch_recipe *recipe)
{
    size_t offset = rng_below(rng, recipe->grains);
    size_t size = rng_below(rng, 8) == 0 ? recipe->grains - offset
                                         : rng_below(rng, recipe->grains - offset + 1) / 2;
    bool writes = rng_below(rng, 100) < recipe->write_percent;
    enum vyre_access written = rng_bool(rng) ? VYRE_ACCESS_WRITE : VYRE_ACCESS_READWRITE;
    /* Identities that differ in high bytes, too. */
    uint64_t identity = (rng_below(rng, recipe->buffer_count) + 1) * UINT64_C(0x1000000001);
    batch_range(builder, identity, offset * recipe->grain, size * recipe->grain,
                writes ? written : VYRE_ACCESS_READ);
}

static inline void batch_random_fill(struct batch_builder *builder, struct rng *rng,
                                     const struct batch_recipe *recipe)
{
    batch_builder_reset(builder);
    for (uint32_t i = 0; i < recipe->command_count; i++) {
        batch_command(builder, (enum vyre_command_type)rng_below(rng, 5));
        uint64_t count = rng_below(rng, recipe->ranges_max + 1);
        bool uploads = builder->commands[i].type == VYRE_COMMAND_UPLOAD;
        for (uint64_t j = 0; j < (uploads ? 1 : count); j++)
            batch_random_range(builder, rng, recipe);
        if (uploads)
            builder->ranges[builder->view.range_count - 1].access = VYRE_ACCESS_WRITE;
    }
}

#endif
