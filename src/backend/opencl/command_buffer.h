/*
 * command_buffer.h: cl_khr_command_buffer, the driver's own recordings.
 *
 * The extension changed without changing its name: from 0.9.5 on, every recording call except the
 * launch takes one more argument, properties, after the queue. Both forms are supported; the
 * version decides.
 */
#ifndef VYRE_BACKEND_OPENCL_COMMAND_BUFFER_H
#define VYRE_BACKEND_OPENCL_COMMAND_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/opencl/loader.h"

struct vyre_cl_device;

/* The form up to 0.9.4; the header's type for it is that of 0.9.0. */
typedef cl_int(CL_API_CALL vyre_cl_copy_old)(cl_command_buffer_khr, cl_command_queue, cl_mem,
                                             cl_mem, size_t, size_t, size_t, cl_uint,
                                             const cl_sync_point_khr *, cl_sync_point_khr *,
                                             cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL vyre_cl_fill_old)(cl_command_buffer_khr, cl_command_queue, cl_mem,
                                             const void *, size_t, size_t, size_t, cl_uint,
                                             const cl_sync_point_khr *, cl_sync_point_khr *,
                                             cl_mutable_command_khr *);
/* The form since 0.9.5. */
typedef cl_int(CL_API_CALL vyre_cl_copy_new)(cl_command_buffer_khr, cl_command_queue, const void *,
                                             cl_mem, cl_mem, size_t, size_t, size_t, cl_uint,
                                             const cl_sync_point_khr *, cl_sync_point_khr *,
                                             cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL vyre_cl_fill_new)(cl_command_buffer_khr, cl_command_queue, const void *,
                                             cl_mem, const void *, size_t, size_t, size_t, cl_uint,
                                             const cl_sync_point_khr *, cl_sync_point_khr *,
                                             cl_mutable_command_khr *);

struct vyre_cl_command_buffer_api {
    bool there;
    bool simultaneous;   /* one may be enqueued again while it runs */
    uint32_t version[3]; /* 0 0 0: the device does not report it */
    clCreateCommandBufferKHR_fn create;
    clFinalizeCommandBufferKHR_fn finalize;
    clReleaseCommandBufferKHR_fn release;
    clEnqueueCommandBufferKHR_fn enqueue;
    clCommandNDRangeKernelKHR_fn launch;
    vyre_cl_copy_old *copy_old; /* one of each pair is set */
    vyre_cl_copy_new *copy_new;
    vyre_cl_fill_old *fill_old;
    vyre_cl_fill_new *fill_new;
};

/* Finds out whether the device has the extension, and in which form. */
void vyre_cl_command_buffer_find(struct vyre_cl_device *device);

cl_int vyre_cl_command_buffer_copy(struct vyre_cl_device *device, cl_command_buffer_khr buffer,
                                   cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                   size_t size_bytes);
cl_int vyre_cl_command_buffer_fill(struct vyre_cl_device *device, cl_command_buffer_khr buffer,
                                   cl_mem memory, uint32_t word, size_t offset, size_t size_bytes);

#endif
