/*
 * flight.h: what a submission in flight (common/flight.h) is in OpenCL: some events, or items of the ring.
 *
 * An entry is over when its last event is, or when the resident kernel has counted past its last
 * item. An entry without either is over when those before it are.
 *
 * Thread-safety: one submitter; any number of other threads.
 */
#ifndef VYRE_BACKEND_OPENCL_FLIGHT_H
#define VYRE_BACKEND_OPENCL_FLIGHT_H

#include <vyre/backend.h>

#include "backend/common/flight.h"
#include "backend/opencl/loader.h"

/* Events kept per batch, so that a long one shows progress. */
#define VYRE_CL_EVENTS_MAX 8

struct vyre_cl_device;

/* One submission. Its completion holds what submit already knows of its end. */
struct vyre_cl_entry {
    struct vyre_flight_entry head;
    cl_event events[VYRE_CL_EVENTS_MAX]; /* Owned; the last one ends the batch */
    uint32_t event_count;
    uint32_t events_done; /* found complete so far */
    cl_event first;       /* Owned: the first command's, if the device's clock is read; or NULL */
    bool timed;
    bool sampled;       /* its commands are timed: sample.h */
    bool woken;         /* the driver calls back at the end of the batch */
    bool persistent;    /* complete when `last_item` is */
    uint32_t last_item; /* the ring's counter after the batch's items */
    uint64_t begin_ns;
    uint32_t context_errors; /* the device's count before anything of the batch was queued */
    uint64_t tables_end;     /* memory of tables up to here is free when the batch is over */
};

extern const struct vyre_flight_ops vyre_cl_flight_ops;

/*
 * The entry of the next submission, emptied. It counts once it is pushed. Fails if no thread can be
 * started for callbacks.
 */
enum vyre_status vyre_cl_entry_next(struct vyre_cl_device *device,
                                    const struct vyre_submission *submission,
                                    struct vyre_cl_entry **out_entry, struct vyre_diag *diag);
void vyre_cl_entry_push(struct vyre_cl_device *device, struct vyre_cl_entry *entry);

/* Whether an entry has ended completely. Under the flight's lock, or before it is pushed. */
bool vyre_cl_entry_is_over(struct vyre_cl_device *device, struct vyre_cl_entry *entry);

/* Releases what an entry that is not pushed holds. */
void vyre_cl_entry_drop(struct vyre_cl_device *device, struct vyre_cl_entry *entry);

/*
 * Whether all submissions up to `sequence` have ended on the device, reported or not. For submit,
 * which may make no callbacks.
 */
bool vyre_cl_has_ended(struct vyre_cl_device *device, uint64_t sequence);

/* Waits inside submit until everything submitted so far has ended on the device, or it is lost. */
enum vyre_status vyre_cl_drain(struct vyre_cl_device *device, struct vyre_diag *diag);

/* Stops the helper thread and waits for the driver's last callbacks. False if one does not come. */
bool vyre_cl_stop_waiters(struct vyre_cl_device *device);

#endif
