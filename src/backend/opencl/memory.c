/*
 * memory.c: buffers.
 */
#include "backend/opencl/memory.h"

#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "base/memory.h"

/* ---- Shared memory ---------------------------------------------------------------------------- */

void *vyre_cl_shared_allocate(struct vyre_cl_device *device, size_t size_bytes, bool atomics)
{
    cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    if (atomics && device->traits.svm_atomics)
        flags |= CL_MEM_SVM_ATOMICS;
    void *memory =
        device->api->clSVMAlloc(device->context, flags, size_bytes, device->traits.alignment);
    if (memory) {
        memset(memory, 0, size_bytes);
        device->reserved_bytes += size_bytes;
        device->allocation_count++;
    }
    return memory;
}

void vyre_cl_shared_free(struct vyre_cl_device *device, void *memory, size_t size_bytes)
{
    if (!memory)
        return;
    device->api->clSVMFree(device->context, memory);
    device->reserved_bytes -= size_bytes;
    device->allocation_count--;
}

/* ---- Parts ------------------------------------------------------------------------------------ */

cl_int vyre_cl_buffer_memory(struct vyre_cl_device *device, struct vyre_cl_buffer *buffer,
                             cl_mem *out_memory)
{
    cl_int code = CL_SUCCESS;
    if (!buffer->memory)
        buffer->memory =
            device->api->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                        buffer->size_bytes, buffer->shared, &code);
    *out_memory = buffer->memory;
    return buffer->memory ? CL_SUCCESS : code;
}

cl_int vyre_cl_buffer_part(struct vyre_cl_device *device, struct vyre_cl_buffer *buffer,
                           size_t offset_bytes, size_t size_bytes, struct vyre_cl_part *out_part)
{
    if (offset_bytes == 0) { /* a kernel stays within its range, so what follows does not matter */
        *out_part = (struct vyre_cl_part){buffer->memory, buffer->number};
        return CL_SUCCESS;
    }
    for (uint32_t i = 0; i < VYRE_CL_PARTS_MAX; i++) {
        const struct vyre_cl_range_part *part = &buffer->parts[i];
        if (part->part.memory && part->offset_bytes == offset_bytes &&
            part->size_bytes == size_bytes) {
            *out_part = part->part;
            return CL_SUCCESS;
        }
    }
    cl_int code = CL_SUCCESS;
    cl_buffer_region region = {offset_bytes, size_bytes};
    cl_mem memory = device->api->clCreateSubBuffer(buffer->memory, CL_MEM_READ_WRITE,
                                                   CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (!memory)
        return code;
    struct vyre_cl_range_part *oldest = &buffer->parts[buffer->next_part++ % VYRE_CL_PARTS_MAX];
    if (oldest->part.memory) /* launches that use it keep it alive */
        (void)device->api->clReleaseMemObject(oldest->part.memory);
    *oldest = (struct vyre_cl_range_part){offset_bytes, size_bytes, {memory, ++device->next_part}};
    *out_part = oldest->part;
    return CL_SUCCESS;
}

/* ---- Buffers ---------------------------------------------------------------------------------- */

static void free_buffer(struct vyre_cl_device *device, struct vyre_cl_buffer *buffer)
{
    for (uint32_t i = 0; i < VYRE_CL_PARTS_MAX; i++) {
        if (buffer->parts[i].part.memory)
            (void)device->api->clReleaseMemObject(buffer->parts[i].part.memory);
    }
    if (buffer->memory) {
        (void)device->api->clReleaseMemObject(buffer->memory);
        if (!buffer->shared) {
            device->reserved_bytes -= buffer->size_bytes;
            device->allocation_count--;
        }
    }
    vyre_cl_shared_free(device, buffer->shared, buffer->size_bytes);
    vyre_memory_free(&device->allocator, buffer, sizeof *buffer, _Alignof(struct vyre_cl_buffer));
}

/* A cl_mem, zeroed. */
static cl_int allocate_memory(struct vyre_cl_device *device, struct vyre_cl_buffer *buffer)
{
    const cl_uint zero = 0;
    const unsigned char zero_byte = 0;
    size_t whole = buffer->size_bytes & ~(sizeof zero - 1);
    cl_int code = CL_SUCCESS;
    buffer->memory = device->api->clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                                 buffer->size_bytes, NULL, &code);
    if (!buffer->memory)
        return code;
    buffer->number = ++device->next_part;
    device->reserved_bytes += buffer->size_bytes;
    device->allocation_count++;
    device->filling = true;
    if (whole > 0)
        code = device->api->clEnqueueFillBuffer(device->queue, buffer->memory, &zero, sizeof zero,
                                                0, whole, 0, NULL, NULL);
    if (code == CL_SUCCESS && whole < buffer->size_bytes)
        code = device->api->clEnqueueFillBuffer(device->queue, buffer->memory, &zero_byte, 1, whole,
                                                buffer->size_bytes - whole, 0, NULL, NULL);
    return code;
}

enum vyre_status vyre_cl_buffer_create(void *native, const struct vyre_buffer_desc *desc,
                                       void **out_buffer, void **out_address,
                                       struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_buffer *buffer =
        vyre_memory_allocate(&device->allocator, sizeof *buffer, _Alignof(struct vyre_cl_buffer));
    if (!buffer)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a buffer");
    buffer->size_bytes = desc->size_bytes;
    cl_int code = CL_SUCCESS;
    if (device->traits.svm) {
        buffer->shared = vyre_cl_shared_allocate(device, desc->size_bytes, false);
        code = buffer->shared ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    } else {
        code = allocate_memory(device, buffer);
    }
    if (code != CL_SUCCESS) {
        free_buffer(device, buffer);
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_MEMORY, desc->label, code,
                             "the driver has no memory for a buffer of %zu bytes",
                             desc->size_bytes);
    }
    *out_buffer = buffer;
    *out_address = buffer->shared;
    return VYRE_OK;
}

void vyre_cl_buffer_destroy(void *native, void *native_buffer)
{
    free_buffer(native, native_buffer);
}

static enum vyre_status transferred(struct vyre_cl_device *device, cl_int code, const char *call,
                                    struct vyre_diag *diag)
{
    struct vyre_diag own; /* the reason of a loss is needed even if the caller passes no diag */
    diag = diag ? diag : &own;
    enum vyre_status status = code == CL_SUCCESS ? VYRE_OK : vyre_cl_failed(diag, NULL, code, call);
    return vyre_flight_note_loss(&device->flight, status, diag);
}

enum vyre_status vyre_cl_buffer_write(void *native, void *native_buffer, size_t offset_bytes,
                                      const void *bytes, size_t size_bytes, struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_buffer *buffer = native_buffer;
    if (buffer->shared) {
        memcpy(buffer->shared + offset_bytes, bytes, size_bytes);
        return VYRE_OK;
    }
    cl_int code = device->api->clEnqueueWriteBuffer(device->queue, buffer->memory, CL_TRUE,
                                                    offset_bytes, size_bytes, bytes, 0, NULL, NULL);
    return transferred(device, code, "clEnqueueWriteBuffer", diag);
}

enum vyre_status vyre_cl_buffer_read(void *native, void *native_buffer, size_t offset_bytes,
                                     void *out_bytes, size_t size_bytes, struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_buffer *buffer = native_buffer;
    if (buffer->shared) {
        memcpy(out_bytes, buffer->shared + offset_bytes, size_bytes);
        return VYRE_OK;
    }
    cl_int code = device->api->clEnqueueReadBuffer(
        device->queue, buffer->memory, CL_TRUE, offset_bytes, size_bytes, out_bytes, 0, NULL, NULL);
    return transferred(device, code, "clEnqueueReadBuffer", diag);
}

void vyre_cl_memory_info(void *native, struct vyre_device_memory *out_memory)
{
    const struct vyre_cl_device *device = native;
    out_memory->reserved_bytes = device->reserved_bytes;
    out_memory->allocation_count = device->allocation_count;
}
