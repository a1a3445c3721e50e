/*
 * trial.h: the first launch of a new dispatcher, with nothing to do. In it the driver compiles all
 * of the program and shows whether it runs.
 *
 * Trials have their own queue and control block, with `stop` set. So they run beside the ring and
 * the queue, and a build can try its dispatcher without the device's lock.
 *
 * Thread-safety: run from any thread, one trial at a time; the rest like submit.
 */
#ifndef VYRE_BACKEND_OPENCL_TRIAL_H
#define VYRE_BACKEND_OPENCL_TRIAL_H

#include <vyre/backend.h>

#include "backend/opencl/loader.h"
#include "base/futex.h"

struct vyre_cl_control;
struct vyre_cl_device;
struct vyre_cl_resident;

struct vyre_cl_trial {
    struct vyre_lock lock;           /* held by the trial that runs */
    cl_command_queue queue;          /* Owned */
    struct vyre_cl_control *control; /* Owned: shared memory */
    cl_event launched;               /* Owned: of a trial that hangs; else NULL */
    uint64_t limit_ns;               /* a trial that takes longer hangs */
};

VYRE_NODISCARD enum vyre_status vyre_cl_trial_create(struct vyre_cl_device *device,
                                                     struct vyre_diag *diag);

/* After vyre_cl_trial_is_over. */
void vyre_cl_trial_destroy(struct vyre_cl_device *device);

/*
 * Launches the dispatcher and waits for its end, so that it is ready for the ring. VYRE_UNSUPPORTED
 * (submit-mode) and the driver's code if it does not run.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_trial_run(struct vyre_cl_device *device,
                                                  const struct vyre_cl_resident *resident,
                                                  struct vyre_diag *diag);

/* Whether nothing of it still runs. Does not wait. */
bool vyre_cl_trial_is_over(const struct vyre_cl_device *device);

#endif
