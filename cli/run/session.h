/*
 * session.h: a workload made live on a device: buffers filled, kernels made, batches built.
 *
 * This is where the device's own limits are checked: sizes, memory (before anything is allocated),
 * which payloads it accepts. As in the parser, a diagnostic's message starts with the JSON path of the
 * value that is wrong.
 *
 * Everything is built once; running the schedule only submits.
 */
#ifndef VYRE_CLI_RUN_SESSION_H
#define VYRE_CLI_RUN_SESSION_H

#include <vyre/vyre.h>

#include "workload/workload.h"

struct session_block;

struct session {
    const struct workload *workload; /* Borrowed */
    struct vyre_device *device;      /* Owned */
    struct vyre_buffer **buffers;    /* Owned, with the device: as many as the workload has */
    struct vyre_kernel **kernels;
    struct vyre_batch **batches;
    uint64_t *dispatches;         /* Owned: per batch */
    struct session_block *blocks; /* Owned: sources of uploads and targets of downloads */
};

/*
 * Takes ownership of the device, also on failure. `sessions` is how many sessions of the workload will
 * be alive at the same time, for the memory estimate.
 */
VYRE_NODISCARD enum vyre_status session_create(const struct workload *workload,
                                               struct vyre_device *device, size_t sessions,
                                               struct session **out_session,
                                               struct vyre_diag *diag);

/* Waits for all work. NULL and a pointer to NULL are ignored. */
void session_destroy(struct session **session);

/* Bytes of buffers, uploads and downloads; UINT64_MAX when they are too many to count. */
uint64_t session_memory_bytes(const struct workload *workload);

/* The digest of an output, by its index. Waits for all work. */
VYRE_NODISCARD enum vyre_status session_digest(struct session *session, size_t output,
                                               char out_text[VYRE_HASH128_TEXT_BYTES],
                                               struct vyre_diag *diag);

/* Puts a path before the diagnostic's message unless it has one; returns the diagnostic's status. */
enum vyre_status session_at(struct vyre_diag *diag, const char *path, ...) VYRE_PRINTF(2, 3);

/* session_kernel.c: creates a kernel as the workload describes it. */
VYRE_NODISCARD enum vyre_status session_kernel_create(const struct workload_kernel *kernel,
                                                      struct vyre_device *device,
                                                      struct vyre_kernel **out_kernel,
                                                      struct vyre_diag *diag);

#endif
