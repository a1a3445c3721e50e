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
struct vyre_vk_stamps;
struct vyre_vk_take;
struct vyre_vk_timer;
struct vyre_vk_transfers;

/* One submission. */
struct vyre_vk_entry {
    struct vyre_flight_entry head;
    uint64_t value; /* of the timeline once it is done */
    const struct vyre_batch_view *view;
    const struct vyre_vk_transfers *downloads; /* of the frame or the take; NULL: none */
    struct vyre_vk_frame *frame;               /* plain: back to the device when harvested */
    struct vyre_vk_take *take;                 /* replay */
    struct vyre_vk_timer *timer;               /* NULL: not timed */
    struct vyre_vk_stamps *stamps;             /* NULL: single commands are not timed */
    /* of the ring: free up to here once it is harvested */
    uint64_t staging_end;
};

extern const struct vyre_flight_ops vyre_vk_flight_ops;

/* Asks how far the device is and takes what it has done. The caller holds the flight's lock. */
VkResult vyre_vk_harvest_locked(struct vyre_vk_device *device);

/* The same; takes the lock itself. */
VkResult vyre_vk_harvest(struct vyre_vk_device *device);

/*
 * Waits until the device reaches a value. The only failure is VK_ERROR_DEVICE_LOST: the flight is
 * then lost, and queued work may still run.
 */
VkResult vyre_vk_await(struct vyre_vk_device *device, uint64_t value);

/* The same for another semaphore than the device's timeline. */
VkResult vyre_vk_await_link(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value);

/*
 * The same, and harvests, which may fail too. Does not report to the runtime. Used inside submit.
 */
VkResult vyre_vk_reach(struct vyre_vk_device *device, uint64_t value);

#endif
