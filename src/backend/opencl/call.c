/*
 * call.c: arguments of kernels.
 */
#include "backend/opencl/call.h"

#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/kernel.h"
#include "backend/opencl/memory.h"

enum vyre_status vyre_cl_call_init(struct vyre_cl_device *device,
                                   const struct vyre_cl_kernel *kernel, cl_program program,
                                   uint64_t *bound, struct vyre_cl_call *call,
                                   struct vyre_diag *diag)
{
    cl_int code = CL_SUCCESS;
    memset(call, 0, sizeof *call);
    memset(bound, 0, kernel->binding_count * sizeof *bound);
    call->bound = bound;
    call->native = device->api->clCreateKernel(program, kernel->entry, &code);
    if (call->native)
        return VYRE_OK;
    if (code == CL_INVALID_KERNEL_NAME)
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ENTRY, kernel->label, code,
                             "the program has no kernel named %s", kernel->entry);
    return vyre_cl_failed(diag, kernel->label, code, "clCreateKernel");
}

void vyre_cl_call_deinit(struct vyre_cl_device *device, struct vyre_cl_call *call)
{
    if (call->native)
        (void)device->api->clReleaseKernel(call->native);
    call->native = NULL;
}

static cl_int bind_shared(struct vyre_cl_device *device, struct vyre_cl_call *call,
                          uint32_t argument, uint32_t binding, const void *address)
{
    uint64_t value = (uint64_t)(uintptr_t)address;
    if (call->bound[binding] == value)
        return CL_SUCCESS;
    cl_int code = device->api->clSetKernelArgSVMPointer(call->native, argument, address);
    call->bound[binding] = code == CL_SUCCESS ? value : 0;
    return code;
}

static cl_int bind_part(struct vyre_cl_device *device, struct vyre_cl_call *call, uint32_t argument,
                        uint32_t binding, const struct vyre_bound_range *range)
{
    struct vyre_cl_part part;
    cl_int code =
        vyre_cl_buffer_part(device, range->buffer, range->offset_bytes, range->size_bytes, &part);
    if (code != CL_SUCCESS || call->bound[binding] == part.number)
        return code;
    code = device->api->clSetKernelArg(call->native, argument, sizeof(cl_mem), &part.memory);
    call->bound[binding] = code == CL_SUCCESS ? part.number : 0;
    return code;
}

cl_int vyre_cl_call_bind(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel,
                         struct vyre_cl_call *call, uint32_t binding,
                         const struct vyre_command_binding *what,
                         const struct vyre_batch_view *view, const void *table)
{
    uint32_t argument = kernel->binding_arguments[binding];
    const struct vyre_bound_range *range = &view->ranges[what->first_range];
    cl_int code;
    switch (what->kind) {
    case VYRE_BINDING_TABLE:
        return bind_shared(device, call, argument, binding, table);
    case VYRE_BINDING_LOCAL:
        if (call->bound[binding] == what->local_bytes)
            return CL_SUCCESS;
        code = device->api->clSetKernelArg(call->native, argument, what->local_bytes, NULL);
        call->bound[binding] = code == CL_SUCCESS ? what->local_bytes : 0;
        return code;
    case VYRE_BINDING_RANGE:
        break;
    }
    const struct vyre_cl_buffer *buffer = range->buffer;
    if (buffer->shared)
        return bind_shared(device, call, argument, binding, buffer->shared + range->offset_bytes);
    return bind_part(device, call, argument, binding, range);
}

cl_int vyre_cl_call_set_constants(struct vyre_cl_device *device,
                                  const struct vyre_cl_kernel *kernel, struct vyre_cl_call *call,
                                  const void *constants)
{
    const unsigned char *bytes = constants;
    bool known = call->has_constants;
    call->has_constants = false;
    for (uint32_t i = 0; i < kernel->constant_count; i++) {
        const struct vyre_cl_constant *constant = &kernel->constants[i];
        const unsigned char *value = bytes + constant->offset_bytes;
        unsigned char *kept = call->constants + constant->offset_bytes;
        if (known && vyre_cl_same_constants(kept, value, constant->size_bytes))
            continue;
        cl_int code = device->api->clSetKernelArg(call->native, constant->argument,
                                                  constant->size_bytes, value);
        if (code != CL_SUCCESS)
            return code;
        if (constant->size_bytes == 4) /* sizes known at compile time need no call */
            memcpy(kept, value, 4);
        else
            memcpy(kept, value, 8);
    }
    call->has_constants = true;
    return CL_SUCCESS;
}
