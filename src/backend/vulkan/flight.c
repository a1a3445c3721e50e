/*
 * flight.c: harvesting, waiting inside submit, and how threads wait.
 */
#include "backend/vulkan/flight.h"

#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"

/* How long a waiting caller spins before it sleeps. */
#define WAIT_SPIN_NS 30000
/* How long one call waits for the device when submit itself must wait. */
#define REACH_SLICE_NS UINT64_C(50000000)

static bool take_locked(void *native, struct vyre_flight_entry *head)
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
    if (entry->stamps) {
        vyre_vk_stamps_read(device, entry->stamps);
        vyre_vk_stamps_put(entry->stamps);
    }
    if (entry->frame)
        vyre_vk_frame_put_locked(device, entry->frame);
    if (entry->staging_end > device->staging.ring.tail)
        device->staging.ring.tail = entry->staging_end;
    return true;
}

static void drop(void *native, struct vyre_flight_entry *head)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_entry *entry = (struct vyre_vk_entry *)head;
    if (entry->frame)
        vyre_vk_frame_put(device, entry->frame);
    vyre_vk_timer_put(device, entry->timer);
    vyre_vk_stamps_put(entry->stamps);
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

/* Waiting for a value of a semaphore. */
struct reached {
    struct vyre_vk_device *device;
    VkSemaphore semaphore;
    uint64_t value;
    VkResult result; /* of the last call */
    uint64_t sum;    /* how far the device was then */
};

/* Sleeps in the driver. True also if a call has failed. */
static bool is_reached(void *context)
{
    struct reached *reached = context;
    struct vyre_vk_device *device = reached->device;
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &reached->semaphore,
        .pValues = &reached->value,
    };
    reached->result = device->vk.WaitSemaphores(device->handle, &info, REACH_SLICE_NS);
    if (reached->result != VK_TIMEOUT)
        return true;
    VkResult counted = count_progress(device, reached->semaphore, &reached->sum);
    if (counted != VK_SUCCESS)
        reached->result = counted;
    return counted != VK_SUCCESS;
}

static uint64_t sum_reached(void *context)
{
    return ((const struct reached *)context)->sum;
}

/* Waits for the value as long as the device makes progress. */
static VkResult wait_for_value(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value)
{
    struct reached reached = {.device = device, .semaphore = semaphore, .value = value};
    const struct vyre_awaited awaited = {
        .context = &reached,
        .is_over = is_reached,
        .progress = sum_reached,
        .limit_ns = device->flight.watch.limit_ns,
    };
    if (vyre_is_lost(&device->flight.loss) || !vyre_flight_await(&device->flight, &awaited))
        return VK_ERROR_DEVICE_LOST;
    return reached.result;
}

/* A driver call failed, so it is unknown when queued work ends. */
static void lose(struct vyre_vk_device *device, VkResult result, const char *what)
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
    /*
     * Whatever the cause, it is unknown when the queued work ends. A hang has been reported before.
     */
    lose(device, result, "vkWaitSemaphores");
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

/* ---- The flight's table ----------------------------------------------------------------------- */

/* A failure means that the device is lost. */
static void look_at(struct vyre_vk_device *device, VkResult result, const char *what)
{
    if (result != VK_SUCCESS && result != VK_TIMEOUT && !vyre_is_lost(&device->flight.loss))
        lose(device, result, what);
}

static void poll(void *native)
{
    look_at(native, vyre_vk_harvest(native), "vkGetSemaphoreCounterValue");
}

/* The value that ends a submission; 0 if it is harvested. */
static uint64_t value_of(struct vyre_vk_device *device, uint64_t sequence)
{
    struct vyre_flight *flight = &device->flight;
    uint64_t value = 0;
    vyre_lock_acquire(&flight->lock);
    if (sequence > vyre_flight_harvested(flight))
        value = ((const struct vyre_vk_entry *)vyre_flight_at(flight, sequence))->value;
    vyre_lock_release(&flight->lock);
    return value;
}

/* Sleeps in the driver until the value is reached. */
static void sleep_in_driver(void *native, uint64_t sequence, uint64_t waited_ns, uint64_t limit_ns)
{
    struct vyre_vk_device *device = native;
    uint64_t value = value_of(device, sequence);
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &value,
    };
    (void)waited_ns;
    if (value)
        look_at(device, device->vk.WaitSemaphores(device->handle, &info, limit_ns),
                "vkWaitSemaphores");
}

static uint64_t progress_locked(void *native)
{
    const struct vyre_vk_device *device = native;
    return device->seen_value;
}

const struct vyre_flight_ops vyre_vk_flight_ops = {
    .take_locked = take_locked,
    .drop = drop,
    .poll = poll,
    .sleep = sleep_in_driver,
    .progress_locked = progress_locked,
    .spin_ns = WAIT_SPIN_NS,
};

void vyre_vk_wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_vk_device *device = native;
    vyre_flight_wait(&device->flight, sequence, timeout_ns);
}
