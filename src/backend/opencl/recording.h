/*
 * recording.h: recordings: a list of launches with their arguments set, or the driver's command buffers.
 *
 * List: each dispatch has a cl_kernel whose bindings do not change; dispatches with the same
 * bindings share one. Each replay compares the constants and sets those that differ. Uploads and
 * downloads come from the submission. A list holds only the shape.
 *
 * Command buffers: runs of dispatches, copies and fills, with their constants. Uploads and
 * downloads come between them and are enqueued one by one.
 */
#ifndef VYRE_BACKEND_OPENCL_RECORDING_H
#define VYRE_BACKEND_OPENCL_RECORDING_H

#include "backend/opencl/encode.h"

enum vyre_status vyre_cl_replay(struct vyre_cl_encoder *encoder,
                                const struct vyre_submission *submission, struct vyre_diag *diag);

/* Entries of the backend's table. */
enum vyre_status vyre_cl_record(void *native, const struct vyre_batch_view *view, uint32_t variant,
                                void **out_recording, size_t *out_size_bytes,
                                struct vyre_diag *diag);
void vyre_cl_recording_destroy(void *native, void *native_recording);

#endif
