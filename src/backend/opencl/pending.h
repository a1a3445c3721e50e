/*
 * pending.h: submissions in flight and their ends.
 *
 *   head ── submitted, written by submit        tail ── collected, moved under deliver_lock
 *
 * An entry is complete when its last event is, or when the resident kernel has counted past its last
 * item; one without either is complete when those before it are. Entries are collected in order, by
 * whoever waits. Those that somebody is called back for are collected by the helper thread alone,
 * which exists from the first of them on.
 *
 * Invariants: tail <= head <= tail + capacity, which the runtime's in-flight limit holds.
 *
 * Thread-safety: one submitter; any number of collectors.
 */
#ifndef VYRE_BACKEND_OPENCL_PENDING_H
#define VYRE_BACKEND_OPENCL_PENDING_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/backend.h>

#include "backend/opencl/loader.h"
#include "base/futex.h"

/* Events kept of one batch, so that a long one is seen to make progress. */
#define VYRE_CL_EVENTS_MAX 8

struct vyre_cl_device;

struct vyre_cl_pending {
    cl_event events[VYRE_CL_EVENTS_MAX]; /* Owned; the last one ends the batch */
    uint32_t event_count;
    uint32_t events_done; /* found complete so far */
    cl_event first; /* Owned: the first command's, where the device's clock is asked; or NULL */
    bool called_back;
    bool timed;
    bool woken;              /* the driver calls back at the end of the batch */
    bool persistent;         /* complete when `last_item` is */
    uint32_t last_item;      /* the ring's counter behind the batch's items */
    enum vyre_status status; /* known at submit: not all of it could be queued */
    int64_t native_code;
    uint64_t begin_ns;
    uint32_t context_errors; /* the device's, before anything of it was queued */
    uint64_t tables_end;     /* memory of tables up to here is free when the batch is complete */
};

struct vyre_cl_pending_ring {
    struct vyre_cl_pending *entries; /* Owned */
    uint64_t mask;
    struct vyre_lock deliver_lock; /* held by the one who reports ends; taken before the other */
    struct vyre_lock
        collect_lock;         /* of the entries in flight; never held while anybody is called */
    uint64_t previous_end_ns; /* when the last timed batch ended; under the lock */
    uint64_t watch_progress;  /* what waiters saw last, for hangs; under the lock */
    uint64_t watch_since_ns;

    _Alignas(64) _Atomic uint64_t head;      /* sequences submitted */
    _Alignas(64) _Atomic uint64_t tail;      /* sequences collected */
    _Alignas(64) _Atomic uint32_t wake_word; /* changes when a sleeper should look again */
    _Atomic uint32_t driver_calls;           /* event callbacks that the driver still owes us */

    pthread_t helper;
    bool helper_started;
    _Atomic uint32_t helper_stop;
    _Atomic uint32_t helper_word; /* changes when the helper should look again */
    _Atomic uint32_t called_back; /* submissions in flight that somebody is called back for */
};

enum vyre_status vyre_cl_pending_init(struct vyre_cl_device *device, uint32_t in_flight_limit,
                                      struct vyre_diag *diag);
void vyre_cl_pending_deinit(struct vyre_cl_device *device);

/*
 * The entry of the next submission, emptied; it counts when it is pushed. Fails when there is no thread
 * for those who are called back.
 */
enum vyre_status vyre_cl_pending_next(struct vyre_cl_device *device,
                                      const struct vyre_submission *submission,
                                      struct vyre_cl_pending **out_entry, struct vyre_diag *diag);
void vyre_cl_pending_push(struct vyre_cl_device *device, struct vyre_cl_pending *entry);

/* Whether all of an entry that is not pushed has ended. */
bool vyre_cl_pending_is_over(struct vyre_cl_device *device, struct vyre_cl_pending *entry);

/* Gives back what an entry that is not pushed holds. */
void vyre_cl_pending_drop(struct vyre_cl_device *device, struct vyre_cl_pending *entry);

/* Reports what has ended, in order. `helper`: also what somebody is called back for. */
void vyre_cl_collect(struct vyre_cl_device *device, bool helper);

/*
 * Whether all submissions up to `sequence` have ended on the device, collected or not. For submit:
 * it may not call anybody back.
 */
bool vyre_cl_has_ended(struct vyre_cl_device *device, uint64_t sequence);

/* ---- wait.c ---- */

/* Stops the helper thread and waits for the driver's last calls; false when one does not come. */
bool vyre_cl_stop_waiters(struct vyre_cl_device *device);
enum vyre_status vyre_cl_start_helper(struct vyre_cl_device *device, struct vyre_diag *diag);

void vyre_cl_wake_helper(struct vyre_cl_device *device);

/* Looks whether anything has moved since the last look; false: not for as long as the hang timeout. */
bool vyre_cl_watch(struct vyre_cl_device *device);

/* The device is lost: everybody is told. Not from inside submit. */
void vyre_cl_declare_lost(struct vyre_cl_device *device);

/* The same inside submit, which returns this status. */
enum vyre_status vyre_cl_hang(struct vyre_cl_device *device, struct vyre_diag *diag);

/* Waits inside submit until everything submitted so far has ended on the device, or it is lost. */
enum vyre_status vyre_cl_drain(struct vyre_cl_device *device, struct vyre_diag *diag);

#endif
