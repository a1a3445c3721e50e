/*
 * random_batch.c: random batches and the model that says what they do.
 */
#include "runtime/batch/random_batch.h"

/* ---- Drawing ---------------------------------------------------------------------------------- */

static bool ranges_meet(const struct step_range *a, const struct step_range *b)
{
    return a->buffer == b->buffer && a->offset_bytes < b->offset_bytes + b->size_bytes &&
           b->offset_bytes < a->offset_bytes + a->size_bytes;
}

/* A range of whole units; mostly short, so that commands are independent often enough. */
static struct step_range draw_range(struct world *world, size_t unit)
{
    struct rng *rng = &world->rng;
    size_t units = WORLD_BUFFER_BYTES / unit;
    size_t longest = rng_below(rng, 4) == 0 ? units : (units + 7) / 8;
    size_t count = 1 + (size_t)rng_below(rng, longest);
    size_t offset = (size_t)rng_below(rng, units - count + 1);
    return (struct step_range){(uint32_t)rng_below(rng, WORLD_BUFFERS), offset * unit,
                               count * unit};
}

static void draw_dispatch(struct world *world, struct step *step)
{
    struct rng *rng = &world->rng;
    step->kernel = (enum fixture_kernel)rng_below(rng, KERNEL_COUNT);
    const struct fixture_kernel_facts *facts = &fixture_kernels[step->kernel];
    step->range_count = (uint32_t)facts->binding_count;
    step->constant = (uint32_t)rng_next(rng);
    step->specialization = rng_bool(rng) ? facts->specialization : rng_below(rng, 1000);
    for (int i = 0; i < 3; i++)
        step->groups[i] = i == 0 ? 1 + (uint32_t)rng_below(rng, 4) : 1;
    if (rng_below(rng, 32) == 0)
        step->groups[rng_below(rng, 3)] = 0;
    bool meets;
    do {
        meets = false;
        uint32_t last = step->range_count - 1;
        if (step->kernel == KERNEL_LOCAL)
            last = 0; /* slot 1 is local memory */
        for (uint32_t i = 0; i <= last; i++)
            step->ranges[i] = draw_range(world, 4);
        /* The last one is written. What it shares with others would depend on the order of groups. */
        for (uint32_t i = 0; i < last; i++)
            meets = meets || ranges_meet(&step->ranges[i], &step->ranges[last]);
    } while (meets && !facts->first_is_table);
    if (!facts->first_is_table)
        return;
    uint32_t wanted = 1 + (uint32_t)rng_below(rng, 3);
    while (step->table_count < wanted) {
        uint32_t buffer = (uint32_t)rng_below(rng, WORLD_BUFFERS);
        if (buffer != step->ranges[1].buffer)
            step->table[step->table_count++] = buffer;
    }
}

static bool draw_transfer(struct world *world, struct step *step)
{
    struct rng *rng = &world->rng;
    bool words = step->type == VYRE_COMMAND_FILL || rng_bool(rng);
    step->range_count = 1;
    step->ranges[0] = draw_range(world, words ? 4 : 1);
    size_t size_bytes = step->ranges[0].size_bytes;
    if (step->type == VYRE_COMMAND_COPY) {
        step->range_count = 2;
        do {
            step->ranges[1] = step->ranges[0];
            step->ranges[1].buffer = (uint32_t)rng_below(rng, WORLD_BUFFERS);
            step->ranges[1].offset_bytes =
                (size_t)rng_below(rng, WORLD_BUFFER_BYTES - size_bytes + 1);
        } while (ranges_meet(&step->ranges[0], &step->ranges[1]));
    } else if (step->type == VYRE_COMMAND_FILL) {
        step->constant = (uint32_t)rng_next(rng);
    } else if (step->type == VYRE_COMMAND_UPLOAD) {
        step->borrowed = rng_bool(rng);
        step->host_offset = (size_t)rng_below(rng, WORLD_POOL_BYTES - size_bytes + 1);
    } else {
        step->host_offset = world->download_bytes;
        world->download_bytes += size_bytes;
    }
    return true;
}

static void draw_step(struct world *world, struct step *step)
{
    *step = (struct step){0};
    uint64_t kind = rng_below(&world->rng, 10);
    bool room = world->download_bytes + WORLD_BUFFER_BYTES <= WORLD_DOWNLOAD_BYTES;
    if (kind < 6)
        step->type = VYRE_COMMAND_DISPATCH;
    else if (kind == 6)
        step->type = VYRE_COMMAND_COPY;
    else if (kind == 7)
        step->type = VYRE_COMMAND_FILL;
    else if (kind == 8 || !room)
        step->type = VYRE_COMMAND_UPLOAD;
    else
        step->type = VYRE_COMMAND_DOWNLOAD;
    if (step->type == VYRE_COMMAND_DISPATCH)
        draw_dispatch(world, step);
    else
        draw_transfer(world, step);
}

/* ---- Giving it to the runtime ----------------------------------------------------------------- */

static struct vyre_range runtime_range(const struct world *world, const struct step_range *range)
{
    return (struct vyre_range){world->buffers[range->buffer], range->offset_bytes,
                               range->size_bytes};
}

static void build_dispatch(struct world *world, const struct step *step)
{
    const struct fixture_kernel_facts *facts = &fixture_kernels[step->kernel];
    struct vyre_slot_binding bindings[KERNEL_BINDINGS_MAX] = {{0}};
    struct vyre_buffer *table[WORLD_BUFFERS];
    for (uint32_t i = 0; i < step->table_count; i++)
        table[i] = world->buffers[step->table[i]];
    for (uint32_t i = 0; i < step->range_count; i++) {
        /* In any order: here from the last slot to the first. */
        struct vyre_slot_binding *binding = &bindings[step->range_count - 1 - i];
        binding->slot = facts->slots[i];
        if (i == 0 && facts->first_is_table) {
            binding->table = table;
            binding->table_count = step->table_count;
        } else if (facts->roles[i] == VYRE_ROLE_SHARED) {
            binding->local_bytes = 32;
        } else {
            binding->range = runtime_range(world, &step->ranges[i]);
        }
    }
    struct vyre_dispatch dispatch = {
        .kernel = world->fixture->kernels[step->kernel],
        .groups = {step->groups[0], step->groups[1], step->groups[2]},
        .bindings = bindings,
        .binding_count = step->range_count,
        .constants = &step->constant,
        .constants_size_bytes = sizeof step->constant,
    };
    if (facts->specialization != 0 && step->specialization != facts->specialization) {
        dispatch.specialization = &step->specialization;
        dispatch.specialization_count = 1;
    }
    vyre_batch_dispatch(world->batch, &dispatch);
}

static void build_upload(struct world *world, const struct step *step, struct vyre_range range)
{
    if (step->borrowed) {
        vyre_batch_upload_borrowed(world->batch, range, world->pool + step->host_offset);
        return;
    }
    unsigned char bytes[WORLD_BUFFER_BYTES];
    memcpy(bytes, world->pool + step->host_offset, range.size_bytes);
    vyre_batch_upload(world->batch, range, bytes);
    memset(bytes, 0xee, sizeof bytes);
}

static void build_step(struct world *world, const struct step *step)
{
    struct vyre_range range = runtime_range(world, &step->ranges[0]);
    switch (step->type) {
    case VYRE_COMMAND_DISPATCH:
        build_dispatch(world, step);
        break;
    case VYRE_COMMAND_COPY:
        vyre_batch_copy(world->batch, range, runtime_range(world, &step->ranges[1]));
        break;
    case VYRE_COMMAND_FILL:
        vyre_batch_fill(world->batch, range, step->constant);
        break;
    case VYRE_COMMAND_UPLOAD:
        build_upload(world, step, range);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        vyre_batch_download(world->batch, range, world->downloads + step->host_offset);
        break;
    }
}

/* ---- The model -------------------------------------------------------------------------------- */

static unsigned char *model_bytes(struct world *world, const struct step_range *range)
{
    return world->model[range->buffer] + range->offset_bytes;
}

static void model_dispatch(struct world *world, const struct step *step)
{
    const struct fixture_kernel_facts *facts = &fixture_kernels[step->kernel];
    struct vyre_host_buffer buffers[KERNEL_BINDINGS_MAX];
    void *table[WORLD_BUFFERS];
    _Alignas(64) unsigned char local[32];
    _Alignas(64) unsigned char scratch[64];
    for (uint32_t i = 0; i < step->table_count; i++)
        table[i] = world->model[step->table[i]];
    for (uint32_t i = 0; i < step->range_count; i++) {
        if (i == 0 && facts->first_is_table)
            buffers[i] = (struct vyre_host_buffer){table, step->table_count * sizeof *table};
        else if (facts->roles[i] == VYRE_ROLE_SHARED)
            buffers[i] = (struct vyre_host_buffer){local, sizeof local};
        else
            buffers[i] = (struct vyre_host_buffer){model_bytes(world, &step->ranges[i]),
                                                   step->ranges[i].size_bytes};
    }
    struct vyre_host_group group = {
        .size_bytes = sizeof group,
        .buffer_count = step->range_count,
        .group_count = {step->groups[0], step->groups[1], step->groups[2]},
        .local_size = {1, 1, 1},
        .specialization_count = facts->specialization != 0,
        .buffers = buffers,
        .constants = &step->constant,
        .specialization = &step->specialization,
        .scratch = scratch,
        .scratch_bytes = facts->scratch_bytes,
    };
    if (step->groups[1] == 0 || step->groups[2] == 0)
        return;
    for (uint32_t g = 0; g < step->groups[0]; g++) {
        group.group_id[0] = g;
        facts->function(&group);
    }
}

static void model_step(struct world *world, const struct step *step)
{
    unsigned char *bytes = model_bytes(world, &step->ranges[0]);
    size_t size_bytes = step->ranges[0].size_bytes;
    switch (step->type) {
    case VYRE_COMMAND_DISPATCH:
        model_dispatch(world, step);
        break;
    case VYRE_COMMAND_COPY:
        memcpy(model_bytes(world, &step->ranges[1]), bytes, size_bytes);
        break;
    case VYRE_COMMAND_FILL:
        for (size_t i = 0; i < size_bytes; i += 4)
            memcpy(bytes + i, &step->constant, 4);
        break;
    case VYRE_COMMAND_UPLOAD:
        memcpy(bytes, world->pool + step->host_offset, size_bytes);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        memcpy(world->expected + step->host_offset, bytes, size_bytes);
        break;
    }
}

/* ---- Hazards, the slow way -------------------------------------------------------------------- */

struct touch {
    struct step_range range;
    bool writes;
};

static size_t touches(const struct step *step, struct touch out[2 * WORLD_BUFFERS])
{
    const struct fixture_kernel_facts *facts = &fixture_kernels[step->kernel];
    bool dispatches = step->type == VYRE_COMMAND_DISPATCH;
    size_t count = 0;
    if (dispatches && (!step->groups[0] || !step->groups[1] || !step->groups[2]))
        return 0;
    for (uint32_t i = 0; i < step->table_count; i++)
        out[count++] = (struct touch){{step->table[i], 0, WORLD_BUFFER_BYTES}, false};
    for (uint32_t i = 0; i < step->range_count; i++) {
        bool writes = dispatches                            ? facts->roles[i] != VYRE_ROLE_INPUT
                      : step->type == VYRE_COMMAND_COPY     ? i == 1
                      : step->type == VYRE_COMMAND_DOWNLOAD ? false
                                                            : true;
        bool no_range = dispatches &&
                        ((i == 0 && facts->first_is_table) || facts->roles[i] == VYRE_ROLE_SHARED);
        if (!no_range)
            out[count++] = (struct touch){step->ranges[i], writes};
    }
    return count;
}

bool world_conflict(const struct world *world, uint32_t first, uint32_t second)
{
    struct touch a[2 * WORLD_BUFFERS], b[2 * WORLD_BUFFERS];
    size_t a_count = touches(&world->steps[first], a);
    size_t b_count = touches(&world->steps[second], b);
    for (size_t i = 0; i < a_count; i++) {
        for (size_t k = 0; k < b_count; k++) {
            if ((a[i].writes || b[k].writes) && ranges_meet(&a[i].range, &b[k].range))
                return true;
        }
    }
    return false;
}

/* ---- The world -------------------------------------------------------------------------------- */

void world_init(struct world *world, struct fixture *fixture, uint64_t seed)
{
    memset(world, 0, sizeof *world);
    world->fixture = fixture;
    world->rng = rng_seeded(seed);
    for (size_t i = 0; i < WORLD_POOL_BYTES; i++)
        world->pool[i] = (unsigned char)rng_next(&world->rng);
    for (size_t i = 0; i < WORLD_BUFFERS; i++) {
        for (size_t b = 0; b < WORLD_BUFFER_BYTES; b++)
            world->model[i][b] = (unsigned char)rng_next(&world->rng);
        world->buffers[i] = fixture_buffer(fixture, WORLD_BUFFER_BYTES);
        assert_int_equal(vyre_buffer_write(world->buffers[i], 0, world->model[i],
                                           WORLD_BUFFER_BYTES, &fixture->diag),
                         VYRE_OK);
    }
    world->batch = fixture_batch(fixture);
}

void world_deinit(struct world *world)
{
    for (size_t i = 0; i < WORLD_BUFFERS; i++)
        vyre_buffer_destroy(&world->buffers[i]);
    vyre_batch_destroy(&world->batch);
}

bool world_add(struct world *world)
{
    if (world->step_count == STEPS_MAX)
        return false;
    struct step *step = &world->steps[world->step_count++];
    draw_step(world, step);
    build_step(world, step);
    return true;
}

void world_change_constant(struct world *world)
{
    if (world->step_count == 0)
        return;
    size_t at = (size_t)rng_below(&world->rng, world->step_count);
    struct step *step = &world->steps[at];
    if (step->type != VYRE_COMMAND_DISPATCH)
        return;
    step->constant = (uint32_t)rng_next(&world->rng);
    vyre_batch_set_constants(world->batch, at, &step->constant, sizeof step->constant);
}

void world_reset(struct world *world)
{
    vyre_batch_reset(world->batch);
    world->step_count = 0;
}

struct vyre_ticket world_submit(struct world *world, const struct vyre_submit_options *options)
{
    struct vyre_ticket ticket;
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    if (vyre_batch_submit(world->batch, options, &ticket, &diag) != VYRE_OK)
        fail_msg("submit: %s: %s", vyre_diag_id_name(diag.id), diag.message);
    for (size_t i = 0; i < world->step_count; i++)
        model_step(world, &world->steps[i]);
    return ticket;
}

void world_check(struct world *world, const char *what)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    if (vyre_device_wait_idle(world->fixture->device, VYRE_FOREVER, &diag) != VYRE_OK)
        fail_msg("%s: wait: %s: %s", what, vyre_diag_id_name(diag.id), diag.message);
    const char *violation = vyre_sim_violation(world->fixture->sim);
    if (violation[0] != '\0')
        fail_msg("%s: %s", what, violation);
    for (size_t i = 0; i < WORLD_BUFFERS; i++) {
        unsigned char bytes[WORLD_BUFFER_BYTES];
        if (vyre_buffer_read(world->buffers[i], 0, bytes, sizeof bytes, &diag) != VYRE_OK)
            fail_msg("%s: read: %s: %s", what, vyre_diag_id_name(diag.id), diag.message);
        for (size_t b = 0; b < sizeof bytes; b++) {
            if (bytes[b] != world->model[i][b])
                fail_msg("%s: buffer %zu differs from the serial run at byte %zu", what, i, b);
        }
    }
    if (memcmp(world->downloads, world->expected, world->download_bytes) != 0)
        fail_msg("%s: a download differs from the serial run", what);
    world->download_bytes = 0;
    world_reset(world); /* its downloads have no place any more */
}
