/*
 * emit.h: tells the instance's observer what happens on a device.
 *
 * Without an observer a device has no vyre_emit, and each place that would tell something tests that
 * one pointer. With one, every submission is timed and has a decision record of its own:
 *
 *   submit   notes what will be told of the batch: its decision, its commands and kernels
 *   measure  knows what it cost, some time after its end, and has it told
 *
 * Labels are told by pointer: what is complete is told before anything that died is freed.
 *
 * Words
 *   profile  the commands and kernels of a shape, counted once
 *   muted    while a device is calibrated: its probes are no work of the program
 *
 * Thread-safety: the caller holds the device's lock, but in open and close.
 */
#ifndef VYRE_RUNTIME_EMIT_H
#define VYRE_RUNTIME_EMIT_H

#include <vyre/observer.h>

#include "runtime/decide.h"

struct vyre_emit;

/* Tells that the device is open. Without an observer nothing is made. */
enum vyre_status vyre_emit_open(struct vyre_device *device, struct vyre_diag *diag);

/* Tells all that is left and that the device is closed; then nothing more is told. After quiesce. */
void vyre_emit_close(struct vyre_device *device);

/* Frees it, told or not. */
void vyre_emit_free(struct vyre_device *device);

/* Tells of all batches that are complete, and on a lost device of those that never will be. */
void vyre_emit_flush_locked(struct vyre_device *device);

/* A submission was taken. `governed` is NULL when the caller required the mode. */
void vyre_emit_submitted_locked(struct vyre_device *device, uint64_t sequence,
                                struct vyre_body *body, uint32_t repeat_hint,
                                const struct vyre_mode_choice *choice,
                                const struct vyre_governor_choice *governed);

/* What a complete submission cost; 0: not known. */
void vyre_emit_batch_locked(struct vyre_device *device, uint64_t sequence, uint64_t cost_ns,
                            int64_t saved_ns);

void vyre_emit_kernel_locked(struct vyre_device *device, const struct vyre_kernel *kernel,
                             uint64_t begin_ns);

/* A recording was made of the body, from `begin_ns` until now. */
void vyre_emit_recorded_locked(struct vyre_device *device, struct vyre_body *body,
                               struct vyre_recording *recording, uint64_t begin_ns);

void vyre_emit_calibrated_locked(struct vyre_device *device);

/* Until it is called again with false, as often as with true. Takes the lock itself. */
void vyre_emit_mute(struct vyre_device *device, bool muted);

#endif
