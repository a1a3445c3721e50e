/*
 * sim_check.c: whether what the runtime hands over is what backend.h promises.
 *
 * Hazards are not looked at here: whether a plan is right shows in the bytes.
 */
#include <string.h>

#include "support/sim/sim_internal.h"

/* ---- Views ------------------------------------------------------------------------------------ */

static void check_range(struct sim_device *device, const struct vyre_bound_range *range,
                        uint32_t command)
{
    const struct sim_buffer *buffer = range->buffer;
    if (!buffer || buffer->object.device != device) {
        sim_violate(device->sim, "command %u: a range without a buffer of the device", command);
        return;
    }
    if (range->size_bytes == 0 || range->offset_bytes > buffer->size_bytes ||
        range->size_bytes > buffer->size_bytes - range->offset_bytes)
        sim_violate(device->sim, "command %u: a range out of bounds", command);
    if (range->access < VYRE_ACCESS_READ || range->access > VYRE_ACCESS_READWRITE)
        sim_violate(device->sim, "command %u: a range without access", command);
    if (range->identity == 0)
        sim_violate(device->sim, "command %u: a range without identity", command);
}

static const unsigned char *address_of(const struct vyre_bound_range *range)
{
    return ((const struct sim_buffer *)range->buffer)->data + range->offset_bytes;
}

static void check_host_buffer(struct sim_device *device, const struct vyre_batch_view *view,
                              const struct vyre_command_binding *binding,
                              const struct vyre_host_buffer *given, uint32_t command)
{
    const struct vyre_bound_range *ranges = view->ranges + binding->first_range;
    if (binding->kind == VYRE_BINDING_RANGE &&
        (given->data != address_of(ranges) || given->size_bytes != ranges->size_bytes))
        sim_violate(device->sim, "command %u: a host buffer is not its range", command);
    for (uint32_t i = 0; binding->kind == VYRE_BINDING_TABLE && i < binding->range_count; i++) {
        if (((void *const *)given->data)[i] != address_of(&ranges[i]))
            sim_violate(device->sim, "command %u: a table entry is not its range", command);
    }
}

static void check_bindings(struct sim_device *device, const struct vyre_batch_view *view,
                           const struct vyre_command *command, uint32_t index)
{
    const struct vyre_command_binding *bindings = view->bindings + command->first_binding;
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &bindings[i];
        if (i > 0 && bindings[i - 1].slot >= binding->slot)
            sim_violate(device->sim, "command %u: slots out of order", index);
        if (binding->range_count != 0 && (binding->first_range < command->first_range ||
                                          binding->first_range + binding->range_count >
                                              command->first_range + command->range_count)) {
            sim_violate(device->sim, "command %u: a binding's ranges are not the command's", index);
            return;
        }
        if ((binding->kind == VYRE_BINDING_RANGE && binding->range_count != 1) ||
            (binding->kind == VYRE_BINDING_TABLE && binding->range_count == 0) ||
            (binding->kind == VYRE_BINDING_LOCAL && binding->range_count != 0))
            sim_violate(device->sim, "command %u: a binding with %u ranges", index,
                        binding->range_count);
        if (view->host_buffers)
            check_host_buffer(device, view, binding,
                              &view->host_buffers[command->first_host_buffer + i], index);
        ranges += binding->range_count;
    }
    if (ranges != command->range_count)
        sim_violate(device->sim, "command %u: ranges that no binding has", index);
}

static void check_dispatch(struct sim_device *device, const struct vyre_batch_view *view,
                           const struct vyre_command *command, uint32_t index)
{
    const struct sim_kernel *kernel = command->kernel;
    const struct vyre_device_limits *limits = &device->sim->desc.limits;
    if (!kernel || kernel->object.device != device) {
        sim_violate(device->sim, "command %u: no kernel of the device", index);
        return;
    }
    for (int i = 0; i < 3; i++) {
        if (command->groups[i] > limits->group_count[i])
            sim_violate(device->sim, "command %u: %u groups", index, command->groups[i]);
    }
    bool does_nothing = !command->groups[0] || !command->groups[1] || !command->groups[2];
    if (command->binding_count != kernel->binding_count ||
        command->first_binding + command->binding_count > view->binding_count)
        sim_violate(device->sim, "command %u: %u bindings", index, command->binding_count);
    else if (!does_nothing)
        check_bindings(device, view, command, index);
    if (command->constants_size_bytes > 0 && (uintptr_t)command->constants % 16 != 0)
        sim_violate(device->sim, "command %u: constants are not aligned", index);
}

static void check_transfer(struct sim_device *device, const struct vyre_batch_view *view,
                           const struct vyre_command *command, uint32_t index)
{
    const struct vyre_bound_range *ranges = view->ranges + command->first_range;
    bool copies = command->type == VYRE_COMMAND_COPY;
    if (command->range_count != (copies ? 2 : 1)) {
        sim_violate(device->sim, "command %u: %u ranges", index, command->range_count);
        return;
    }
    enum vyre_access first =
        copies || command->type == VYRE_COMMAND_DOWNLOAD ? VYRE_ACCESS_READ : VYRE_ACCESS_WRITE;
    if (ranges[0].access != first || (copies && ranges[1].access != VYRE_ACCESS_WRITE))
        sim_violate(device->sim, "command %u: a range with the wrong access", index);
    if (copies && ranges[0].size_bytes != ranges[1].size_bytes)
        sim_violate(device->sim, "command %u: a copy between two sizes", index);
    if (command->type == VYRE_COMMAND_FILL &&
        (ranges[0].offset_bytes % 4 != 0 || ranges[0].size_bytes % 4 != 0))
        sim_violate(device->sim, "command %u: a fill of parts of words", index);
    if ((command->type == VYRE_COMMAND_UPLOAD && !command->upload_bytes) ||
        (command->type == VYRE_COMMAND_DOWNLOAD && !command->download_bytes))
        sim_violate(device->sim, "command %u: no host memory", index);
}

/* What was derived from a view and left in it must still hold when it comes again. */
static void check_words(struct sim_device *device, const struct vyre_batch_view *view)
{
    if (!view->backend_words) {
        sim_violate(device->sim, "a view without words for the backend");
        return;
    }
    uint64_t shape = sim_shape(view);
    if (view->backend_words[0] == 0 && view->backend_words[VYRE_VIEW_WORDS - 1] == 0) {
        view->backend_words[0] = shape;
        view->backend_words[VYRE_VIEW_WORDS - 1] = ~shape;
    } else if (view->backend_words[0] != shape ||
               view->backend_words[VYRE_VIEW_WORDS - 1] != ~shape) {
        sim_violate(device->sim, "a view changed and kept the backend's words");
    }
}

void sim_check_view(struct sim_device *device, const struct vyre_batch_view *view)
{
    if ((view->host_buffers != NULL) && device->sim->desc.no_host_addresses)
        sim_violate(device->sim, "host buffers without host addresses");
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        if (command->first_range + command->range_count > view->range_count) {
            sim_violate(device->sim, "command %u: ranges outside the view", i);
            return;
        }
        for (uint32_t k = 0; k < command->range_count; k++)
            check_range(device, &view->ranges[command->first_range + k], i);
        if (command->type == VYRE_COMMAND_DISPATCH)
            check_dispatch(device, view, command, i);
        else
            check_transfer(device, view, command, i);
    }
    check_words(device, view);
}

/* ---- Plans ------------------------------------------------------------------------------------ */

static void check_node(struct vyre_sim *sim, const struct vyre_batch_plan *plan, uint32_t index)
{
    const struct vyre_plan_node *node = &plan->nodes[index];
    if (node->first_dep + node->dep_count > plan->dep_count) {
        sim_violate(sim, "plan: deps of command %u lie outside", index);
        return;
    }
    uint32_t level = 0;
    for (uint32_t i = 0; i < node->dep_count; i++) {
        uint32_t dep = plan->deps[node->first_dep + i];
        if (dep >= index) {
            sim_violate(sim, "plan: command %u depends on %u", index, dep);
            return;
        }
        if (plan->nodes[dep].level + 1 > level)
            level = plan->nodes[dep].level + 1;
    }
    if (node->level != level || node->level >= plan->level_count)
        sim_violate(sim, "plan: command %u is in level %u of %u, its deps say %u", index,
                    node->level, plan->level_count, level);
}

void sim_check_plan(struct vyre_sim *sim, const struct vyre_batch_view *view,
                    const struct vyre_batch_plan *plan)
{
    if (!plan) {
        if (sim->desc.order != VYRE_SIM_ORDER_SERIAL && !view->is_chain)
            sim_violate(sim, "no plan for a batch that is no chain");
        return;
    }
    if (plan->node_count != view->command_count) {
        sim_violate(sim, "plan: %u nodes for %u commands", plan->node_count, view->command_count);
        return;
    }
    uint32_t next = 0;
    for (uint32_t s = 0; s < plan->segment_count; s++) {
        const struct vyre_plan_segment *segment = &plan->segments[s];
        if (segment->first_command != next || segment->command_count == 0 ||
            segment->command_count > plan->node_count - next) {
            sim_violate(sim, "plan: segment %u starts at %u, not %u", s, segment->first_command,
                        next);
            return;
        }
        for (uint32_t i = 0; i < segment->command_count; i++, next++) {
            if (plan->nodes[next].segment != s || plan->nodes[next].arm >= segment->arm_count)
                sim_violate(sim, "plan: command %u is in segment %u, arm %u of %u", next,
                            plan->nodes[next].segment, plan->nodes[next].arm, segment->arm_count);
        }
    }
    if (next != plan->node_count)
        sim_violate(sim, "plan: segments cover %u of %u commands", next, plan->node_count);
    for (uint32_t i = 0; i < plan->node_count; i++)
        check_node(sim, plan, i);
}

/* ---- Shapes ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t mix_command(uint64_t hash, const struct vyre_batch_view *view,
                            const struct vyre_command *command)
{
    hash = mix(hash, (uint64_t)command->type);
    for (uint32_t i = 0; i < command->range_count; i++) {
        const struct vyre_bound_range *range = &view->ranges[command->first_range + i];
        hash = mix(hash, (uint64_t)(uintptr_t)range->buffer);
        hash = mix(hash, range->identity);
        hash = mix(hash, range->offset_bytes);
        hash = mix(hash, range->size_bytes);
        hash = mix(hash, (uint64_t)range->access);
    }
    if (command->type != VYRE_COMMAND_DISPATCH)
        return hash;
    hash = mix(hash, (uint64_t)(uintptr_t)command->kernel);
    for (int i = 0; i < 3; i++)
        hash = mix(hash, command->groups[i]);
    for (uint32_t i = 0; i < command->specialization_count; i++)
        hash = mix(hash, command->specialization[i]);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        hash = mix(hash, binding->slot);
        hash = mix(hash, (uint64_t)binding->kind);
        hash = mix(hash, binding->range_count);
        hash = mix(hash, binding->local_bytes);
    }
    return hash;
}

/* Never 0. Constants, fill words and host memory are not part of a shape. */
uint64_t sim_shape(const struct vyre_batch_view *view)
{
    uint64_t hash = mix(UINT64_C(0x5eed), view->command_count);
    for (uint32_t i = 0; i < view->command_count; i++)
        hash = mix_command(hash, view, &view->commands[i]);
    return hash | 1;
}

uint32_t sim_bakes(const struct vyre_sim *sim, uint32_t variant)
{
    return variant & VYRE_VARIANT_DRIVER ? sim->desc.driver_bakes : sim->desc.bakes;
}

uint64_t sim_baked(const struct vyre_batch_view *view, uint32_t bakes)
{
    uint64_t hash = 1;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        const unsigned char *constants = command->constants;
        for (uint32_t k = 0; bakes & VYRE_BAKES_CONSTANTS && k < command->constants_size_bytes; k++)
            hash = mix(hash, constants[k]);
        if (bakes & VYRE_BAKES_DOWNLOADS)
            hash = mix(hash, (uint64_t)(uintptr_t)command->download_bytes);
    }
    return hash;
}
