/*
 * steps.h: the queues of a device, and batches that are spread over several of them.
 *
 * Lane 0 carries the device's timeline: the last submit of a batch goes to lane 0, waits for all
 * other lanes and signals the batch's value. So code that uses values (see flight.h) need not know
 * about lanes. Steps on other lanes wait for the value of the batch before, except uploads ahead
 * into bytes that nothing in flight touches. Inside a batch, steps wait for the links of other
 * lanes.
 *
 *   link   a lane's own timeline: counts its steps
 *
 * All waits are for values whose signal is already submitted.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_STEPS_H
#define VYRE_BACKEND_VULKAN_STEPS_H

#include <vyre/backend.h>

#include "backend/vulkan/loader.h"
#include "plan/lane_plan.h"

struct vyre_vk_device;
struct vyre_vk_timer;

struct vyre_vk_lane {
    VkQueue queue;
    VkSemaphore link; /* VK_NULL_HANDLE on a device with one lane */
    uint64_t linked;  /* the value that its last step signals */
};

/* Command buffers of one family, reused from the first. */
struct vyre_vk_spool {
    VkCommandPool pool;
    VkCommandBuffer *items; /* Owned */
    uint32_t used;
    uint32_t made;
    uint32_t capacity;
};

struct vyre_vk_step {
    VkCommandBuffer commands;
    uint32_t lane;
    uint32_t waits;
    uint32_t group;
    bool ahead;
};

/* A zeroed one is empty. */
struct vyre_vk_steps {
    struct vyre_vk_spool spools[VYRE_LANES_MAX]; /* by family, as the physical device lists them */
    struct vyre_vk_step *items;                  /* Owned */
    uint32_t count;
    uint32_t capacity;
};

/* The queues of an open device, and their semaphores. */
enum vyre_status vyre_vk_lanes_init(struct vyre_vk_device *device, struct vyre_diag *diag);
void vyre_vk_lanes_deinit(struct vyre_vk_device *device);

/* Whether all lanes have finished all their work. False if the driver fails. */
bool vyre_vk_lanes_are_idle(struct vyre_vk_device *device);

/* Room for the first steps, if there are several lanes. False when out of memory. */
bool vyre_vk_steps_reserve(struct vyre_vk_device *device, struct vyre_vk_steps *steps);

/*
 * Empties the list; command buffers are reused, so the device must be done with them. After a
 * failure it must be called again before steps are added.
 */
VkResult vyre_vk_steps_reset(struct vyre_vk_device *device, struct vyre_vk_steps *steps);
void vyre_vk_steps_deinit(struct vyre_vk_device *device, struct vyre_vk_steps *steps);

/* One more step; its command buffer can be begun. */
VkResult vyre_vk_steps_add(struct vyre_vk_device *device, struct vyre_vk_steps *steps,
                           const struct vyre_planned_step *planned, VkCommandBuffer *out_commands);

/*
 * Submits the steps; the last one signals the next value of the device's timeline. `ahead`: a step
 * ahead need not wait for earlier batches. If a submit fails, those before it are waited for;
 * *out_begun says whether there were any.
 */
VkResult vyre_vk_steps_queue(struct vyre_vk_device *device, const struct vyre_vk_steps *steps,
                             bool ahead, const struct vyre_vk_timer *timer, bool *out_begun);

#endif
