/*
 * generate_batches.c: what is run of a program: groups, ranges and arguments.
 */
#include "kernels/generator.h"

enum { INPUT_BYTES = 16384, GAP_BYTES = 128 };

struct written {
    struct area area;
};

struct layout {
    struct written written[BATCHES_MAX * DISPATCHES_MAX * 3];
    uint32_t written_count;
};

static uint32_t align_range(uint32_t offset)
{
    return (offset + RANGE_ALIGNMENT - 1) / RANGE_ALIGNMENT * RANGE_ALIGNMENT;
}

/* A range that is not in use yet, with room around it. */
static struct area new_area(struct generator *g, struct layout *layout, uint32_t size_bytes)
{
    uint32_t buffer = 1 + draw(g, g->program->buffer_count - 1);
    uint32_t *end = &g->program->buffer_bytes[buffer];
    struct area area = {buffer, align_range(*end + GAP_BYTES), size_bytes};
    *end = area.offset_bytes + size_bytes;
    if (layout->written_count < BATCHES_MAX * DISPATCHES_MAX * 3)
        layout->written[layout->written_count++].area = area;
    return area;
}

/* A part of the input, or what an earlier dispatch wrote. */
static struct area input_area(struct generator *g, const struct layout *layout, uint32_t before,
                              uint32_t size_bytes)
{
    for (uint32_t tries = 0; tries < 4 && before > 0 && chance(g, 40); tries++) {
        struct area area = layout->written[draw(g, before)].area;
        if (area.size_bytes < size_bytes)
            continue;
        area.size_bytes = size_bytes;
        feature(g, FEATURE_CHAINED_DISPATCHES);
        return area;
    }
    uint32_t room = (INPUT_BYTES - size_bytes) / RANGE_ALIGNMENT;
    return (struct area){0, draw(g, room + 1) * RANGE_ALIGNMENT, size_bytes};
}

/* Up to `whole`, often a little less, sometimes little. */
static uint32_t choose_limit(struct generator *g, uint32_t whole)
{
    uint32_t roll = draw(g, 10);
    if (roll < 2)
        return whole;
    if (roll < 7)
        return whole - draw(g, whole < 8 ? whole : 8);
    return 1 + draw(g, whole);
}

static void choose_groups(struct generator *g, const struct kernel_plan *kernel,
                          uint32_t out_groups[3])
{
    static const uint32_t most[] = {0, 5, 3, 2};
    for (uint32_t i = 0; i < 3; i++)
        out_groups[i] = i < kernel->dimensions ? 1 + draw(g, most[kernel->dimensions]) : 1;
}

static void choose_arguments(struct generator *g, const struct kernel_plan *kernel,
                             struct layout *layout, struct dispatch *dispatch)
{
    const struct function *function = &g->tree->functions[kernel->function];
    const uint32_t *groups = dispatch->groups;
    uint32_t group_count = groups[0] * groups[1] * groups[2];
    uint32_t total = group_count * kernel->items;
    uint32_t limit_x = kernel->guard == GUARD_PLANE ? groups[0] * kernel->local_size[0] : total;
    uint32_t limit_y = choose_limit(g, groups[1] * kernel->local_size[1]);
    uint32_t before = layout->written_count;
    limit_x = choose_limit(g, limit_x);
    uint32_t places = kernel->guard == GUARD_NONE  ? total
                      : kernel->guard == GUARD_ROW ? limit_x
                                                   : limit_x * limit_y;
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct variable *parameter = &g->tree->variables[function->parameters[i]];
        uint32_t size = type_bytes(g->tree, parameter->type);
        switch (kernel->roles[i]) {
        case ROLE_IN:
            dispatch->areas[i] = input_area(g, layout, before, size * parameter->count);
            break;
        case ROLE_OUT:
            dispatch->areas[i] = new_area(g, layout, size * places * kernel->out_per_item);
            break;
        case ROLE_GROUP:
            dispatch->areas[i] = new_area(g, layout, size * group_count);
            break;
        case ROLE_COUNTERS:
            dispatch->areas[i] = new_area(g, layout, size * 16);
            break;
        case ROLE_LOCAL:
            dispatch->areas[i].size_bytes = size * parameter->count;
            break;
        case ROLE_LIMIT_X:
            dispatch->scalars[i] = limit_x;
            break;
        case ROLE_LIMIT_Y:
            dispatch->scalars[i] = limit_y;
            break;
        case ROLE_SCALAR:
        case ROLE_NONE:
            dispatch->scalars[i] = generate_number(g, parameter->type.base);
            break;
        }
    }
}

static void make_dispatch(struct generator *g, struct layout *layout, struct dispatch *dispatch)
{
    const struct kernel_plan *kernel = &g->kernels[draw(g, g->kernel_count)];
    dispatch->kernel = kernel->function;
    choose_groups(g, kernel, dispatch->groups);
    choose_arguments(g, kernel, layout, dispatch);
    for (uint32_t i = 0; i < g->tree->specialized_count; i++)
        dispatch->specialized[i] = g->program->specialized[i];
}

void generate_batches(struct generator *g)
{
    struct program *program = g->program;
    struct layout layout = {.written_count = 0};
    program->buffer_count = 2 + draw(g, BUFFERS_MAX - 1);
    program->buffer_bytes[0] = INPUT_BYTES;
    program->batch_count = 2 + draw(g, BATCHES_MAX - 1);
    for (uint32_t b = 0; b < program->batch_count; b++) {
        struct batch *batch = &program->batches[b];
        batch->dispatch_count = 2 + draw(g, 4);
        batch->repeats = chance(g, 70) ? 1 : 2;
        for (uint32_t i = 0; i < batch->dispatch_count; i++)
            make_dispatch(g, &layout, &batch->dispatches[i]);
    }
    /* One dispatch has other values for what is specialized: another build, which takes long. */
    if (g->tree->specialized_count > 0 && chance(g, 25))
        program->batches[0].dispatches[0].specialized[0] = draw(g, 9);
    for (uint32_t i = 1; i < program->buffer_count; i++)
        program->buffer_bytes[i] = align_range(program->buffer_bytes[i] + GAP_BYTES);
}
