/*
 * flight.c: harvesting and delivering.
 */
#include "backend/vulkan/flight.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"
#include "base/clock.h"
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

bool vyre_vk_flight_init(struct vyre_vk_flight *flight, const struct vyre_allocator *allocator,
                         uint32_t limit)
{
    uint64_t count = 1;
    while (count < (uint64_t)limit + 1)
        count *= 2;
    flight->mask = count - 1;
    flight->entries = vyre_memory_allocate(allocator, count * sizeof *flight->entries,
                                           _Alignof(struct vyre_vk_entry));
    return flight->entries != NULL;
}

void vyre_vk_flight_deinit(struct vyre_vk_flight *flight, const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, flight->entries, (flight->mask + 1) * sizeof *flight->entries,
                     _Alignof(struct vyre_vk_entry));
    flight->entries = NULL;
}

/* Takes what a submission has done, and gives back what it held. */
static void take_entry_locked(struct vyre_vk_device *device, struct vyre_vk_entry *entry)
{
    if (entry->downloads)
        vyre_vk_copy_out(entry->downloads, entry->view, VYRE_VK_ALL_PARTS);
    if (entry->timer) {
        if (entry->completion.status == VYRE_OK) /* else its end was not queued */
            vyre_vk_timer_read(device, entry->timer, &entry->completion);
        entry->timer->next = device->free_timers;
        device->free_timers = entry->timer;
    }
    if (entry->frame)
        vyre_vk_frame_put_locked(device, entry->frame);
    if (entry->staging_end > device->staging.ring.tail)
        device->staging.ring.tail = entry->staging_end;
    entry->downloads = NULL;
    entry->timer = NULL;
    entry->frame = NULL;
    entry->take = NULL;
}

VkResult vyre_vk_harvest_locked(struct vyre_vk_device *device)
{
    struct vyre_vk_flight *flight = &device->flight;
    uint64_t harvested = atomic_load_explicit(&flight->harvested, memory_order_relaxed);
    if (vyre_vk_is_lost(flight))
        return VK_ERROR_DEVICE_LOST;
    if (harvested == flight->submitted)
        return VK_SUCCESS;
    if (vyre_vk_flight_entry(flight, flight->submitted)->value > flight->seen_value) {
        uint64_t value = 0;
        VkResult result =
            device->vk.GetSemaphoreCounterValue(device->handle, device->timeline, &value);
        if (result != VK_SUCCESS)
            return result;
        flight->seen_value = value > flight->seen_value ? value : flight->seen_value;
    }
    while (harvested < flight->submitted) {
        struct vyre_vk_entry *entry = vyre_vk_flight_entry(flight, harvested + 1);
        if (entry->value > flight->seen_value)
            break;
        take_entry_locked(device, entry);
        harvested++;
        /* release: pairs with the acquire of those who look without the lock. */
        atomic_store_explicit(&flight->harvested, harvested, memory_order_release);
    }
    return VK_SUCCESS;
}

VkResult vyre_vk_harvest(struct vyre_vk_device *device)
{
    vyre_lock_acquire(&device->flight.lock);
    VkResult result = vyre_vk_harvest_locked(device);
    vyre_lock_release(&device->flight.lock);
    return result;
}

/* Delivers what there is. Caller holds the deliver_lock. */
static void deliver_locked(struct vyre_vk_device *device, bool helper)
{
    struct vyre_vk_flight *flight = &device->flight;
    for (;;) {
        uint64_t sequence = atomic_load_explicit(&flight->delivered, memory_order_relaxed) + 1;
        if (sequence > atomic_load_explicit(&flight->harvested, memory_order_acquire))
            return;
        const struct vyre_vk_entry *entry = vyre_vk_flight_entry(flight, sequence);
        if (entry->called_back && !helper)
            return;
        /* The slot may be used again as soon as the runtime knows. */
        const struct vyre_completion completion = entry->completion;
        device->host.complete(device->host.context, &completion);
        /* release: pairs with the acquire in wait, which returns when the runtime has been told. */
        atomic_store_explicit(&flight->delivered, sequence, memory_order_release);
        atomic_fetch_add_explicit(&flight->end_word, 1, memory_order_seq_cst);
        vyre_futex_wake(&flight->end_word, UINT32_MAX >> 1);
    }
}

void vyre_vk_deliver(struct vyre_vk_device *device, bool helper)
{
    struct vyre_vk_flight *flight = &device->flight;
    if (helper) { /* others do not deliver what has a callback: it cannot rely on them */
        vyre_lock_acquire(&flight->deliver_lock);
        deliver_locked(device, true);
        vyre_lock_release(&flight->deliver_lock);
        return;
    }
    /* Whoever fails to get the lock relies on its holder, who looks again after letting it go. */
    while (atomic_load_explicit(&flight->delivered, memory_order_acquire) <
               atomic_load_explicit(&flight->harvested, memory_order_acquire) &&
           vyre_lock_try(&flight->deliver_lock)) {
        uint64_t before = atomic_load_explicit(&flight->delivered, memory_order_relaxed);
        deliver_locked(device, false);
        bool moved = atomic_load_explicit(&flight->delivered, memory_order_relaxed) != before;
        vyre_lock_release(&flight->deliver_lock);
        if (!moved)
            return;
    }
}

void vyre_vk_flight_hang(struct vyre_vk_device *device)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_DEVICE_HANG, NULL, 0,
                        "nothing was completed for %llu ms",
                        (unsigned long long)(device->hang_ns / 1000000));
    vyre_vk_flight_lose(device, &reason);
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
    uint64_t since_ns = vyre_clock_now_ns();
    uint64_t seen = 0, now = 0;
    for (;;) {
        if (vyre_vk_is_lost(&device->flight))
            return VK_ERROR_DEVICE_LOST;
        if (vyre_clock_now_ns() - since_ns > device->hang_ns) {
            vyre_vk_flight_hang(device);
            return VK_ERROR_DEVICE_LOST;
        }
        VkResult result = device->vk.WaitSemaphores(device->handle, &info, REACH_SLICE_NS);
        if (result == VK_TIMEOUT)
            result = count_progress(device, semaphore, &now);
        else
            return result;
        if (result != VK_SUCCESS)
            return result;
        if (now != seen)
            since_ns = vyre_clock_now_ns();
        seen = now;
    }
}

VkResult vyre_vk_await_link(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value)
{
    VkResult result = wait_for_value(device, semaphore, value);
    if (result == VK_SUCCESS)
        return VK_SUCCESS;
    /* Whatever it was, nobody knows any more when the queued work ends. A hang has said so before. */
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_VULKAN_LOST, NULL, result,
                        "vkWaitSemaphores returned %s", vyre_vk_result_name(result));
    vyre_vk_flight_lose(device, &reason);
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
    if (value > device->flight.seen_value)
        device->flight.seen_value = value;
    result = vyre_vk_harvest_locked(device);
    vyre_lock_release(&device->flight.lock);
    return result;
}

enum vyre_status vyre_vk_flight_lost_status(const struct vyre_vk_device *device,
                                            struct vyre_diag *diag)
{
    if (diag)
        *diag = device->flight.lost_reason;
    return VYRE_DEVICE_LOST;
}

void vyre_vk_flight_lose(struct vyre_vk_device *device, const struct vyre_diag *reason)
{
    struct vyre_vk_flight *flight = &device->flight;
    vyre_lock_acquire(&flight->watch_lock);
    if (!vyre_vk_is_lost(flight)) {
        vyre_diag_reset(&flight->lost_reason);
        if (reason)
            flight->lost_reason = *reason;
        else
            (void)vyre_diag_set(&flight->lost_reason, VYRE_DIAG_VULKAN_LOST, NULL,
                                VK_ERROR_DEVICE_LOST, "a call of the driver reported the loss");
        flight->hung = flight->lost_reason.id == VYRE_DIAG_DEVICE_HANG;
        /* release: pairs with the acquire in vyre_vk_is_lost. */
        atomic_store_explicit(&flight->lost, 1, memory_order_release);
    }
    vyre_lock_release(&flight->watch_lock);
    atomic_fetch_add_explicit(&flight->end_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&flight->end_word, UINT32_MAX >> 1);
    atomic_fetch_add_explicit(&flight->helper_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&flight->helper_word, UINT32_MAX >> 1);
}
