/*
 * wait.c: how OpenCL answers those who wait (common/flight.h).
 *
 * A waiting caller looks at the event for a short while, then asks the driver to be called at the end of
 * the batch and sleeps: a driver that works on threads needs the core. Where nobody calls, because a
 * resident kernel works, it offers its core to others between two looks, and naps if it takes long.
 */
#include <sched.h>

#include "backend/opencl/device.h"
#include "backend/opencl/persistent.h"
#include "base/clock.h"

#define SPIN_NS   3000
#define POLITE_NS 150000
/* A sleeper looks again after so long, woken or not: for drivers that forget to call. */
#define SLEEP_NS   UINT64_C(5000000)
#define NAP_MAX_NS UINT64_C(500000)
/* For the driver's last calls at close. */
#define LAST_CALLS_NS UINT64_C(1000000000)

/* ---- Sleeping --------------------------------------------------------------------------------- */

void vyre_cl_nap(struct vyre_cl_device *device, uint64_t waited_ns)
{
    if (waited_ns < POLITE_NS)
        (void)sched_yield();
    else
        vyre_flight_sleep(&device->flight, vyre_flight_news(&device->flight),
                          waited_ns < NAP_MAX_NS * 8 ? waited_ns / 8 : NAP_MAX_NS);
}

/* The driver calls at the end of a batch. Takes no lock: it may come from inside a call of ours. */
static void CL_CALLBACK on_event(cl_event event, cl_int state, void *user)
{
    struct vyre_cl_device *device = user;
    (void)event;
    (void)state;
    vyre_flight_wake(&device->flight);
    /* release: the last touch; pairs with the acquire in vyre_cl_stop_waiters. */
    atomic_fetch_sub_explicit(&device->driver_calls, 1, memory_order_release);
}

/* Asks the driver to be called when the batch ends. */
static void ask_to_be_called(struct vyre_cl_device *device, uint64_t sequence)
{
    struct vyre_flight *flight = &device->flight;
    struct vyre_cl_entry *entry = vyre_flight_at(flight, sequence);
    vyre_lock_acquire(&flight->lock);
    if (vyre_flight_harvested(flight) < sequence && entry->event_count > 0 && !entry->woken) {
        entry->woken = true;
        atomic_fetch_add_explicit(&device->driver_calls, 1, memory_order_relaxed);
        cl_event last = entry->events[entry->event_count - 1];
        if (device->api->clSetEventCallback(last, CL_COMPLETE, on_event, device) != CL_SUCCESS)
            atomic_fetch_sub_explicit(&device->driver_calls, 1, memory_order_relaxed);
    }
    vyre_lock_release(&flight->lock);
}

static void sleep_for(void *native, uint64_t sequence, uint64_t waited_ns, uint64_t limit_ns)
{
    struct vyre_cl_device *device = native;
    if (vyre_cl_persistent_is_busy(device)) { /* nobody calls when an item is done */
        vyre_cl_nap(device, waited_ns);
        return;
    }
    uint32_t news = vyre_flight_news(&device->flight);
    ask_to_be_called(device, sequence);
    if (!vyre_cl_has_ended(device, sequence) && !vyre_is_lost(&device->flight.loss))
        vyre_flight_sleep(&device->flight, news, limit_ns < SLEEP_NS ? limit_ns : SLEEP_NS);
}

/* ---- The flight's table ----------------------------------------------------------------------- */

static void poll(void *native)
{
    struct vyre_cl_device *device = native;
    vyre_flight_harvest(&device->flight);
}

/* Events of the oldest batch count, too: a long one moves. */
static uint64_t progress_locked(void *native)
{
    struct vyre_cl_device *device = native;
    uint64_t harvested = vyre_flight_harvested(&device->flight);
    const struct vyre_cl_entry *oldest = vyre_flight_at(&device->flight, harvested + 1);
    return harvested * (VYRE_CL_EVENTS_MAX + 1) + oldest->events_done +
           vyre_cl_persistent_progress(device);
}

static bool tend(void *native)
{
    return vyre_cl_persistent_tend(native);
}

const struct vyre_flight_ops vyre_cl_flight_ops = {
    .take_locked = vyre_cl_entry_take_locked,
    .drop = vyre_cl_entry_drop,
    .poll = poll,
    .sleep = sleep_for,
    .progress_locked = progress_locked,
    .tend = tend,
    .spin_ns = SPIN_NS,
    .helper_spin_ns = POLITE_NS,
};

void vyre_cl_wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_cl_device *device = native;
    vyre_flight_wait(&device->flight, sequence, timeout_ns);
}

bool vyre_cl_stop_waiters(struct vyre_cl_device *device)
{
    vyre_flight_stop_helper(&device->flight);
    uint64_t start_ns = vyre_clock_now_ns();
    /* acquire: pairs with the release in on_event. */
    while (atomic_load_explicit(&device->driver_calls, memory_order_acquire)) {
        if (vyre_clock_now_ns() - start_ns > LAST_CALLS_NS)
            return false;
        sched_yield();
    }
    return true;
}
