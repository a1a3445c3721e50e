/*
 * encode.c: levels, barriers, parts, dispatches. For moving bytes see transfers.c.
 */
#include "backend/vulkan/encode.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"
#include "base/groups.h"

/* ---- Barriers --------------------------------------------------------------------------------- */

static const struct stage_facts {
    VkPipelineStageFlags stage;
    VkAccessFlags writes;
    VkAccessFlags all;
} stages[VYRE_VK_STAGES] = {
    [VYRE_VK_COMPUTE] = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                         VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                             VK_ACCESS_UNIFORM_READ_BIT},
    [VYRE_VK_TRANSFER] = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT},
};

#define ALL_STAGES ((1u << VYRE_VK_STAGES) - 1)

/* From and to are bits of stages. */
static void put_barrier(struct vyre_vk_encoder *e, uint32_t from, uint32_t to)
{
    VkPipelineStageFlags from_stages = 0, to_stages = 0;
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    for (int i = 0; i < VYRE_VK_STAGES; i++) {
        if (from >> i & 1) {
            from_stages |= stages[i].stage;
            barrier.srcAccessMask |= stages[i].writes;
        }
        if (to >> i & 1) {
            to_stages |= stages[i].stage;
            barrier.dstAccessMask |= stages[i].all;
        }
    }
    e->device->vk.CmdPipelineBarrier(e->commands, from_stages, to_stages, 0, 1, &barrier, 0, NULL,
                                     0, NULL);
}

/* ---- Parts ------------------------------------------------------------------------------------ */

/* Whether the batch's label was put around the part. */
static bool begin_label(const struct vyre_vk_encoder *e)
{
    const struct vyre_vk_device *device = e->device;
    /* Queues for transfers only take no labels. */
    if (!e->view->label || !e->view->label[0] || !device->backend->has_labels ||
        !(e->stages >> VYRE_VK_COMPUTE & 1) || !device->vk.CmdBeginDebugUtilsLabelEXT ||
        !device->vk.CmdEndDebugUtilsLabelEXT)
        return false;
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pLabelName = e->view->label};
    device->vk.CmdBeginDebugUtilsLabelEXT(e->commands, &label);
    return true;
}

/* Begins the encoder's command buffer, for a queue that supports these stages. */
static enum vyre_status begin_commands(struct vyre_vk_encoder *e, uint32_t stage_bits,
                                       uint32_t level)
{
    VkCommandBufferUsageFlags usage = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    if (e->take)
        usage = e->recording->moves_bytes ? 0 : VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = usage};
    VkResult result = e->device->vk.BeginCommandBuffer(e->commands, &info);
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkBeginCommandBuffer", e->view->label, e->diag);
    e->last = NULL;
    e->layout = NULL;
    e->pipeline = VK_NULL_HANDLE;
    e->set = VK_NULL_HANDLE;
    e->constants_bytes = 0;
    e->downloads_in_part = false;
    e->stages = stage_bits;
    e->labelled = begin_label(e);
    put_barrier(e, stage_bits, stage_bits);
    vyre_vk_barriers_full(&e->barriers, level);
    return VYRE_OK;
}

static enum vyre_status begin_part(struct vyre_vk_encoder *e, uint32_t level)
{
    VkResult result = VK_SUCCESS;
    if (e->take)
        result = vyre_vk_take_add_part(e->device, e->take, &e->commands);
    else if (e->frame)
        e->commands = e->frame->commands;
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkAllocateCommandBuffers", e->view->label, e->diag);
    return begin_commands(e, ALL_STAGES, level);
}

static enum vyre_status end_part(struct vyre_vk_encoder *e)
{
    if (e->downloads_in_part) {
        const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                         .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                         .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
        e->device->vk.CmdPipelineBarrier(e->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0,
                                         NULL);
    }
    if (e->labelled)
        e->device->vk.CmdEndDebugUtilsLabelEXT(e->commands);
    VkResult result = e->device->vk.EndCommandBuffer(e->commands);
    return vyre_vk_check(result, "vkEndCommandBuffer", e->view->label, e->diag);
}

enum vyre_status vyre_vk_encoder_cut(struct vyre_vk_encoder *e, uint32_t level)
{
    vyre_vk_stamps_put(e->stamps);
    e->stamps = NULL;
    enum vyre_status status = end_part(e);
    if (status == VYRE_OK && e->frame)
        status = vyre_vk_encoder_run_part(e);
    if (status == VYRE_OK)
        status = begin_part(e, level);
    return status;
}

/* ---- Dispatches ------------------------------------------------------------------------------- */

/* Whether two dispatches of one layout have the same bindings. */
static bool binds_same(const struct vyre_batch_view *view, const struct vyre_command *a,
                       const struct vyre_command *b)
{
    if (a->binding_count != b->binding_count || a->range_count != b->range_count)
        return false;
    for (uint32_t i = 0; i < a->binding_count; i++) {
        const struct vyre_command_binding *x = &view->bindings[a->first_binding + i];
        const struct vyre_command_binding *y = &view->bindings[b->first_binding + i];
        if (x->kind != y->kind || x->range_count != y->range_count)
            return false;
    }
    for (uint32_t i = 0; i < a->range_count; i++) {
        const struct vyre_bound_range *x = &view->ranges[a->first_range + i];
        const struct vyre_bound_range *y = &view->ranges[b->first_range + i];
        if (x->identity != y->identity || x->offset_bytes != y->offset_bytes ||
            x->size_bytes != y->size_bytes)
            return false;
    }
    return true;
}

static enum vyre_status bind_pipeline(struct vyre_vk_encoder *e, const struct vyre_command *command)
{
    struct vyre_vk_pipeline *pipeline;
    enum vyre_status status =
        vyre_vk_kernel_pipeline(e->device, command->kernel, command, &pipeline, e->diag);
    if (status != VYRE_OK || pipeline->handle == e->pipeline)
        return status;
    if (e->recording)
        status = vyre_vk_recording_hold_pipeline(e->device, e->recording, pipeline, e->diag);
    else
        pipeline->last_value = e->device->next_value;
    if (status != VYRE_OK)
        return status;
    e->pipeline = pipeline->handle;
    e->device->vk.CmdBindPipeline(e->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    return VYRE_OK;
}

static enum vyre_status bind_set(struct vyre_vk_encoder *e, const struct vyre_command *command,
                                 const struct vyre_vk_layout *layout)
{
    if (e->layout == layout && e->last && binds_same(e->view, e->last, command))
        return VYRE_OK;
    struct vyre_vk_set *set;
    enum vyre_status status =
        vyre_vk_descriptors_find(e->device, layout, e->view, command, &set, e->diag);
    if (status != VYRE_OK)
        return status;
    if (e->recording)
        status = vyre_vk_recording_hold_set(e->device, e->recording, set, e->diag);
    else
        set->last_value = e->device->next_value;
    if (status != VYRE_OK)
        return status;
    e->last = command;
    e->layout = layout;
    if (set->handle == e->set)
        return VYRE_OK;
    e->set = set->handle;
    e->device->vk.CmdBindDescriptorSets(e->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        layout->pipeline, 0, 1, &set->handle, 0, NULL);
    return VYRE_OK;
}

static void push_constants(struct vyre_vk_encoder *e, const struct vyre_command *command,
                           const struct vyre_vk_layout *layout)
{
    uint32_t size = command->constants_size_bytes;
    if (size == 0 ||
        (size <= e->constants_bytes && memcmp(e->constants, command->constants, size) == 0))
        return;
    e->device->vk.CmdPushConstants(e->commands, layout->pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                   size, command->constants);
    memcpy(e->constants, command->constants, size);
    e->constants_bytes = size > e->constants_bytes ? size : e->constants_bytes;
}

static enum vyre_status encode_dispatch(struct vyre_vk_encoder *e,
                                        const struct vyre_command *command,
                                        const uint32_t groups[3])
{
    const struct vyre_vk_kernel *kernel = command->kernel;
    enum vyre_status status = bind_pipeline(e, command);
    if (status == VYRE_OK && kernel->layout->count > 0)
        status = bind_set(e, command, kernel->layout);
    if (status != VYRE_OK)
        return status;
    push_constants(e, command, kernel->layout);
    e->device->vk.CmdDispatch(e->commands, groups[0], groups[1], groups[2]);
    return VYRE_OK;
}

/* ---- Commands --------------------------------------------------------------------------------- */

/* Notes which buffers a recording touches, for uploads that go straight into mapped memory. */
static enum vyre_status note_buffers(struct vyre_vk_encoder *e, const struct vyre_command *command)
{
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < command->range_count; i++) {
        struct vyre_vk_buffer *buffer = e->view->ranges[command->first_range + i].buffer;
        if (buffer)
            status = vyre_vk_recording_note_buffer(e->device, e->recording, buffer, e->diag);
    }
    return status;
}

/* A dispatch; `alone`: nothing else of the batch runs beside it. */
static enum vyre_status encode_timed(struct vyre_vk_encoder *e, uint32_t index, bool alone)
{
    const struct vyre_command *command = &e->view->commands[index];
    struct vyre_vk_stamps *stamps = alone ? e->stamps : NULL;
    if (stamps)
        vyre_vk_stamps_write(e->device, stamps, e->commands, index, false);
    enum vyre_status status = encode_dispatch(e, command, command->groups);
    if (stamps && status == VYRE_OK)
        vyre_vk_stamps_write(e->device, stamps, e->commands, index, true);
    return status;
}

static enum vyre_status encode_command(struct vyre_vk_encoder *e, uint32_t index, uint32_t level,
                                       bool waits, bool alone)
{
    const struct vyre_command *command = &e->view->commands[index];
    const struct vyre_bound_range *ranges = e->view->ranges + command->first_range;
    if (command->type == VYRE_COMMAND_UPLOAD && !waits && e->frame &&
        vyre_vk_upload_directly(e, command))
        return VYRE_OK;
    enum vyre_status status = e->recording ? note_buffers(e, command) : VYRE_OK;
    if (status != VYRE_OK)
        return status;
    if (command->type != VYRE_COMMAND_DISPATCH && level == 0)
        e->transfers_on_first = true;
    switch (command->type) {
    case VYRE_COMMAND_DISPATCH:
        if (vyre_groups_total(command->groups) > 0)
            status = encode_timed(e, index, alone);
        break;
    case VYRE_COMMAND_COPY:
        vyre_vk_encode_copy(e, &ranges[0], &ranges[1]);
        break;
    case VYRE_COMMAND_FILL:
        vyre_vk_encode_fill(e, &ranges[0], command->fill_word);
        break;
    case VYRE_COMMAND_UPLOAD:
        status = vyre_vk_encode_upload(e, index, level);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        status = vyre_vk_encode_download(e, index, level);
        break;
    }
    return status;
}

/* ---- Batches ---------------------------------------------------------------------------------- */

static void put_needed_barrier(struct vyre_vk_encoder *e, uint32_t level)
{
    uint32_t from, to;
    if (vyre_vk_barriers_take(&e->barriers, level, &from, &to))
        put_barrier(e, from, to);
}

static enum vyre_status encode_chain(struct vyre_vk_encoder *e)
{
    const struct vyre_command *commands = e->view->commands;
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < e->view->command_count; i++) {
        if (i > 0) {
            vyre_vk_barriers_need(&e->barriers, vyre_vk_stage_of(&commands[i - 1]), i - 1,
                                  vyre_vk_stage_of(&commands[i]));
            put_needed_barrier(e, i);
        }
        status = encode_command(e, i, i, i > 0, true);
        if (i == 0 && !e->transfers_on_first)
            vyre_vk_barriers_skip_first_transfers(&e->barriers);
    }
    return status;
}

static enum vyre_status encode_level(struct vyre_vk_encoder *e, uint32_t level,
                                     const uint32_t *order, uint32_t count)
{
    const struct vyre_batch_plan *plan = e->plan;
    const struct vyre_command *commands = e->view->commands;
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const struct vyre_plan_node *node = &plan->nodes[order[i]];
        for (uint32_t j = 0; j < node->dep_count; j++) {
            uint32_t dep = plan->deps[node->first_dep + j];
            if (e->lanes && e->lanes->step_of[dep] != e->step)
                continue; /* semaphores and the barrier at the start of the step order them */
            vyre_vk_barriers_need(&e->barriers, vyre_vk_stage_of(&commands[dep]),
                                  plan->nodes[dep].level, vyre_vk_stage_of(&commands[order[i]]));
        }
    }
    put_needed_barrier(e, level);
    for (uint32_t i = 0; status == VYRE_OK && i < count; i++)
        status = encode_command(e, order[i], level, level > 0 || e->lanes, count == 1);
    if (level == 0 && !e->lanes && !e->transfers_on_first)
        vyre_vk_barriers_skip_first_transfers(&e->barriers);
    return status;
}

static enum vyre_status encode_planned(struct vyre_vk_encoder *e)
{
    uint32_t *order, *ends;
    if (!vyre_vk_device_order(e->device, e->plan, &order, &ends))
        return vyre_diag_set(e->diag, VYRE_DIAG_OUT_OF_MEMORY, e->view->label, 0,
                             "no memory for the order of %u commands", e->plan->node_count);
    enum vyre_status status = VYRE_OK;
    uint32_t begin = 0;
    for (uint32_t level = 0; status == VYRE_OK && level < e->plan->level_count; level++) {
        status = encode_level(e, level, order + begin, ends[level] - begin);
        begin = ends[level];
    }
    return status;
}

static enum vyre_status encode_step(struct vyre_vk_encoder *e)
{
    const struct vyre_planned_step *step = &e->lanes->steps[e->step];
    const uint32_t *order = e->lanes->order + step->first;
    bool computes = step->lane < e->device->physical->shape.compute;
    VkResult result = vyre_vk_steps_add(e->device, e->steps, step, &e->commands);
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkCreateCommandPool or vkAllocateCommandBuffers",
                             e->view->label, e->diag);
    enum vyre_status status = begin_commands(e, computes ? ALL_STAGES : 1u << VYRE_VK_TRANSFER,
                                             e->plan->nodes[order[0]].level);
    for (uint32_t begin = 0; status == VYRE_OK && begin < step->count;) {
        uint32_t level = e->plan->nodes[order[begin]].level;
        uint32_t end = begin + 1;
        while (end < step->count && e->plan->nodes[order[end]].level == level)
            end++;
        status = encode_level(e, level, order + begin, end - begin);
        begin = end;
    }
    return status == VYRE_OK ? end_part(e) : status;
}

static enum vyre_status encode_steps(struct vyre_vk_encoder *e)
{
    enum vyre_status status = VYRE_OK;
    for (e->step = 0; status == VYRE_OK && e->step < e->lanes->step_count; e->step++)
        status = encode_step(e);
    return status;
}

enum vyre_status vyre_vk_encode(struct vyre_vk_encoder *encoder)
{
    if (encoder->lanes)
        return encode_steps(encoder);
    enum vyre_status status = begin_part(encoder, 0);
    if (status == VYRE_OK && encoder->stamps)
        vyre_vk_stamps_begin(encoder->device, encoder->stamps, encoder->commands);
    if (status == VYRE_OK)
        status = encoder->plan ? encode_planned(encoder) : encode_chain(encoder);
    if (status == VYRE_OK && encoder->stamps)
        vyre_vk_stamps_end(encoder->device, encoder->stamps, encoder->commands);
    if (status == VYRE_OK)
        status = end_part(encoder);
    return status;
}

enum vyre_status vyre_vk_encode_empty(struct vyre_vk_encoder *encoder)
{
    static const uint32_t none[3] = {0, 0, 0};
    enum vyre_status status = begin_part(encoder, 0);
    for (uint32_t i = 0; status == VYRE_OK && i < encoder->view->command_count; i++) {
        if (encoder->view->commands[i].type == VYRE_COMMAND_DISPATCH)
            status = encode_dispatch(encoder, &encoder->view->commands[i], none);
    }
    if (status == VYRE_OK)
        status = end_part(encoder);
    return status;
}
