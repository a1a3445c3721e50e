/*
 * arms.c: two queues that wait for each other.
 */
#include "backend/opencl/arms.h"

#include "backend/opencl/device.h"

uint64_t vyre_cl_lane(const struct vyre_batch_plan *plan, uint32_t command)
{
    const struct vyre_plan_node *node = &plan->nodes[command];
    bool forked = plan->segments[node->segment].arm_count > 1;
    uint64_t lane = ((uint64_t)node->segment + 1) << VYRE_CL_LANE_SEGMENT;
    if (forked)
        lane |= VYRE_CL_LANE_FORKED;
    return forked && node->arm % 2 ? lane | VYRE_CL_LANE_SIDE : lane;
}

bool vyre_cl_has_arms(const struct vyre_batch_plan *plan)
{
    for (uint32_t i = 0; i < plan->segment_count; i++) {
        if (plan->segments[i].arm_count > 1)
            return true;
    }
    return false;
}

/* Makes `later` wait for all that `first` has now. */
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
    if (code != CL_SUCCESS) /* no room for an event: the host waits in its place */
        (void)device->api->clFinish(device->side);
    device->forked = false;
    return code;
}

static bool is_idle(struct vyre_cl_device *device)
{
    return vyre_cl_has_ended(device,
                             atomic_load_explicit(&device->pending.head, memory_order_relaxed));
}

static cl_int fork_queues(struct vyre_cl_flight *flight)
{
    struct vyre_cl_device *device = flight->device;
    cl_int code = CL_SUCCESS;
    if (flight->enqueued > 0 || !is_idle(device))
        code = wait_for(device, device->queue, device->side, NULL);
    device->forked = code == CL_SUCCESS;
    return code;
}

cl_int vyre_cl_arms_step(struct vyre_cl_flight *flight, uint64_t lane)
{
    struct vyre_cl_device *device = flight->device;
    cl_int code = CL_SUCCESS;
    if (lane >> VYRE_CL_LANE_SEGMENT != flight->segment) {
        if (device->forked)
            code = vyre_cl_arms_join(device, NULL);
        if (code == CL_SUCCESS && (lane & VYRE_CL_LANE_FORKED))
            code = fork_queues(flight);
        flight->segment = lane >> VYRE_CL_LANE_SEGMENT;
    }
    flight->queue = lane & VYRE_CL_LANE_SIDE ? device->side : device->queue;
    return code;
}

cl_int vyre_cl_arms_end(struct vyre_cl_flight *flight)
{
    struct vyre_cl_device *device = flight->device;
    struct vyre_cl_pending *entry = flight->entry;
    if (!device->forked)
        return CL_SUCCESS;
    if (entry->event_count == VYRE_CL_EVENTS_MAX)
        (void)device->api->clReleaseEvent(entry->events[--entry->event_count]);
    cl_int code = vyre_cl_arms_join(device, &entry->events[entry->event_count]);
    if (code == CL_SUCCESS)
        entry->event_count++;
    return code;
}
