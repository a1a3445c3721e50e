/*
 * backend.h: the platforms and devices of one instance.
 *
 * The loader and its drivers are loaded when devices are first asked for, so that a program that
 * uses another backend does not start them. This happens once, so that an index means the same
 * device as long as the instance lives.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_BACKEND_OPENCL_BACKEND_H
#define VYRE_BACKEND_OPENCL_BACKEND_H

#include <stdatomic.h>

#include <vyre/backend.h>

#include "backend/opencl/loader.h"
#include "base/futex.h"

#define VYRE_CL_PLATFORMS_MAX 16
#define VYRE_CL_DEVICES_MAX   64

struct vyre_cl_listed {
    cl_platform_id platform;
    cl_device_id id;
    unsigned version; /* of OpenCL: 120, 200, 300 ... */
    struct vyre_device_info info;
    _Atomic uint32_t probed; /* what probe.c has proven, so that it runs once; 0: nothing */
};

struct vyre_cl_backend {
    struct vyre_allocator allocator;
    struct vyre_lock lock; /* of the listing */
    bool listed;
    struct vyre_diag absent; /* once listed: why there is no device; id NONE if there is one */
    struct vyre_cl_api api;
    uint32_t device_count;
    struct vyre_cl_listed devices[VYRE_CL_DEVICES_MAX];
};

/* Entries of the backend's table; device_open is in device.c. */
enum vyre_status vyre_cl_backend_create(void *user, const struct vyre_allocator *allocator,
                                        void **out_backend, struct vyre_diag *diag);
void vyre_cl_backend_destroy(void *native);
enum vyre_status vyre_cl_enumerate(void *native, struct vyre_device_info *out_infos,
                                   size_t capacity, size_t *out_count, struct vyre_diag *diag);

#endif
