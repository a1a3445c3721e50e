/*
 * flight.c: the ring of submissions in flight: harvesting, delivering, losing.
 */
#include "backend/common/flight.h"

#include "base/clock.h"
#include "base/memory.h"

#define LINE_BYTES 64

/* ---- The ring --------------------------------------------------------------------------------- */

enum vyre_status vyre_flight_init(struct vyre_flight *flight, const struct vyre_flight_ops *ops,
                                  void *device, size_t entry_bytes,
                                  const struct vyre_device_host *host,
                                  const struct vyre_device_desc *desc, struct vyre_diag *diag)
{
    uint64_t count = 1;
    while (count < (uint64_t)desc->in_flight_limit + 1)
        count *= 2;
    *flight = (struct vyre_flight){.ops = ops, .device = device, .loss = {.host = host}};
    flight->entry_bytes = entry_bytes;
    flight->mask = count - 1;
    vyre_watch_init(&flight->watch, desc->hang_timeout_ns);
    flight->entries = vyre_memory_allocate(&host->allocator, count * entry_bytes, LINE_BYTES);
    if (flight->entries)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                         "no memory for %u batches in flight", desc->in_flight_limit);
}

void vyre_flight_deinit(struct vyre_flight *flight)
{
    if (!flight->entries)
        return;
    uint64_t submitted = vyre_flight_submitted(flight);
    for (uint64_t i = vyre_flight_harvested(flight) + 1; i <= submitted; i++)
        flight->ops->drop(flight->device, vyre_flight_at(flight, i));
    vyre_memory_free(&flight->loss.host->allocator, flight->entries,
                     (flight->mask + 1) * flight->entry_bytes, LINE_BYTES);
    flight->entries = NULL;
}

void vyre_flight_push(struct vyre_flight *flight, const struct vyre_flight_entry *entry)
{
    uint64_t sequence = entry->completion.sequence;
    bool called_back = entry->called_back; /* the entry may be gone after the next line */
    /* release: pairs with the acquire in vyre_flight_submitted: the entry is filled in. */
    atomic_store_explicit(&flight->submitted, sequence, memory_order_release);
    if (!called_back)
        return;
    /* release: pairs with the acquire of the helper, which finds the submission in flight. */
    atomic_store_explicit(&flight->called_last, sequence, memory_order_release);
    vyre_flight_wake_helper(flight);
}

void vyre_flight_harvest_locked(struct vyre_flight *flight)
{
    uint64_t harvested = atomic_load_explicit(&flight->harvested, memory_order_relaxed);
    uint64_t submitted = vyre_flight_submitted(flight);
    while (harvested < submitted &&
           flight->ops->take_locked(flight->device, vyre_flight_at(flight, harvested + 1))) {
        struct vyre_flight_entry *entry = vyre_flight_at(flight, ++harvested);
        entry->completion.awaited = atomic_load_explicit(&flight->drains, memory_order_relaxed);
        /* release: pairs with the acquire of readers without the lock. */
        atomic_store_explicit(&flight->harvested, harvested, memory_order_release);
    }
}

void vyre_flight_harvest(struct vyre_flight *flight)
{
    vyre_lock_acquire(&flight->lock);
    vyre_flight_harvest_locked(flight);
    vyre_lock_release(&flight->lock);
}

void vyre_flight_take(struct vyre_flight *flight)
{
    if (flight->ops->poll)
        flight->ops->poll(flight->device);
    else
        vyre_flight_harvest(flight);
}

/* ---- Delivering ------------------------------------------------------------------------------- */

/* Delivers what there is, under the deliver_lock. False: the rest is for the helper. */
static bool deliver_locked(struct vyre_flight *flight, bool helper)
{
    const struct vyre_device_host *host = flight->loss.host;
    for (;;) {
        uint64_t sequence = atomic_load_explicit(&flight->delivered, memory_order_relaxed) + 1;
        if (sequence > vyre_flight_harvested(flight))
            return true;
        const struct vyre_flight_entry *entry = vyre_flight_at(flight, sequence);
        if (entry->called_back && !helper)
            return false;
        /* The slot may be reused as soon as the runtime knows. */
        const struct vyre_completion completion = entry->completion;
        host->complete(host->context, &completion);
        /*
         * release: pairs with the acquire in wait, which returns once the runtime has the
         * completion.
         */
        atomic_store_explicit(&flight->delivered, sequence, memory_order_release);
        /* seq_cst, both: a sleeper that is not counted here yet finds the word changed. */
        atomic_fetch_add_explicit(&flight->end_word, 1, memory_order_seq_cst);
        if (atomic_load_explicit(&flight->sleepers, memory_order_seq_cst))
            vyre_futex_wake(&flight->end_word, UINT32_MAX >> 1);
    }
}

void vyre_flight_deliver(struct vyre_flight *flight, bool helper)
{
    bool all = true;
    while (all && atomic_load_explicit(&flight->delivered, memory_order_acquire) <
                      vyre_flight_harvested(flight)) {
        if (helper) /* others do not deliver what has a callback: it cannot rely on them */
            vyre_lock_acquire(&flight->deliver_lock);
        else if (!vyre_lock_try(&flight->deliver_lock))
            /*
             * The lock's holder looks again after releasing it. If its stores pass its loads, it
             * may miss what was harvested meanwhile. Then a waiting thread delivers that after its
             * slice of sleep.
             */
            return;
        all = deliver_locked(flight, helper);
        vyre_lock_release(&flight->deliver_lock);
    }
}

/* ---- Loss ------------------------------------------------------------------------------------- */

static void wake_all(struct vyre_flight *flight)
{
    vyre_flight_wake(flight);
    vyre_flight_wake_helper(flight);
}

void vyre_flight_lose(struct vyre_flight *flight, const struct vyre_diag *reason)
{
    vyre_loss_set(&flight->loss, reason);
    wake_all(flight);
}

void vyre_flight_lose_hang(struct vyre_flight *flight, uint64_t hang_ns)
{
    vyre_loss_set_hang(&flight->loss, hang_ns);
    wake_all(flight);
}

enum vyre_status vyre_flight_note_loss(struct vyre_flight *flight, enum vyre_status status,
                                       struct vyre_diag *diag)
{
    struct vyre_diag unnamed;
    if (status != VYRE_DEVICE_LOST)
        return status;
    if (!vyre_is_lost(&flight->loss)) {
        vyre_diag_reset(&unnamed);
        if (!diag)
            (void)vyre_diag_set(&unnamed, VYRE_DIAG_DEVICE_LOST, NULL, 0,
                                "the driver reported the loss of the device");
        vyre_flight_lose(flight, diag ? diag : &unnamed);
    }
    return vyre_loss_status(&flight->loss, diag);
}

static bool hangs(struct vyre_flight *flight)
{
    uint64_t progress = VYRE_NOTHING_IN_FLIGHT;
    vyre_lock_acquire(&flight->lock);
    if (vyre_flight_harvested(flight) != vyre_flight_submitted(flight))
        progress = flight->ops->progress_locked(flight->device);
    vyre_lock_release(&flight->lock);
    return vyre_watch_hangs(&flight->watch, progress, vyre_clock_now_ns());
}

bool vyre_flight_check(struct vyre_flight *flight)
{
    if (flight->ops->tend && !vyre_is_lost(&flight->loss))
        (void)flight->ops->tend(flight->device);
    if (!vyre_is_lost(&flight->loss) && hangs(flight)) {
        vyre_flight_take(flight); /* the device may have made progress since it was last asked */
        if (!vyre_is_lost(&flight->loss) && hangs(flight))
            vyre_flight_lose_hang(flight, flight->watch.limit_ns);
    }
    return !vyre_is_lost(&flight->loss);
}
