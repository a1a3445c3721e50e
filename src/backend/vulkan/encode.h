/*
 * encode.h: the one path that turns commands into command buffers, for plain batches and recordings.
 *
 *   part   one command buffer. A batch is one part, unless bytes of the caller's must be moved in its
 *          midst: a download whose bytes a later upload reads, or more bytes than the staging ring
 *          takes at once
 *
 * A part begins with a barrier against all that was submitted before, because the order of submits
 * alone orders no memory. If it has downloads, it ends with one that lets the host see them.
 *
 * Plain batches stage through the device's ring, and run a part as soon as there is no other way on;
 * recordings have memory of their own and run later, part by part where they must.
 *
 * A batch that is spread over several queues is written step by step (see plan/lane_plan.h): a step is a part
 * that goes to its own queue, and nothing of the caller's is moved in between.
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
    uint64_t region_used; /* ... of the take's region */

    struct vyre_vk_timer *timer; /* plain; NULL: not timed, or already begun */
    bool ran;                    /* a part has been run already */

    const struct vyre_lane_plan *lanes; /* several queues; NULL: one */
    struct vyre_vk_steps *steps;        /* the frame's or the take's */
    uint32_t step;                      /* that is written */
    uint32_t stages;                    /* bits: what the queue can do */

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
 * The encoder's plan, in `memory`, which must live as long; none where the commands run one after another
 * anyway.
 */
enum vyre_status vyre_vk_encoder_plan(struct vyre_vk_encoder *encoder, uint32_t variant,
                                      struct vyre_batch_plan *memory);

/*
 * Spreads the batch over the device's queues if there are several, the plan is there and it is worth
 * it: then the encoder has a lane plan and the steps of its frame or take. Uploads that a plain batch can
 * do by hand are noted for that.
 */
enum vyre_status vyre_vk_encoder_spread(struct vyre_vk_encoder *encoder);

/* Writes the whole batch, with the parts' beginnings and ends. */
enum vyre_status vyre_vk_encode(struct vyre_vk_encoder *encoder);

/* Writes the batch's dispatches with no groups: nothing runs, everything is compiled. */
enum vyre_status vyre_vk_encode_empty(struct vyre_vk_encoder *encoder);

#endif
