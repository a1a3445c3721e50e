/*
 * ring_host.c: launching dispatchers, their leases, and switching from one to another.
 */
#include "backend/opencl/ring_host.h"

#include <sched.h>

#include "backend/opencl/device.h"
#include "backend/opencl/persistent.h"
#include "base/clock.h"

/* On a lost device, how far the driver may be behind a dispatcher that has left. */
#define BEHIND_NS UINT64_C(100000000)

/* ---- Launches --------------------------------------------------------------------------------- */

static uint32_t polls_in(const struct vyre_cl_persistent *persistent, uint64_t time_ns)
{
    uint64_t polls =
        time_ns > UINT64_MAX / 16 ? UINT32_MAX : time_ns * 16 / persistent->poll_ns_x16;
    if (polls > UINT32_MAX)
        return UINT32_MAX;
    return polls < 16 ? 16 : (uint32_t)polls;
}

static void release_event(struct vyre_cl_device *device)
{
    if (device->persistent->launched)
        (void)device->api->clReleaseEvent(device->persistent->launched);
    device->persistent->launched = NULL;
}

static cl_int launch(struct vyre_cl_device *device, const struct vyre_cl_resident *resident)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    release_event(device);
    cl_int code = device->api->clEnqueueNDRangeKernel(
        persistent->queue, resident->native, 3, NULL, resident->launch_global,
        resident->launch_local, 0, NULL, &persistent->launched);
    /* What is queued may run even if the flush fails; only a refused launch does not run. */
    if (code == CL_SUCCESS)
        (void)device->api->clFlush(persistent->queue);
    return code;
}

void vyre_cl_ring_launch_locked(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_control *control = persistent->control;
    vyre_cl_ring_rearm(control);
    control->idle_polls = polls_in(persistent, device->desc.persistent_idle_ns);
    control->lease_turns = polls_in(persistent, device->desc.persistent_lease_ns);
    /* Relaxed here and elsewhere: written under the lock, and a slightly old value does no harm. */
    atomic_store_explicit(&persistent->launched_ns, vyre_clock_now_ns(), memory_order_relaxed);
    persistent->launched_heartbeat =
        atomic_load_explicit(&control->heartbeat, memory_order_relaxed);
    atomic_store_explicit(&persistent->running, 1, memory_order_relaxed);
    cl_int code = launch(device, persistent->current);
    persistent->launches++;
    if (code != CL_SUCCESS) {
        persistent->launched = NULL;
        atomic_store_explicit(&persistent->running, 0, memory_order_relaxed);
        vyre_cl_fallback_retire_locked(device, code);
        return;
    }
    persistent->stop_why = VYRE_RESIDENCY_STOPPED;
    vyre_residency_log_begin(&persistent->residency);
}

/* ---- Tending ---------------------------------------------------------------------------------- */

static bool has_work(const struct vyre_cl_persistent *persistent)
{
    /* seq_cst: (K) of ring.h; acquire: (F). */
    return atomic_load_explicit(&persistent->control->head, memory_order_seq_cst) !=
           atomic_load_explicit(&persistent->control->completion, memory_order_acquire);
}

/*
 * The time of one poll, from a dispatcher that left because it was idle. With it, the next one
 * stays as long as asked.
 */
static void learn_locked(struct vyre_cl_persistent *persistent)
{
    struct vyre_cl_control *control = persistent->control;
    uint32_t polls = atomic_load_explicit(&control->heartbeat, memory_order_relaxed) -
                     persistent->launched_heartbeat;
    uint64_t time_ns =
        vyre_clock_now_ns() - atomic_load_explicit(&persistent->launched_ns, memory_order_relaxed);
    if (atomic_load_explicit(&control->leaving, memory_order_relaxed) != VYRE_CL_EXIT_IDLE ||
        polls < 1000)
        return;
    /* All groups count in one word, and each leaves after its own polls. */
    uint64_t poll = time_ns * 16 * persistent->groups / polls;
    poll = poll < 16 ? 16 : poll > 16000 ? 16000 : poll;
    persistent->poll_ns_x16 = (persistent->poll_ns_x16 * 3 + poll) / 4;
}

static enum vyre_residency_end why_left(const struct vyre_cl_persistent *persistent)
{
    /* Relaxed: (H) of ring.h has ordered it. */
    switch (atomic_load_explicit(&persistent->control->leaving, memory_order_relaxed)) {
    case VYRE_CL_EXIT_IDLE:
        return VYRE_RESIDENCY_IDLE;
    case VYRE_CL_EXIT_LEASE:
        return VYRE_RESIDENCY_LEASE;
    default:
        return persistent->stop_why;
    }
}

/* Notes that the dispatcher has left. */
static bool has_left_locked(struct vyre_cl_persistent *persistent)
{
    if (!atomic_load_explicit(&persistent->running, memory_order_relaxed))
        return true;
    /* acquire: (H) of ring.h; seq_cst: (K), before the head is read. */
    if (atomic_load_explicit(&persistent->control->exited, memory_order_seq_cst) !=
        persistent->groups)
        return false;
    learn_locked(persistent);
    atomic_store_explicit(&persistent->running, 0, memory_order_relaxed);
    vyre_residency_log_end(&persistent->residency, why_left(persistent));
    return true;
}

void vyre_cl_ring_look(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    if (!persistent->control || !vyre_lock_try(&persistent->lock))
        return; /* the thread that holds it looks */
    (void)has_left_locked(persistent);
    vyre_lock_release(&persistent->lock);
}

/* Relaxed: the dispatcher only has to see it at some time. The first reason counts. */
static void ask_to_leave_locked(struct vyre_cl_persistent *persistent, enum vyre_residency_end why)
{
    if (atomic_load_explicit(&persistent->control->stop, memory_order_relaxed))
        return;
    persistent->stop_why = why;
    atomic_store_explicit(&persistent->control->stop, 1, memory_order_relaxed);
}

bool vyre_cl_persistent_tend(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    if (!persistent->control || vyre_is_lost(&device->flight.loss))
        return false;
    if (!vyre_lock_try(&persistent->lock))
        return true; /* another thread does this */
    /*
     * A loss noted by a thread that held the lock is seen here. After a later one a dispatcher may
     * still be launched; vyre_cl_persistent_stop deals with it.
     */
    if (!persistent->current || vyre_is_lost(&device->flight.loss)) {
        vyre_lock_release(&persistent->lock);
        return false;
    }
    bool left = has_left_locked(persistent);
    if (left && !vyre_cl_is_retired(device) && has_work(persistent)) {
        vyre_cl_ring_launch_locked(device);
        left = false;
    }
    if (vyre_cl_is_retired(device)) {
        left = !vyre_cl_fallback_locked(device);
    } else if (!left && vyre_clock_now_ns() - atomic_load_explicit(&persistent->launched_ns,
                                                                   memory_order_relaxed) >
                            device->desc.persistent_lease_ns) {
        ask_to_leave_locked(persistent, VYRE_RESIDENCY_LEASE);
    }
    vyre_lock_release(&persistent->lock);
    return !left;
}

/* ---- Leaving and changing --------------------------------------------------------------------- */

/* The driver is also done with the last launch. */
static bool is_over(void *native)
{
    struct vyre_cl_device *device = native;
    cl_int state = CL_COMPLETE;
    if (device->persistent->launched &&
        device->api->clGetEventInfo(device->persistent->launched, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                    sizeof state, &state, NULL) != CL_SUCCESS)
        return true;
    return state <= CL_COMPLETE;
}

static bool wait_over(struct vyre_cl_device *device, uint64_t limit_ns)
{
    const struct vyre_awaited awaited = {
        .context = device, .is_over = is_over, .limit_ns = limit_ns};
    return vyre_flight_await(&device->flight, &awaited);
}

bool vyre_cl_ring_is_over(struct vyre_cl_device *device)
{
    uint64_t start_ns = vyre_clock_now_ns();
    if (!vyre_is_lost(&device->flight.loss))
        return wait_over(device, device->desc.hang_timeout_ns);
    while (!is_over(device)) {
        if (vyre_clock_now_ns() - start_ns > BEHIND_NS)
            return false;
        sched_yield();
    }
    return true;
}

/* A dispatcher that is asked to leave. */
struct leaver {
    struct vyre_cl_persistent *persistent;
    enum vyre_residency_end why;
};

static bool leaves_locked(void *context)
{
    const struct leaver *leaver = context;
    if (has_left_locked(leaver->persistent))
        return true;
    ask_to_leave_locked(leaver->persistent, leaver->why);
    return false;
}

/* The lock stays held while it waits, so that no thread launches again what has left. */
static bool leave_locked(struct vyre_cl_device *device, enum vyre_residency_end why)
{
    struct leaver leaver = {device->persistent, why};
    const struct vyre_awaited awaited = {
        .context = &leaver, .is_over = leaves_locked, .limit_ns = device->desc.hang_timeout_ns};
    return vyre_flight_await(&device->flight, &awaited);
}

bool vyre_cl_ring_leave(struct vyre_cl_device *device)
{
    vyre_lock_acquire(&device->persistent->lock);
    bool left = leave_locked(device, VYRE_RESIDENCY_STOPPED);
    vyre_lock_release(&device->persistent->lock);
    return left;
}

bool vyre_cl_ring_change(struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    vyre_lock_acquire(&persistent->lock);
    bool left = leave_locked(device, resident ? VYRE_RESIDENCY_CHANGED : VYRE_RESIDENCY_STOPPED);
    if (left)
        persistent->current = resident;
    vyre_lock_release(&persistent->lock);
    return left;
}
