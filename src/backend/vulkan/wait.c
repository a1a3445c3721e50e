/*
 * wait.c: how Vulkan answers those who wait (common/flight.h), and what is left to do before closing.
 */
#include "backend/vulkan/device.h"

/* How long a waiting caller spins before it sleeps. */
#define WAIT_SPIN_NS 30000

/* ---- The flight's table ----------------------------------------------------------------------- */

/* A failure means that the device is lost. */
static void look_at(struct vyre_vk_device *device, VkResult result, const char *what)
{
    if (result != VK_SUCCESS && result != VK_TIMEOUT && !vyre_is_lost(&device->flight.loss))
        vyre_vk_lose(device, result, what);
}

static void poll(void *native)
{
    look_at(native, vyre_vk_harvest(native), "vkGetSemaphoreCounterValue");
}

/* The value that ends a submission; 0 when it is harvested. */
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
    .take_locked = vyre_vk_entry_take_locked,
    .drop = vyre_vk_entry_drop,
    .poll = poll,
    .sleep = sleep_in_driver,
    .progress_locked = progress_locked,
    .spin_ns = WAIT_SPIN_NS,
};

/* ---- The backend's table ---------------------------------------------------------------------- */

void vyre_vk_wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_vk_device *device = native;
    vyre_flight_wait(&device->flight, sequence, timeout_ns);
}

/* Whether a lost device does nothing any more. */
static bool is_quiet(struct vyre_vk_device *device)
{
    /*
     * A driver that has reported the loss must end every wait soon. One that hangs need not: then
     * only what it has reached by itself counts.
     */
    if (vyre_loss_is_hang(&device->flight.loss))
        return vyre_vk_lanes_are_idle(device);
    VkResult result = device->vk.DeviceWaitIdle(device->handle);
    return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
}

bool vyre_vk_quiesce(void *native)
{
    struct vyre_vk_device *device = native;
    const struct vyre_loss *loss = &device->flight.loss;
    vyre_flight_stop_helper(&device->flight);
    /* The runtime may have been told of a loss that the flight never saw: then work may be left. */
    if (!vyre_is_lost(loss) && device->next_value > 1)
        (void)vyre_vk_await(device, device->next_value - 1);
    bool quiet = !vyre_is_lost(loss) || is_quiet(device);
    if (!quiet)
        vyre_vk_backend_abandon(device->backend);
    return quiet;
}
