/*
 * flight.c: the entries of submissions, their ends, and how threads wait for them.
 *
 * A waiting caller polls the event for a short while. Then it asks the driver for a callback at the
 * end of the batch and sleeps, because a driver that works on threads needs the core. A resident
 * kernel makes no callback; there the caller yields its core between two looks, and naps if it
 * takes long.
 */
#include "backend/opencl/flight.h"

#include <sched.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/sample.h"
#include "base/clock.h"

#define SPIN_NS   3000
#define POLITE_NS 150000
/*
 * For some milliseconds after its launch a kernel may spin on the core of the thread that yields to it,
 * while another core is idle, and the thread gets its core back when the kernel leaves. A thread that
 * wakes up is put on the idle core, so it naps once.
 */
#define SHARED_NS 20000
#define LAUNCH_NS UINT64_C(10000000)
/*
 * A sleeping thread looks again after this long, woken or not, in case a driver forgets its
 * callback.
 */
#define SLEEP_NS   UINT64_C(5000000)
#define NAP_MAX_NS UINT64_C(500000)
/* How long to wait for the driver's last callbacks at close. */
#define LAST_CALLS_NS UINT64_C(1000000000)

/* ---- Submitting ------------------------------------------------------------------------------- */

enum vyre_status vyre_cl_entry_next(struct vyre_cl_device *device,
                                    const struct vyre_submission *submission,
                                    struct vyre_cl_entry **out_entry, struct vyre_diag *diag)
{
    struct vyre_cl_entry *entry = vyre_flight_at(&device->flight, submission->sequence);
    /* Field by field: clearing the events too takes longer than all of this. */
    entry->head.completion = (struct vyre_completion){.sequence = submission->sequence};
    entry->head.called_back = submission->called_back;
    entry->event_count = 0;
    entry->events_done = 0;
    entry->first = NULL;
    entry->timed = submission->timed;
    entry->sampled = false;
    entry->woken = false;
    entry->persistent = false;
    entry->last_item = 0;
    entry->begin_ns = submission->timed ? vyre_clock_now_ns() : 0;
    entry->context_errors = atomic_load_explicit(&device->context_errors, memory_order_relaxed);
    entry->tables_end = 0;
    *out_entry = entry;
    return submission->called_back ? vyre_flight_start_helper(&device->flight, diag) : VYRE_OK;
}

void vyre_cl_entry_drop(struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    for (uint32_t i = 0; i < entry->event_count; i++)
        (void)device->api->clReleaseEvent(entry->events[i]);
    if (entry->first)
        (void)device->api->clReleaseEvent(entry->first);
    if (entry->sampled)
        vyre_cl_sample_drop(device);
    entry->event_count = 0;
    entry->first = NULL;
    entry->sampled = false;
}

void vyre_cl_entry_push(struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    entry->tables_end = device->tables.head;
    vyre_flight_push(&device->flight, &entry->head);
}

/* ---- Ends ------------------------------------------------------------------------------------- */

/* Whether an event is over; its code, if negative, goes to the entry. */
static bool event_is_over(struct vyre_cl_device *device, cl_event event, cl_int *out_code)
{
    cl_int state = CL_QUEUED;
    cl_int code = device->api->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof state, &state, NULL);
    *out_code = code != CL_SUCCESS ? code : state;
    return code != CL_SUCCESS || state <= CL_COMPLETE;
}

static void fail(struct vyre_cl_device *device, struct vyre_cl_entry *entry, cl_int code)
{
    struct vyre_diag diag;
    entry->head.completion.status = vyre_cl_failed(&diag, NULL, code, "a command");
    entry->head.completion.native_code = code;
    (void)vyre_flight_note_loss(&device->flight, entry->head.completion.status, &diag);
}

bool vyre_cl_entry_is_over(struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    if (entry->persistent && !vyre_cl_persistent_is_done(device, entry->last_item)) {
        int64_t failure = vyre_cl_persistent_failure(device);
        if (failure == 0)
            return false;
        fail(device, entry, (cl_int)failure);
    }
    while (entry->events_done < entry->event_count) {
        cl_int code;
        /* Most batches end between two looks, so ask for the last event first. */
        if (entry->events_done + 1 < entry->event_count &&
            event_is_over(device, entry->events[entry->event_count - 1], &code) && code == 0) {
            entry->events_done = entry->event_count;
            return true;
        }
        if (!event_is_over(device, entry->events[entry->events_done], &code))
            return false;
        entry->events_done++;
        if (code < 0 && entry->head.completion.status == VYRE_OK)
            fail(device, entry, code);
    }
    return true;
}

static cl_ulong profiled(struct vyre_cl_device *device, cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    (void)device->api->clGetEventProfilingInfo(event, what, sizeof value, &value, NULL);
    return value;
}

/*
 * The times of a timed batch. The driver's clock has its own start, so the time that it reports
 * between queueing and start is added to the moment of queueing.
 */
static void measure_locked(struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    struct vyre_completion *completion = &entry->head.completion;
    if (entry->first && entry->event_count > 0) {
        cl_event last = entry->events[entry->event_count - 1];
        cl_ulong queued = profiled(device, entry->first, CL_PROFILING_COMMAND_QUEUED);
        cl_ulong start = profiled(device, entry->first, CL_PROFILING_COMMAND_START);
        cl_ulong end = profiled(device, last, CL_PROFILING_COMMAND_END);
        if (queued && start >= queued && end > start) {
            completion->device_ns = end - start;
            completion->device_begin_ns = entry->begin_ns + (start - queued);
            return;
        }
    }
    uint64_t now_ns = vyre_clock_now_ns();
    uint64_t begin_ns = entry->begin_ns;
    if (begin_ns < device->previous_end_ns)
        begin_ns = device->previous_end_ns;
    completion->device_ns = now_ns > begin_ns ? now_ns - begin_ns : 1;
    completion->device_begin_ns = begin_ns;
    device->previous_end_ns = now_ns;
}

/*
 * The driver reported an error in the context while the batch was in flight. It may concern this
 * batch.
 */
static void doubt_locked(const struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    uint32_t errors = atomic_load_explicit(&device->context_errors, memory_order_relaxed);
    if (entry->head.completion.status == VYRE_OK && errors != entry->context_errors)
        entry->head.completion.status = vyre_diag_id_status(VYRE_DIAG_OPENCL_CALL);
}

static bool take_locked(void *native, struct vyre_flight_entry *head)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_entry *entry = (struct vyre_cl_entry *)head;
    if (!vyre_cl_entry_is_over(device, entry))
        return false;
    doubt_locked(device, entry);
    if (entry->timed)
        measure_locked(device, entry);
    if (entry->sampled)
        vyre_cl_sample_read(device);
    vyre_cl_entry_drop(device, entry);
    vyre_cl_tables_release(&device->tables, entry->tables_end);
    return true;
}

bool vyre_cl_has_ended(struct vyre_cl_device *device, uint64_t sequence)
{
    if (vyre_flight_harvested(&device->flight) < sequence)
        vyre_flight_harvest(&device->flight);
    return vyre_flight_harvested(&device->flight) >= sequence;
}

/* ---- Sleeping --------------------------------------------------------------------------------- */

static bool may_share_a_core(const struct vyre_cl_device *device, uint64_t waited_ns)
{
    return waited_ns >= SHARED_NS && waited_ns < 2 * SHARED_NS &&
           vyre_cl_persistent_is_new(device, LAUNCH_NS);
}

/*
 * Yields the core or, after a long time, sleeps for a small part of the time. For work without
 * callbacks.
 */
static void nap(struct vyre_cl_device *device, uint64_t waited_ns)
{
    if (waited_ns < POLITE_NS && !may_share_a_core(device, waited_ns))
        (void)sched_yield();
    else
        vyre_flight_sleep(&device->flight, vyre_flight_news(&device->flight),
                          waited_ns < NAP_MAX_NS * 8 ? waited_ns / 8 : NAP_MAX_NS);
}

enum vyre_status vyre_cl_drain(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    if (!vyre_cl_has_ended(device, vyre_flight_submitted(&device->flight)))
        (void)device->api->clFlush(device->queue);
    return vyre_flight_drain(&device->flight) ? VYRE_OK
                                              : vyre_loss_status(&device->flight.loss, diag);
}

/*
 * The driver's callback at the end of a batch. Takes no lock: it may come from inside a call of
 * ours.
 */
static void CL_CALLBACK on_event(cl_event event, cl_int state, void *user)
{
    struct vyre_cl_device *device = user;
    (void)event;
    (void)state;
    vyre_flight_wake(&device->flight);
    /* release: the last access; pairs with the acquire in vyre_cl_stop_waiters. */
    atomic_fetch_sub_explicit(&device->driver_calls, 1, memory_order_release);
}

/* Asks the driver for a callback at the end of the batch. */
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
    if (vyre_cl_persistent_is_busy(device)) { /* there is no callback when an item is done */
        nap(device, waited_ns);
        return;
    }
    uint32_t news = vyre_flight_news(&device->flight);
    ask_to_be_called(device, sequence);
    if (!vyre_cl_has_ended(device, sequence) && !vyre_is_lost(&device->flight.loss))
        vyre_flight_sleep(&device->flight, news, limit_ns < SLEEP_NS ? limit_ns : SLEEP_NS);
}

/* ---- The flight's table ----------------------------------------------------------------------- */

static void drop(void *native, struct vyre_flight_entry *head)
{
    vyre_cl_entry_drop(native, (struct vyre_cl_entry *)head);
}

/* Counts events of the oldest batch too, so that a long one shows progress. */
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
    .take_locked = take_locked,
    .drop = drop,
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
