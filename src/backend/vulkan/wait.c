/*
 * wait.c: callers that wait: they spin a little, sleep in the driver, and look for work that never
 * ends; and the thread that calls back.
 */
#include <sched.h>
#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/clock.h"

/* How long a waiting caller spins before it sleeps. */
#define WAIT_SPIN_NS 30000
/* From here on it offers its core to others while it spins. */
#define WAIT_POLITE_NS 3000
/* It sleeps at most so long at once, to notice what other threads have found out. */
#define WAIT_SLICE_NS UINT64_C(20000000)

/* ---- Loss ------------------------------------------------------------------------------------- */

static void declare_lost(struct vyre_vk_device *device, const struct vyre_diag *reason)
{
    vyre_vk_flight_lose(device, reason);
    device->host.lost(device->host.context, reason);
}

/*
 * Whoever has seen the loss tells the runtime before he returns: the thread that found it out may not
 * have come to it yet.
 */
static void tell_loss(struct vyre_vk_device *device)
{
    if (vyre_vk_is_lost(&device->flight))
        device->host.lost(device->host.context, &device->flight.lost_reason);
}

/* Whether the result is a success; else the device is lost. */
static bool survives(struct vyre_vk_device *device, VkResult result, const char *what)
{
    if (result == VK_SUCCESS || result == VK_TIMEOUT || vyre_vk_is_lost(&device->flight))
        return true;
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_VULKAN_LOST, NULL, result, "%s returned %s", what,
                        vyre_vk_result_name(result));
    declare_lost(device, &reason);
    return false;
}

/* Work that makes no progress for the hang timeout, as seen by those who wait for it, is lost. */
static void check_hang(struct vyre_vk_device *device)
{
    struct vyre_vk_flight *flight = &device->flight;
    vyre_lock_acquire(&flight->lock);
    uint64_t seen = flight->seen_value;
    bool pending =
        atomic_load_explicit(&flight->harvested, memory_order_relaxed) < flight->submitted;
    vyre_lock_release(&flight->lock);
    vyre_lock_acquire(&flight->watch_lock);
    uint64_t now_ns = vyre_clock_now_ns();
    if (!pending || seen != flight->watch_value || flight->watch_since_ns == 0) {
        flight->watch_value = seen;
        flight->watch_since_ns = pending ? now_ns : 0;
    }
    bool hangs = pending && now_ns - flight->watch_since_ns > device->hang_ns;
    vyre_lock_release(&flight->watch_lock);
    if (!hangs || vyre_vk_is_lost(flight))
        return;
    vyre_vk_flight_hang(device);
    tell_loss(device);
}

/* ---- Waiting ---------------------------------------------------------------------------------- */

static bool is_over(const struct vyre_vk_device *device, uint64_t sequence)
{
    /* acquire: pairs with the release of whoever delivers. */
    return atomic_load_explicit(&device->flight.delivered, memory_order_acquire) >= sequence ||
           vyre_vk_is_lost(&device->flight);
}

/* Takes and tells what is done. False when that found the device lost. */
static bool progress(struct vyre_vk_device *device, bool helper)
{
    if (!survives(device, vyre_vk_harvest(device), "vkGetSemaphoreCounterValue"))
        return false;
    vyre_vk_deliver(device, helper);
    return true;
}

static void spin_for(struct vyre_vk_device *device, uint64_t sequence, uint64_t limit_ns)
{
    uint64_t start_ns = vyre_clock_now_ns();
    uint64_t spun_ns = 0;
    while (spun_ns < limit_ns && !is_over(device, sequence)) {
        for (int i = 0; i < 64; i++)
            vyre_spin_pause();
        if (!progress(device, false))
            return;
        spun_ns = vyre_clock_now_ns() - start_ns;
        if (spun_ns > WAIT_POLITE_NS)
            sched_yield();
    }
}

/* The value that ends a submission; 0 when it is harvested. */
static uint64_t value_of(struct vyre_vk_device *device, uint64_t sequence)
{
    struct vyre_vk_flight *flight = &device->flight;
    uint64_t value = 0;
    vyre_lock_acquire(&flight->lock);
    if (sequence > atomic_load_explicit(&flight->harvested, memory_order_relaxed) &&
        sequence <= flight->submitted)
        value = vyre_vk_flight_entry(flight, sequence)->value;
    vyre_lock_release(&flight->lock);
    return value;
}

/* Sleeps in the driver until the value is reached, at most `limit_ns`. */
static void sleep_in_driver(struct vyre_vk_device *device, uint64_t value, uint64_t limit_ns)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &value,
    };
    VkResult result = device->vk.WaitSemaphores(device->handle, &info, limit_ns);
    (void)survives(device, result, "vkWaitSemaphores");
}

/* Sleeps until somebody else has told the runtime, at most `limit_ns`. */
static void sleep_for_delivery(struct vyre_vk_device *device, uint64_t sequence, uint64_t limit_ns)
{
    struct vyre_vk_flight *flight = &device->flight;
    uint32_t word = atomic_load_explicit(&flight->end_word, memory_order_seq_cst);
    if (!is_over(device, sequence))
        vyre_futex_wait(&flight->end_word, word, limit_ns);
}

static void wait_for(struct vyre_vk_device *device, uint64_t sequence, uint64_t timeout_ns)
{
    if (!progress(device, false) || is_over(device, sequence))
        return;
    check_hang(device);
    uint64_t start_ns = vyre_clock_now_ns();
    bool spun = false;
    while (timeout_ns > 0) {
        uint64_t waited_ns = vyre_clock_now_ns() - start_ns;
        uint64_t left_ns = timeout_ns > waited_ns ? timeout_ns - waited_ns : 0;
        if (is_over(device, sequence) || left_ns == 0)
            return;
        if (!spun) {
            spin_for(device, sequence, left_ns < WAIT_SPIN_NS ? left_ns : WAIT_SPIN_NS);
            spun = true;
            continue;
        }
        uint64_t slice_ns = left_ns < WAIT_SLICE_NS ? left_ns : WAIT_SLICE_NS;
        uint64_t value = value_of(device, sequence);
        if (value)
            sleep_in_driver(device, value, slice_ns);
        else
            sleep_for_delivery(device, sequence, slice_ns);
        if (!progress(device, false))
            return;
        check_hang(device);
    }
}

void vyre_vk_wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_vk_device *device = native;
    wait_for(device, sequence, timeout_ns);
    tell_loss(device);
}

/* ---- The helper ------------------------------------------------------------------------------- */

/* Carries every submission with a callback to its end, then sleeps until there is another. */
static void *help(void *argument)
{
    struct vyre_vk_device *device = argument;
    struct vyre_vk_flight *flight = &device->flight;
    while (!atomic_load_explicit(&flight->helper_stop, memory_order_seq_cst)) {
        uint32_t word = atomic_load_explicit(&flight->helper_word, memory_order_seq_cst);
        vyre_lock_acquire(&flight->lock);
        uint64_t wanted = flight->called_last;
        vyre_lock_release(&flight->lock);
        if (is_over(device, wanted)) {
            vyre_futex_wait(&flight->helper_word, word, UINT64_MAX);
            continue;
        }
        uint64_t next = atomic_load_explicit(&flight->delivered, memory_order_acquire) + 1;
        uint64_t value = value_of(device, next);
        if (value)
            sleep_in_driver(device, value, WAIT_SLICE_NS);
        if (progress(device, true))
            check_hang(device);
    }
    return NULL;
}

enum vyre_status vyre_vk_helper_start(struct vyre_vk_device *device, struct vyre_diag *diag)
{
    struct vyre_vk_flight *flight = &device->flight;
    if (flight->has_helper)
        return VYRE_OK;
    int error = pthread_create(&flight->helper, NULL, help, device);
    if (error)
        return vyre_diag_set(diag, VYRE_DIAG_DEVICE_THREADS, NULL, error,
                             "no thread for completion callbacks: %s", strerror(error));
    flight->has_helper = true;
    return VYRE_OK;
}

/* Whether a lost device does nothing any more. */
static bool is_quiet(struct vyre_vk_device *device)
{
    /*
     * A driver that has reported the loss must end every wait soon. One that hangs need not: then
     * only what it has reached by itself counts.
     */
    if (device->flight.hung)
        return vyre_vk_lanes_are_idle(device);
    VkResult result = device->vk.DeviceWaitIdle(device->handle);
    return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
}

bool vyre_vk_quiesce(void *native)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_flight *flight = &device->flight;
    atomic_store_explicit(&flight->helper_stop, 1, memory_order_seq_cst);
    atomic_fetch_add_explicit(&flight->helper_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&flight->helper_word, UINT32_MAX >> 1);
    if (flight->has_helper)
        pthread_join(flight->helper, NULL);
    flight->has_helper = false;
    /* The runtime may have been told of a loss that the flight never saw: then work may be left. */
    if (!vyre_vk_is_lost(flight) && device->next_value > 1)
        (void)vyre_vk_await(device, device->next_value - 1);
    bool quiet = !vyre_vk_is_lost(flight) || is_quiet(device);
    if (!quiet)
        vyre_vk_backend_abandon(device->backend);
    return quiet;
}
