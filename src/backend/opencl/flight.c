/*
 * flight.c: entries of submissions, their ends, and waiting inside submit.
 */
#include "backend/opencl/flight.h"

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/persistent.h"
#include "base/clock.h"

/* How long submit looks again and again before it is polite. */
#define SPIN_NS 3000

/* ---- Submitting ------------------------------------------------------------------------------- */

enum vyre_status vyre_cl_entry_next(struct vyre_cl_device *device,
                                    const struct vyre_submission *submission,
                                    struct vyre_cl_entry **out_entry, struct vyre_diag *diag)
{
    struct vyre_cl_entry *entry = vyre_flight_at(&device->flight, submission->sequence);
    /* One by one: to clear the events, too, takes longer than all of this. */
    entry->head.completion = (struct vyre_completion){.sequence = submission->sequence};
    entry->head.called_back = submission->called_back;
    entry->event_count = 0;
    entry->events_done = 0;
    entry->first = NULL;
    entry->timed = submission->timed;
    entry->woken = false;
    entry->persistent = false;
    entry->last_item = 0;
    entry->begin_ns = submission->timed ? vyre_clock_now_ns() : 0;
    entry->context_errors = atomic_load_explicit(&device->context_errors, memory_order_relaxed);
    entry->tables_end = 0;
    *out_entry = entry;
    return submission->called_back ? vyre_flight_start_helper(&device->flight, diag) : VYRE_OK;
}

void vyre_cl_entry_drop(void *native, struct vyre_flight_entry *head)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_entry *entry = (struct vyre_cl_entry *)head;
    for (uint32_t i = 0; i < entry->event_count; i++)
        (void)device->api->clReleaseEvent(entry->events[i]);
    if (entry->first)
        (void)device->api->clReleaseEvent(entry->first);
    entry->event_count = 0;
    entry->first = NULL;
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

static void fail(struct vyre_cl_entry *entry, cl_int code)
{
    entry->head.completion.status = vyre_cl_code_status(code);
    entry->head.completion.native_code = code;
}

bool vyre_cl_entry_is_over(struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    if (entry->persistent && !vyre_cl_persistent_is_done(device, entry->last_item)) {
        int64_t failure = vyre_cl_persistent_failure(device);
        if (failure == 0)
            return false;
        fail(entry, (cl_int)failure);
    }
    while (entry->events_done < entry->event_count) {
        cl_int code;
        /* Most batches end between two looks: ask the last one first. */
        if (entry->events_done + 1 < entry->event_count &&
            event_is_over(device, entry->events[entry->event_count - 1], &code) && code == 0) {
            entry->events_done = entry->event_count;
            return true;
        }
        if (!event_is_over(device, entry->events[entry->events_done], &code))
            return false;
        entry->events_done++;
        if (code < 0 && entry->head.completion.status == VYRE_OK)
            fail(entry, code);
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
 * The times of a timed batch. The driver's clock has a start of its own: what it says of the time
 * between queueing and start is added to the moment when we queued.
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

/* The driver found fault with the context while the batch was in flight: it may be with this one. */
static void doubt_locked(const struct vyre_cl_device *device, struct vyre_cl_entry *entry)
{
    uint32_t errors = atomic_load_explicit(&device->context_errors, memory_order_relaxed);
    if (entry->head.completion.status == VYRE_OK && errors != entry->context_errors)
        entry->head.completion.status = vyre_diag_id_status(VYRE_DIAG_OPENCL_CALL);
}

bool vyre_cl_entry_take_locked(void *native, struct vyre_flight_entry *head)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_entry *entry = (struct vyre_cl_entry *)head;
    if (!vyre_cl_entry_is_over(device, entry))
        return false;
    doubt_locked(device, entry);
    if (entry->timed)
        measure_locked(device, entry);
    vyre_cl_entry_drop(device, head);
    vyre_cl_tables_release(&device->tables, entry->tables_end);
    return true;
}

/* ---- Waiting inside submit -------------------------------------------------------------------- */

bool vyre_cl_has_ended(struct vyre_cl_device *device, uint64_t sequence)
{
    if (vyre_flight_harvested(&device->flight) < sequence)
        vyre_flight_harvest(&device->flight);
    return vyre_flight_harvested(&device->flight) >= sequence;
}

enum vyre_status vyre_cl_drain(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    uint64_t last = vyre_flight_submitted(&device->flight);
    if (vyre_cl_has_ended(device, last))
        return VYRE_OK;
    (void)device->api->clFlush(device->queue);
    uint64_t start_ns = vyre_clock_now_ns();
    while (!vyre_cl_has_ended(device, last)) {
        if (!vyre_flight_check(&device->flight))
            return vyre_loss_status(&device->flight.loss, diag);
        uint64_t waited_ns = vyre_clock_now_ns() - start_ns;
        if (waited_ns < SPIN_NS)
            vyre_spin_pause();
        else
            vyre_cl_nap(device, waited_ns);
    }
    return VYRE_OK;
}
