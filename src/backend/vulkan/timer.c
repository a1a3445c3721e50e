/*
 * timer.c: timestamps.
 */
#include "backend/vulkan/timer.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "base/clock.h"
#include "base/memory.h"

#define FRESH_NS    UINT64_C(1000000000)
#define TICKS_BYTES (2 * sizeof(uint64_t))

static void destroy(struct vyre_vk_device *device, struct vyre_vk_timer *timer)
{
    if (timer->queries)
        device->vk.DestroyQueryPool(device->handle, timer->queries, NULL);
    if (timer->pool)
        device->vk.DestroyCommandPool(device->handle, timer->pool, NULL);
    vyre_vk_buffer_unmake(device, &timer->ticks);
    vyre_memory_free(&device->allocator, timer, sizeof *timer, _Alignof(struct vyre_vk_timer));
}

/* Copies both timestamps to memory that the host sees. */
static void copy_ticks(struct vyre_vk_device *device, const struct vyre_vk_timer *timer,
                       VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    device->vk.CmdCopyQueryPoolResults(commands, timer->queries, 0, 2, timer->ticks.handle, 0,
                                       sizeof(uint64_t),
                                       VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    device->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                  VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

/* Writes one of the two: the time at which everything before it in the queue is done. */
static VkResult write(struct vyre_vk_device *device, const struct vyre_vk_timer *timer,
                      VkCommandBuffer commands, uint32_t query)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult result = device->vk.BeginCommandBuffer(commands, &info);
    if (result != VK_SUCCESS)
        return result;
    if (query == 0)
        device->vk.CmdResetQueryPool(commands, timer->queries, 0, 2);
    device->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timer->queries,
                                 query);
    if (query == 1)
        copy_ticks(device, timer, commands);
    return device->vk.EndCommandBuffer(commands);
}

static VkResult create(struct vyre_vk_device *device, struct vyre_vk_timer *timer)
{
    VkCommandBuffer commands[2];
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = device->physical->families[0]};
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = 2};
    VkResult result = device->vk.CreateCommandPool(device->handle, &pool, NULL, &timer->pool);
    if (result == VK_SUCCESS)
        result = device->vk.CreateQueryPool(device->handle, &queries, NULL, &timer->queries);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = timer->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 2,
    };
    if (result == VK_SUCCESS)
        result = device->vk.AllocateCommandBuffers(device->handle, &info, commands);
    if (result != VK_SUCCESS)
        return result;
    if (vyre_vk_buffer_make(device, VYRE_VK_MEMORY_STAGING, TICKS_BYTES, NULL, &timer->ticks,
                            NULL) != VYRE_OK)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    timer->begin = commands[0];
    timer->end = commands[1];
    result = write(device, timer, timer->begin, 0);
    return result == VK_SUCCESS ? write(device, timer, timer->end, 1) : result;
}

struct vyre_vk_timer *vyre_vk_timer_take(struct vyre_vk_device *device)
{
    if (device->physical->timestamp_bits == 0)
        return NULL;
    vyre_lock_acquire(&device->flight.lock);
    struct vyre_vk_timer *timer = device->free_timers;
    if (timer)
        device->free_timers = timer->next;
    vyre_lock_release(&device->flight.lock);
    if (timer)
        return timer;
    timer = vyre_memory_allocate(&device->allocator, sizeof *timer, _Alignof(struct vyre_vk_timer));
    if (timer && create(device, timer) != VK_SUCCESS) {
        destroy(device, timer); /* the submit will show a loss again */
        timer = NULL;
    }
    return timer;
}

void vyre_vk_timer_put(struct vyre_vk_device *device, struct vyre_vk_timer *timer)
{
    if (!timer)
        return;
    vyre_lock_acquire(&device->flight.lock);
    timer->next = device->free_timers;
    device->free_timers = timer;
    vyre_lock_release(&device->flight.lock);
}

void vyre_vk_clock_measure(struct vyre_vk_device *device)
{
    struct vyre_vk_clock *clock = &device->clock;
    uint64_t now_ns = vyre_clock_now_ns();
    if (!device->has_host_clock || (clock->calibrated && now_ns - clock->measured_ns < FRESH_NS))
        return;
    const VkCalibratedTimestampInfoEXT infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT},
    };
    uint64_t ticks[2], deviation;
    if (device->vk.GetCalibratedTimestampsEXT(device->handle, 2, infos, ticks, &deviation) !=
        VK_SUCCESS)
        return;
    double period = (double)device->physical->properties.limits.timestampPeriod;
    clock->offset_ns = (double)ticks[1] - (double)ticks[0] * period;
    clock->measured_ns = now_ns;
    clock->calibrated = true;
}

void vyre_vk_timer_read(struct vyre_vk_device *device, const struct vyre_vk_timer *timer,
                        struct vyre_completion *completion)
{
    uint64_t ticks[2];
    memcpy(ticks, timer->ticks.place.mapped, sizeof ticks);
    uint32_t bits = device->physical->timestamp_bits;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    double period = (double)device->physical->properties.limits.timestampPeriod;
    uint64_t elapsed_ns = (uint64_t)((double)((ticks[1] - ticks[0]) & mask) * period);
    completion->device_ns = elapsed_ns ? elapsed_ns : 1; /* 0 would mean that it was not timed */
    vyre_vk_clock_measure(device);
    if (device->clock.calibrated) {
        double begin_ns = (double)ticks[0] * period + device->clock.offset_ns;
        completion->device_begin_ns = begin_ns > 0 ? (uint64_t)begin_ns : 0;
    }
}

void vyre_vk_timers_deinit(struct vyre_vk_device *device)
{
    while (device->free_timers) {
        struct vyre_vk_timer *timer = device->free_timers;
        device->free_timers = timer->next;
        destroy(device, timer);
    }
}
