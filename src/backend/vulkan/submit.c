/*
 * submit.c: the main queue, and plain batches.
 */
#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"

/* Command buffers that go to the queue in one call without allocating. */
#define BUFFERS_AT_ONCE 16

/* ---- The queue -------------------------------------------------------------------------------- */

static VkResult queue_some(struct vyre_vk_device *device, const VkCommandBuffer *commands,
                           uint32_t count)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &device->next_value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = count,
        .pCommandBuffers = commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &device->timeline,
    };
    if (vyre_is_lost(&device->flight.loss))
        return VK_ERROR_DEVICE_LOST;
    VkResult result = device->vk.QueueSubmit(device->lanes[0].queue, 1, &info, VK_NULL_HANDLE);
    if (result == VK_SUCCESS)
        device->next_value++;
    return result;
}

VkResult vyre_vk_queue(struct vyre_vk_device *device, const VkCommandBuffer *commands,
                       uint32_t count, const struct vyre_vk_timer *begin,
                       const struct vyre_vk_timer *end)
{
    VkCommandBuffer all[BUFFERS_AT_ONCE];
    uint32_t used = 0;
    VkResult result = VK_SUCCESS;
    if (!begin && !end)
        return queue_some(device, commands, count);
    if (begin)
        all[used++] = begin->begin;
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        if (used == BUFFERS_AT_ONCE - 1) {
            result = queue_some(device, all, used);
            used = 0;
        }
        all[used++] = commands[i];
    }
    if (end)
        all[used++] = end->end;
    return result == VK_SUCCESS ? queue_some(device, all, used) : result;
}

void vyre_vk_publish(struct vyre_vk_device *device, const struct vyre_vk_entry *entry)
{
    struct vyre_vk_entry *slot = vyre_flight_at(&device->flight, entry->head.completion.sequence);
    *slot = *entry; /* no thread reads it before it is pushed */
    slot->staging_end = device->staging.ring.head;
    vyre_flight_push(&device->flight, &slot->head);
}

/* For a batch that cannot be completed after a part of it ran: it has ended, with this status. */
static void publish_failed(struct vyre_vk_device *device, const struct vyre_submission *submission,
                           enum vyre_status status)
{
    const struct vyre_vk_entry entry = {
        .value = device->next_value - 1,
        .view = submission->view,
        .head = {.completion = {.sequence = submission->sequence, .status = status},
                 .called_back = submission->called_back},
    };
    vyre_vk_publish(device, &entry);
}

/* ---- Plain ------------------------------------------------------------------------------------ */

enum vyre_status vyre_vk_encoder_run_part(struct vyre_vk_encoder *e)
{
    struct vyre_vk_device *device = e->device;
    vyre_vk_copy_in(&e->frame->uploads, e->view, 0);
    e->frame->uploads.count = 0;
    VkResult result = vyre_vk_queue(device, &e->commands, 1, e->ran ? NULL : e->timer, NULL);
    if (result == VK_SUCCESS) {
        e->ran = true;
        result = vyre_vk_reach(device, device->next_value - 1);
    }
    if (result == VK_SUCCESS) {
        vyre_vk_copy_out(&e->frame->downloads, e->view, VYRE_VK_ALL_PARTS);
        e->frame->downloads.count = 0;
        vyre_lock_acquire(&device->flight.lock);
        device->staging.ring.tail =
            device->staging.ring.head; /* everything before it is done too */
        vyre_lock_release(&device->flight.lock);
        result = device->vk.ResetCommandPool(device->handle, e->frame->pool, 0);
    }
    return vyre_vk_check(result, "vkQueueSubmit or vkWaitSemaphores", e->view->label, e->diag);
}

/*
 * The batch cannot be queued. If nothing of it ran, the caller gets the failure. Otherwise it has
 * begun and ends with the failure.
 */
static enum vyre_status give_up(struct vyre_vk_encoder *e, const struct vyre_submission *submission,
                                uint64_t staging_head, enum vyre_status status)
{
    struct vyre_vk_device *device = e->device;
    vyre_vk_frame_put(device, e->frame);
    vyre_vk_timer_put(device, e->timer);
    vyre_vk_stamps_put(e->stamps);
    if (!e->ran || status == VYRE_DEVICE_LOST) {
        vyre_lock_acquire(&device->flight.lock);
        device->staging.ring.head = staging_head;
        vyre_lock_release(&device->flight.lock);
        return status;
    }
    publish_failed(device, submission, status);
    return VYRE_OK;
}

/* Queues what was written. */
static enum vyre_status queue_plain(struct vyre_vk_encoder *e)
{
    struct vyre_vk_device *device = e->device;
    VkResult result;
    vyre_vk_copy_in(&e->frame->uploads, e->view, 0);
    if (e->lanes)
        result = vyre_vk_steps_queue(device, e->steps, true, e->timer, &e->ran);
    else
        result = vyre_vk_queue(device, &e->commands, 1, e->ran ? NULL : e->timer, e->timer);
    return vyre_vk_check(result, "vkQueueSubmit", e->view->label, e->diag);
}

static enum vyre_status submit_plain(struct vyre_vk_device *device,
                                     const struct vyre_submission *submission,
                                     struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    struct vyre_vk_encoder encoder = {.device = device, .view = view, .diag = diag};
    struct vyre_batch_plan plan;
    uint64_t staging_head = device->staging.ring.head;
    enum vyre_status status = vyre_vk_frame_take(device, &encoder.frame, view->label, diag);
    if (status != VYRE_OK)
        return status;
    status = vyre_vk_encoder_plan(&encoder, submission->variant, &plan);
    encoder.timer = submission->timed ? vyre_vk_timer_take(device) : NULL;
    if (status == VYRE_OK)
        status = vyre_vk_encoder_spread(&encoder);
    if (status == VYRE_OK && submission->times && !encoder.lanes)
        encoder.stamps = vyre_vk_stamps_take(device, submission);
    if (status == VYRE_OK)
        status = vyre_vk_encode(&encoder);
    if (status == VYRE_OK)
        status = queue_plain(&encoder);
    if (status != VYRE_OK)
        return give_up(&encoder, submission, staging_head, status);
    const struct vyre_vk_entry entry = {
        .value = device->next_value - 1,
        .view = view,
        .downloads = &encoder.frame->downloads,
        .frame = encoder.frame,
        .timer = encoder.timer,
        .stamps = encoder.stamps,
        .head = {.completion = {.sequence = submission->sequence},
                 .called_back = submission->called_back},
    };
    vyre_vk_publish(device, &entry);
    return VYRE_OK;
}

enum vyre_status vyre_vk_submit(void *native, const struct vyre_submission *submission,
                                struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    enum vyre_status status = VYRE_OK;
    struct vyre_diag own; /* the reason of a loss is needed even if the caller passes no diag */
    diag = diag ? diag : &own;
    if (submission->called_back)
        status = vyre_flight_start_helper(&device->flight, diag);
    if (status == VYRE_OK)
        status = submission->mode == VYRE_MODE_REPLAY ? vyre_vk_replay(device, submission, diag)
                                                      : submit_plain(device, submission, diag);
    return vyre_flight_note_loss(&device->flight, status, diag);
}

/*
 * Drivers may compile at the first dispatch. A dispatch without groups compiles and does nothing.
 */
enum vyre_status vyre_vk_batch_warm_up(void *native, const struct vyre_batch_view *view,
                                       enum vyre_mode mode, uint32_t variant,
                                       struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    struct vyre_diag own; /* as in submit */
    diag = diag ? diag : &own;
    (void)mode;
    (void)variant;
    struct vyre_vk_encoder encoder = {.device = device, .view = view, .diag = diag};
    enum vyre_status status = vyre_vk_frame_take(device, &encoder.frame, view->label, diag);
    if (status != VYRE_OK)
        return status;
    status = vyre_vk_encode_empty(&encoder);
    if (status == VYRE_OK)
        status = vyre_vk_encoder_run_part(&encoder);
    vyre_vk_frame_put(device, encoder.frame);
    return vyre_flight_note_loss(&device->flight, status, diag);
}
