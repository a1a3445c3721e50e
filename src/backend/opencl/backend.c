/*
 * backend.c: platforms and devices.
 */
#include "backend/opencl/backend.h"

#include <stdio.h>
#include <string.h>

#include "backend/opencl/failure.h"
#include "backend/opencl/query.h"
#include "base/memory.h"

/* ---- Listing ---------------------------------------------------------------------------------- */

static enum vyre_device_kind kind_of(const struct vyre_cl_api *api, cl_device_id id)
{
    cl_device_type type;
    cl_bool unified;
    (void)vyre_cl_device_value(api, id, CL_DEVICE_TYPE, &type, sizeof type);
    if (type & CL_DEVICE_TYPE_CPU)
        return VYRE_DEVICE_KIND_SOFTWARE;
    (void)vyre_cl_device_value(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
    return unified ? VYRE_DEVICE_KIND_INTEGRATED : VYRE_DEVICE_KIND_DISCRETE;
}

/* False for a device that is too old, reports that it is not available, or has no name. */
static bool describe(const struct vyre_cl_api *api, cl_platform_id platform, cl_device_id id,
                     struct vyre_cl_listed *out)
{
    char version[VYRE_NAME_BYTES];
    char extensions[VYRE_CL_TEXT_BYTES_MAX];
    char vendor[56];
    char driver[64];
    cl_bool available;
    cl_bool compiler;
    memset(out, 0, sizeof *out);
    out->platform = platform;
    out->id = id;
    vyre_cl_device_text(api, id, CL_DEVICE_VERSION, version, sizeof version);
    out->version = vyre_cl_version_of(version);
    if (out->version < 120 ||
        !vyre_cl_device_value(api, id, CL_DEVICE_AVAILABLE, &available, sizeof available) ||
        !vyre_cl_device_value(api, id, CL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler) ||
        !available || !compiler)
        return false;
    vyre_cl_device_text(api, id, CL_DEVICE_NAME, out->info.name, sizeof out->info.name);
    if (out->info.name[0] == '\0')
        snprintf(out->info.name, sizeof out->info.name, "unnamed OpenCL device");
    vyre_cl_platform_text(api, platform, CL_PLATFORM_NAME, vendor, sizeof vendor);
    vyre_cl_device_text(api, id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(out->info.driver, sizeof out->info.driver, "%s %s", vendor, driver);
    out->info.kind = kind_of(api, id);
    vyre_cl_device_text(api, id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    if (vyre_cl_has_word(extensions, "cl_khr_device_uuid"))
        (void)vyre_cl_device_value(api, id, CL_DEVICE_UUID_KHR, out->info.uuid, VYRE_UUID_BYTES);
    return true;
}

static void list_platform(struct vyre_cl_backend *backend, cl_platform_id platform)
{
    cl_device_id ids[VYRE_CL_DEVICES_MAX] = {0};
    cl_uint count = 0;
    if (backend->api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, VYRE_CL_DEVICES_MAX, ids,
                                    &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < VYRE_CL_DEVICES_MAX; i++) {
        if (backend->device_count == VYRE_CL_DEVICES_MAX || !ids[i])
            return;
        if (describe(&backend->api, platform, ids[i], &backend->devices[backend->device_count]))
            backend->device_count++;
    }
}

/* VYRE_NOT_FOUND when there is none. */
static enum vyre_status list_devices(struct vyre_cl_backend *backend, struct vyre_diag *diag)
{
    cl_platform_id platforms[VYRE_CL_PLATFORMS_MAX] = {0};
    cl_uint count = 0;
    cl_int code = backend->api.clGetPlatformIDs(VYRE_CL_PLATFORMS_MAX, platforms, &count);
    if (code != CL_SUCCESS || count == 0)
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, "opencl", code,
                             "the OpenCL loader finds no platform (%s)", vyre_cl_code_name(code));
    for (cl_uint i = 0; i < count && i < VYRE_CL_PLATFORMS_MAX; i++) {
        if (platforms[i])
            list_platform(backend, platforms[i]);
    }
    if (backend->device_count == 0)
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, "opencl", 0,
                             "%u OpenCL platforms, and none has a usable device", count);
    return VYRE_OK;
}

enum vyre_status vyre_cl_backend_create(void *user, const struct vyre_allocator *allocator,
                                        void **out_backend, struct vyre_diag *diag)
{
    (void)user;
    struct vyre_cl_backend *backend =
        vyre_memory_allocate(allocator, sizeof *backend, _Alignof(struct vyre_cl_backend));
    if (!backend)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, "opencl", 0,
                             "no memory for the list of devices");
    backend->allocator = *allocator;
    *out_backend = backend;
    return VYRE_OK;
}

void vyre_cl_backend_destroy(void *native)
{
    struct vyre_cl_backend *backend = native;
    struct vyre_allocator allocator = backend->allocator;
    vyre_cl_unload(&backend->api);
    vyre_memory_free(&allocator, backend, sizeof *backend, _Alignof(struct vyre_cl_backend));
}

enum vyre_status vyre_cl_enumerate(void *native, struct vyre_device_info *out_infos,
                                   size_t capacity, size_t *out_count, struct vyre_diag *diag)
{
    struct vyre_cl_backend *backend = native;
    vyre_lock_acquire(&backend->lock);
    if (!backend->listed) {
        backend->listed = true;
        if (vyre_cl_load(&backend->api, &backend->absent) == VYRE_OK)
            (void)list_devices(backend, &backend->absent);
    }
    vyre_lock_release(&backend->lock);
    *out_count = backend->device_count;
    for (size_t i = 0; i < backend->device_count && i < capacity; i++)
        out_infos[i] = backend->devices[i].info;
    if (backend->device_count > 0)
        return VYRE_OK;
    if (diag)
        *diag = backend->absent;
    return backend->absent.status;
}
