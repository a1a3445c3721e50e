/*
 * encode.h: the one path that turns commands into command buffers, for plain batches and recordings.
 *
 *   part   one command buffer. A batch is one part, unless bytes of the caller's must be moved in its
 *          midst: a download whose bytes a later upload reads, or more bytes than the staging ring
 *          takes at once
 *
 * A part begins with a barrier against everything submitted before, because the order of submits
 * alone does not order memory. If it has downloads, it ends with a barrier that makes them visible
 * to the host.
 *
 * Plain batches stage through the device's ring, and run a part as soon as they cannot continue
 * otherwise. Recordings have memory of their own and run later, part by part if necessary.
 *
 * A batch on several queues is written step by step (see plan/lane_plan.h). A step is a part that
 * goes to its own queue; none of the caller's bytes move in between.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_ENCODE_H
#define VYRE_BACKEND_VULKAN_ENCODE_H

#include "backend/vulkan/barriers.h"
#include "backend/vulkan/descriptors.h"
#include "backend/vulkan/flight.h"
#include "backend/vulkan/kernel.h"
#include "backend/vulkan/steps.h"

struct vyre_vk_recording;

struct vyre_vk_encoder {
    struct vyre_vk_device *device;
    const struct vyre_batch_view *view;
    const struct vyre_batch_plan *plan; /* NULL: each command waits for the one before it */
    struct vyre_diag *diag;

    /* One of these two. */
    struct vyre_vk_frame *frame; /* a plain batch */
    struct vyre_vk_take *take;   /* a recording ... */
    struct vyre_vk_recording *recording;
    uint64_t region_used; /* ... and how much of the take's region is used */

    struct vyre_vk_timer *timer;   /* plain; NULL: not timed, or already begun */
    bool ran;                      /* a part has already run */
    struct vyre_vk_stamps *stamps; /* plain; NULL: single commands are not timed */

    const struct vyre_lane_plan *lanes; /* several queues; NULL: one */
    struct vyre_vk_steps *steps;        /* the frame's or the take's */
    uint32_t step;                      /* the one being written */
    uint32_t stages;                    /* bits: what the queue supports */

    VkCommandBuffer commands;
    struct vyre_vk_barriers barriers;
    bool downloads_in_part;
    bool labelled;           /* the part */
    bool transfers_on_first; /* a command of level 0 moves bytes on the device */

    /* What is bound in the part. */
    const struct vyre_command *last; /* the dispatch whose set is bound */
    const struct vyre_vk_layout *layout;
    VkPipeline pipeline;
    VkDescriptorSet set;
    uint32_t constants_bytes;
    unsigned char constants[VYRE_CONSTANTS_BYTES_MAX];
};

/*
 * The encoder's plan, in `memory`, which must live as long; none if the commands run one after
 * another anyway.
 */
enum vyre_status vyre_vk_encoder_plan(struct vyre_vk_encoder *encoder, uint32_t variant,
                                      struct vyre_batch_plan *memory);

/*
 * Spreads the batch over the device's queues if there are several, there is a plan, and it is worth
 * it. The encoder then has a lane plan and the steps of its frame or take. Uploads that the host
 * can do for a plain batch are noted.
 */
enum vyre_status vyre_vk_encoder_spread(struct vyre_vk_encoder *encoder);

/* Writes the whole batch, with the beginnings and ends of its parts. */
enum vyre_status vyre_vk_encode(struct vyre_vk_encoder *encoder);

/* Writes the batch's dispatches without groups: nothing runs, everything is compiled. */
enum vyre_status vyre_vk_encode_empty(struct vyre_vk_encoder *encoder);

#endif
