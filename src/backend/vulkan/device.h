/*
 * device.h: an open Vulkan device, shared by the files that carry out the backend's table.
 *
 *   device.c   opening, closing, the table
 *   frame.c    command buffers of plain batches
 *   submit.c   plain batches, and the main queue
 *   steps.c    the other queues
 *   flight.c   waiting
 *
 * One timeline semaphore: each submit to the main queue signals the next value; with several lanes,
 * only the last submit of a batch does.
 *
 * Thread-safety: submit, record, create and destroy are called one at a time; wait by any number.
 */
#ifndef VYRE_BACKEND_VULKAN_DEVICE_H
#define VYRE_BACKEND_VULKAN_DEVICE_H

#include <limits.h>

#include <vyre/backend.h>

#include "backend/vulkan/backend.h"
#include "backend/vulkan/descriptors.h"
#include "backend/vulkan/facts.h"
#include "backend/vulkan/flight.h"
#include "backend/vulkan/heap.h"
#include "backend/vulkan/staging.h"
#include "backend/vulkan/stamps.h"
#include "backend/vulkan/steps.h"
#include "backend/vulkan/timer.h"
#include "spirv/tools_load.h"

struct vyre_vk_recording;

/* A command buffer of a plain batch, reused once the batch is harvested. */
struct vyre_vk_frame {
    struct vyre_vk_frame *next;
    VkCommandPool pool;
    VkCommandBuffer commands;
    struct vyre_vk_steps steps;       /* of a batch on several queues, instead of `commands` */
    struct vyre_vk_transfers uploads; /* into mapped memory, before the batch is queued */
    struct vyre_vk_transfers downloads;
};

struct vyre_vk_device {
    struct vyre_allocator allocator;
    struct vyre_device_host host;
    struct vyre_vk_backend *backend;         /* Borrowed */
    const struct vyre_vk_physical *physical; /* Borrowed */
    VkDevice handle;
    struct vyre_vk_lane lanes[VYRE_LANES_MAX];
    struct vyre_lane_plan lane_plan; /* of the batch being written */
    struct vyre_vk_device_api vk;
    struct vyre_vk_features features;
    bool has_addresses;
    bool has_budget;
    bool has_host_clock; /* calibrated timestamps, including the host's monotonic clock */

    VkSemaphore timeline;
    uint64_t next_value; /* the value that the next submit or batch signals */
    VkPipelineCache pipeline_cache;

    struct vyre_vk_heap heap;
    struct vyre_vk_buffer *stranded; /* Owned: left behind when the device was lost, see buffer.c */
    struct vyre_vk_staging staging;
    struct vyre_vk_layout *layouts;
    uint64_t next_layout;
    uint64_t next_mark; /* of recordings */
    struct vyre_vk_recording *spare_recordings;
    uint32_t spare_recording_count;
    struct vyre_vk_descriptors descriptors;
    struct vyre_flight flight;
    uint64_t seen_value; /* reached by the timeline, as far as is known; under the flight's lock */
    struct vyre_vk_frame *free_frames; /* under the flight's lock */
    struct vyre_vk_timer *free_timers; /* the same */
    struct vyre_vk_clock clock;        /* the same */
    struct vyre_vk_stamps stamps;

    uint32_t *order; /* Owned: scratch of the encoder */
    size_t order_capacity;

    bool tools_tried;
    struct vyre_spirv_tools tools;
    struct vyre_diag tools_reason;
    char tools_path[PATH_MAX];
};

/* Names an object for the driver's tools, if any are listening. A NULL label names nothing. */
void vyre_vk_device_name(struct vyre_vk_device *device, VkObjectType type, uint64_t handle,
                         const char *label);

/* A value that the timeline is known to have reached. */
uint64_t vyre_vk_device_reached(struct vyre_vk_device *device);

/*
 * The plan's commands sorted by level, in scratch memory that is valid until the next call. The
 * commands of level l end at (*out_ends)[l]. False when out of memory.
 */
bool vyre_vk_device_order(struct vyre_vk_device *device, const struct vyre_batch_plan *plan,
                          uint32_t **out_order, uint32_t **out_ends);

/* ---- frame.c ---------------------------------------------------------------------------------- */

/* A frame whose command buffer can be begun. */
enum vyre_status vyre_vk_frame_take(struct vyre_vk_device *device, struct vyre_vk_frame **out_frame,
                                    const char *label, struct vyre_diag *diag);
void vyre_vk_frame_put(struct vyre_vk_device *device, struct vyre_vk_frame *frame);
void vyre_vk_frame_put_locked(struct vyre_vk_device *device, struct vyre_vk_frame *frame);

/* For the backend's own work: begins a command buffer; ends it, runs it and waits for it. */
enum vyre_status vyre_vk_frame_begin(struct vyre_vk_device *device,
                                     struct vyre_vk_frame **out_frame, const char *label,
                                     struct vyre_diag *diag);
enum vyre_status vyre_vk_frame_run(struct vyre_vk_device *device, struct vyre_vk_frame *frame,
                                   const char *label, struct vyre_diag *diag);
void vyre_vk_frames_deinit(struct vyre_vk_device *device);

/* ---- submit.c --------------------------------------------------------------------------------- */

/* Gives command buffers to the main queue, with the next value; `timer` may be NULL. */
VkResult vyre_vk_queue(struct vyre_vk_device *device, const VkCommandBuffer *commands,
                       uint32_t count, const struct vyre_vk_timer *begin,
                       const struct vyre_vk_timer *end);

/* Puts a queued submission in flight. */
void vyre_vk_publish(struct vyre_vk_device *device, const struct vyre_vk_entry *entry);

enum vyre_status vyre_vk_submit(void *native, const struct vyre_submission *submission,
                                struct vyre_diag *diag);
enum vyre_status vyre_vk_batch_warm_up(void *native, const struct vyre_batch_view *view,
                                       enum vyre_mode mode, uint32_t variant,
                                       struct vyre_diag *diag);

/* ---- flight.c --------------------------------------------------------------------------------- */

void vyre_vk_wait(void *native, uint64_t sequence, uint64_t timeout_ns);

#endif
