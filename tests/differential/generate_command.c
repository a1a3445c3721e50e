/*
 * generate_command.c: one valid command from random numbers.
 */
#include <string.h>

#include "differential/generate.h"

/* ---- Areas ------------------------------------------------------------------------------------ */

static bool areas_meet(const struct area *a, const struct area *b)
{
    return a->buffer == b->buffer && a->offset_bytes < b->offset_bytes + b->size_bytes &&
           b->offset_bytes < a->offset_bytes + a->size_bytes;
}

/* An area of at least `size_bytes` bytes at a multiple of `alignment`; false: no buffer is so big. */
static bool pick_area(struct generator *gen, uint32_t size_bytes, uint32_t alignment,
                      struct area *out_area)
{
    const struct program *program = gen->program;
    for (uint32_t tries = 0; tries < 8; tries++) {
        uint32_t buffer = below(gen, program->buffer_count);
        if (program->buffer_bytes[buffer] < size_bytes)
            continue;
        uint32_t places = (program->buffer_bytes[buffer] - size_bytes) / alignment + 1;
        uint32_t place = one_in(gen, 2) ? below(gen, places) : one_in(gen, 2) ? 0 : places / 2;
        *out_area = (struct area){buffer, place * alignment, size_bytes};
        uint32_t slack = program->buffer_bytes[buffer] - size_bytes - place * alignment;
        if (slack >= 4 && one_in(gen, 5))
            out_area->size_bytes += below(gen, slack / 4 + 1) * 4;
        return true;
    }
    return false;
}

/* May the binding have this area beside those that the bindings before it got? */
static bool area_is_free(const struct command *command, uint32_t binding, const struct area *area)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    bool writes = kernel_binding_access(&kernel->bindings[binding]) & VYRE_ACCESS_WRITE;
    for (uint32_t i = 0; i < binding; i++) {
        const struct kernel_binding *other = &kernel->bindings[i];
        bool other_writes = kernel_binding_access(other) & VYRE_ACCESS_WRITE;
        if (kernel_binding_is_local(other) || (!writes && !other_writes))
            continue;
        if (!other->desc.table && areas_meet(area, &command->areas[i]))
            return false;
        for (uint32_t entry = 0; other->desc.table && entry < command->table_count; entry++)
            if (command->table[entry] == area->buffer)
                return false;
    }
    return true;
}

/* ---- Dispatches ------------------------------------------------------------------------------- */

/* How many groups fit into the largest buffer, for every binding of the kernel. */
static uint32_t groups_that_fit(const struct generator *gen, const struct test_kernel *kernel)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < gen->program->buffer_count; i++)
        if (gen->program->buffer_bytes[i] > largest)
            largest = gen->program->buffer_bytes[i];
    uint32_t fit = UINT32_MAX;
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        uint32_t words = kernel->bindings[i].words_per_group;
        if (words != 0 && largest / (words * 4) < fit)
            fit = largest / (words * 4);
    }
    return fit;
}

static void pick_groups(struct generator *gen, struct command *command)
{
    uint32_t most = groups_that_fit(gen, &test_kernels[command->kernel]);
    uint32_t count = 1;
    if (gen->even)
        count = most / 4 + 1;
    else if (most > 1 && !one_in(gen, 3))
        count = 1 + below(gen, one_in(gen, 2) ? most : most < 8 ? most : 8);
    command->groups[0] = count;
    command->groups[1] = command->groups[2] = 1;
    if (one_in(gen, 4)) { /* the same number or a few less, in three dimensions */
        command->groups[2] = 1 + below(gen, count < 3 ? count : 3);
        command->groups[1] =
            1 + below(gen, count / command->groups[2] < 9 ? count / command->groups[2] : 9);
        command->groups[0] = count / command->groups[2] / command->groups[1];
    }
}

static bool pick_table(struct generator *gen, struct command *command, bool writes)
{
    uint32_t buffers = gen->program->buffer_count;
    uint32_t others = buffers - 1; /* a table of all would leave none for the other binding */
    uint32_t most = gen->shape->table_entries;
    if (most > PROGRAM_TABLE_MAX)
        most = PROGRAM_TABLE_MAX;
    if (writes && most > others)
        most = others;
    if (most == 0 || others == 0)
        return false;
    command->table_count = 1 + below(gen, most);
    uint32_t first = below(gen, buffers);
    for (uint32_t i = 0; i < command->table_count; i++)
        command->table[i] = writes ? (first + i) % buffers : below(gen, buffers);
    if (!writes && command->table_count > others && one_in(gen, 2))
        for (uint32_t i = 0; i < command->table_count; i++)
            command->table[i] = (first + i % others) % buffers;
    return true;
}

void generate_constants(struct generator *gen, const struct command *command,
                        unsigned char *constants)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    memset(constants, 0, KERNEL_CONSTANTS_BYTES);
    for (uint32_t i = 0; i < kernel->constant_count; i++) {
        uint32_t offset = kernel_constant_offset(kernel, i);
        uint32_t next = i + 1 < kernel->constant_count ? kernel_constant_offset(kernel, i + 1)
                                                       : kernel_constants_size(kernel);
        uint64_t value = rng_next(&gen->rng);
        if (kernel->constants[i].use == USE_ROUNDS)
            value = one_in(gen, 8) ? below(gen, 64) : below(gen, 4);
        bool wide = kernel->constants[i].scalar == VYRE_SCALAR_U64 ||
                    kernel->constants[i].scalar == VYRE_SCALAR_I64;
        memcpy(constants + offset, &value, wide && next - offset >= 8 ? 8 : 4);
    }
}

/* An output that is one of the inputs: legal, and no group sees another's words. */
static void pick_aliasing(struct generator *gen, struct command *command)
{
    struct area *areas = command->areas;
    if (command->kernel != KERNEL_ADD || !one_in(gen, 6))
        return;
    bool same =
        areas[0].buffer == areas[1].buffer && areas[0].offset_bytes == areas[1].offset_bytes;
    if (same || !areas_meet(&areas[0], &areas[1]))
        areas[2] = areas[0];
}

bool generate_dispatch(struct generator *gen, struct command *command)
{
    command->kind = COMMAND_DISPATCH;
    command->kernel = below(gen, KERNEL_COUNT);
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    pick_groups(gen, command);
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const struct kernel_binding *binding = &kernel->bindings[i];
        if (kernel_binding_is_local(binding)) {
            command->local_bytes = 64 * 4 + 64 * below(gen, 3);
        } else if (binding->desc.table) {
            bool writes = kernel_binding_access(binding) & VYRE_ACCESS_WRITE;
            if (!pick_table(gen, command, writes))
                return false;
        } else {
            uint32_t needed = command_needed_bytes(command, i);
            bool found = false;
            for (uint32_t tries = 0; tries < 8 && !found; tries++)
                found = pick_area(gen, needed, gen->shape->alignment, &command->areas[i]) &&
                        area_is_free(command, i, &command->areas[i]);
            if (!found)
                return false;
        }
    }
    pick_aliasing(gen, command);
    if (one_in(gen, 40))
        command->groups[below(gen, 3)] = 0;
    generate_constants(gen, command, command->constants);
    command_derive_constants(gen->program, command);
    if (kernel->specialization_count != 0 && !one_in(gen, 3)) {
        command->specialize = true;
        command->specialization[0] = below(gen, 3);
        command->specialization[1] = below(gen, 4);
    }
    return true;
}

/* ---- Other commands --------------------------------------------------------------------------- */

/* A size between 1 byte and `most`, small ones favoured. */
static uint32_t pick_size(struct generator *gen, uint32_t most)
{
    uint32_t size = 1 + below(gen, one_in(gen, 3) ? most : most / 8 + 1);
    return size > most ? most : size;
}

static bool pick_host_area(struct generator *gen, struct command *command)
{
    uint32_t size = command->areas[0].size_bytes;
    if (gen->host_used + size > gen->program->host_bytes)
        return false;
    command->host_offset = gen->host_used;
    gen->host_used += size;
    return true;
}

bool generate_transfer(struct generator *gen, struct command *command)
{
    static const enum command_kind kinds[] = {
        COMMAND_COPY,    COMMAND_COPY, COMMAND_FILL, COMMAND_UPLOAD, COMMAND_UPLOAD_BORROWED,
        COMMAND_DOWNLOAD};
    command->kind = kinds[below(gen, sizeof kinds / sizeof kinds[0])];
    const struct program *program = gen->program;
    uint32_t most = program->buffer_bytes[below(gen, program->buffer_count)];
    if (command->kind != COMMAND_COPY && command->kind != COMMAND_FILL && most > 16384)
        most = 16384;
    uint32_t size = pick_size(gen, most);
    uint32_t alignment = 1;
    if (command->kind == COMMAND_FILL || one_in(gen, 2)) {
        size = (size + 3) / 4 * 4;
        alignment = 4;
    }
    if (!pick_area(gen, size, alignment, &command->areas[0]))
        return false;
    switch (command->kind) {
    case COMMAND_COPY:
        return pick_area(gen, command->areas[0].size_bytes, alignment, &command->areas[1]) &&
               (command->areas[1].size_bytes = command->areas[0].size_bytes,
                !areas_meet(&command->areas[0], &command->areas[1]));
    case COMMAND_FILL:
        command->fill_word = (uint32_t)rng_next(&gen->rng);
        return true;
    case COMMAND_UPLOAD:
        command->upload_seed = rng_next(&gen->rng);
        return true;
    case COMMAND_UPLOAD_BORROWED:
        command->upload_seed = rng_next(&gen->rng);
        return pick_host_area(gen, command);
    case COMMAND_DOWNLOAD:
        return pick_host_area(gen, command);
    case COMMAND_DISPATCH:
        break;
    }
    return false;
}

/* ---- Variations ------------------------------------------------------------------------------- */

/* Moves an area within its buffer. */
static void move_area(struct generator *gen, struct area *area, uint32_t alignment)
{
    uint32_t room = gen->program->buffer_bytes[area->buffer] - area->size_bytes;
    area->offset_bytes = below(gen, room / alignment + 1) * alignment;
}

static void vary_dispatch(struct generator *gen, struct command *command)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    uint32_t binding = below(gen, kernel->binding_count);
    struct command before = *command;
    if (one_in(gen, 2)) {
        uint32_t dimension = below(gen, 3);
        if (command->groups[dimension] > 1)
            command->groups[dimension] = 1 + below(gen, command->groups[dimension]);
    } else if (!kernel_binding_is_local(&kernel->bindings[binding]) &&
               !kernel->bindings[binding].desc.table) {
        move_area(gen, &command->areas[binding], gen->shape->alignment);
    }
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        if (kernel_binding_is_local(&kernel->bindings[i]) || kernel->bindings[i].desc.table)
            continue;
        if (!area_is_free(command, i, &command->areas[i]))
            *command = before;
    }
}

void generate_variation(struct generator *gen, struct command *command)
{
    if (command->kind == COMMAND_DISPATCH) {
        vary_dispatch(gen, command);
        return;
    }
    struct area before = command->areas[0];
    move_area(gen, &command->areas[0], command->kind == COMMAND_FILL ? 4 : 1);
    if (command->kind == COMMAND_COPY && areas_meet(&command->areas[0], &command->areas[1]))
        command->areas[0] = before;
}
