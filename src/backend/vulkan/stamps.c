/*
 * stamps.c: the times of single dispatches.
 */
#include "backend/vulkan/stamps.h"

#include <string.h>

#include "backend/vulkan/device.h"

#define QUERIES (2u * VYRE_VK_STAMPS_MAX)

static bool make(struct vyre_vk_device *device, struct vyre_vk_stamps *stamps)
{
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = QUERIES};
    if (device->vk.CreateQueryPool(device->handle, &info, NULL, &stamps->queries) != VK_SUCCESS) {
        stamps->queries = VK_NULL_HANDLE;
        return false;
    }
    return vyre_vk_buffer_make(device, VYRE_VK_MEMORY_STAGING, QUERIES * sizeof(uint64_t), NULL,
                               &stamps->ticks, NULL) == VYRE_OK;
}

struct vyre_vk_stamps *vyre_vk_stamps_take(struct vyre_vk_device *device,
                                           const struct vyre_submission *submission)
{
    struct vyre_vk_stamps *stamps = &device->stamps;
    /* acquire: pairs with the release in vyre_vk_stamps_put. */
    if (!submission->times || device->physical->timestamp_bits == 0 || stamps->is_refused ||
        atomic_load_explicit(&stamps->in_use, memory_order_acquire))
        return NULL;
    if (!stamps->ticks.handle && !make(device, stamps)) {
        vyre_vk_stamps_deinit(device);
        stamps->is_refused = true;
        return NULL;
    }
    atomic_store_explicit(&stamps->in_use, 1, memory_order_relaxed);
    stamps->times = submission->times;
    stamps->time_count = submission->time_count;
    stamps->count = 0;
    return stamps;
}

void vyre_vk_stamps_put(struct vyre_vk_stamps *stamps)
{
    /* release: pairs with the acquire in vyre_vk_stamps_take. */
    if (stamps)
        atomic_store_explicit(&stamps->in_use, 0, memory_order_release);
}

void vyre_vk_stamps_begin(struct vyre_vk_device *device, const struct vyre_vk_stamps *stamps,
                          VkCommandBuffer commands)
{
    device->vk.CmdResetQueryPool(commands, stamps->queries, 0, QUERIES);
}

void vyre_vk_stamps_write(struct vyre_vk_device *device, struct vyre_vk_stamps *stamps,
                          VkCommandBuffer commands, uint32_t command, bool is_end)
{
    if (command >= stamps->time_count || (!is_end && stamps->count == VYRE_VK_STAMPS_MAX) ||
        (is_end && (stamps->count == 0 || stamps->commands[stamps->count - 1] != command)))
        return;
    if (!is_end)
        stamps->commands[stamps->count++] = command;
    device->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps->queries,
                                 2 * (stamps->count - 1) + is_end);
}

void vyre_vk_stamps_end(struct vyre_vk_device *device, const struct vyre_vk_stamps *stamps,
                        VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    if (stamps->count == 0)
        return;
    device->vk.CmdCopyQueryPoolResults(commands, stamps->queries, 0, 2 * stamps->count,
                                       stamps->ticks.handle, 0, sizeof(uint64_t),
                                       VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    device->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                  VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void vyre_vk_stamps_read(struct vyre_vk_device *device, const struct vyre_vk_stamps *stamps)
{
    uint32_t bits = device->physical->timestamp_bits;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    double period = (double)device->physical->properties.limits.timestampPeriod;
    const unsigned char *memory = stamps->ticks.place.mapped;
    for (uint32_t i = 0; i < stamps->count; i++) {
        uint64_t ticks[2];
        memcpy(ticks, memory + i * sizeof ticks, sizeof ticks);
        uint64_t ns = (uint64_t)((double)((ticks[1] - ticks[0]) & mask) * period);
        stamps->times[stamps->commands[i]].ns = ns ? ns : 1;
    }
}

void vyre_vk_stamps_deinit(struct vyre_vk_device *device)
{
    struct vyre_vk_stamps *stamps = &device->stamps;
    if (stamps->queries)
        device->vk.DestroyQueryPool(device->handle, stamps->queries, NULL);
    stamps->queries = VK_NULL_HANDLE;
    vyre_vk_buffer_unmake(device, &stamps->ticks);
}
