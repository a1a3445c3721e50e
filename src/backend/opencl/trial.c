/*
 * trial.c: first launches of dispatchers.
 */
#include "backend/opencl/trial.h"

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/memory.h"
#include "backend/opencl/ring_host.h"

/* The longest time that compiling a dispatcher, which counts as setup, may take. */
#define LIMIT_NS UINT64_C(60000000000)
/* Slots of the control block; none is used. */
#define SLOTS 1u

enum vyre_status vyre_cl_trial_create(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    struct vyre_cl_trial *trial = &device->persistent->trial;
    cl_int code = CL_SUCCESS;
    trial->limit_ns = LIMIT_NS;
    trial->queue = device->api->clCreateCommandQueue(device->context, device->id, 0, &code);
    if (!trial->queue)
        return vyre_cl_failed(diag, NULL, code, "clCreateCommandQueue");
    trial->control = vyre_cl_shared_allocate(device, vyre_cl_ring_bytes(SLOTS), true);
    if (!trial->control)
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_MEMORY, NULL, 0, "no shared memory for trials");
    vyre_cl_ring_init(trial->control, SLOTS, 0);
    return VYRE_OK;
}

void vyre_cl_trial_destroy(struct vyre_cl_device *device)
{
    struct vyre_cl_trial *trial = &device->persistent->trial;
    if (trial->launched)
        (void)device->api->clReleaseEvent(trial->launched);
    if (trial->queue)
        (void)device->api->clReleaseCommandQueue(trial->queue);
    vyre_cl_shared_free(device, trial->control, vyre_cl_ring_bytes(SLOTS));
}

/* How far the launch is; a negative code is a failure. */
static cl_int state_of(const struct vyre_cl_device *device)
{
    cl_int state = CL_COMPLETE;
    cl_int code =
        device->api->clGetEventInfo(device->persistent->trial.launched,
                                    CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : code;
}

static bool is_over(void *native)
{
    return state_of(native) <= CL_COMPLETE;
}

bool vyre_cl_trial_is_over(const struct vyre_cl_device *device)
{
    return !device->persistent->trial.launched || state_of(device) <= CL_COMPLETE;
}

/* False: it does not end, and the device is lost. */
static bool run_locked(struct vyre_cl_device *device, const struct vyre_cl_resident *resident,
                       cl_int *out_code)
{
    struct vyre_cl_trial *trial = &device->persistent->trial;
    const struct vyre_awaited awaited = {
        .context = device, .is_over = is_over, .limit_ns = trial->limit_ns};
    vyre_cl_ring_rearm(trial->control);
    atomic_store_explicit(&trial->control->stop, 1, memory_order_relaxed);
    *out_code = device->api->clSetKernelArgSVMPointer(resident->native, 0, trial->control);
    if (*out_code == CL_SUCCESS)
        *out_code = device->api->clEnqueueNDRangeKernel(
            trial->queue, resident->native, 3, NULL, resident->launch_global,
            resident->launch_local, 0, NULL, &trial->launched);
    if (*out_code != CL_SUCCESS) {
        trial->launched = NULL;
        return true;
    }
    (void)device->api->clFlush(trial->queue);
    if (!vyre_flight_await(&device->flight, &awaited))
        return false;
    *out_code = state_of(device);
    (void)device->api->clReleaseEvent(trial->launched);
    trial->launched = NULL;
    if (*out_code == CL_SUCCESS)
        *out_code =
            device->api->clSetKernelArgSVMPointer(resident->native, 0, device->persistent->control);
    return true;
}

enum vyre_status vyre_cl_trial_run(struct vyre_cl_device *device,
                                   const struct vyre_cl_resident *resident, struct vyre_diag *diag)
{
    const struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_trial *trial = &device->persistent->trial;
    cl_int code = CL_SUCCESS;
    vyre_lock_acquire(&trial->lock);
    bool ran = !vyre_is_lost(&device->flight.loss) && run_locked(device, resident, &code);
    /* acquire: (H) of ring.h. */
    uint32_t exited = atomic_load_explicit(&trial->control->exited, memory_order_acquire);
    vyre_lock_release(&trial->lock);
    if (!ran)
        return vyre_loss_status(&device->flight.loss, diag);
    if (code == CL_SUCCESS && exited == persistent->groups)
        return VYRE_OK;
    if (code != CL_SUCCESS &&
        vyre_cl_failed(diag, NULL, code, "trying out a dispatcher") == VYRE_DEVICE_LOST)
        return VYRE_DEVICE_LOST;
    return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, NULL, code,
                         "its dispatcher did not run when it was tried: %s (%d)",
                         code ? vyre_cl_code_name(code) : "not all groups ran", code);
}
