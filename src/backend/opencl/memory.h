/*
 * memory.h: buffers.
 *
 * With fine-grained shared virtual memory a buffer is an address that host and device both use, and
 * kernels get addresses. Without it a buffer is a cl_mem, and ranges are sub-buffers, of which each
 * buffer keeps a few.
 */
#ifndef VYRE_BACKEND_OPENCL_MEMORY_H
#define VYRE_BACKEND_OPENCL_MEMORY_H

#include <vyre/backend.h>

#include "backend/opencl/loader.h"

struct vyre_cl_device;

#define VYRE_CL_PARTS_MAX 16

struct vyre_cl_part {
    cl_mem memory;
    uint64_t number; /* never reused, unlike a handle */
};

struct vyre_cl_buffer {
    size_t size_bytes;
    unsigned char *shared; /* Owned; NULL: the buffer is a cl_mem */
    cl_mem memory; /* Owned; for shared memory, a cl_mem with the same bytes, made when needed */
    uint64_t number;
    struct vyre_cl_range_part {
        size_t offset_bytes;
        size_t size_bytes;
        struct vyre_cl_part part; /* Owned */
    } parts[VYRE_CL_PARTS_MAX];
    uint32_t next_part; /* the one to replace next */
};

/* The part of a buffer that is a cl_mem. The buffer keeps it until others replace it. */
cl_int vyre_cl_buffer_part(struct vyre_cl_device *device, struct vyre_cl_buffer *buffer,
                           size_t offset_bytes, size_t size_bytes, struct vyre_cl_part *out_part);

/* The whole buffer as a cl_mem. */
cl_int vyre_cl_buffer_memory(struct vyre_cl_device *device, struct vyre_cl_buffer *buffer,
                             cl_mem *out_memory);

/* Shared memory for the device's own use, zeroed; NULL: none. */
void *vyre_cl_shared_allocate(struct vyre_cl_device *device, size_t size_bytes, bool atomics);
void vyre_cl_shared_free(struct vyre_cl_device *device, void *memory, size_t size_bytes);

/* Entries of the backend's table. */
enum vyre_status vyre_cl_buffer_create(void *native, const struct vyre_buffer_desc *desc,
                                       void **out_buffer, void **out_address,
                                       struct vyre_diag *diag);
void vyre_cl_buffer_destroy(void *native, void *native_buffer);
enum vyre_status vyre_cl_buffer_write(void *native, void *native_buffer, size_t offset_bytes,
                                      const void *bytes, size_t size_bytes, struct vyre_diag *diag);
enum vyre_status vyre_cl_buffer_read(void *native, void *native_buffer, size_t offset_bytes,
                                     void *out_bytes, size_t size_bytes, struct vyre_diag *diag);
void vyre_cl_memory_info(void *native, struct vyre_device_memory *out_memory);

#endif
