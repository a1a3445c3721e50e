/*
 * ring_host.h: the state of persistent mode on one device.
 *
 *   control  in shared memory; the host's words and the device's (dispatcher/ring.h)
 *   current  the dispatcher that runs, or ran last; changes only when the ring is empty and it has left
 *   running  launched, and not yet seen to have left
 *
 * Thread-safety: `lock` guards current, running, stop_why, launched and launches. Only submit
 * publishes items.
 */
#ifndef VYRE_BACKEND_OPENCL_RING_HOST_H
#define VYRE_BACKEND_OPENCL_RING_HOST_H

#include "backend/common/residency.h"
#include "backend/opencl/dispatcher/ring.h"
#include "backend/opencl/fallback.h"
#include "backend/opencl/resident.h"
#include "backend/opencl/trial.h"
#include "base/futex.h"

#define VYRE_CL_RING_SLOTS 512u

struct vyre_cl_persistent {
    struct vyre_cl_control *control; /* Owned: shared memory */
    uint32_t groups;                 /* resident at once */
    cl_command_queue queue;          /* Owned: dispatchers only */
    struct vyre_lock lock;
    struct vyre_cl_resident *current;
    _Atomic uint32_t running;
    struct vyre_residency_log residency; /* of the launches */
    enum vyre_residency_end stop_why;    /* why the host asks the current one to leave */
    cl_event launched;                   /* Owned: of the last launch; may be NULL */
    _Atomic uint64_t launched_ns;
    uint32_t launched_heartbeat;
    struct vyre_cl_trial trial;              /* of new dispatchers */
    uint64_t poll_ns_x16;                    /* what one poll took, in sixteenths of a nanosecond */
    _Atomic int32_t failure;                 /* the driver's code if nothing can run the items */
    struct vyre_cl_resident *first;          /* Owned: a list, most recently made first */
    uint32_t count;                          /* of dispatchers in it */
    uint32_t refusal_count;                  /* of refusals in it */
    struct vyre_cl_resident_build *building; /* a list of builds under way */
    uint64_t use_count;
    uint64_t launches;
    uint64_t generation; /* counts dispatchers made and destroyed, from 1 */
    struct vyre_cl_memo {
        const void *kernel;
        uint64_t generation;
        struct vyre_cl_resident *resident;
        uint32_t index;
    } memo; /* the last kernel looked up, if it has one variant and no local memory */
    struct vyre_cl_fallback fallback;
    char
        reason[VYRE_REASON_BYTES]; /* why there is no persistent mode, from the start or any more */
};

/* Launches `current` on the ring, or ends persistent mode. Under the lock, while nothing runs. */
void vyre_cl_ring_launch_locked(struct vyre_cl_device *device);

/* Notes whether the dispatcher has left. Does not wait. */
void vyre_cl_ring_look(struct vyre_cl_device *device);

/*
 * Makes the current dispatcher leave and waits for it. False if the device is lost, before or by
 * this.
 */
bool vyre_cl_ring_leave(struct vyre_cl_device *device);

/*
 * Waits until the driver is also done with the last launch; on a lost device for a moment. False as
 * above.
 */
bool vyre_cl_ring_is_over(struct vyre_cl_device *device);

/*
 * Makes `resident` the current dispatcher once all items are done and the one before it has left.
 * False as above.
 */
bool vyre_cl_ring_change(struct vyre_cl_device *device, struct vyre_cl_resident *resident);

#endif
