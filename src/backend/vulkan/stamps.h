/*
 * stamps.h: the times of single dispatches, for plain batches that ask for them.
 *
 * The batch's command buffer writes a timestamp before and after each dispatch that no other command
 * runs beside, and at its end copies them into memory that the host sees, as a timer does. A batch on
 * several queues, or in several parts, is not timed command by command.
 *
 * One submission at a time uses the device's stamps, which are made with the first one.
 *
 * Thread-safety: submit takes and writes them; harvesting reads them under the flight's lock.
 */
#ifndef VYRE_BACKEND_VULKAN_STAMPS_H
#define VYRE_BACKEND_VULKAN_STAMPS_H

#include <stdatomic.h>

#include <vyre/backend.h>

#include "backend/vulkan/buffer.h"
#include "backend/vulkan/loader.h"

/* Dispatches of a batch that are timed at most. */
#define VYRE_VK_STAMPS_MAX 128

struct vyre_vk_device;

struct vyre_vk_stamps {
    VkQueryPool queries;             /* Owned: two per dispatch; NULL: not made yet */
    struct vyre_vk_buffer ticks;     /* as many of 64 bits */
    bool is_refused;                 /* they could not be made */
    _Atomic uint32_t in_use;         /* by a submission in flight */
    struct vyre_command_time *times; /* Borrowed: the runtime's */
    uint32_t time_count;
    uint32_t count;                        /* dispatches with timestamps */
    uint32_t commands[VYRE_VK_STAMPS_MAX]; /* which ones */
};

/* The device's stamps for a submission that asks for times, or NULL. */
struct vyre_vk_stamps *vyre_vk_stamps_take(struct vyre_vk_device *device,
                                           const struct vyre_submission *submission);

/* The submission does not use them after all, or has ended; NULL is ignored. */
void vyre_vk_stamps_put(struct vyre_vk_stamps *stamps);

/* At the start of the command buffer, and at its end. */
void vyre_vk_stamps_begin(struct vyre_vk_device *device, const struct vyre_vk_stamps *stamps,
                          VkCommandBuffer commands);
void vyre_vk_stamps_end(struct vyre_vk_device *device, const struct vyre_vk_stamps *stamps,
                        VkCommandBuffer commands);

/* Before and after a dispatch: `is_end`. */
void vyre_vk_stamps_write(struct vyre_vk_device *device, struct vyre_vk_stamps *stamps,
                          VkCommandBuffer commands, uint32_t command, bool is_end);

/* The submission has ended well: fills in its times. */
void vyre_vk_stamps_read(struct vyre_vk_device *device, const struct vyre_vk_stamps *stamps);

void vyre_vk_stamps_deinit(struct vyre_vk_device *device);

#endif
