/*
 * buffer.c: buffers over the heap.
 */
#include "backend/vulkan/buffer.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"

/* Fills work on words of 4 bytes, and a descriptor may not be empty. */
#define SIZE_UNIT 16

/* ---- The driver's side of the heap ------------------------------------------------------------ */

static VkResult allocate_memory(void *user, uint32_t type, uint64_t size_bytes, bool map,
                                VkDeviceMemory *out_memory, void **out_mapped)
{
    struct vyre_vk_device *device = user;
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = device->has_addresses ? &flags : NULL,
        .allocationSize = size_bytes,
        .memoryTypeIndex = type,
    };
    VkResult result = device->vk.AllocateMemory(device->handle, &info, NULL, out_memory);
    if (result != VK_SUCCESS || !map)
        return result;
    result = device->vk.MapMemory(device->handle, *out_memory, 0, VK_WHOLE_SIZE, 0, out_mapped);
    if (result != VK_SUCCESS)
        device->vk.FreeMemory(device->handle, *out_memory, NULL);
    return result;
}

static void free_memory(void *user, VkDeviceMemory memory)
{
    struct vyre_vk_device *device = user;
    device->vk.FreeMemory(device->handle, memory, NULL);
}

struct vyre_vk_heap_driver vyre_vk_heap_driver_of(struct vyre_vk_device *device)
{
    return (struct vyre_vk_heap_driver){device, allocate_memory, free_memory};
}

/* ---- Buffers ---------------------------------------------------------------------------------- */

static VkResult place(struct vyre_vk_device *device, enum vyre_vk_memory_use use,
                      struct vyre_vk_buffer *buffer)
{
    VkMemoryRequirements requirements;
    device->vk.GetBufferMemoryRequirements(device->handle, buffer->handle, &requirements);
    VkResult result = vyre_vk_heap_take(&device->heap, use, &requirements, &buffer->place);
    if (result == VK_SUCCESS)
        result = device->vk.BindBufferMemory(device->handle, buffer->handle, buffer->place.memory,
                                             buffer->place.offset_bytes);
    return result;
}

enum vyre_status vyre_vk_buffer_make(struct vyre_vk_device *device, enum vyre_vk_memory_use use,
                                     uint64_t size_bytes, const char *label,
                                     struct vyre_vk_buffer *out_buffer, struct vyre_diag *diag)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (size_bytes + SIZE_UNIT - 1) / SIZE_UNIT * SIZE_UNIT,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    if (device->physical->family_count > 1) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = device->physical->family_count;
        info.pQueueFamilyIndices = device->physical->families;
    }
    if (device->has_addresses)
        info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    *out_buffer = (struct vyre_vk_buffer){.size_bytes = size_bytes};
    VkResult result = device->vk.CreateBuffer(device->handle, &info, NULL, &out_buffer->handle);
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkCreateBuffer", label, diag);
    result = place(device, use, out_buffer);
    if (result != VK_SUCCESS) {
        vyre_vk_buffer_unmake(device, out_buffer);
        return vyre_vk_check(result, "vkAllocateMemory or vkBindBufferMemory", label, diag);
    }
    vyre_vk_device_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)(uintptr_t)out_buffer->handle,
                        label);
    if (device->has_addresses) {
        const VkBufferDeviceAddressInfo address = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = out_buffer->handle};
        out_buffer->address = device->vk.GetBufferDeviceAddress(device->handle, &address);
    }
    return VYRE_OK;
}

void vyre_vk_buffer_unmake(struct vyre_vk_device *device, struct vyre_vk_buffer *buffer)
{
    if (buffer->handle)
        device->vk.DestroyBuffer(device->handle, buffer->handle, NULL);
    vyre_vk_heap_give(&device->heap, &buffer->place);
    *buffer = (struct vyre_vk_buffer){0};
}

/* Zeroes a new buffer: directly if the host sees it, else on the device. */
static enum vyre_status clear(struct vyre_vk_device *device, struct vyre_vk_buffer *buffer,
                              const char *label, struct vyre_diag *diag)
{
    if (buffer->place.mapped) {
        memset(buffer->place.mapped, 0, buffer->size_bytes);
        return VYRE_OK;
    }
    struct vyre_vk_frame *frame;
    enum vyre_status status = vyre_vk_frame_begin(device, &frame, label, diag);
    if (status != VYRE_OK)
        return status;
    device->vk.CmdFillBuffer(frame->commands, buffer->handle, 0, VK_WHOLE_SIZE, 0);
    return vyre_vk_frame_run(device, frame, label, diag);
}

enum vyre_status vyre_vk_buffer_create(void *native, const struct vyre_buffer_desc *desc,
                                       void **out_buffer, void **out_address,
                                       struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    enum vyre_vk_memory_use use = VYRE_VK_MEMORY_DEVICE;
    if (desc->use & VYRE_BUFFER_DOWNLOADED)
        use = VYRE_VK_MEMORY_READ;
    else if (desc->use & VYRE_BUFFER_UPLOADED)
        use = VYRE_VK_MEMORY_WRITTEN;
    *out_address = NULL;
    struct vyre_vk_buffer *buffer =
        vyre_memory_allocate(&device->allocator, sizeof *buffer, _Alignof(struct vyre_vk_buffer));
    if (!buffer)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a buffer");
    enum vyre_status status =
        vyre_vk_buffer_make(device, use, desc->size_bytes, desc->label, buffer, diag);
    if (status == VYRE_OK) {
        status = clear(device, buffer, desc->label, diag);
        if (status == VYRE_DEVICE_LOST) {
            /*
             * The fill may be queued behind work that hangs, so its memory stays until the device
             * is closed.
             */
            buffer->next = device->stranded;
            device->stranded = buffer;
            return status;
        }
        if (status != VYRE_OK)
            vyre_vk_buffer_unmake(device, buffer);
    }
    if (status != VYRE_OK) {
        vyre_memory_free(&device->allocator, buffer, sizeof *buffer,
                         _Alignof(struct vyre_vk_buffer));
        return status;
    }
    *out_buffer = buffer;
    return VYRE_OK;
}

void vyre_vk_buffer_destroy(void *native, void *native_buffer)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_buffer *buffer = native_buffer;
    vyre_vk_buffer_unmake(device, buffer);
    vyre_memory_free(&device->allocator, buffer, sizeof *buffer, _Alignof(struct vyre_vk_buffer));
}

void vyre_vk_buffers_deinit(struct vyre_vk_device *device)
{
    while (device->stranded) {
        struct vyre_vk_buffer *buffer = device->stranded;
        device->stranded = buffer->next;
        vyre_vk_buffer_destroy(device, buffer);
    }
}

/* ---- Reading and writing while nothing is in flight ------------------------------------------- */

static void order_transfers(struct vyre_vk_device *device, VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    device->vk.CmdPipelineBarrier(
        commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

/* Makes what the device has written visible to the host. */
static void show_to_host(struct vyre_vk_device *device, VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    device->vk.CmdPipelineBarrier(
        commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

/* The whole ring for one piece: waits for whatever is still in flight. */
static enum vyre_status take_ring(struct vyre_vk_device *device, uint64_t size_bytes,
                                  uint64_t *out_offset, struct vyre_diag *diag)
{
    VkResult result = VK_SUCCESS;
    if (device->next_value > 1)
        result = vyre_vk_reach(device, device->next_value - 1);
    if (result != VK_SUCCESS)
        return vyre_vk_check(result, "vkWaitSemaphores", NULL, diag);
    vyre_lock_acquire(&device->flight.lock);
    device->staging.ring.tail = device->staging.ring.head;
    bool taken = vyre_vk_ring_take(&device->staging.ring, size_bytes, out_offset);
    /* released before any other thread asks */
    device->staging.ring.tail = device->staging.ring.head;
    vyre_lock_release(&device->flight.lock);
    return taken ? VYRE_OK
                 : vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                                 "%llu bytes do not fit into the staging memory",
                                 (unsigned long long)size_bytes);
}

/* Moves one piece through the ring, up or down. */
static enum vyre_status move_piece(struct vyre_vk_device *device, struct vyre_vk_buffer *buffer,
                                   uint64_t offset, const unsigned char *bytes,
                                   unsigned char *out_bytes, uint64_t size, struct vyre_diag *diag)
{
    struct vyre_vk_frame *frame;
    uint64_t at = 0;
    enum vyre_status status = take_ring(device, size, &at, diag);
    if (status == VYRE_OK)
        status = vyre_vk_frame_begin(device, &frame, NULL, diag);
    if (status != VYRE_OK)
        return status;
    unsigned char *mapped = device->staging.buffer.place.mapped + at;
    VkBuffer ring = device->staging.buffer.handle;
    order_transfers(device, frame->commands);
    if (bytes) {
        const VkBufferCopy up = {at, offset, size};
        memcpy(mapped, bytes, size);
        device->vk.CmdCopyBuffer(frame->commands, ring, buffer->handle, 1, &up);
    } else {
        const VkBufferCopy down = {offset, at, size};
        device->vk.CmdCopyBuffer(frame->commands, buffer->handle, ring, 1, &down);
        show_to_host(device, frame->commands);
    }
    status = vyre_vk_frame_run(device, frame, NULL, diag);
    if (status == VYRE_OK && out_bytes)
        memcpy(out_bytes, mapped, size);
    return status;
}

static enum vyre_status move_bytes(struct vyre_vk_device *device, struct vyre_vk_buffer *buffer,
                                   uint64_t offset, const unsigned char *bytes,
                                   unsigned char *out_bytes, uint64_t size, struct vyre_diag *diag)
{
    enum vyre_status status = vyre_vk_staging_prepare(device, diag);
    uint64_t limit = vyre_vk_staging_piece(&device->staging);
    for (uint64_t done = 0; status == VYRE_OK && done < size;) {
        uint64_t piece = size - done < limit ? size - done : limit;
        status = move_piece(device, buffer, offset + done, bytes ? bytes + done : NULL,
                            out_bytes ? out_bytes + done : NULL, piece, diag);
        done += piece;
    }
    return status;
}

enum vyre_status vyre_vk_buffer_write(void *native, void *native_buffer, size_t offset_bytes,
                                      const void *bytes, size_t size_bytes, struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_buffer *buffer = native_buffer;
    if (!buffer->place.mapped)
        return move_bytes(device, buffer, offset_bytes, bytes, NULL, size_bytes, diag);
    memcpy(buffer->place.mapped + offset_bytes, bytes, size_bytes);
    return VYRE_OK;
}

enum vyre_status vyre_vk_buffer_read(void *native, void *native_buffer, size_t offset_bytes,
                                     void *out_bytes, size_t size_bytes, struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_buffer *buffer = native_buffer;
    if (!buffer->place.mapped)
        return move_bytes(device, buffer, offset_bytes, NULL, out_bytes, size_bytes, diag);
    struct vyre_vk_frame *frame;
    enum vyre_status status = vyre_vk_frame_begin(device, &frame, NULL, diag);
    if (status != VYRE_OK)
        return status;
    show_to_host(device, frame->commands);
    status = vyre_vk_frame_run(device, frame, NULL, diag);
    if (status == VYRE_OK)
        memcpy(out_bytes, buffer->place.mapped + offset_bytes, size_bytes);
    return status;
}

void vyre_vk_memory_info(void *native, struct vyre_device_memory *out_memory)
{
    struct vyre_vk_device *device = native;
    out_memory->reserved_bytes = device->heap.reserved_bytes;
    out_memory->allocation_count = device->heap.allocation_count;
    out_memory->staging_bytes = device->staging.buffer.size_bytes;
    if (!device->has_budget)
        return;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    device->backend->vk.GetPhysicalDeviceMemoryProperties2(device->physical->handle, &properties);
    for (uint32_t i = 0; i < properties.memoryProperties.memoryHeapCount; i++) {
        out_memory->budget_bytes += budget.heapBudget[i];
        out_memory->used_bytes += budget.heapUsage[i];
    }
}
