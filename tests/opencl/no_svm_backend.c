/*
 * no_svm_backend.c: the OpenCL backend on devices that hide their shared virtual memory and their
 * command buffers, as an out-of-tree backend: so the suite runs on cl_mem, too.
 */
#include <stdatomic.h>
#include <string.h>

#include "backend/opencl/backend.h"
#include "backend/opencl/opencl.h"

/* The table of a backend holds the real function; there is one real loader in a process. */
typedef __typeof__(clGetDeviceInfo) device_info_function;
static _Atomic(device_info_function *) real_device_info;

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void *out, size_t *out_size)
{
    device_info_function *real = atomic_load(&real_device_info);
    cl_int code = real(device, what, size, out, out_size);
    if (code != CL_SUCCESS || !out)
        return code;
    if (what == CL_DEVICE_SVM_CAPABILITIES)
        memset(out, 0, size);
    if (what == CL_DEVICE_EXTENSIONS && size > 0)
        *(char *)out = '\0';
    return code;
}

static enum vyre_status enumerate(void *native, struct vyre_device_info *out_infos, size_t capacity,
                                  size_t *out_count, struct vyre_diag *diag)
{
    struct vyre_cl_backend *backend = native;
    enum vyre_status status = vyre_cl_enumerate(native, out_infos, capacity, out_count, diag);
    if (backend->api.clGetDeviceInfo != device_info) {
        atomic_store(&real_device_info, backend->api.clGetDeviceInfo);
        backend->api.clGetDeviceInfo = device_info;
    }
    return status;
}

__attribute__((visibility("default"))) const struct vyre_backend_ops *vyre_backend_entry(void);

const struct vyre_backend_ops *vyre_backend_entry(void)
{
    static struct vyre_backend_ops ops;
    ops = vyre_opencl_backend_ops;
    ops.name = "opencl-no-svm";
    ops.enumerate = enumerate;
    return &ops;
}
