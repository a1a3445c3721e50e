/*
 * writer.c: levels, barriers, parts, dispatches. Bytes that move: see transfers.c.
 */
#include "backend/vulkan/writer.h"

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
static void put_barrier(struct vyre_vk_writer *w, uint32_t from, uint32_t to)
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
    w->device->vk.CmdPipelineBarrier(w->commands, from_stages, to_stages, 0, 1, &barrier, 0, NULL,
                                     0, NULL);
}

/* ---- Parts ------------------------------------------------------------------------------------ */

/* Whether the batch's label was put around the part. */
static bool begin_label(const struct vyre_vk_writer *w)
{
    const struct vyre_vk_device *device = w->device;
    /* Queues for transfers alone take no labels. */
    if (!w->view->label || !w->view->label[0] || !device->backend->has_labels ||
        !(w->stages >> VYRE_VK_COMPUTE & 1) || !device->vk.CmdBeginDebugUtilsLabelEXT ||
        !device->vk.CmdEndDebugUtilsLabelEXT)
        return false;
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pLabelName = w->view->label};
    device->vk.CmdBeginDebugUtilsLabelEXT(w->commands, &label);
    return true;
}

/* Begins the writer's command buffer, for a queue that knows these stages. */
static enum vyre_status begin_commands(struct vyre_vk_writer *w, uint32_t stage_bits,
                                       uint32_t level)
{
    VkCommandBufferUsageFlags usage = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    if (w->take)
        usage = w->recording->moves_bytes ? 0 : VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = usage};
    VkResult result = w->device->vk.BeginCommandBuffer(w->commands, &info);
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkBeginCommandBuffer", w->view->label, w->diag);
    w->last = NULL;
    w->layout = NULL;
    w->pipeline = VK_NULL_HANDLE;
    w->set = VK_NULL_HANDLE;
    w->constants_bytes = 0;
    w->downloads_in_part = false;
    w->stages = stage_bits;
    w->labelled = begin_label(w);
    put_barrier(w, stage_bits, stage_bits);
    vyre_vk_barriers_full(&w->barriers, level);
    return VYRE_OK;
}

static enum vyre_status begin_part(struct vyre_vk_writer *w, uint32_t level)
{
    VkResult result = VK_SUCCESS;
    if (w->take)
        result = vyre_vk_take_add_part(w->device, w->take, &w->commands);
    else if (w->frame)
        w->commands = w->frame->commands;
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkAllocateCommandBuffers", w->view->label, w->diag);
    return begin_commands(w, ALL_STAGES, level);
}

static enum vyre_status end_part(struct vyre_vk_writer *w)
{
    if (w->downloads_in_part) {
        const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                         .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                         .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
        w->device->vk.CmdPipelineBarrier(w->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0,
                                         NULL);
    }
    if (w->labelled)
        w->device->vk.CmdEndDebugUtilsLabelEXT(w->commands);
    VkResult result = w->device->vk.EndCommandBuffer(w->commands);
    return vyre_vk_check(result, "vkEndCommandBuffer", w->view->label, w->diag);
}

enum vyre_status vyre_vk_writer_cut(struct vyre_vk_writer *w, uint32_t level)
{
    enum vyre_status status = end_part(w);
    if (status == VYRE_OK && w->frame)
        status = vyre_vk_writer_run_part(w);
    if (status == VYRE_OK)
        status = begin_part(w, level);
    return status;
}

/* ---- Dispatches ------------------------------------------------------------------------------- */

/* Whether two dispatches of one layout bind the same. */
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

static enum vyre_status bind_pipeline(struct vyre_vk_writer *w, const struct vyre_command *command)
{
    struct vyre_vk_pipeline *pipeline;
    enum vyre_status status =
        vyre_vk_kernel_pipeline(w->device, command->kernel, command, &pipeline, w->diag);
    if (status != VYRE_OK || pipeline->handle == w->pipeline)
        return status;
    if (w->recording)
        status = vyre_vk_recording_hold_pipeline(w->device, w->recording, pipeline, w->diag);
    else
        pipeline->last_value = w->device->next_value;
    if (status != VYRE_OK)
        return status;
    w->pipeline = pipeline->handle;
    w->device->vk.CmdBindPipeline(w->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    return VYRE_OK;
}

static enum vyre_status bind_set(struct vyre_vk_writer *w, const struct vyre_command *command,
                                 const struct vyre_vk_layout *layout)
{
    if (w->layout == layout && w->last && binds_same(w->view, w->last, command))
        return VYRE_OK;
    struct vyre_vk_set *set;
    enum vyre_status status =
        vyre_vk_descriptors_find(w->device, layout, w->view, command, &set, w->diag);
    if (status != VYRE_OK)
        return status;
    if (w->recording)
        status = vyre_vk_recording_hold_set(w->device, w->recording, set, w->diag);
    else
        set->last_value = w->device->next_value;
    if (status != VYRE_OK)
        return status;
    w->last = command;
    w->layout = layout;
    if (set->handle == w->set)
        return VYRE_OK;
    w->set = set->handle;
    w->device->vk.CmdBindDescriptorSets(w->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        layout->pipeline, 0, 1, &set->handle, 0, NULL);
    return VYRE_OK;
}

static void push_constants(struct vyre_vk_writer *w, const struct vyre_command *command,
                           const struct vyre_vk_layout *layout)
{
    uint32_t size = command->constants_size_bytes;
    if (size == 0 ||
        (size <= w->constants_bytes && memcmp(w->constants, command->constants, size) == 0))
        return;
    w->device->vk.CmdPushConstants(w->commands, layout->pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                   size, command->constants);
    memcpy(w->constants, command->constants, size);
    w->constants_bytes = size > w->constants_bytes ? size : w->constants_bytes;
}

static enum vyre_status write_dispatch(struct vyre_vk_writer *w, const struct vyre_command *command,
                                       const uint32_t groups[3])
{
    const struct vyre_vk_kernel *kernel = command->kernel;
    enum vyre_status status = bind_pipeline(w, command);
    if (status == VYRE_OK && kernel->layout->count > 0)
        status = bind_set(w, command, kernel->layout);
    if (status != VYRE_OK)
        return status;
    push_constants(w, command, kernel->layout);
    w->device->vk.CmdDispatch(w->commands, groups[0], groups[1], groups[2]);
    return VYRE_OK;
}

/* ---- Commands --------------------------------------------------------------------------------- */

/* Notes which buffers a recording touches, for uploads that go straight into mapped memory. */
static enum vyre_status note_buffers(struct vyre_vk_writer *w, const struct vyre_command *command)
{
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < command->range_count; i++) {
        struct vyre_vk_buffer *buffer = w->view->ranges[command->first_range + i].buffer;
        if (buffer)
            status = vyre_vk_recording_note_buffer(w->device, w->recording, buffer, w->diag);
    }
    return status;
}

static enum vyre_status write_command(struct vyre_vk_writer *w, uint32_t index, uint32_t level,
                                      bool waits)
{
    const struct vyre_command *command = &w->view->commands[index];
    const struct vyre_bound_range *ranges = w->view->ranges + command->first_range;
    if (command->type == VYRE_COMMAND_UPLOAD && !waits && w->frame &&
        vyre_vk_upload_directly(w, command))
        return VYRE_OK;
    enum vyre_status status = w->recording ? note_buffers(w, command) : VYRE_OK;
    if (status != VYRE_OK)
        return status;
    if (command->type != VYRE_COMMAND_DISPATCH && level == 0)
        w->transfers_on_first = true;
    switch (command->type) {
    case VYRE_COMMAND_DISPATCH:
        if (vyre_groups_total(command->groups) > 0)
            status = write_dispatch(w, command, command->groups);
        break;
    case VYRE_COMMAND_COPY:
        vyre_vk_write_copy(w, &ranges[0], &ranges[1]);
        break;
    case VYRE_COMMAND_FILL:
        vyre_vk_write_fill(w, &ranges[0], command->fill_word);
        break;
    case VYRE_COMMAND_UPLOAD:
        status = vyre_vk_write_upload(w, index, level);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        status = vyre_vk_write_download(w, index, level);
        break;
    }
    return status;
}

/* ---- Batches ---------------------------------------------------------------------------------- */

static void put_needed_barrier(struct vyre_vk_writer *w, uint32_t level)
{
    uint32_t from, to;
    if (vyre_vk_barriers_take(&w->barriers, level, &from, &to))
        put_barrier(w, from, to);
}

static enum vyre_status write_chain(struct vyre_vk_writer *w)
{
    const struct vyre_command *commands = w->view->commands;
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < w->view->command_count; i++) {
        if (i > 0) {
            vyre_vk_barriers_need(&w->barriers, vyre_vk_stage_of(&commands[i - 1]), i - 1,
                                  vyre_vk_stage_of(&commands[i]));
            put_needed_barrier(w, i);
        }
        status = write_command(w, i, i, i > 0);
        if (i == 0 && !w->transfers_on_first)
            vyre_vk_barriers_skip_first_transfers(&w->barriers);
    }
    return status;
}

static enum vyre_status write_level(struct vyre_vk_writer *w, uint32_t level, const uint32_t *order,
                                    uint32_t count)
{
    const struct vyre_batch_plan *plan = w->plan;
    const struct vyre_command *commands = w->view->commands;
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const struct vyre_plan_node *node = &plan->nodes[order[i]];
        for (uint32_t j = 0; j < node->dep_count; j++) {
            uint32_t dep = plan->deps[node->first_dep + j];
            if (w->lanes && w->lanes->step_of[dep] != w->step)
                continue; /* semaphores and the barrier that begins the step */
            vyre_vk_barriers_need(&w->barriers, vyre_vk_stage_of(&commands[dep]),
                                  plan->nodes[dep].level, vyre_vk_stage_of(&commands[order[i]]));
        }
    }
    put_needed_barrier(w, level);
    for (uint32_t i = 0; status == VYRE_OK && i < count; i++)
        status = write_command(w, order[i], level, level > 0 || w->lanes);
    if (level == 0 && !w->lanes && !w->transfers_on_first)
        vyre_vk_barriers_skip_first_transfers(&w->barriers);
    return status;
}

static enum vyre_status write_planned(struct vyre_vk_writer *w)
{
    uint32_t *order, *ends;
    if (!vyre_vk_device_order(w->device, w->plan, &order, &ends))
        return vyre_diag_set(w->diag, VYRE_DIAG_OUT_OF_MEMORY, w->view->label, 0,
                             "no memory for the order of %u commands", w->plan->node_count);
    enum vyre_status status = VYRE_OK;
    uint32_t begin = 0;
    for (uint32_t level = 0; status == VYRE_OK && level < w->plan->level_count; level++) {
        status = write_level(w, level, order + begin, ends[level] - begin);
        begin = ends[level];
    }
    return status;
}

static enum vyre_status write_step(struct vyre_vk_writer *w)
{
    const struct vyre_planned_step *step = &w->lanes->steps[w->step];
    const uint32_t *order = w->lanes->order + step->first;
    bool computes = step->lane < w->device->physical->shape.compute;
    VkResult result = vyre_vk_steps_add(w->device, w->steps, step, &w->commands);
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkCreateCommandPool or vkAllocateCommandBuffers",
                             w->view->label, w->diag);
    enum vyre_status status = begin_commands(w, computes ? ALL_STAGES : 1u << VYRE_VK_TRANSFER,
                                             w->plan->nodes[order[0]].level);
    for (uint32_t begin = 0; status == VYRE_OK && begin < step->count;) {
        uint32_t level = w->plan->nodes[order[begin]].level;
        uint32_t end = begin + 1;
        while (end < step->count && w->plan->nodes[order[end]].level == level)
            end++;
        status = write_level(w, level, order + begin, end - begin);
        begin = end;
    }
    return status == VYRE_OK ? end_part(w) : status;
}

static enum vyre_status write_steps(struct vyre_vk_writer *w)
{
    enum vyre_status status = VYRE_OK;
    for (w->step = 0; status == VYRE_OK && w->step < w->lanes->step_count; w->step++)
        status = write_step(w);
    return status;
}

enum vyre_status vyre_vk_write(struct vyre_vk_writer *writer)
{
    if (writer->lanes)
        return write_steps(writer);
    enum vyre_status status = begin_part(writer, 0);
    if (status == VYRE_OK)
        status = writer->plan ? write_planned(writer) : write_chain(writer);
    if (status == VYRE_OK)
        status = end_part(writer);
    return status;
}

enum vyre_status vyre_vk_write_empty(struct vyre_vk_writer *writer)
{
    static const uint32_t none[3] = {0, 0, 0};
    enum vyre_status status = begin_part(writer, 0);
    for (uint32_t i = 0; status == VYRE_OK && i < writer->view->command_count; i++) {
        if (writer->view->commands[i].type == VYRE_COMMAND_DISPATCH)
            status = write_dispatch(writer, &writer->view->commands[i], none);
    }
    if (status == VYRE_OK)
        status = end_part(writer);
    return status;
}
