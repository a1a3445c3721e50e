/*
 * emit.h: reports to the instance's observer what happens on a device.
 *
 * Without an observer a device has no vyre_emit, and each reporting place tests that one pointer.
 * With one, every submission is timed and has a decision record of its own:
 *
 *   submit   notes what to report of the batch: its decision, its commands and kernels
 *   measure  finds its cost, some time after its end, and has it reported
 *
 * Labels are passed by pointer: a completed batch is reported before anything that it uses is
 * freed.
 *
 * Words
 *   profile  the commands and kernels of a shape, counted once: shapes.h
 *   muted    while a device is calibrated: its probes are not the program's work
 *
 * Thread-safety: the caller holds the device's lock, except in open and close.
 */
#ifndef VYRE_RUNTIME_EMIT_H
#define VYRE_RUNTIME_EMIT_H

#include <vyre/observer.h>

#include "runtime/decide.h"

struct vyre_emit;

/* Reports that the device is open. Without an observer nothing is created. */
enum vyre_status vyre_emit_open(struct vyre_device *device, struct vyre_diag *diag);

/*
 * Reports all that is left and that the device is closed; after that, nothing. To be called after
 * quiesce.
 */
void vyre_emit_close(struct vyre_device *device);

/* Frees it, even if something was not reported. */
void vyre_emit_free(struct vyre_device *device);

/* Reports all complete batches, and on a lost device those that never will complete. */
void vyre_emit_flush_locked(struct vyre_device *device);

/*
 * Whether the submission just accepted will be reported; then the following functions are called.
 */
bool vyre_emit_listens_locked(struct vyre_device *device, const struct vyre_result_entry *entry);

/* The runtime accepted a submission of its own, which is not reported. */
void vyre_emit_unseen_locked(struct vyre_device *device, uint64_t sequence);

/* A submission was accepted; its record, without the times. */
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

/* Mutes, until it is called with false as often as with true. Takes the lock itself. */
void vyre_emit_mute(struct vyre_device *device, bool muted);

#endif
