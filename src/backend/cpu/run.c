/*
 * run.c: carrying out commands on the calling thread.
 */
#include "backend/cpu/run.h"

#include <string.h>

#include "base/clock.h"

#define BINDINGS_MAX    64
#define SLICE_ALIGNMENT 64
/* A command that takes this many times as long as reading the clock may be timed. */
#define TIMED_CLOCKS 64

/* A buffer of this backend is a pointer to its memory: see memory.c. */
static unsigned char *address_of(const struct vyre_bound_range *range)
{
    return (unsigned char *)range->buffer + range->offset_bytes;
}

/* Gives local slots the participant's own memory. */
static void place_local(const struct vyre_cpu_kernel *kernel, const struct vyre_batch_view *view,
                        const struct vyre_command *command, unsigned char *slice,
                        struct vyre_host_buffer out_buffers[BINDINGS_MAX])
{
    size_t offset = (kernel->scratch_bytes + SLICE_ALIGNMENT - 1) & ~(size_t)(SLICE_ALIGNMENT - 1);
    memcpy(out_buffers, view->host_buffers + command->first_host_buffer,
           command->binding_count * sizeof *out_buffers);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        if (view->bindings[command->first_binding + i].kind != VYRE_BINDING_LOCAL)
            continue;
        out_buffers[i].data = slice + offset;
        offset +=
            (out_buffers[i].size_bytes + SLICE_ALIGNMENT - 1) & ~(size_t)(SLICE_ALIGNMENT - 1);
    }
}

static void prepare_group(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                          const struct vyre_command *command, struct vyre_host_group *group,
                          struct vyre_host_buffer local[BINDINGS_MAX])
{
    const struct vyre_cpu_kernel *kernel = command->kernel;
    /* Field by field: clearing the struct first would cost as much as a small kernel. */
    group->size_bytes = sizeof *group;
    group->buffer_count = command->binding_count;
    for (int i = 0; i < 3; i++) {
        group->group_id[i] = 0;
        group->group_count[i] = command->groups[i];
        group->local_size[i] = kernel->local_size[i];
    }
    group->specialization_count = command->specialization_count;
    group->buffers = view->host_buffers + command->first_host_buffer;
    group->constants = command->constants;
    group->specialization = command->specialization;
    group->scratch = NULL;
    group->scratch_bytes = kernel->scratch_bytes;
    if (!kernel->slices)
        return;
    unsigned char *slice = kernel->slices + runner->participant * kernel->slice_bytes;
    group->scratch = kernel->scratch_bytes ? slice : NULL;
    if (kernel->has_local) {
        place_local(kernel, view, command, slice, local);
        group->buffers = local;
    }
}

void vyre_cpu_run_groups(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                         const struct vyre_command *command, uint64_t begin, uint64_t end)
{
    const struct vyre_cpu_kernel *kernel = command->kernel;
    struct vyre_host_group group;
    struct vyre_host_buffer local[BINDINGS_MAX];
    prepare_group(runner, view, command, &group, local);

    vyre_host_function *function = kernel->function;
    uint32_t width = command->groups[0];
    uint32_t height = command->groups[1];
    if (begin > 0) {
        uint64_t row = begin / width;
        group.group_id[0] = (uint32_t)(begin % width);
        group.group_id[1] = (uint32_t)(row % height);
        group.group_id[2] = (uint32_t)(row / height);
    }
    for (uint64_t i = begin; i < end; i++) {
        function(&group);
        if (++group.group_id[0] < width)
            continue;
        group.group_id[0] = 0;
        if (++group.group_id[1] < height)
            continue;
        group.group_id[1] = 0;
        group.group_id[2]++;
    }
}

static void fill_words(unsigned char *bytes, size_t size_bytes, uint32_t word)
{
    for (size_t i = 0; i < size_bytes; i += sizeof word)
        memcpy(bytes + i, &word, sizeof word);
}

void vyre_cpu_run_command(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                          const struct vyre_command *command)
{
    const struct vyre_bound_range *ranges = view->ranges + command->first_range;
    switch (command->type) {
    case VYRE_COMMAND_DISPATCH:
        vyre_cpu_run_groups(runner, view, command, 0, vyre_cpu_command_groups(command));
        break;
    case VYRE_COMMAND_COPY:
        memcpy(address_of(&ranges[1]), address_of(&ranges[0]), ranges[0].size_bytes);
        break;
    case VYRE_COMMAND_FILL:
        fill_words(address_of(&ranges[0]), ranges[0].size_bytes, command->fill_word);
        break;
    case VYRE_COMMAND_UPLOAD:
        memcpy(address_of(&ranges[0]), command->upload_bytes, ranges[0].size_bytes);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        memcpy(command->download_bytes, address_of(&ranges[0]), ranges[0].size_bytes);
        break;
    }
}

void vyre_cpu_run_commands(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                           uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        /* acquire: pairs with the release that declares the device lost. */
        if (atomic_load_explicit(runner->lost, memory_order_acquire))
            return;
        vyre_cpu_run_command(runner, view, &view->commands[i]);
        vyre_cpu_count_step(runner);
    }
}

uint64_t vyre_cpu_run_measured(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                               const struct vyre_command *command, uint64_t begin, uint64_t end)
{
    uint64_t start_ns = vyre_clock_now_ns();
    vyre_cpu_run_groups(runner, view, command, begin, end);
    uint64_t elapsed_ns = vyre_clock_now_ns() - start_ns;
    vyre_cpu_count_step(runner);
    elapsed_ns -= elapsed_ns < runner->clock_ns ? elapsed_ns : runner->clock_ns;
    if (end > begin && vyre_cpu_kernel_learn(command->kernel, end - begin, elapsed_ns))
        atomic_fetch_add_explicit(runner->cost_version, 1, memory_order_relaxed);
    return elapsed_ns;
}

/* Whether reading the clock twice makes the command at most a few percent slower. */
static bool is_long(const struct vyre_cpu_runner *runner, const struct vyre_command *command)
{
    if (command->type != VYRE_COMMAND_DISPATCH)
        return false;
    uint64_t cost_ns = vyre_cpu_kernel_cost_ns(command->kernel, vyre_cpu_command_groups(command));
    return cost_ns == 0 || cost_ns >= TIMED_CLOCKS * runner->clock_ns;
}

void vyre_cpu_run_timed(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                        uint32_t chosen, const struct vyre_cpu_times *asked)
{
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        bool timed = i < asked->count && command->type == VYRE_COMMAND_DISPATCH &&
                     (i == chosen % asked->count || is_long(runner, command));
        if (!timed) {
            vyre_cpu_run_commands(runner, view, i, 1);
            continue;
        }
        /* acquire: pairs with the release that declares the device lost. */
        if (atomic_load_explicit(runner->lost, memory_order_acquire))
            return;
        uint64_t ns =
            vyre_cpu_run_measured(runner, view, command, 0, vyre_cpu_command_groups(command));
        asked->times[i] = (struct vyre_command_time){.ns = ns ? ns : 1, .parallel = 1};
    }
}

void vyre_cpu_times_from_costs(const struct vyre_batch_view *view,
                               const struct vyre_cpu_times *asked)
{
    for (uint32_t i = 0; i < asked->count && i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        if (command->type != VYRE_COMMAND_DISPATCH)
            continue;
        uint64_t groups = vyre_cpu_command_groups(command);
        asked->times[i] = (struct vyre_command_time){
            .ns = vyre_cpu_kernel_cost_ns(command->kernel, groups), .parallel = 1};
    }
}
