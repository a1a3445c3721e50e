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
 *   profile  the commands and kernels of a shape, counted once: shapes.h
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

/* Whether anything will be told of the submission that was just taken; then what follows is called. */
bool vyre_emit_listens_locked(struct vyre_device *device, const struct vyre_result_entry *entry);

/* A submission of the runtime's own was taken: nothing is said of it. */
void vyre_emit_unseen_locked(struct vyre_device *device, uint64_t sequence);

/* A submission was taken; its record, without the times. */
void vyre_emit_submitted_locked(struct vyre_device *device, const struct vyre_result_entry *entry,
                                struct vyre_body *body, const struct vyre_decision_record *record);

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
