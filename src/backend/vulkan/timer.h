/*
 * timer.h: when a submission began and ended on the device.
 *
 * A timer is two tiny command buffers with a timestamp each, submitted before and after the work,
 * so that recordings need not know whether they are timed. The second one also copies both
 * timestamps into memory that the host sees, because asking the driver for them may block (lavapipe
 * waits for the whole device). An offset turns device ticks into times of vyre_clock_ns; it is
 * measured again when it is older than a second.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_TIMER_H
#define VYRE_BACKEND_VULKAN_TIMER_H

#include <vyre/backend.h>

#include "backend/vulkan/buffer.h"
#include "backend/vulkan/loader.h"

struct vyre_vk_device;

struct vyre_vk_timer {
    struct vyre_vk_timer *next;
    VkCommandPool pool;
    VkCommandBuffer begin;
    VkCommandBuffer end;
    VkQueryPool queries;
    struct vyre_vk_buffer ticks; /* two of 64 bits, valid once the end is done */
};

struct vyre_vk_clock {
    bool calibrated; /* the offset below is known */
    double offset_ns;
    uint64_t measured_ns;
};

/* A free timer, or NULL: then the submission is not timed. */
struct vyre_vk_timer *vyre_vk_timer_take(struct vyre_vk_device *device);

/* Returns a timer to the free ones; NULL is ignored. */
void vyre_vk_timer_put(struct vyre_vk_device *device, struct vyre_vk_timer *timer);

/* The timer's end is done: fills in the times. Asks the driver only for its clock. */
void vyre_vk_timer_read(struct vyre_vk_device *device, const struct vyre_vk_timer *timer,
                        struct vyre_completion *completion);

/* Measures the offset of the device's clock if it is not recent. */
void vyre_vk_clock_measure(struct vyre_vk_device *device);

void vyre_vk_timers_deinit(struct vyre_vk_device *device);

#endif
