/*
 * fallback.c: launches what was left in the ring.
 */
#include "backend/opencl/fallback.h"

#include <stdio.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/ring_host.h"

void vyre_cl_fallback_retire_locked(struct vyre_cl_device *device, cl_int code)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    if (vyre_cl_is_retired(device))
        return;
    snprintf(persistent->reason, sizeof persistent->reason,
             "a resident kernel could not be launched: %s", vyre_cl_code_name(code));
    /* release: pairs with the acquire in vyre_cl_is_retired. */
    atomic_store_explicit(&persistent->fallback.retired, 1, memory_order_release);
}

bool vyre_cl_is_retired(const struct vyre_cl_device *device)
{
    /* acquire: pairs with the release in vyre_cl_fallback_retire_locked. */
    return atomic_load_explicit(&device->persistent->fallback.retired, memory_order_acquire) != 0;
}

/* ---- One item --------------------------------------------------------------------------------- */

/* Sets the arguments as the dispatcher would pass them (resident.c). */
static cl_int set_arguments(const struct vyre_cl_device *device,
                            const struct vyre_cl_served *served, const struct vyre_cl_slot *slot)
{
    const struct vyre_cl_kernel *kernel = served->kernel;
    uint32_t addresses = 0;
    uint32_t locals = 0;
    uint32_t constants = 0;
    cl_int code = CL_SUCCESS;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        addresses += kernel->parameters[i].space == VYRE_CL_SPACE_GLOBAL ||
                     kernel->parameters[i].space == VYRE_CL_SPACE_CONSTANT;
    const unsigned char *scalars = slot->payload + vyre_cl_slot_constants_offset(addresses);
    const unsigned char *next = slot->payload;
    for (uint32_t i = 0; i < kernel->parameter_count && code == CL_SUCCESS; i++) {
        const struct vyre_cl_constant *constant = &kernel->constants[constants];
        uint64_t address;
        switch (kernel->parameters[i].space) {
        case VYRE_CL_SPACE_GLOBAL:
        case VYRE_CL_SPACE_CONSTANT:
            memcpy(&address, next, sizeof address);
            next += sizeof address;
            code = device->api->clSetKernelArgSVMPointer(served->single, i,
                                                         (const void *)(uintptr_t)address);
            break;
        case VYRE_CL_SPACE_LOCAL:
            code =
                device->api->clSetKernelArg(served->single, i, served->local_bytes[locals++], NULL);
            break;
        case VYRE_CL_SPACE_SCALAR:
            code = device->api->clSetKernelArg(served->single, i, constant->size_bytes,
                                               scalars + constant->offset_bytes);
            constants++;
            break;
        }
    }
    return code;
}

static cl_int enqueue_item(struct vyre_cl_device *device, uint32_t item, cl_event *out_event)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    const struct vyre_cl_slot *slot = vyre_cl_ring_slot(persistent->control, item);
    struct vyre_cl_resident *resident = persistent->current;
    struct vyre_cl_served *served = &resident->served[slot->kernel];
    const size_t *local = resident->local_size;
    const size_t global[3] = {slot->groups[0] * local[0], slot->groups[1] * local[1],
                              slot->groups[2] * local[2]};
    cl_int code = CL_SUCCESS;
    if (!served->single)
        served->single =
            device->api->clCreateKernel(resident->built->program, served->kernel->entry, &code);
    if (code == CL_SUCCESS)
        code = set_arguments(device, served, slot);
    if (code != CL_SUCCESS)
        return code;
    return device->api->clEnqueueNDRangeKernel(persistent->queue, served->single, 3, NULL, global,
                                               local, 0, NULL, out_event);
}

/* ---- All of them ------------------------------------------------------------------------------ */

/* A negative code, or how far the command is. */
static cl_int state_of(const struct vyre_cl_device *device, cl_event event)
{
    cl_int state = CL_QUEUED;
    cl_int code = device->api->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof state, &state, NULL);
    return code != CL_SUCCESS ? code : state;
}

/* Counts ends. After a failure nothing more is counted, but everything is waited for. */
static void count_ends_locked(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_fallback *fallback = &persistent->fallback;
    _Atomic uint32_t *completion = &persistent->control->completion;
    while (fallback->done < fallback->count) {
        cl_int state = state_of(device, fallback->events[fallback->done]);
        if (state > CL_COMPLETE)
            return;
        (void)device->api->clReleaseEvent(fallback->events[fallback->done++]);
        if (state < 0 && fallback->code == CL_SUCCESS)
            fallback->code = state;
        if (fallback->code == CL_SUCCESS) {
            uint32_t item = atomic_load_explicit(completion, memory_order_relaxed);
            /* release: pairs with (F) of ring.h, as the device's (E) does. */
            atomic_store_explicit(completion, item + 1, memory_order_release);
        }
    }
    if (fallback->code != CL_SUCCESS)
        /* release: pairs with the acquire in vyre_cl_persistent_failure. */
        atomic_store_explicit(&persistent->failure, fallback->code, memory_order_release);
}

static void queue_more_locked(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_fallback *fallback = &persistent->fallback;
    uint32_t first = atomic_load_explicit(&persistent->control->completion, memory_order_relaxed);
    /* acquire: pairs with (A) of ring.h. */
    uint32_t head = atomic_load_explicit(&persistent->control->head, memory_order_acquire);
    fallback->count = 0;
    fallback->done = 0;
    while (fallback->code == CL_SUCCESS && fallback->count < VYRE_CL_FALLBACK_MAX &&
           first + fallback->count != head) {
        cl_int code =
            enqueue_item(device, first + fallback->count, &fallback->events[fallback->count]);
        if (code == CL_SUCCESS)
            fallback->count++;
        else if (fallback->count > 0)
            break; /* tried again when the earlier ones have ended */
        else
            fallback->code = code;
    }
    if (fallback->count > 0)
        (void)device->api->clFlush(persistent->queue);
}

bool vyre_cl_fallback_locked(struct vyre_cl_device *device)
{
    struct vyre_cl_fallback *fallback = &device->persistent->fallback;
    count_ends_locked(device);
    if (fallback->done == fallback->count && fallback->code == CL_SUCCESS) {
        queue_more_locked(device);
        count_ends_locked(device);
    }
    return fallback->done < fallback->count ||
           (fallback->code == CL_SUCCESS && vyre_cl_persistent_is_busy(device));
}

bool vyre_cl_fallback_runs(struct vyre_cl_device *device)
{
    const struct vyre_cl_fallback *fallback = &device->persistent->fallback;
    return fallback->done < fallback->count &&
           state_of(device, fallback->events[fallback->count - 1]) > CL_COMPLETE;
}

void vyre_cl_fallback_drop(struct vyre_cl_device *device)
{
    struct vyre_cl_fallback *fallback = &device->persistent->fallback;
    while (fallback->done < fallback->count)
        (void)device->api->clReleaseEvent(fallback->events[fallback->done++]);
}
