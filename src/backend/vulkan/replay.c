/*
 * replay.c: submitting recordings.
 */
#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"

static bool is_idle(struct vyre_vk_device *device, const struct vyre_vk_take *take)
{
    return take->last_sequence <= vyre_flight_harvested(&device->flight);
}

/* A take whose bytes are no longer needed. */
static enum vyre_status choose_take(struct vyre_vk_device *device,
                                    const struct vyre_submission *submission,
                                    struct vyre_vk_take **out_take, struct vyre_diag *diag)
{
    struct vyre_vk_recording *recording = submission->recording;
    struct vyre_vk_take *oldest = &recording->takes[0];
    *out_take = oldest;
    if (!recording->moves_bytes)
        return VYRE_OK;
    enum vyre_status status = vyre_vk_check(vyre_vk_harvest(device), "vkGetSemaphoreCounterValue",
                                            submission->view->label, diag);
    for (uint32_t i = 0; status == VYRE_OK && i < recording->take_count; i++) {
        *out_take = &recording->takes[i];
        if (is_idle(device, *out_take))
            return VYRE_OK;
        if ((*out_take)->last_sequence < oldest->last_sequence)
            oldest = *out_take;
    }
    if (status != VYRE_OK)
        return status;
    if (recording->take_count < VYRE_VK_TAKES) {
        status = vyre_vk_recording_add_take(device, recording, submission->view,
                                            submission->variant, diag);
        *out_take = &recording->takes[recording->take_count - 1];
        return status;
    }
    *out_take = oldest;
    return vyre_vk_check(vyre_vk_reach(device, oldest->last_value), "vkWaitSemaphores",
                         submission->view->label, diag);
}

/*
 * Whether an upload reads what a download in an earlier part writes: then the parts run one by one.
 */
static bool parts_meet(const struct vyre_vk_take *take, const struct vyre_batch_view *view)
{
    for (uint32_t i = 0; take->part_count > 1 && i < take->uploads.count; i++) {
        const struct vyre_vk_transfer *upload = &take->uploads.items[i];
        const struct vyre_command *command = &view->commands[upload->command];
        const unsigned char *bytes = command->upload_bytes;
        if (!command->upload_owned && upload->part > 0 &&
            vyre_vk_transfers_meet(&take->downloads, view, bytes + upload->command_bytes,
                                   upload->size_bytes))
            return true;
    }
    return false;
}

/* Runs the parts one by one, with the host's copies between them. */
static VkResult run_parts(struct vyre_vk_device *device, const struct vyre_vk_take *take,
                          const struct vyre_batch_view *view, struct vyre_vk_timer *timer,
                          bool *out_begun)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t part = 0; result == VK_SUCCESS && part < take->part_count; part++) {
        vyre_vk_copy_in(&take->uploads, view, part);
        result = vyre_vk_queue(device, &take->parts[part], 1, part == 0 ? timer : NULL,
                               part + 1 == take->part_count ? timer : NULL);
        *out_begun |= result == VK_SUCCESS;
        if (result == VK_SUCCESS)
            result = vyre_vk_reach(device, device->next_value - 1);
        if (result == VK_SUCCESS)
            vyre_vk_copy_out(&take->downloads, view, part);
    }
    return result;
}

static enum vyre_status await_borrowed(struct vyre_vk_device *device,
                                       const struct vyre_vk_take *take,
                                       const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < take->uploads.count; i++) {
        const struct vyre_vk_transfer *upload = &take->uploads.items[i];
        const struct vyre_command *command = &view->commands[upload->command];
        if (!command->upload_owned)
            status = vyre_vk_await_downloads(
                device, (const unsigned char *)command->upload_bytes + upload->command_bytes,
                upload->size_bytes, diag);
    }
    return status;
}

/* Whether nothing in flight touches what the step ahead uploads. */
static bool goes_ahead(struct vyre_vk_device *device, const struct vyre_vk_take *take,
                       const struct vyre_batch_view *view)
{
    bool ahead = true;
    for (uint32_t i = 0; ahead && i < take->uploads.count; i++) {
        const struct vyre_vk_transfer *upload = &take->uploads.items[i];
        const struct vyre_command *command = &view->commands[upload->command];
        ahead = !upload->ahead || !vyre_vk_is_busy(device, &view->ranges[command->first_range]);
    }
    return ahead;
}

/* Copies in and queues a take. After a failure, *out_begun says whether a part of it ran. */
static VkResult queue_take(struct vyre_vk_device *device, const struct vyre_vk_take *take,
                           const struct vyre_batch_view *view, struct vyre_vk_timer *timer,
                           bool by_part, bool *out_begun)
{
    *out_begun = false;
    if (by_part)
        return run_parts(device, take, view, timer, out_begun);
    uint32_t parts = take->steps.count > 0 ? 1 : take->part_count;
    for (uint32_t part = 0; part < parts && take->uploads.count > 0; part++)
        vyre_vk_copy_in(&take->uploads, view, part);
    if (take->steps.count == 0)
        return vyre_vk_queue(device, take->parts, take->part_count, timer, timer);
    return vyre_vk_steps_queue(device, &take->steps, goes_ahead(device, take, view), timer,
                               out_begun);
}

enum vyre_status vyre_vk_replay(struct vyre_vk_device *device,
                                const struct vyre_submission *submission, struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    struct vyre_vk_take *take;
    enum vyre_status status = choose_take(device, submission, &take, diag);
    if (status == VYRE_OK)
        status = await_borrowed(device, take, view, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_vk_timer *timer = submission->timed ? vyre_vk_timer_take(device) : NULL;
    bool by_part = parts_meet(take, view);
    const uint64_t first_value = device->next_value;
    bool begun;
    VkResult result = queue_take(device, take, view, timer, by_part, &begun);
    begun |= device->next_value != first_value;
    if (result != VK_SUCCESS && (!begun || result == VK_ERROR_DEVICE_LOST)) {
        vyre_vk_timer_put(device, timer);
        return vyre_vk_check(result, "vkQueueSubmit", view->label, diag);
    }
    /* The caller must not repeat what has begun: it is in flight, and ends with the failure. */
    status = vyre_vk_check(result, "vkQueueSubmit", view->label, NULL);
    take->last_sequence = submission->sequence;
    take->last_value = device->next_value - 1;
    const struct vyre_vk_entry entry = {
        .value = take->last_value,
        .view = view,
        .downloads = by_part || status != VYRE_OK ? NULL : &take->downloads,
        .take = take,
        .timer = timer,
        .head = {.completion = {.sequence = submission->sequence, .status = status},
                 .called_back = submission->called_back},
    };
    vyre_vk_publish(device, &entry);
    return VYRE_OK;
}
