/*
 * frame.c: command buffers of plain batches.
 */
#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"

static void destroy(struct vyre_vk_device *device, struct vyre_vk_frame *frame)
{
    if (frame->pool)
        device->vk.DestroyCommandPool(device->handle, frame->pool, NULL);
    vyre_vk_steps_deinit(device, &frame->steps);
    vyre_vk_transfers_deinit(&frame->uploads, &device->allocator);
    vyre_vk_transfers_deinit(&frame->downloads, &device->allocator);
    vyre_memory_free(&device->allocator, frame, sizeof *frame, _Alignof(struct vyre_vk_frame));
}

static VkResult create(struct vyre_vk_device *device, struct vyre_vk_frame *frame)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                          .queueFamilyIndex = device->physical->families[0]};
    /*
     * Which of these a batch needs depends on what is in flight, so for a steady load all are
     * allocated now.
     */
    if (!vyre_vk_steps_reserve(device, &frame->steps) ||
        !vyre_vk_transfers_reserve(&frame->uploads, &device->allocator) ||
        !vyre_vk_transfers_reserve(&frame->downloads, &device->allocator))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = device->vk.CreateCommandPool(device->handle, &pool, NULL, &frame->pool);
    if (result != VK_SUCCESS) {
        frame->pool = VK_NULL_HANDLE;
        return result;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = frame->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return device->vk.AllocateCommandBuffers(device->handle, &info, &frame->commands);
}

enum vyre_status vyre_vk_frame_take(struct vyre_vk_device *device, struct vyre_vk_frame **out_frame,
                                    const char *label, struct vyre_diag *diag)
{
    *out_frame = NULL;
    /* The frames of a lost device are not really free: its work may still use them. */
    if (vyre_is_lost(&device->flight.loss))
        return vyre_loss_status(&device->flight.loss, diag);
    vyre_lock_acquire(&device->flight.lock);
    struct vyre_vk_frame *frame = device->free_frames;
    if (frame)
        device->free_frames = frame->next;
    vyre_lock_release(&device->flight.lock);
    VkResult result;
    if (frame) {
        result = device->vk.ResetCommandPool(device->handle, frame->pool, 0);
        if (result == VK_SUCCESS)
            result = vyre_vk_steps_reset(device, &frame->steps);
        frame->uploads.count = 0;
        frame->downloads.count = 0;
    } else {
        frame =
            vyre_memory_allocate(&device->allocator, sizeof *frame, _Alignof(struct vyre_vk_frame));
        if (!frame)
            return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0,
                                 "no memory for a command buffer");
        result = create(device, frame);
    }
    if (result != VK_SUCCESS) {
        destroy(device, frame);
        return vyre_vk_check(result, "vkResetCommandPool or vkCreateCommandPool", label, diag);
    }
    *out_frame = frame;
    return VYRE_OK;
}

void vyre_vk_frame_put_locked(struct vyre_vk_device *device, struct vyre_vk_frame *frame)
{
    frame->next = device->free_frames;
    device->free_frames = frame;
}

void vyre_vk_frame_put(struct vyre_vk_device *device, struct vyre_vk_frame *frame)
{
    vyre_lock_acquire(&device->flight.lock);
    vyre_vk_frame_put_locked(device, frame);
    vyre_lock_release(&device->flight.lock);
}

enum vyre_status vyre_vk_frame_begin(struct vyre_vk_device *device,
                                     struct vyre_vk_frame **out_frame, const char *label,
                                     struct vyre_diag *diag)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    enum vyre_status status = vyre_vk_frame_take(device, out_frame, label, diag);
    struct vyre_vk_frame *frame = *out_frame;
    if (status != VYRE_OK || !frame)
        return status;
    VkResult result = device->vk.BeginCommandBuffer(frame->commands, &info);
    if (result != VK_SUCCESS)
        vyre_vk_frame_put(device, frame);
    return vyre_vk_check(result, "vkBeginCommandBuffer", label, diag);
}

enum vyre_status vyre_vk_frame_run(struct vyre_vk_device *device, struct vyre_vk_frame *frame,
                                   const char *label, struct vyre_diag *diag)
{
    struct vyre_diag own; /* the reason of a loss is needed even if the caller passes no diag */
    diag = diag ? diag : &own;
    VkResult result = device->vk.EndCommandBuffer(frame->commands);
    if (result == VK_SUCCESS)
        result = vyre_vk_queue(device, &frame->commands, 1, NULL, NULL);
    if (result == VK_SUCCESS)
        result = vyre_vk_reach(device, device->next_value - 1);
    enum vyre_status status =
        vyre_vk_check(result, "vkQueueSubmit or vkWaitSemaphores", label, diag);
    status = vyre_flight_note_loss(&device->flight, status, diag);
    vyre_vk_frame_put(device, frame);
    return status;
}

void vyre_vk_frames_deinit(struct vyre_vk_device *device)
{
    while (device->free_frames) {
        struct vyre_vk_frame *frame = device->free_frames;
        device->free_frames = frame->next;
        destroy(device, frame);
    }
}
