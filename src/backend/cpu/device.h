/*
 * device.h: an open CPU device, shared by the files that carry out its table.
 *
 *   device.c   opening, memory, kernels, the table
 *   launch.c   submit and record: small work runs here, large work on the ring
 *   wait.c     waiting, helping, hangs
 *
 * Thread-safety: submit, record and what they use are called one at a time; wait by any number.
 */
#ifndef VYRE_BACKEND_CPU_DEVICE_H
#define VYRE_BACKEND_CPU_DEVICE_H

#include <vyre/backend.h>

#include "backend/common/watch.h"
#include "backend/cpu/pool.h"
#include "base/futex.h"

struct vyre_cpu_device {
    struct vyre_allocator allocator;
    struct vyre_device_host host;
    struct vyre_cpu_ring ring;
    struct vyre_cpu_pool pool;
    struct vyre_cpu_runner caller; /* the caller that runs work on its own thread; one at a time */
    struct vyre_lock caller_lock;  /* of waiting threads that help */
    bool no_inline;
    uint64_t missed_ns; /* time that sleeping workers would have saved since they were last woken */
    uint64_t sample;    /* the command of a timed batch to measure next */
    struct vyre_cpu_program *free_programs; /* Owned: a list, most recently used first */
    uint64_t reclaimed; /* the programs of jobs up to this one are back in the list */
    struct vyre_watch watch;
};

/* Entries of the backend's table. */
enum vyre_status vyre_cpu_submit(void *native, const struct vyre_submission *submission,
                                 struct vyre_diag *diag);
enum vyre_status vyre_cpu_record(void *native, const struct vyre_batch_view *view, uint32_t variant,
                                 void **out_recording, size_t *out_size_bytes,
                                 struct vyre_diag *diag);
void vyre_cpu_recording_destroy(void *native, void *native_recording);
void vyre_cpu_wait(void *native, uint64_t sequence, uint64_t timeout_ns);

/* Work that makes no progress for the hang timeout, as seen by the waiting threads, is lost. */
void vyre_cpu_check_hang(void *native);

#endif
