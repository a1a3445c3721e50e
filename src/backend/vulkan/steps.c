/*
 * steps.c: lanes, their command buffers, their submits.
 */
#include "backend/vulkan/steps.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"

/* ---- Lanes ------------------------------------------------------------------------------------ */

enum vyre_status vyre_vk_lanes_init(struct vyre_vk_device *device, struct vyre_diag *diag)
{
    const struct vyre_vk_physical *physical = device->physical;
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    for (uint32_t i = 0; i < physical->lane_count; i++) {
        struct vyre_vk_lane *lane = &device->lanes[i];
        const struct vyre_vk_lane_place *place = &physical->lanes[i];
        device->vk.GetDeviceQueue(device->handle, physical->families[place->family], place->index,
                                  &lane->queue);
        if (physical->lane_count == 1)
            break;
        VkResult result = device->vk.CreateSemaphore(device->handle, &info, NULL, &lane->link);
        if (result != VK_SUCCESS) {
            lane->link = VK_NULL_HANDLE;
            return vyre_vk_check(result, "vkCreateSemaphore", NULL, diag);
        }
    }
    return VYRE_OK;
}

void vyre_vk_lanes_deinit(struct vyre_vk_device *device)
{
    for (uint32_t i = 0; i < device->physical->lane_count; i++) {
        if (device->lanes[i].link)
            device->vk.DestroySemaphore(device->handle, device->lanes[i].link, NULL);
        device->lanes[i].link = VK_NULL_HANDLE;
    }
}

static bool has_reached(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t wanted)
{
    uint64_t value = 0;
    return device->vk.GetSemaphoreCounterValue(device->handle, semaphore, &value) == VK_SUCCESS &&
           value >= wanted;
}

bool vyre_vk_lanes_are_idle(struct vyre_vk_device *device)
{
    bool idle = has_reached(device, device->timeline, device->next_value - 1);
    for (uint32_t i = 0; idle && i < device->physical->lane_count; i++) {
        const struct vyre_vk_lane *lane = &device->lanes[i];
        idle = !lane->link || has_reached(device, lane->link, lane->linked);
    }
    return idle;
}

/* ---- Command buffers -------------------------------------------------------------------------- */

static bool reserve_buffer(struct vyre_vk_device *device, struct vyre_vk_spool *spool)
{
    VkCommandBuffer *grown =
        vyre_memory_grow(&device->allocator, spool->items, spool->made, &spool->capacity,
                         sizeof *spool->items, _Alignof(VkCommandBuffer));
    spool->items = grown ? grown : spool->items;
    return grown != NULL;
}

static bool reserve_step(struct vyre_vk_device *device, struct vyre_vk_steps *steps)
{
    struct vyre_vk_step *grown =
        vyre_memory_grow(&device->allocator, steps->items, steps->count, &steps->capacity,
                         sizeof *steps->items, _Alignof(struct vyre_vk_step));
    steps->items = grown ? grown : steps->items;
    return grown != NULL;
}

bool vyre_vk_steps_reserve(struct vyre_vk_device *device, struct vyre_vk_steps *steps)
{
    if (device->physical->lane_count == 1)
        return true;
    bool there = reserve_step(device, steps);
    for (uint32_t i = 0; there && i < device->physical->family_count; i++)
        there = reserve_buffer(device, &steps->spools[i]);
    return there;
}

static VkResult add_buffer(struct vyre_vk_device *device, struct vyre_vk_spool *spool,
                           uint32_t family)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = family};
    VkResult result = VK_SUCCESS;
    if (!reserve_buffer(device, spool))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!spool->pool)
        result = device->vk.CreateCommandPool(device->handle, &pool, NULL, &spool->pool);
    if (result != VK_SUCCESS) {
        spool->pool = VK_NULL_HANDLE;
        return result;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = spool->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = device->vk.AllocateCommandBuffers(device->handle, &info, &spool->items[spool->made]);
    if (result == VK_SUCCESS)
        spool->made++;
    return result;
}

VkResult vyre_vk_steps_add(struct vyre_vk_device *device, struct vyre_vk_steps *steps,
                           const struct vyre_planned_step *planned, VkCommandBuffer *out_commands)
{
    uint32_t family = device->physical->lanes[planned->lane].family;
    struct vyre_vk_spool *spool = &steps->spools[family];
    VkResult result = VK_SUCCESS;
    if (!reserve_step(device, steps))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (spool->used == spool->made)
        result = add_buffer(device, spool, device->physical->families[family]);
    if (result != VK_SUCCESS)
        return result;
    *out_commands = spool->items[spool->used++];
    steps->items[steps->count++] = (struct vyre_vk_step){.commands = *out_commands,
                                                         .lane = planned->lane,
                                                         .waits = planned->waits,
                                                         .group = planned->group,
                                                         .ahead = planned->ahead};
    return VK_SUCCESS;
}

VkResult vyre_vk_steps_reset(struct vyre_vk_device *device, struct vyre_vk_steps *steps)
{
    VkResult result = VK_SUCCESS;
    for (int i = 0; result == VK_SUCCESS && i < VYRE_LANES_MAX; i++) {
        struct vyre_vk_spool *spool = &steps->spools[i];
        if (spool->used > 0)
            result = device->vk.ResetCommandPool(device->handle, spool->pool, 0);
        spool->used = result == VK_SUCCESS ? 0 : spool->used;
    }
    steps->count = 0;
    return result;
}

void vyre_vk_steps_deinit(struct vyre_vk_device *device, struct vyre_vk_steps *steps)
{
    for (int i = 0; i < VYRE_LANES_MAX; i++) {
        struct vyre_vk_spool *spool = &steps->spools[i];
        if (spool->pool)
            device->vk.DestroyCommandPool(device->handle, spool->pool, NULL);
        vyre_memory_free(&device->allocator, spool->items, spool->capacity * sizeof *spool->items,
                         _Alignof(VkCommandBuffer));
    }
    vyre_memory_free(&device->allocator, steps->items, steps->capacity * sizeof *steps->items,
                     _Alignof(struct vyre_vk_step));
    *steps = (struct vyre_vk_steps){0};
}

/* ---- Submits ---------------------------------------------------------------------------------- */

/* One call of vkQueueSubmit. */
struct submit {
    uint32_t lane;
    VkCommandBuffer commands[2];
    uint32_t command_count;
    VkSemaphore wait[VYRE_LANES_MAX + 1];
    uint64_t wait_values[VYRE_LANES_MAX + 1];
    VkPipelineStageFlags wait_stages[VYRE_LANES_MAX + 1];
    uint32_t wait_count;
};

/* The stages of the lane's queue, which are those that must wait. */
static VkPipelineStageFlags stages_of(const struct vyre_vk_device *device, uint32_t lane)
{
    return lane < device->physical->shape.compute
               ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT
               : VK_PIPELINE_STAGE_TRANSFER_BIT;
}

static void add_commands(struct submit *submit, VkCommandBuffer commands)
{
    submit->commands[submit->command_count++] = commands;
}

static void add_wait(struct submit *submit, VkSemaphore semaphore, uint64_t value,
                     VkPipelineStageFlags stages)
{
    submit->wait[submit->wait_count] = semaphore;
    submit->wait_values[submit->wait_count] = value;
    submit->wait_stages[submit->wait_count++] = stages;
}

static VkResult send(struct vyre_vk_device *device, const struct submit *submit, VkSemaphore signal,
                     uint64_t value)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = submit->wait_count,
        .pWaitSemaphoreValues = submit->wait_values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = submit->wait_count,
        .pWaitSemaphores = submit->wait,
        .pWaitDstStageMask = submit->wait_stages,
        .commandBufferCount = submit->command_count,
        .pCommandBuffers = submit->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &signal,
    };
    return device->vk.QueueSubmit(device->lanes[submit->lane].queue, 1, &info, VK_NULL_HANDLE);
}

/* Submits, and increments the lane's link. */
static VkResult send_linked(struct vyre_vk_device *device, const struct submit *submit)
{
    struct vyre_vk_lane *lane = &device->lanes[submit->lane];
    VkResult result = send(device, submit, lane->link, lane->linked + 1);
    if (result == VK_SUCCESS)
        lane->linked++;
    return result;
}

/* Submits the last part of a batch, which signals its value. */
static VkResult send_last(struct vyre_vk_device *device, const struct submit *submit)
{
    VkResult result = send(device, submit, device->timeline, device->next_value);
    if (result == VK_SUCCESS)
        device->next_value++;
    return result;
}

static void prepare_step(const struct vyre_vk_device *device, const struct vyre_vk_step *step,
                         bool ahead, const uint64_t links[VYRE_LANES_MAX],
                         struct submit *out_submit)
{
    VkPipelineStageFlags stages = stages_of(device, step->lane);
    *out_submit = (struct submit){.lane = step->lane};
    add_commands(out_submit, step->commands);
    /* The batch before it is on lane 0 too, where each command buffer begins with a barrier. */
    if (step->lane != 0 && !(step->ahead && ahead))
        add_wait(out_submit, device->timeline, device->next_value - 1, stages);
    for (uint32_t lane = 0; lane < device->physical->lane_count; lane++) {
        if (step->waits >> lane & 1)
            add_wait(out_submit, device->lanes[lane].link, links[lane], stages);
    }
}

/*
 * Ends the batch on lane 0, waiting for all lanes used. If the last step is alone in its group and
 * on lane 0, it ends the batch itself. All stages wait, so that an empty submit and a timestamp
 * wait too.
 */
static VkResult end(struct vyre_vk_device *device, const struct vyre_vk_step *last, uint32_t used,
                    const struct vyre_vk_timer *timer)
{
    struct submit submit = {.lane = 0};
    if (last)
        add_commands(&submit, last->commands);
    if (timer)
        add_commands(&submit, timer->end);
    for (uint32_t lane = 1; lane < device->physical->lane_count; lane++) {
        if (used >> lane & 1)
            add_wait(&submit, device->lanes[lane].link, device->lanes[lane].linked,
                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    }
    return send_last(device, &submit);
}

/* The last step, if it can end the batch. */
static const struct vyre_vk_step *last_alone(const struct vyre_vk_steps *steps)
{
    const struct vyre_vk_step *last = &steps->items[steps->count - 1];
    bool alone = steps->count == 1 || last[-1].group != last->group;
    return last->lane == 0 && alone ? last : NULL;
}

/* Waits for the submitted steps of a batch that cannot be completed. */
static VkResult settle(struct vyre_vk_device *device)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < device->physical->lane_count; i++)
        result = vyre_vk_await_link(device, device->lanes[i].link, device->lanes[i].linked);
    return result;
}

VkResult vyre_vk_steps_queue(struct vyre_vk_device *device, const struct vyre_vk_steps *steps,
                             bool ahead, const struct vyre_vk_timer *timer, bool *out_begun)
{
    const struct vyre_vk_step *last = last_alone(steps);
    uint64_t links[VYRE_LANES_MAX] = {0};
    struct submit submit = {.lane = 0};
    uint32_t used = 0;
    uint32_t group = UINT32_MAX;
    VkResult result = VK_SUCCESS;
    *out_begun = false;
    if (timer) {
        add_commands(&submit, timer->begin);
        result = send_linked(device, &submit);
        *out_begun = result == VK_SUCCESS;
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < steps->count - (last ? 1 : 0); i++) {
        struct vyre_vk_step step = steps->items[i];
        for (uint32_t lane = 0; step.group != group && lane < device->physical->lane_count; lane++)
            links[lane] = device->lanes[lane].linked;
        group = step.group;
        if (timer && step.lane != 0 && !(step.ahead && ahead)) /* the time begins before it */
            step.waits |= 1;
        prepare_step(device, &step, ahead, links, &submit);
        result = send_linked(device, &submit);
        *out_begun |= result == VK_SUCCESS;
        used |= 1u << step.lane;
    }
    if (result == VK_SUCCESS)
        result = end(device, last, used, timer);
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST && *out_begun) {
        VkResult settled = settle(device);
        result = settled == VK_SUCCESS ? result : settled;
    }
    return result;
}
