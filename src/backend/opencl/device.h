/*
 * device.h: an open OpenCL device, shared by the files that carry out its table.
 *
 *   device.c    opening, closing, the table
 *   facts.c     limits, abilities with reasons, features
 *   encode.c    commands onto the queue
 *   submit.c    submissions
 *   arms.c      two queues that wait for each other
 *   recording.c record and replay
 *   sample.c    the times of single commands
 *   flight.c    waiting
 *
 * Queues
 *   queue      in order; everything except resident kernels, so batches need no barrier between them
 *   side       in order; some arms of a batch (arms.h); NULL if that cannot pay
 *   sample     in order, profiles; batches whose commands are timed (sample.h)
 *   resident   in order; dispatcher kernels only
 *   trial      in order; the first launch of each dispatcher (trial.h)
 *
 * Thread-safety: submit, record, create and destroy are called one at a time; wait by any number.
 */
#ifndef VYRE_BACKEND_OPENCL_DEVICE_H
#define VYRE_BACKEND_OPENCL_DEVICE_H

#include <vyre/backend.h>

#include "backend/opencl/backend.h"
#include "backend/opencl/command_buffer.h"
#include "backend/opencl/flight.h"
#include "backend/opencl/sample.h"
#include "backend/opencl/tables.h"
#include "plan/lane_plan.h"

struct vyre_cl_built;
struct vyre_cl_kernel;
struct vyre_cl_persistent;

/* What the device said of itself when it was opened. */
struct vyre_cl_traits {
    unsigned version;                    /* of OpenCL: 120, 200, 300 ... */
    unsigned c_version;                  /* of OpenCL C that programs are built for */
    bool svm;                            /* buffers lie in fine-grained SVM */
    bool svm_atomics;                    /* ... that both sides may use at the same time */
    cl_device_svm_capabilities svm_bits; /* as reported */
    bool correct_divide;                 /* -cl-fp32-correctly-rounded-divide-sqrt */
    bool out_of_order;
    bool splits_at_barriers; /* PoCL: see dispatcher/barriers.c */
    uint32_t compute_units;
    uint32_t alignment; /* of buffers and of ranges in them */
    size_t group_invocations;
    uint64_t local_bytes;
};

struct vyre_cl_device {
    const struct vyre_cl_api *api; /* Borrowed from the backend */
    struct vyre_allocator allocator;
    struct vyre_device_host host;
    struct vyre_device_desc desc;  /* texts in it are not kept */
    struct vyre_cl_listed *listed; /* Borrowed from the backend */
    cl_device_id id;
    cl_platform_id platform;
    struct vyre_cl_traits traits;
    struct vyre_cl_command_buffer_api command_buffers;

    cl_context context;
    cl_command_queue queue;
    cl_command_queue side;           /* Owned; may be NULL */
    struct vyre_lane_plan lane_plan; /* of the batch that is enqueued or recorded */
    bool forked;   /* the side queue has work that the main queue does not wait for yet */
    bool blocking; /* work was seen to end inside the enqueue: usually nothing to flush */
    bool filling;  /* the queue may hold fills of new buffers, and no batch after them */
    struct vyre_flight flight;
    uint64_t previous_end_ns;      /* when the last timed batch ended; under the flight's lock */
    _Atomic uint32_t driver_calls; /* event callbacks that the driver still has to make */
    struct vyre_cl_tables tables;
    struct vyre_cl_sample sample;
    struct vyre_cl_built *builds;          /* Owned: a list, each kept by the kernels that use it */
    struct vyre_cl_kernel *kernels;        /* a list of all kernels */
    struct vyre_cl_persistent *persistent; /* Owned; NULL: no persistent mode */
    bool left_work;          /* a loss cut off a batch: it is unknown when its work ends */
    uint64_t last_queued;    /* sequence of the last submission that used the queue */
    uint64_t next_part;      /* numbers of parts of buffers, never reused */
    uint64_t reserved_bytes; /* memory taken from the driver */
    uint32_t allocation_count;

    _Atomic uint32_t context_errors; /* counted by the driver's callback */
    _Atomic uint32_t abandoned;      /* never closed: the instance may be gone */
    _Atomic uint32_t log_calls;      /* messages to the instance that are being delivered */
};

/* facts.c */
void vyre_cl_read_traits(struct vyre_cl_device *device, const struct vyre_cl_listed *listed);
void vyre_cl_facts_state(const struct vyre_cl_device *device, const struct vyre_cl_listed *listed,
                         struct vyre_device_facts *facts);

/* Entries of the backend's table. */
enum vyre_status vyre_cl_submit(void *native, const struct vyre_submission *submission,
                                struct vyre_diag *diag);
void vyre_cl_wait(void *native, uint64_t sequence, uint64_t timeout_ns);

#endif
