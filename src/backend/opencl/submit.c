/*
 * submit.c: submissions.
 */
#include "backend/opencl/arms.h"
#include "backend/opencl/device.h"
#include "backend/opencl/encode.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/recording.h"
#include "backend/opencl/sample.h"

/*
 * Some commands are queued and cannot be taken back. The batch counts as submitted, and ends with
 * the failure when the queued commands have ended.
 */
static enum vyre_status end_in_failure(struct vyre_cl_encoder *encoder, enum vyre_status status,
                                       const struct vyre_diag *diag)
{
    struct vyre_cl_entry *entry = encoder->entry;
    struct vyre_cl_device *device = encoder->device;
    cl_event marker;
    if (device->forked)
        (void)vyre_cl_arms_join(device, NULL);
    if (entry->event_count == VYRE_CL_EVENTS_MAX)
        (void)device->api->clReleaseEvent(entry->events[--entry->event_count]);
    cl_command_queue queue = entry->sampled ? encoder->queue : device->queue;
    if (device->api->clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker) == CL_SUCCESS)
        entry->events[entry->event_count++] = marker;
    entry->head.completion.status = status;
    entry->head.completion.native_code = diag->native_code;
    return VYRE_OK;
}

static enum vyre_status submit_queued(struct vyre_cl_device *device,
                                      const struct vyre_submission *submission,
                                      struct vyre_diag *diag)
{
    struct vyre_cl_entry *entry;
    struct vyre_cl_encoder encoder;
    enum vyre_status status = vyre_cl_entry_next(device, submission, &entry, diag);
    if (status == VYRE_OK && vyre_cl_persistent_is_busy(device))
        status = vyre_cl_drain(device, diag);
    if (status != VYRE_OK)
        return status;
    if (device->sample.sequence != 0) {
        cl_int code = vyre_cl_sample_join_slow(device);
        if (code != CL_SUCCESS)
            return vyre_cl_failed(diag, submission->view->label, code,
                                  "clEnqueueBarrierWithWaitList");
    }
    vyre_cl_encoder_begin(&encoder, device, submission, entry);
    status = submission->recording ? vyre_cl_replay(&encoder, submission, diag)
                                   : vyre_cl_encode(&encoder, submission->variant, diag);
    if (status == VYRE_OK && device->forked) {
        cl_int code = vyre_cl_arms_end(&encoder);
        if (code != CL_SUCCESS)
            status =
                vyre_cl_failed(diag, submission->view->label, code, "clEnqueueBarrierWithWaitList");
    }
    if (status != VYRE_OK && encoder.enqueued > 0 && status != VYRE_DEVICE_LOST)
        status = end_in_failure(&encoder, status, diag);
    if (status != VYRE_OK) {
        device->left_work = device->left_work || encoder.enqueued > 0;
        vyre_cl_entry_drop(device, entry);
        return status;
    }
    if (encoder.enqueued > 0) {
        if (!device->blocking || !vyre_cl_entry_is_over(device, entry))
            (void)device->api->clFlush(entry->sampled ? encoder.queue : device->queue);
        device->last_queued = submission->sequence;
        if (device->sample.sequence != submission->sequence)
            device->filling = false; /* the batch ends after them */
    }
    vyre_cl_entry_push(device, entry);
    return VYRE_OK;
}

enum vyre_status vyre_cl_submit(void *native, const struct vyre_submission *submission,
                                struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    struct vyre_diag own; /* the failure of a batch is needed even if the caller passes no diag */
    diag = diag ? diag : &own;
    if (vyre_is_lost(&device->flight.loss)) /* found by a check that may not report it */
        return vyre_loss_status(&device->flight.loss, diag);
    enum vyre_status status = submission->mode == VYRE_MODE_PERSISTENT
                                  ? vyre_cl_persistent_submit(device, submission, diag)
                                  : submit_queued(device, submission, diag);
    return vyre_flight_note_loss(&device->flight, status, diag);
}
