/*
 * fallback.h: runs the ring's items by ordinary launches when no dispatcher can be launched any
 * more.
 *
 * Once a launch is refused, persistent mode is over on the device: `retired` is set, with the
 * reason, and new batches are refused. No group has taken what is still in the ring, because all
 * groups of the last dispatcher have left (ring.h). The host launches these items from their slots
 * in order, on the dispatchers' queue, and counts them as done. Batches that were being submitted
 * end as usual.
 *
 *   completion <= item of events[done] ... events[count - 1] < head
 *
 * Thread-safety: under the lock of ring_host.h, whose tend continues it; is_retired from any
 * thread.
 */
#ifndef VYRE_BACKEND_OPENCL_FALLBACK_H
#define VYRE_BACKEND_OPENCL_FALLBACK_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

#include "backend/opencl/loader.h"

struct vyre_cl_device;

/* Items that are queued at once. */
#define VYRE_CL_FALLBACK_MAX 32

struct vyre_cl_fallback {
    _Atomic uint32_t retired;              /* the reason of ring_host.h is set */
    uint32_t count;                        /* events of the items queued last */
    uint32_t done;                         /* how many of these were seen to have ended */
    cl_int code;                           /* the first failure among them */
    cl_event events[VYRE_CL_FALLBACK_MAX]; /* Owned, from `done` on */
};

/* Ends persistent mode: the driver refused a launch with this code. */
void vyre_cl_fallback_retire_locked(struct vyre_cl_device *device, cl_int code);

/* Whether that has happened. If so, the reason may be read. */
bool vyre_cl_is_retired(const struct vyre_cl_device *device);

/* Counts what has ended and queues what follows. False if nothing is left to do. */
bool vyre_cl_fallback_locked(struct vyre_cl_device *device);

/* Whether something of it may still run. Does not wait. */
bool vyre_cl_fallback_runs(struct vyre_cl_device *device);

/* Releases its events, at close. */
void vyre_cl_fallback_drop(struct vyre_cl_device *device);

#endif
