/*
 * ticket.c: ends submissions and reports their results to callers. This is where a result is
 * checked.
 */
#include <pthread.h>
#include <string.h>

#include "runtime/body.h"
#include "runtime/emit.h"

/* ---- Ends, reported by the backend ------------------------------------------------------------ */

/*
 * The rare path of complete: this batch failed, or an earlier one did and this one may depend on
 * it. Batches come here in order, so the outcome is that of the serial run.
 */
static void settle_failure(struct vyre_device *device, struct vyre_result_entry *entry,
                           const struct vyre_completion *completion)
{
    vyre_lock_acquire(&device->failure_lock);
    if (completion->status != VYRE_OK) {
        entry->failure.id = VYRE_DIAG_TICKET_FAILED;
        entry->failure.native_code = completion->native_code;
        vyre_poison_spread_locked(device, entry->body, completion->status, entry->sequence);
    } else {
        entry->result.status = vyre_poison_pass_locked(device, entry->body, &entry->failure.cause);
        if (entry->result.status != VYRE_OK)
            entry->failure.id = VYRE_DIAG_SUBMIT_POISONED;
    }
    vyre_lock_release(&device->failure_lock);
    if (entry->result.status != VYRE_OK)
        atomic_fetch_add_explicit(&device->progress.failed, 1, memory_order_relaxed);
}

/* Whether this is the first of two possible ends: complete and lost may race. */
static bool end_first(struct vyre_result_entry *entry)
{
    /* acq_rel: the second thread sees what the first did. */
    return atomic_exchange_explicit(&entry->ended, 1, memory_order_acq_rel) == 0;
}

/* Calls back. A proof waits until that is over (prove.h). */
static void call_back(struct vyre_device *device, vyre_completion_function *on_complete, void *user,
                      uint64_t sequence, const struct vyre_batch_result *result)
{
    atomic_store_explicit(&device->progress.caller, (uintptr_t)pthread_self(),
                          memory_order_relaxed);
    on_complete(user, (struct vyre_ticket){device->identity, sequence}, result);
    /* release: pairs with the acquire of the prover, which waits until no callback runs. */
    atomic_fetch_sub_explicit(&device->progress.calling, 1, memory_order_release);
}

/* The rest of complete for a submission with a callback. */
static void complete_and_call(struct vyre_device *device, struct vyre_result_entry *entry,
                              uint64_t sequence)
{
    if (!end_first(entry))
        return; /* lost came first: the caller has been called back, and the ticket says the same */
    /* The entry may be reused once `completed` is stored, so keep what the call needs. */
    vyre_completion_function *on_complete = entry->on_complete;
    void *user = entry->user;
    const struct vyre_batch_result result = {
        .status = entry->result.status,
        .mode = entry->result.mode,
        .wanted = entry->result.wanted,
        .why = entry->result.why,
        .wanted_out = entry->result.wanted_out,
        .device_ns = entry->result.device_ns, /* host_ns: submit may not have returned yet */
        .variant = entry->result.variant,
        .device_begin_ns = entry->result.device_begin_ns,
    };
    atomic_fetch_sub_explicit(&device->progress.callbacks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&device->progress.calling, 1, memory_order_relaxed);
    /*
     * release: pairs with the acquire in vyre_device_is_complete, which makes `calling` visible
     * too.
     */
    atomic_store_explicit(&device->progress.completed, sequence, memory_order_release);
    call_back(device, on_complete, user, sequence, &result);
}

void vyre_device_on_complete(void *context, const struct vyre_completion *completion)
{
    struct vyre_device *device = context;
    uint64_t sequence = completion->sequence;
    struct vyre_result_entry *entry = &device->results.entries[sequence & device->results.mask];
    bool poisoned = atomic_load_explicit(&device->progress.poisoned, memory_order_relaxed) != 0;
    if (vyre_device_is_lost(device))
        return;
    /*
     * The entry is in the cache of the submitter's core. Most completions do not touch it, since it
     * already says OK.
     */
    if (atomic_load_explicit(&device->progress.timed, memory_order_relaxed) &&
        entry->measurement.timed)
        vyre_measure_ended(device, entry, completion);
    if (completion->device_ns != 0) {
        entry->result.device_ns = completion->device_ns;
        entry->result.device_begin_ns = completion->device_begin_ns;
    }
    if (completion->status != VYRE_OK || poisoned) {
        entry->result.status = completion->status;
        settle_failure(device, entry, completion);
    }
    /* Relaxed: counted before the submission was handed over. */
    if (atomic_load_explicit(&device->progress.callbacks, memory_order_relaxed) &&
        entry->on_complete)
        complete_and_call(device, entry, sequence);
    else /* release: pairs with the acquire in vyre_device_is_complete. */
        atomic_store_explicit(&device->progress.completed, sequence, memory_order_release);
}

void vyre_device_on_lost(void *context, const struct vyre_diag *reason)
{
    struct vyre_device *device = context;
    vyre_lock_acquire(&device->lock);
    bool first = !vyre_device_is_lost(device);
    if (first) {
        device->loss.reason = *reason;
        device->loss.is_known = true;
        /* release: pairs with the acquire in vyre_device_is_lost. */
        atomic_store_explicit(&device->progress.lost, 1, memory_order_release);
    }
    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    uint64_t submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    vyre_lock_release(&device->lock);
    /* No submit succeeds any more, so the pending entries stay as they are. */
    const struct vyre_batch_result result = {.status = VYRE_DEVICE_LOST};
    for (uint64_t sequence = completed + 1; first && sequence <= submitted; sequence++) {
        struct vyre_result_entry *entry = &device->results.entries[sequence & device->results.mask];
        if (entry->on_complete && end_first(entry)) {
            atomic_fetch_add_explicit(&device->progress.calling, 1, memory_order_relaxed);
            call_back(device, entry->on_complete, entry->user, sequence, &result);
        }
    }
}

enum vyre_status vyre_device_unlock(struct vyre_device *device, enum vyre_status status,
                                    const struct vyre_diag *diag)
{
    vyre_lock_release(&device->lock);
    const bool named = diag && diag->status == VYRE_DEVICE_LOST; /* by this call's diagnostic */
    if (status == VYRE_DEVICE_LOST && !vyre_device_is_lost(device)) {
        struct vyre_diag reason;
        vyre_diag_reset(&reason);
        (void)vyre_diag_set(&reason, VYRE_DIAG_DEVICE_LOST, device->label, 0,
                            "the driver reported the loss of the device");
        vyre_device_on_lost(device, named ? diag : &reason);
    }
    return status;
}

enum vyre_status vyre_device_lost_status(const struct vyre_device *device, struct vyre_diag *diag)
{
    if (diag)
        *diag = device->loss.reason;
    return VYRE_DEVICE_LOST;
}

/* ---- Questions from callers ------------------------------------------------------------------- */

static enum vyre_status check_ticket(const struct vyre_device *device, struct vyre_ticket ticket,
                                     struct vyre_diag *diag)
{
    /* Relaxed: the caller has the ticket from a submit that has returned. */
    uint64_t submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    if (ticket.device == device->identity && ticket.sequence != 0 && ticket.sequence <= submitted)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_TICKET_FOREIGN, device->label, 0,
                         "ticket %llu of device %llu is not one of this device",
                         (unsigned long long)ticket.sequence, (unsigned long long)ticket.device);
}

static enum vyre_status forgotten(const struct vyre_device *device, uint64_t sequence,
                                  struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_TICKET_FORGOTTEN, device->label, 0,
                         "the result of batch %llu is no longer kept",
                         (unsigned long long)sequence);
}

/* The status of a complete submission, if any submission failed. */
static enum vyre_status ended_badly(struct vyre_device *device, uint64_t sequence,
                                    struct vyre_diag *diag)
{
    vyre_lock_acquire(&device->lock);
    const struct vyre_result_entry *entry =
        &device->results.entries[sequence & device->results.mask];
    enum vyre_status status = VYRE_OK;
    if (entry->sequence == sequence) {
        status = entry->result.status;
        if (status != VYRE_OK) {
            const char *how = entry->failure.cause ? "depends on a batch that failed" : "failed";
            (void)vyre_diag_set(diag, entry->failure.id, device->label, entry->failure.native_code,
                                "batch %llu %s: %s", (unsigned long long)sequence, how,
                                vyre_status_name(status));
            if (diag)
                diag->status = status;
        }
    } else if (sequence <= device->results.forgotten_failure) {
        status = forgotten(device, sequence, diag);
    }
    vyre_lock_release(&device->lock);
    return status;
}

static enum vyre_status ended(struct vyre_device *device, uint64_t sequence, struct vyre_diag *diag)
{
    /* Relaxed: counted before `completed` was stored, which the caller has seen. */
    if (atomic_load_explicit(&device->progress.failed, memory_order_relaxed) == 0)
        return VYRE_OK;
    return ended_badly(device, sequence, diag);
}

enum vyre_status vyre_ticket_wait(struct vyre_device *device, struct vyre_ticket ticket,
                                  uint64_t timeout_ns, struct vyre_diag *diag)
{
    enum vyre_status status = check_ticket(device, ticket, diag);
    if (status != VYRE_OK)
        return status;
    if (!vyre_device_is_complete(device, ticket.sequence) && !vyre_device_is_lost(device)) {
        /* Relaxed: a batch that was timed a moment ago may go unmeasured. */
        bool timed = atomic_load_explicit(&device->progress.timed, memory_order_relaxed) > 0;
        vyre_measure_waits(device);
        vyre_device_look(device, ticket.sequence, timeout_ns);
        if (timed)
            vyre_measure_waited(device, ticket.sequence);
    }
    if (vyre_device_is_complete(device, ticket.sequence))
        return ended(device, ticket.sequence, diag);
    if (vyre_device_is_lost(device))
        return vyre_device_lost_status(device, diag);
    return vyre_diag_set(diag, VYRE_DIAG_TICKET_TIMEOUT, device->label, 0,
                         "batch %llu was not complete after %llu ns",
                         (unsigned long long)ticket.sequence, (unsigned long long)timeout_ns);
}

enum vyre_status vyre_ticket_poll(struct vyre_device *device, struct vyre_ticket ticket,
                                  struct vyre_diag *diag)
{
    enum vyre_status status = check_ticket(device, ticket, diag);
    if (status != VYRE_OK)
        return status;
    if (!vyre_device_is_complete(device, ticket.sequence) && !vyre_device_is_lost(device))
        vyre_device_look(device, ticket.sequence, 0);
    if (vyre_device_is_complete(device, ticket.sequence))
        return ended(device, ticket.sequence, diag);
    if (vyre_device_is_lost(device))
        return vyre_device_lost_status(device, diag);
    return vyre_diag_set(diag, VYRE_DIAG_TICKET_PENDING, device->label, 0,
                         "batch %llu is not complete", (unsigned long long)ticket.sequence);
}

enum vyre_status vyre_device_wait_idle(struct vyre_device *device, uint64_t timeout_ns,
                                       struct vyre_diag *diag)
{
    /* Under the lock, so that a submit that runs work on its own thread has returned. */
    vyre_lock_acquire(&device->lock);
    uint64_t submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    vyre_lock_release(&device->lock);
    if (submitted == 0)
        return vyre_device_is_lost(device) ? vyre_device_lost_status(device, diag) : VYRE_OK;
    enum vyre_status status = vyre_ticket_wait(
        device, (struct vyre_ticket){device->identity, submitted}, timeout_ns, diag);
    if (device->emit) {
        vyre_lock_acquire(&device->lock);
        vyre_emit_flush_locked(device);
        vyre_lock_release(&device->lock);
    }
    /* A failed batch is reported to its own waiter. Here only idleness counts. */
    bool idle = vyre_device_is_complete(device, submitted);
    return idle && !vyre_device_is_lost(device) ? VYRE_OK : status;
}

enum vyre_status vyre_ticket_result(struct vyre_device *device, struct vyre_ticket ticket,
                                    struct vyre_batch_result *out_result, struct vyre_diag *diag)
{
    memset(out_result, 0, sizeof *out_result);
    enum vyre_status status = check_ticket(device, ticket, diag);
    if (status != VYRE_OK)
        return status;
    if (!vyre_device_is_complete(device, ticket.sequence)) {
        if (vyre_device_is_lost(device))
            return vyre_device_lost_status(device, diag);
        return vyre_diag_set(diag, VYRE_DIAG_TICKET_PENDING, device->label, 0,
                             "batch %llu is not complete", (unsigned long long)ticket.sequence);
    }
    vyre_lock_acquire(&device->lock);
    const struct vyre_result_entry *entry =
        &device->results.entries[ticket.sequence & device->results.mask];
    bool kept = entry->sequence == ticket.sequence;
    if (kept)
        *out_result = entry->result;
    vyre_lock_release(&device->lock);
    return kept ? VYRE_OK : forgotten(device, ticket.sequence, diag);
}
