/*
 * flight.h: what a submission in flight (common/flight.h) is in Vulkan: a value of the device's timeline.
 *
 * Harvesting copies downloads to the caller's memory and frees what the submission held.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_BACKEND_VULKAN_FLIGHT_H
#define VYRE_BACKEND_VULKAN_FLIGHT_H

#include <vyre/backend.h>

#include "backend/common/flight.h"
#include "backend/vulkan/loader.h"

struct vyre_vk_device;
struct vyre_vk_frame;
struct vyre_vk_take;
struct vyre_vk_timer;
struct vyre_vk_transfers;

/* One submission. */
struct vyre_vk_entry {
    struct vyre_flight_entry head;
    uint64_t value; /* of the timeline, when it is done */
    const struct vyre_batch_view *view;
    const struct vyre_vk_transfers *downloads; /* of the frame or the take; NULL: none */
    struct vyre_vk_frame *frame;               /* plain: back to the device when harvested */
    struct vyre_vk_take *take;                 /* replay */
    struct vyre_vk_timer *timer;               /* NULL: not timed */
    uint64_t staging_end;                      /* of the ring: free up to here once harvested */
};

extern const struct vyre_flight_ops vyre_vk_flight_ops;

/* Looks how far the device is and takes what it has done. Caller holds the flight's lock. */
VkResult vyre_vk_harvest_locked(struct vyre_vk_device *device);

/* The same, with the lock taken. */
VkResult vyre_vk_harvest(struct vyre_vk_device *device);

/*
 * Waits for the device to reach a value. The only failure is VK_ERROR_DEVICE_LOST: then the flight is
 * lost, and what was queued may still run.
 */
VkResult vyre_vk_await(struct vyre_vk_device *device, uint64_t value);

/* The same for another semaphore than the device's timeline. */
VkResult vyre_vk_await_link(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value);

/* The same, and harvests, which may fail too, without telling the runtime. Used inside submit. */
VkResult vyre_vk_reach(struct vyre_vk_device *device, uint64_t value);

#endif
