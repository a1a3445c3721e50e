/*
 * arms.c: two queues that wait for each other.
 */
#include "backend/opencl/arms.h"

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"

enum vyre_status vyre_cl_arms_plan(struct vyre_cl_device *device,
                                   const struct vyre_batch_view *view, uint32_t variant,
                                   bool *out_arms, struct vyre_diag *diag)
{
    static const struct vyre_lanes queues = {.compute = 2};
    static const struct vyre_lane_tuning always = {0}; /* the governor decides whether it pays */
    /* A command buffer of the driver belongs to one queue, which keeps the order. */
    const uint32_t one_queue = VYRE_VARIANT_SERIAL | VYRE_VARIANT_DRIVER;
    struct vyre_batch_plan plan;
    *out_arms = false;
    if (!device->side || (variant & one_queue) || view->is_chain || view->command_count < 2)
        return VYRE_OK;
    enum vyre_status status = device->host.plan(device->host.context, view, &plan, diag);
    *out_arms = status == VYRE_OK && vyre_lane_plan_begin(&device->lane_plan, &plan) &&
                vyre_lane_plan_make(&device->lane_plan, view, &plan, &queues, &always);
    return status;
}

uint64_t vyre_cl_lane(const struct vyre_lane_plan *lanes, uint32_t command)
{
    uint32_t number = lanes->step_of[command];
    const struct vyre_planned_step *step = &lanes->steps[number];
    bool forked = (number > 0 && step[-1].group == step->group) ||
                  (number + 1 < lanes->step_count && step[1].group == step->group);
    uint64_t lane = ((uint64_t)step->group + 1) << VYRE_CL_LANE_GROUP;
    if (forked)
        lane |= VYRE_CL_LANE_FORKED;
    return step->lane > 0 ? lane | VYRE_CL_LANE_SIDE : lane;
}

/* Makes `later` wait for all that `first` holds now. */
static cl_int wait_for(const struct vyre_cl_device *device, cl_command_queue first,
                       cl_command_queue later, cl_event *out_event)
{
    cl_event event;
    cl_int code = device->api->clEnqueueMarkerWithWaitList(first, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return code;
    /* An event that another queue waits for must have been flushed. */
    code = device->api->clFlush(first);
    if (code == CL_SUCCESS)
        code = device->api->clEnqueueBarrierWithWaitList(later, 1, &event, out_event);
    (void)device->api->clReleaseEvent(event);
    return code;
}

cl_int vyre_cl_arms_join(struct vyre_cl_device *device, cl_event *out_event)
{
    cl_int code = wait_for(device, device->side, device->queue, out_event);
    /* No memory for an event: the host waits instead, unless the device is lost. */
    if (code != CL_SUCCESS && vyre_cl_code_status(code) != VYRE_DEVICE_LOST)
        (void)device->api->clFinish(device->side);
    device->forked = false;
    return code;
}

static bool is_idle(struct vyre_cl_device *device)
{
    return vyre_cl_has_ended(device, vyre_flight_submitted(&device->flight));
}

static cl_int fork_queues(struct vyre_cl_encoder *encoder)
{
    struct vyre_cl_device *device = encoder->device;
    cl_int code = CL_SUCCESS;
    if (encoder->enqueued > 0 || !is_idle(device))
        code = wait_for(device, device->queue, device->side, NULL);
    device->forked = code == CL_SUCCESS;
    return code;
}

cl_int vyre_cl_arms_step(struct vyre_cl_encoder *encoder, uint64_t lane)
{
    struct vyre_cl_device *device = encoder->device;
    cl_int code = CL_SUCCESS;
    if (encoder->sample_count > 0) { /* its commands are timed one after another, in one queue */
        encoder->entry->head.completion.altered = true;
        return CL_SUCCESS;
    }
    if (lane >> VYRE_CL_LANE_GROUP != encoder->group) {
        if (device->forked)
            code = vyre_cl_arms_join(device, NULL);
        if (code == CL_SUCCESS && (lane & VYRE_CL_LANE_FORKED))
            code = fork_queues(encoder);
        encoder->group = lane >> VYRE_CL_LANE_GROUP;
    }
    encoder->queue = lane & VYRE_CL_LANE_SIDE ? device->side : device->queue;
    return code;
}

cl_int vyre_cl_arms_end(struct vyre_cl_encoder *encoder)
{
    struct vyre_cl_device *device = encoder->device;
    struct vyre_cl_entry *entry = encoder->entry;
    if (!device->forked)
        return CL_SUCCESS;
    if (entry->event_count == VYRE_CL_EVENTS_MAX)
        (void)device->api->clReleaseEvent(entry->events[--entry->event_count]);
    cl_int code = vyre_cl_arms_join(device, &entry->events[entry->event_count]);
    if (code == CL_SUCCESS)
        entry->event_count++;
    return code;
}
