/*
 * sample.h: the times of single commands, for submissions that ask for them.
 *
 * Each timed command keeps its event, and the driver's clock is read when the batch has ended. If
 * the main queue does not profile, because that makes it slower, a sampled batch goes to a queue of
 * its own that does: only while nothing else is queued, and what follows waits for it. Its commands run
 * one after another. Submissions that are not sampled pay a comparison.
 *
 * One submission at a time is sampled. Thread-safety: begin and join are called by submit; read and
 * drop under the flight's lock, or before the entry is pushed.
 */
#ifndef VYRE_BACKEND_OPENCL_SAMPLE_H
#define VYRE_BACKEND_OPENCL_SAMPLE_H

#include "backend/opencl/encode.h"

/* Commands that are timed at most. */
#define VYRE_CL_SAMPLES_MAX 128

/* The sampled submission of a device. */
struct vyre_cl_sample {
    cl_command_queue queue; /* Owned: profiles; NULL: not needed yet, or the main queue does */
    bool is_refused;        /* the driver has no such queue */
    uint64_t sequence;      /* of the last submission on the queue that may run; 0: none */
    struct vyre_command_time *times; /* Borrowed: the runtime's */
    uint32_t count;
    cl_event events[VYRE_CL_SAMPLES_MAX]; /* Owned: one per command; NULL: none */
};

/* Makes the encoder time the commands of a submission that asks for it, if that is possible. */
void vyre_cl_sample_begin(struct vyre_cl_encoder *encoder,
                          const struct vyre_submission *submission);

/* Makes the main queue wait for a sampled submission that may still run. */
cl_int vyre_cl_sample_join_slow(struct vyre_cl_device *device);

/* The entry's batch has ended: fills in the times. */
void vyre_cl_sample_read(struct vyre_cl_device *device);

/* Releases the events. */
void vyre_cl_sample_drop(struct vyre_cl_device *device);

/* Releases the queue. Nothing runs. */
void vyre_cl_sample_deinit(struct vyre_cl_device *device);

#endif
