/*
 * buffer.h: buffers: those of the runtime, and those that the backend keeps for itself.
 */
#ifndef VYRE_BACKEND_VULKAN_BUFFER_H
#define VYRE_BACKEND_VULKAN_BUFFER_H

#include <vyre/backend.h>

#include "backend/vulkan/heap.h"

struct vyre_vk_device;

struct vyre_vk_buffer {
    struct vyre_vk_buffer *next; /* in the device's list of stranded ones */
    VkBuffer handle;
    struct vyre_vk_place place;
    uint64_t size_bytes;
    VkDeviceAddress address; /* 0 if the device has none */
    uint64_t mark;           /* set by the last recording that noted it */
};

/* Made and placed; contents undefined. A failure leaves nothing behind. */
enum vyre_status vyre_vk_buffer_make(struct vyre_vk_device *device, enum vyre_vk_memory_use use,
                                     uint64_t size_bytes, const char *label,
                                     struct vyre_vk_buffer *out_buffer, struct vyre_diag *diag);

/* Ignores a zeroed one; zeroes it afterwards. */
void vyre_vk_buffer_unmake(struct vyre_vk_device *device, struct vyre_vk_buffer *buffer);

/* Frees buffers that a loss left behind. Nothing runs any more. */
void vyre_vk_buffers_deinit(struct vyre_vk_device *device);

/* Entries of the backend's table. */
enum vyre_status vyre_vk_buffer_create(void *native, const struct vyre_buffer_desc *desc,
                                       void **out_buffer, void **out_address,
                                       struct vyre_diag *diag);
void vyre_vk_buffer_destroy(void *native, void *buffer);
enum vyre_status vyre_vk_buffer_write(void *native, void *buffer, size_t offset_bytes,
                                      const void *bytes, size_t size_bytes, struct vyre_diag *diag);
enum vyre_status vyre_vk_buffer_read(void *native, void *buffer, size_t offset_bytes,
                                     void *out_bytes, size_t size_bytes, struct vyre_diag *diag);
void vyre_vk_memory_info(void *native, struct vyre_device_memory *out_memory);

/* The driver's side of the heap. */
struct vyre_vk_heap_driver vyre_vk_heap_driver_of(struct vyre_vk_device *device);

#endif
