/*
 * flight.c: harvesting, and waiting inside submit.
 */
#include "backend/vulkan/flight.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"
#include "base/memory.h"

/* How long the device is given at once when submit itself has to wait. */
#define REACH_SLICE_NS UINT64_C(50000000)

bool vyre_vk_transfers_reserve(struct vyre_vk_transfers *transfers,
                               const struct vyre_allocator *allocator)
{
    struct vyre_vk_transfer *grown =
        vyre_memory_grow(allocator, transfers->items, transfers->count, &transfers->capacity,
                         sizeof *transfers->items, _Alignof(struct vyre_vk_transfer));
    transfers->items = grown ? grown : transfers->items;
    return grown != NULL;
}

bool vyre_vk_transfers_add(struct vyre_vk_transfers *transfers,
                           const struct vyre_allocator *allocator,
                           const struct vyre_vk_transfer *transfer)
{
    if (!vyre_vk_transfers_reserve(transfers, allocator))
        return false;
    transfers->items[transfers->count++] = *transfer;
    return true;
}

void vyre_vk_transfers_deinit(struct vyre_vk_transfers *transfers,
                              const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, transfers->items, transfers->capacity * sizeof *transfers->items,
                     _Alignof(struct vyre_vk_transfer));
    *transfers = (struct vyre_vk_transfers){0};
}

bool vyre_vk_entry_take_locked(void *native, struct vyre_flight_entry *head)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_entry *entry = (struct vyre_vk_entry *)head;
    if (entry->value > device->seen_value)
        return false;
    if (entry->downloads)
        vyre_vk_copy_out(entry->downloads, entry->view, VYRE_VK_ALL_PARTS);
    if (entry->timer) {
        if (head->completion.status == VYRE_OK) /* else its end was not queued */
            vyre_vk_timer_read(device, entry->timer, &head->completion);
        entry->timer->next = device->free_timers;
        device->free_timers = entry->timer;
    }
    if (entry->frame)
        vyre_vk_frame_put_locked(device, entry->frame);
    if (entry->staging_end > device->staging.ring.tail)
        device->staging.ring.tail = entry->staging_end;
    return true;
}

void vyre_vk_entry_drop(void *native, struct vyre_flight_entry *head)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_entry *entry = (struct vyre_vk_entry *)head;
    if (entry->frame)
        vyre_vk_frame_put(device, entry->frame);
    vyre_vk_timer_put(device, entry->timer);
}

VkResult vyre_vk_harvest_locked(struct vyre_vk_device *device)
{
    struct vyre_flight *flight = &device->flight;
    uint64_t submitted = vyre_flight_submitted(flight);
    if (vyre_is_lost(&flight->loss))
        return VK_ERROR_DEVICE_LOST;
    if (vyre_flight_harvested(flight) == submitted)
        return VK_SUCCESS;
    const struct vyre_vk_entry *newest = vyre_flight_at(flight, submitted);
    if (newest->value > device->seen_value) {
        uint64_t value = 0;
        VkResult result =
            device->vk.GetSemaphoreCounterValue(device->handle, device->timeline, &value);
        if (result != VK_SUCCESS)
            return result;
        device->seen_value = value > device->seen_value ? value : device->seen_value;
    }
    vyre_flight_harvest_locked(flight);
    return VK_SUCCESS;
}

VkResult vyre_vk_harvest(struct vyre_vk_device *device)
{
    vyre_lock_acquire(&device->flight.lock);
    VkResult result = vyre_vk_harvest_locked(device);
    vyre_lock_release(&device->flight.lock);
    return result;
}

/* How far the device is, by the batches' timeline and another semaphore. */
static VkResult count_progress(struct vyre_vk_device *device, VkSemaphore semaphore,
                               uint64_t *out_sum)
{
    uint64_t batches = 0;
    uint64_t own = 0;
    VkResult result =
        device->vk.GetSemaphoreCounterValue(device->handle, device->timeline, &batches);
    if (result == VK_SUCCESS && semaphore != device->timeline)
        result = device->vk.GetSemaphoreCounterValue(device->handle, semaphore, &own);
    *out_sum = batches + own;
    return result;
}

/* Waits for the value for as long as others are reached in time. */
static VkResult wait_for_value(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    struct vyre_watch watch;
    vyre_watch_init(&watch, device->flight.watch.limit_ns);
    while (!vyre_is_lost(&device->flight.loss)) {
        VkResult result = device->vk.WaitSemaphores(device->handle, &info, REACH_SLICE_NS);
        if (result != VK_TIMEOUT)
            return result;
        uint64_t sum = 0;
        result = count_progress(device, semaphore, &sum);
        bool hangs = result == VK_SUCCESS && vyre_watch_hangs(&watch, sum);
        if (hangs)
            result = count_progress(device, semaphore, &sum);
        if (result != VK_SUCCESS)
            return result;
        if (hangs && vyre_watch_hangs(&watch, sum))
            (void)vyre_flight_hang(&device->flight, NULL);
    }
    return VK_ERROR_DEVICE_LOST;
}

void vyre_vk_lose(struct vyre_vk_device *device, VkResult result, const char *what)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_VULKAN_LOST, NULL, result, "%s returned %s", what,
                        vyre_vk_result_name(result));
    vyre_flight_lose(&device->flight, &reason);
}

VkResult vyre_vk_await_link(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value)
{
    VkResult result = wait_for_value(device, semaphore, value);
    if (result == VK_SUCCESS)
        return VK_SUCCESS;
    /* Whatever it was, nobody knows any more when the queued work ends. A hang has said so before. */
    vyre_vk_lose(device, result, "vkWaitSemaphores");
    return VK_ERROR_DEVICE_LOST;
}

VkResult vyre_vk_await(struct vyre_vk_device *device, uint64_t value)
{
    return vyre_vk_await_link(device, device->timeline, value);
}

VkResult vyre_vk_reach(struct vyre_vk_device *device, uint64_t value)
{
    VkResult result = vyre_vk_await(device, value);
    if (result != VK_SUCCESS)
        return result;
    vyre_lock_acquire(&device->flight.lock);
    if (value > device->seen_value)
        device->seen_value = value;
    result = vyre_vk_harvest_locked(device);
    vyre_lock_release(&device->flight.lock);
    return result;
}

enum vyre_status vyre_vk_note_loss(struct vyre_vk_device *device, enum vyre_status status,
                                   struct vyre_diag *diag)
{
    if (status != VYRE_DEVICE_LOST)
        return status;
    if (diag)
        vyre_flight_lose(&device->flight, diag);
    else
        vyre_vk_lose(device, VK_ERROR_DEVICE_LOST, "a call of the driver");
    return vyre_loss_status(&device->flight.loss, diag);
}
