/*
 * flight.h: submissions in flight: their order, their end, and the threads that wait for it.
 *
 *   submitted ──> over on the device ──> harvested ──> delivered
 *                                        bytes and     reported to the
 *                                        times taken   runtime, in order
 *
 *   [5: delivered][6: harvested][7: harvested][8: runs][9: queued][free] ...    s lives in slot s & mask
 *
 * Harvesting takes the results of a submission and releases what it held. It needs only the
 * flight's lock, so a submit that waits for room can do it too. Delivering calls foreign code. One
 * thread at a time does it, without that lock. Any waiting thread harvests and delivers, except
 * that only the helper thread, which starts with the first submission that has a callback, delivers
 * those with callbacks.
 *
 * Locks: the runtime is called under the deliver_lock, and may submit from there. Nothing is called
 * under the lock.
 *
 * Invariants: delivered <= harvested <= submitted <= delivered + mask + 1, by the runtime's
 * in-flight limit: the runtime receives an end, and may submit again, before the end counts as
 * delivered.
 *
 * Thread-safety: one submitter; any number of other threads.
 */
#ifndef VYRE_BACKEND_COMMON_FLIGHT_H
#define VYRE_BACKEND_COMMON_FLIGHT_H

#include <pthread.h>

#include "backend/common/loss.h"
#include "backend/common/watch.h"

/* What every backend keeps of a submission: the first member of its own struct. */
struct vyre_flight_entry {
    struct vyre_completion completion; /* the sequence from the start, the rest once harvested */
    bool called_back;
};

/* What a backend supplies. `device` is the one given to vyre_flight_init. */
struct vyre_flight_ops {
    /*
     * If a submission and those before it are over: takes its results, releases what it held, fills
     * in its completion, and returns true.
     */
    bool (*take_locked)(void *device, struct vyre_flight_entry *entry);

    /* Releases what an unfinished submission held. Without the lock. */
    void (*drop)(void *device, struct vyre_flight_entry *entry);

    /*
     * Optional: asks the device for its progress, then harvests. A device that does not answer is
     * lost.
     */
    void (*poll)(void *device);

    /*
     * Sleeps until a submission that is not harvested may be over, at most `limit_ns`. The caller
     * has waited for `waited_ns`. May return early, but not again and again.
     */
    void (*sleep)(void *device, uint64_t sequence, uint64_t waited_ns, uint64_t limit_ns);

    /* Changes while the work in flight makes progress. */
    uint64_t (*progress_locked)(void *device);

    /*
     * Optional: serves work that needs the host. True if it must be called again soon. Any thread.
     */
    bool (*tend)(void *device);

    uint64_t spin_ns;        /* how long a caller looks again and again before it sleeps */
    uint64_t helper_spin_ns; /* the same for the helper, which yields its core meanwhile */
};

struct vyre_flight {
    const struct vyre_flight_ops *ops;
    void *device; /* Borrowed: the backend's */
    struct vyre_loss loss;
    struct vyre_watch watch;
    unsigned char *entries; /* Owned: mask + 1 of the backend's entries */
    size_t entry_bytes;
    uint64_t mask;
    struct vyre_lock lock;         /* entries in flight, and what backends put under it */
    struct vyre_lock deliver_lock; /* of the thread that delivers; taken before the other one */

    _Alignas(64) _Atomic uint64_t submitted; /* written by submit */
    _Alignas(64) _Atomic uint64_t harvested; /* written under the lock */
    _Atomic uint64_t delivered;              /* written under the deliver_lock */
    /* changes when a sleeping thread should look again: futex */
    _Alignas(64) _Atomic uint32_t end_word;
    _Atomic uint32_t sleepers; /* threads that sleep on it */
    _Atomic uint32_t drains;   /* a submit has looked, and looks until all has ended */

    pthread_t helper;
    bool has_helper;
    _Atomic uint32_t helper_stop;
    _Atomic uint32_t helper_word; /* changes when the helper should look again: futex */
    _Atomic uint64_t called_last; /* the last submission with a callback */
};

/* Allocates memory for all that may be in flight. `host` stays valid. */
enum vyre_status vyre_flight_init(struct vyre_flight *flight, const struct vyre_flight_ops *ops,
                                  void *device, size_t entry_bytes,
                                  const struct vyre_device_host *host,
                                  const struct vyre_device_desc *desc, struct vyre_diag *diag);

/* Drops unfinished submissions. Does nothing with a flight that was not initialised. */
void vyre_flight_deinit(struct vyre_flight *flight);

static inline void *vyre_flight_at(const struct vyre_flight *flight, uint64_t sequence)
{
    return flight->entries + (sequence & flight->mask) * flight->entry_bytes;
}

static inline uint64_t vyre_flight_submitted(const struct vyre_flight *flight)
{
    /* acquire: pairs with the release in vyre_flight_push. */
    return atomic_load_explicit(&flight->submitted, memory_order_acquire);
}

static inline uint64_t vyre_flight_harvested(const struct vyre_flight *flight)
{
    /* acquire: pairs with the release in vyre_flight_harvest_locked. */
    return atomic_load_explicit(&flight->harvested, memory_order_acquire);
}

/* The next submission is in flight; its entry is filled in. */
void vyre_flight_push(struct vyre_flight *flight, const struct vyre_flight_entry *entry);

/* Harvests all that is over, oldest first. */
void vyre_flight_harvest_locked(struct vyre_flight *flight);
void vyre_flight_harvest(struct vyre_flight *flight);

/* The same, after polling the device. */
void vyre_flight_take(struct vyre_flight *flight);

/* Reports to the runtime what was harvested. `helper`: also submissions with a callback. */
void vyre_flight_deliver(struct vyre_flight *flight, bool helper);

/*
 * Serves the work and checks whether it makes progress. False: the device is lost. Reports nothing.
 */
bool vyre_flight_check(struct vyre_flight *flight);

/* The device is lost: waiting threads wake up and report that to the runtime. */
void vyre_flight_lose(struct vyre_flight *flight, const struct vyre_diag *reason);

/* The same, because nothing was completed for `hang_ns`. */
void vyre_flight_lose_hang(struct vyre_flight *flight, uint64_t hang_ns);

/*
 * What submit and similar calls return. If that is a loss, it ends everything, with its diagnostic
 * if there is one; the status is returned with the first reason. Any other status is returned
 * unchanged.
 */
enum vyre_status vyre_flight_note_loss(struct vyre_flight *flight, enum vyre_status status,
                                       struct vyre_diag *diag);

/* ---- wait.c ----------------------------------------------------------------------------------- */

/* The `wait` entry of the backend's table. */
void vyre_flight_wait(struct vyre_flight *flight, uint64_t sequence, uint64_t timeout_ns);

/* For submit: waits until all of it is over. Does not report a loss. False: the device is lost. */
bool vyre_flight_drain(struct vyre_flight *flight);

/* What a call of the backend waits for, besides submissions in flight. */
struct vyre_awaited {
    void *context;
    bool (*is_over)(void *context);      /* asks the device; may sleep for a moment */
    uint64_t (*progress)(void *context); /* optional: changes while there is progress */
    void (*pause)(void *context);        /* optional: other work between two looks */
    uint64_t limit_ns;                   /* without progress for this long, it hangs */
};

/*
 * For submit and similar calls: waits until it is over, and reports nothing. False: the device is
 * lost.
 */
bool vyre_flight_await(struct vyre_flight *flight, const struct vyre_awaited *awaited);

/*
 * To sleep: read the news, check whether there is something to wait for, sleep while the news is
 * unchanged.
 */
static inline uint32_t vyre_flight_news(const struct vyre_flight *flight)
{
    return atomic_load_explicit(&flight->end_word, memory_order_seq_cst);
}
void vyre_flight_sleep(struct vyre_flight *flight, uint32_t news, uint64_t limit_ns);

/* There is news. Takes no lock. */
void vyre_flight_wake(struct vyre_flight *flight);

/* The helper: starts it if needed; wakes it; ends it. */
enum vyre_status vyre_flight_start_helper(struct vyre_flight *flight, struct vyre_diag *diag);
void vyre_flight_wake_helper(struct vyre_flight *flight);
void vyre_flight_stop_helper(struct vyre_flight *flight);

#endif
