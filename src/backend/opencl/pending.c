/*
 * pending.c: the ring of submissions in flight.
 */
#include "backend/opencl/pending.h"

#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/persistent.h"
#include "base/clock.h"
#include "base/memory.h"

enum vyre_status vyre_cl_pending_init(struct vyre_cl_device *device, uint32_t in_flight_limit,
                                      struct vyre_diag *diag)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    size_t capacity = 1;
    while (capacity < (size_t)in_flight_limit + 1)
        capacity *= 2;
    ring->mask = capacity - 1;
    ring->watch_progress = UINT64_MAX;
    ring->entries = vyre_memory_allocate(&device->allocator, capacity * sizeof *ring->entries,
                                         _Alignof(struct vyre_cl_pending));
    if (ring->entries)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                         "no memory for %u batches in flight", in_flight_limit);
}

void vyre_cl_pending_deinit(struct vyre_cl_device *device)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    if (ring->entries) {
        for (uint64_t i = 0; i <= ring->mask; i++)
            vyre_cl_pending_drop(device, &ring->entries[i]);
    }
    vyre_memory_free(&device->allocator, ring->entries, (ring->mask + 1) * sizeof *ring->entries,
                     _Alignof(struct vyre_cl_pending));
    ring->entries = NULL;
}

/* ---- Submitting ------------------------------------------------------------------------------- */

static struct vyre_cl_pending *entry_of(struct vyre_cl_pending_ring *ring, uint64_t sequence)
{
    return &ring->entries[sequence & ring->mask];
}

enum vyre_status vyre_cl_pending_next(struct vyre_cl_device *device,
                                      const struct vyre_submission *submission,
                                      struct vyre_cl_pending **out_entry, struct vyre_diag *diag)
{
    struct vyre_cl_pending *entry = entry_of(&device->pending, submission->sequence);
    /* One by one: to clear the events, too, takes longer than all of this. */
    entry->event_count = 0;
    entry->events_done = 0;
    entry->first = NULL;
    entry->called_back = submission->called_back;
    entry->timed = submission->timed;
    entry->woken = false;
    entry->persistent = false;
    entry->last_item = 0;
    entry->status = VYRE_OK;
    entry->native_code = 0;
    entry->begin_ns = submission->timed ? vyre_clock_now_ns() : 0;
    entry->context_errors = atomic_load_explicit(&device->context_errors, memory_order_relaxed);
    entry->tables_end = 0;
    *out_entry = entry;
    if (!entry->called_back || device->pending.helper_started)
        return VYRE_OK;
    return vyre_cl_start_helper(device, diag);
}

void vyre_cl_pending_drop(struct vyre_cl_device *device, struct vyre_cl_pending *entry)
{
    for (uint32_t i = 0; i < entry->event_count; i++)
        (void)device->api->clReleaseEvent(entry->events[i]);
    if (entry->first)
        (void)device->api->clReleaseEvent(entry->first);
    entry->event_count = 0;
    entry->first = NULL;
}

void vyre_cl_pending_push(struct vyre_cl_device *device, struct vyre_cl_pending *entry)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    bool called_back = entry->called_back;
    entry->tables_end = device->tables.head;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    /* release: pairs with the acquire in vyre_cl_collect. */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    if (called_back) {
        atomic_fetch_add_explicit(&ring->called_back, 1, memory_order_relaxed);
        vyre_cl_wake_helper(device);
    }
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

/* Whether a batch is over. Under the collect_lock. */
static bool is_over_locked(struct vyre_cl_device *device, struct vyre_cl_pending *entry)
{
    if (entry->persistent && !vyre_cl_persistent_is_done(device, entry->last_item)) {
        int64_t failure = vyre_cl_persistent_failure(device);
        if (failure == 0)
            return false;
        entry->status = vyre_cl_code_status((cl_int)failure);
        entry->native_code = failure;
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
        if (code < 0 && entry->status == VYRE_OK) {
            entry->status = vyre_cl_code_status(code);
            entry->native_code = code;
        }
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
static void measure_locked(struct vyre_cl_device *device, const struct vyre_cl_pending *entry,
                           struct vyre_completion *completion)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
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
    if (begin_ns < ring->previous_end_ns)
        begin_ns = ring->previous_end_ns;
    completion->device_ns = now_ns > begin_ns ? now_ns - begin_ns : 1;
    completion->device_begin_ns = begin_ns;
    ring->previous_end_ns = now_ns;
}

/* The driver found fault with the context while the batch was in flight: it may be with this one. */
static void doubt_locked(const struct vyre_cl_device *device, struct vyre_cl_pending *entry)
{
    uint32_t errors = atomic_load_explicit(&device->context_errors, memory_order_relaxed);
    if (entry->status == VYRE_OK && errors != entry->context_errors)
        entry->status = vyre_diag_id_status(VYRE_DIAG_OPENCL_CALL);
}

/* What is to be said of the oldest entry, if it is over. Afterwards the entry holds nothing. */
static bool take_end(struct vyre_cl_device *device, uint64_t sequence, bool helper,
                     struct vyre_completion *out_completion)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    struct vyre_cl_pending *entry = entry_of(ring, sequence);
    vyre_lock_acquire(&ring->collect_lock);
    bool over = (!entry->called_back || helper) && is_over_locked(device, entry);
    if (over) {
        doubt_locked(device, entry);
        *out_completion = (struct vyre_completion){
            .sequence = sequence, .status = entry->status, .native_code = entry->native_code};
        if (entry->timed)
            measure_locked(device, entry, out_completion);
        vyre_cl_pending_drop(device, entry);
        vyre_cl_tables_release(&device->tables, entry->tables_end);
        if (entry->called_back)
            atomic_fetch_sub_explicit(&ring->called_back, 1, memory_order_relaxed);
    }
    vyre_lock_release(&ring->collect_lock);
    return over;
}

bool vyre_cl_pending_is_over(struct vyre_cl_device *device, struct vyre_cl_pending *entry)
{
    return is_over_locked(device, entry); /* nobody else sees it yet */
}

void vyre_cl_collect(struct vyre_cl_device *device, bool helper)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&ring->head, memory_order_relaxed) ||
        !vyre_lock_try(&ring->deliver_lock))
        return; /* nothing in flight, or somebody else is at it */
    struct vyre_completion completion;
    for (;;) {
        tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        /* acquire: pairs with the release in vyre_cl_pending_push. */
        if (tail == atomic_load_explicit(&ring->head, memory_order_acquire) ||
            !take_end(device, tail + 1, helper, &completion))
            break;
        device->host.complete(device->host.context, &completion);
        /* release: pairs with the acquires of those who wait. */
        atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    }
    vyre_lock_release(&ring->deliver_lock);
}

bool vyre_cl_has_ended(struct vyre_cl_device *device, uint64_t sequence)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    bool ended = true;
    vyre_lock_acquire(&ring->collect_lock);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (uint64_t i = tail + 1; ended && i <= sequence; i++)
        ended = is_over_locked(device, entry_of(ring, i));
    vyre_lock_release(&ring->collect_lock);
    return ended;
}
