/*
 * hooked_backend.c: the OpenCL backend with some calls of the driver replaced.
 */
#include "opencl/hooked_backend.h"

#include <string.h>

#include "backend/opencl/backend.h"
#include "backend/opencl/opencl.h"
#include "backend/opencl/ring_host.h"

struct vyre_cl_api hooked_real;
struct vyre_cl_device *hooked_device;
bool hooked_no_svm;

static struct vyre_backend_ops ops;
static void (*install_hooks)(struct vyre_cl_api *api);

bool hooked_is_dispatcher_queue(cl_command_queue queue)
{
    return hooked_device && hooked_device->persistent &&
           (queue == hooked_device->persistent->queue ||
            queue == hooked_device->persistent->trial.queue);
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void *out, size_t *out_size)
{
    cl_int code = hooked_real.clGetDeviceInfo(device, what, size, out, out_size);
    if (code == CL_SUCCESS && out && what == CL_DEVICE_SVM_CAPABILITIES && hooked_no_svm)
        memset(out, 0, size);
    return code;
}

static enum vyre_status enumerate(void *native, struct vyre_device_info *out_infos, size_t capacity,
                                  size_t *out_count, struct vyre_diag *diag)
{
    struct vyre_cl_backend *backend = native;
    bool listed = backend->listed;
    enum vyre_status status = vyre_cl_enumerate(native, out_infos, capacity, out_count, diag);
    if (!listed && status == VYRE_OK) {
        hooked_real = backend->api;
        backend->api.clGetDeviceInfo = device_info;
        install_hooks(&backend->api);
    }
    return status;
}

static enum vyre_status device_open(void *native_backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    enum vyre_status status = vyre_opencl_backend_ops.device_open(native_backend, index, desc, host,
                                                                  out_device, out_facts, diag);
    hooked_device = status == VYRE_OK ? *out_device : NULL;
    return status;
}

const struct vyre_backend_ops *hooked_backend(void (*install)(struct vyre_cl_api *api))
{
    install_hooks = install;
    ops = vyre_opencl_backend_ops;
    ops.name = HOOKED_NAME;
    ops.enumerate = enumerate;
    ops.device_open = device_open;
    return &ops;
}
