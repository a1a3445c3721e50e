/*
 * device.c: opening and closing devices, and the backend's table.
 */
#include "backend/opencl/device.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/failure.h"
#include "backend/opencl/kernel.h"
#include "backend/opencl/memory.h"
#include "backend/opencl/opencl.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/recording.h"
#include "base/clock.h"
#include "base/memory.h"

/* How long to wait for a running message when a device is abandoned. */
#define LAST_CALLS_NS UINT64_C(1000000000)

/* The driver reports an error, at any time and on any thread. */
static void CL_CALLBACK on_context_error(const char *text, const void *data, size_t size,
                                         void *user)
{
    struct vyre_cl_device *device = user;
    char line[320];
    (void)data;
    (void)size;
    atomic_fetch_add_explicit(&device->context_errors, 1, memory_order_relaxed);
    snprintf(line, sizeof line, "OpenCL: %s", text ? text : "an error without a text");
    /* seq_cst: against abandon, which sets the one word and then reads the other. */
    atomic_fetch_add_explicit(&device->log_calls, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&device->abandoned, memory_order_seq_cst))
        device->host.log(device->host.context, VYRE_LOG_ERROR, line);
    /* release: the last access to the instance; pairs with the loads in abandon. */
    atomic_fetch_sub_explicit(&device->log_calls, 1, memory_order_release);
}

/*
 * The device stays for the driver's threads, which cannot be stopped, but the instance may go. The
 * threads must not reach it any more.
 */
static void abandon(struct vyre_cl_device *device)
{
    uint64_t start_ns = vyre_clock_now_ns();
    atomic_store_explicit(&device->abandoned, 1, memory_order_seq_cst);
    while (atomic_load_explicit(&device->log_calls, memory_order_seq_cst) &&
           vyre_clock_now_ns() - start_ns < LAST_CALLS_NS)
        sched_yield();
}

static enum vyre_status create_queue(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)(intptr_t)device->platform, 0};
    cl_int code = CL_SUCCESS;
    device->context =
        device->api->clCreateContext(properties, 1, &device->id, on_context_error, device, &code);
    if (!device->context)
        return vyre_cl_failed(diag, device->desc.label, code, "clCreateContext");
    cl_command_queue_properties profiling =
        device->desc.device_times ? CL_QUEUE_PROFILING_ENABLE : 0;
    device->queue =
        device->api->clCreateCommandQueue(device->context, device->id, profiling, &code);
    if (!device->queue)
        return vyre_cl_failed(diag, device->desc.label, code, "clCreateCommandQueue");
    /*
     * Without shared memory, ranges are parts of one cl_mem, which two queues may not use at once.
     */
    if (device->traits.svm && device->traits.compute_units > 1)
        device->side =
            device->api->clCreateCommandQueue(device->context, device->id, profiling, &code);
    return VYRE_OK;
}

static void device_close(void *native)
{
    struct vyre_cl_device *device = native;
    struct vyre_allocator allocator = device->allocator;
    vyre_cl_persistent_destroy(device);
    vyre_flight_deinit(&device->flight);
    vyre_cl_shared_free(device, device->tables.memory, device->tables.size_bytes);
    vyre_lane_plan_deinit(&device->lane_plan);
    vyre_cl_sample_deinit(device);
    if (device->side)
        (void)device->api->clReleaseCommandQueue(device->side);
    if (device->queue)
        (void)device->api->clReleaseCommandQueue(device->queue);
    if (device->context)
        (void)device->api->clReleaseContext(device->context);
    vyre_memory_free(&allocator, device, sizeof *device, _Alignof(struct vyre_cl_device));
}

static enum vyre_status device_open(void *native_backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    struct vyre_cl_backend *backend = native_backend;
    struct vyre_cl_listed *listed = &backend->devices[index];
    struct vyre_cl_device *device =
        vyre_memory_allocate(&host->allocator, sizeof *device, _Alignof(struct vyre_cl_device));
    if (!device)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a device");
    device->api = &backend->api;
    device->allocator = host->allocator;
    device->lane_plan.allocator = host->allocator;
    device->host = *host;
    device->desc = *desc;
    device->listed = listed;
    device->id = listed->id;
    device->platform = listed->platform;
    vyre_cl_read_traits(device, listed);
    enum vyre_status status = create_queue(device, diag);
    if (status == VYRE_OK)
        status = vyre_flight_init(&device->flight, &vyre_cl_flight_ops, device,
                                  sizeof(struct vyre_cl_entry), &device->host, desc, diag);
    if (status == VYRE_OK)
        status = vyre_cl_persistent_create(device, diag);
    if (status != VYRE_OK) {
        device_close(device);
        return status;
    }
    vyre_cl_facts_state(device, listed, out_facts);
    *out_device = device;
    return VYRE_OK;
}

static bool quiesce(void *native)
{
    struct vyre_cl_device *device = native;
    /* The runtime may know of a loss that the flight never saw. Then work may be left. */
    if (!vyre_is_lost(&device->flight.loss))
        (void)vyre_cl_drain(device, NULL);
    bool ended =
        vyre_cl_has_ended(device, vyre_flight_submitted(&device->flight)) && !device->left_work;
    /* The helper of a lost device waits only for its end. */
    bool quiet = vyre_cl_stop_waiters(device);
    quiet = vyre_cl_persistent_stop(device) && ended && quiet;
    if (!quiet)
        abandon(device);
    return quiet;
}

static enum vyre_status warm_up(void *native, enum vyre_mode mode, struct vyre_diag *diag)
{
    (void)native;
    (void)mode;
    (void)diag;
    return VYRE_OK;
}

const struct vyre_backend_ops vyre_opencl_backend_ops = {
    .abi_version = VYRE_BACKEND_ABI_VERSION,
    .size_bytes = sizeof(struct vyre_backend_ops),
    .name = "opencl",
    .create = vyre_cl_backend_create,
    .destroy = vyre_cl_backend_destroy,
    .enumerate = vyre_cl_enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_create = vyre_cl_buffer_create,
    .buffer_destroy = vyre_cl_buffer_destroy,
    .kernel_create = vyre_cl_kernel_create,
    .kernel_destroy = vyre_cl_kernel_destroy,
    .record = vyre_cl_record,
    .recording_destroy = vyre_cl_recording_destroy,
    .submit = vyre_cl_submit,
    .wait = vyre_cl_wait,
    .quiesce = quiesce,
    .warm_up = warm_up,
    .buffer_write = vyre_cl_buffer_write,
    .buffer_read = vyre_cl_buffer_read,
    .kernel_reflect = vyre_cl_kernel_reflect,
    .batch_check = vyre_cl_batch_check,
    .batch_warm_up = vyre_cl_batch_warm_up,
    .memory_info = vyre_cl_memory_info,
    .generated = vyre_cl_generated,
    .build_begin = vyre_cl_build_begin,
    .build_run = vyre_cl_build_run,
    .build_end = vyre_cl_build_end,
    .residency = vyre_cl_residency,
};
