/*
 * sample.c: the times of single commands, for submissions that ask for them.
 */
#include "backend/opencl/sample.h"

#include <string.h>

#include "backend/opencl/device.h"

/* The queue that profiles, or NULL. */
static cl_command_queue profiling_queue(struct vyre_cl_device *device)
{
    struct vyre_cl_sample *sample = &device->sample;
    if (device->desc.device_times)
        return device->queue;
    if (!sample->queue && !sample->is_refused) {
        cl_int code;
        sample->queue = device->api->clCreateCommandQueue(device->context, device->id,
                                                          CL_QUEUE_PROFILING_ENABLE, &code);
        sample->is_refused = !sample->queue;
    }
    return sample->queue;
}

/*
 * Whether the tables surely find room in the device's ring. If they did not, encoding would wait for the main
 * queue, and not for the commands that the batch has queued already. They begin at the start of the ring, and half
 * of it leaves room for their alignment.
 */
static bool has_room_for_tables(const struct vyre_submission *submission)
{
    return submission->recording ||
           vyre_cl_tables_bytes(submission->view) <= VYRE_CL_TABLES_BYTES / 2;
}

/* Fills of new buffers are no batches: they have ended when a batch behind them has. */
static bool is_main_idle(struct vyre_cl_device *device)
{
    return !device->filling && vyre_cl_has_ended(device, vyre_flight_submitted(&device->flight));
}

void vyre_cl_sample_begin(struct vyre_cl_encoder *encoder, const struct vyre_submission *submission)
{
    struct vyre_cl_device *device = encoder->device;
    struct vyre_cl_sample *sample = &device->sample;
    bool own_queue = !device->desc.device_times;
    if (submission->variant & VYRE_VARIANT_DRIVER) /* one command for the whole batch */
        return;
    if (own_queue && (!has_room_for_tables(submission) || !is_main_idle(device)))
        return;
    cl_command_queue queue = profiling_queue(device);
    if (!queue)
        return;
    if (own_queue) /* what batches that were refused have taken */
        vyre_cl_tables_clear(&device->tables);
    sample->times = submission->times;
    sample->count =
        submission->time_count < VYRE_CL_SAMPLES_MAX ? submission->time_count : VYRE_CL_SAMPLES_MAX;
    memset(sample->events, 0, sample->count * sizeof *sample->events);
    sample->sequence = own_queue ? submission->sequence : 0;
    encoder->queue = queue;
    encoder->sample_count = sample->count;
    encoder->entry->sampled = true;
}

cl_int vyre_cl_sample_join_slow(struct vyre_cl_device *device)
{
    struct vyre_cl_sample *sample = &device->sample;
    cl_event event;
    if (vyre_cl_has_ended(device, sample->sequence)) {
        sample->sequence = 0;
        return CL_SUCCESS;
    }
    cl_int code = device->api->clEnqueueMarkerWithWaitList(sample->queue, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return code;
    /* An event that another queue waits for must have been flushed. */
    code = device->api->clFlush(sample->queue);
    if (code == CL_SUCCESS)
        code = device->api->clEnqueueBarrierWithWaitList(device->queue, 1, &event, NULL);
    (void)device->api->clReleaseEvent(event);
    if (code == CL_SUCCESS)
        sample->sequence = 0;
    return code;
}

static cl_ulong profiled(struct vyre_cl_device *device, cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    (void)device->api->clGetEventProfilingInfo(event, what, sizeof value, &value, NULL);
    return value;
}

void vyre_cl_sample_read(struct vyre_cl_device *device)
{
    struct vyre_cl_sample *sample = &device->sample;
    for (uint32_t i = 0; i < sample->count; i++) {
        if (!sample->events[i])
            continue;
        cl_ulong start = profiled(device, sample->events[i], CL_PROFILING_COMMAND_START);
        cl_ulong end = profiled(device, sample->events[i], CL_PROFILING_COMMAND_END);
        if (start && end > start)
            sample->times[i] = (struct vyre_command_time){.ns = end - start,
                                                          .parallel = device->traits.compute_units};
    }
}

void vyre_cl_sample_drop(struct vyre_cl_device *device)
{
    struct vyre_cl_sample *sample = &device->sample;
    for (uint32_t i = 0; i < sample->count; i++) {
        if (sample->events[i])
            (void)device->api->clReleaseEvent(sample->events[i]);
    }
    sample->count = 0;
}

void vyre_cl_sample_deinit(struct vyre_cl_device *device)
{
    if (device->sample.queue)
        (void)device->api->clReleaseCommandQueue(device->sample.queue);
    device->sample.queue = NULL;
}
