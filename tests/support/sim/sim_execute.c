/*
 * sim_execute.c: running one command on the sim's memory.
 *
 * Groups run first to last or last to first; scratch and local memory hold garbage at the start of
 * each group. Kernels may rely on neither.
 */
#include <stdlib.h>
#include <string.h>

#include "support/sim/sim_internal.h"

enum { GARBAGE = 0xcd, LOCAL_ALIGNMENT = 64 };

static unsigned char *bytes_of(const struct vyre_bound_range *range)
{
    return ((struct sim_buffer *)range->buffer)->data + range->offset_bytes;
}

static size_t round_up(size_t size_bytes)
{
    return (size_bytes + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
}

/* The memory that a dispatch needs beside its buffers: locals and scratch, cleared per group. */
struct group_memory {
    unsigned char *memory; /* Owned; locals in the order of slots, then scratch */
    size_t size_bytes;
    void **tables; /* Owned */
    struct vyre_host_buffer *buffers;
};

static bool memory_init(struct group_memory *out, const struct vyre_batch_view *view,
                        const struct vyre_command *command)
{
    const struct sim_kernel *kernel = command->kernel;
    *out = (struct group_memory){.size_bytes = round_up(kernel->scratch_bytes)};
    for (uint32_t i = 0; i < command->binding_count; i++)
        out->size_bytes += round_up(view->bindings[command->first_binding + i].local_bytes);
    out->memory = aligned_alloc(LOCAL_ALIGNMENT, out->size_bytes + LOCAL_ALIGNMENT);
    out->tables = calloc(command->range_count + 1U, sizeof *out->tables);
    out->buffers = calloc(command->binding_count + 1U, sizeof *out->buffers);
    return out->memory && out->tables && out->buffers;
}

static void memory_deinit(struct group_memory *memory)
{
    free(memory->memory);
    free(memory->tables);
    free(memory->buffers);
}

/* Resolves the bindings; returns where scratch begins. */
static unsigned char *resolve(struct group_memory *memory, const struct vyre_batch_view *view,
                              const struct vyre_command *command, bool host_addresses)
{
    unsigned char *local = memory->memory;
    void **table = memory->tables;
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        const struct vyre_bound_range *ranges = view->ranges + binding->first_range;
        struct vyre_host_buffer *buffer = &memory->buffers[i];
        switch (binding->kind) {
        case VYRE_BINDING_RANGE:
            *buffer = (struct vyre_host_buffer){bytes_of(ranges), ranges->size_bytes};
            break;
        case VYRE_BINDING_TABLE:
            *buffer = (struct vyre_host_buffer){table, binding->range_count * sizeof *table};
            for (uint32_t k = 0; k < binding->range_count; k++)
                *table++ = bytes_of(&ranges[k]);
            break;
        case VYRE_BINDING_LOCAL:
            *buffer = (struct vyre_host_buffer){local, binding->local_bytes};
            local += round_up(binding->local_bytes);
            break;
        }
        /* What the runtime resolved is what kernels see, where it did. */
        if (host_addresses && view->host_buffers && binding->kind != VYRE_BINDING_LOCAL)
            *buffer = view->host_buffers[command->first_host_buffer + i];
    }
    return local;
}

static void run_groups(const struct vyre_command *command, struct group_memory *memory,
                       unsigned char *scratch, bool backwards)
{
    const struct sim_kernel *kernel = command->kernel;
    const uint32_t *groups = command->groups;
    uint64_t count = (uint64_t)groups[0] * groups[1] * groups[2];
    struct vyre_host_group group = {
        .size_bytes = sizeof group,
        .buffer_count = command->binding_count,
        .group_count = {groups[0], groups[1], groups[2]},
        .local_size = {kernel->local_size[0], kernel->local_size[1], kernel->local_size[2]},
        .specialization_count = command->specialization_count,
        .buffers = memory->buffers,
        .constants = command->constants,
        .specialization = command->specialization,
        .scratch = scratch,
        .scratch_bytes = kernel->scratch_bytes,
    };
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = backwards ? count - 1 - i : i;
        group.group_id[0] = (uint32_t)(at % groups[0]);
        group.group_id[1] = (uint32_t)(at / groups[0] % groups[1]);
        group.group_id[2] = (uint32_t)(at / groups[0] / groups[1]);
        memset(memory->memory, GARBAGE, memory->size_bytes);
        kernel->function(&group);
    }
}

static void dispatch(struct sim_device *device, const struct vyre_batch_view *view,
                     const struct vyre_command *command, bool backwards)
{
    struct group_memory memory;
    if (memory_init(&memory, view, command)) {
        unsigned char *scratch =
            resolve(&memory, view, command, !device->sim->desc.no_host_addresses);
        run_groups(command, &memory, scratch, backwards);
    } else {
        sim_violate(device->sim, "the sim has no memory left: results are wrong");
    }
    memory_deinit(&memory);
}

void sim_execute(struct sim_device *device, const struct vyre_batch_view *view, uint32_t index,
                 struct rng *rng)
{
    const struct vyre_command *command = &view->commands[index];
    const struct vyre_bound_range *range = view->ranges + command->first_range;
    switch (command->type) {
    case VYRE_COMMAND_DISPATCH:
        if (command->groups[0] && command->groups[1] && command->groups[2])
            dispatch(device, view, command, rng_bool(rng));
        break;
    case VYRE_COMMAND_COPY:
        memcpy(bytes_of(&range[1]), bytes_of(&range[0]), range->size_bytes);
        break;
    case VYRE_COMMAND_FILL:
        for (size_t i = 0; i + 4 <= range->size_bytes; i += 4)
            memcpy(bytes_of(range) + i, &command->fill_word, 4);
        break;
    case VYRE_COMMAND_UPLOAD:
        memcpy(bytes_of(range), command->upload_bytes, range->size_bytes);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        memcpy(command->download_bytes, bytes_of(range), range->size_bytes);
        break;
    }
}

/* What a failed submission should have written is undefined: make it so. */
void sim_spoil(const struct vyre_batch_view *view, struct rng *rng)
{
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        for (uint32_t k = 0; k < command->range_count; k++) {
            const struct vyre_bound_range *range = &view->ranges[command->first_range + k];
            for (size_t b = 0; (range->access & VYRE_ACCESS_WRITE) && b < range->size_bytes; b++)
                bytes_of(range)[b] = (unsigned char)rng_next(rng);
        }
    }
}

void sim_miscompile(struct sim_device *device, const struct vyre_submission *submission,
                    const struct vyre_command *command)
{
    const struct vyre_sim_desc *desc = &device->sim->desc;
    const struct sim_kernel *kernel = command->kernel;
    const struct vyre_bound_range *range = submission->view->ranges + command->first_range;
    bool generated = desc->generated_modes >> submission->mode & 1u;
    if (command->type != VYRE_COMMAND_DISPATCH)
        return;
    for (uint32_t i = 0; i < command->range_count; i++, range++) {
        const struct sim_buffer *buffer = range->buffer;
        size_t last = range->offset_bytes + range->size_bytes - 1;
        if (!(range->access & VYRE_ACCESS_WRITE))
            continue;
        if (desc->unstable_label && strcmp(kernel->label, desc->unstable_label) == 0)
            buffer->data[last] = (unsigned char)submission->sequence;
        if (generated && desc->wrong_label && strcmp(kernel->label, desc->wrong_label) == 0)
            buffer->data[(ptrdiff_t)last + desc->wrong_behind] ^= 0x40;
    }
}
