/*
 * recording.h: command buffers that are kept.
 *
 *   recording ── take 0 ── part 0, part 1 ...   its own command buffers and its own staging region
 *             └─ take 1 ── ...                  made when the first is still in flight
 *
 * A recording that moves no bytes has one take, which may be in flight any number of times. One
 * that does has at most two. A take is reused when its bytes have been taken, so further
 * submissions wait for the older one.
 *
 * A destroyed recording leaves its lists and command pools to the next one, so that a stream of
 * batches that are each recorded once stops allocating.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_RECORDING_H
#define VYRE_BACKEND_VULKAN_RECORDING_H

#include "backend/vulkan/encode.h"
#include "backend/vulkan/staging.h"
#include "backend/vulkan/steps.h"

#define VYRE_VK_TAKES       2
#define VYRE_VK_REGION_UNIT 64 /* staged pieces begin at multiples of it */

struct vyre_vk_take {
    struct vyre_vk_recording *recording; /* Borrowed */
    VkCommandPool pool;
    VkCommandBuffer *parts; /* Owned */
    uint32_t part_count;
    uint32_t part_made; /* command buffers that exist, including those of earlier uses */
    uint32_t part_capacity;
    struct vyre_vk_steps steps;   /* on several queues, instead of parts */
    struct vyre_vk_buffer region; /* zeroed: it moves no bytes */
    struct vyre_vk_transfers uploads;
    struct vyre_vk_transfers downloads;
    uint64_t last_sequence; /* of the submission that used it last */
    uint64_t last_value;
};

/* Pointers that a recording keeps, each once. */
struct vyre_vk_pointers {
    void **items; /* Owned */
    uint32_t count;
    uint32_t capacity;
};

struct vyre_vk_recording {
    struct vyre_vk_recording *next; /* in the device's list of spare ones */
    uint64_t mark;                  /* set in buffers that it has noted */
    bool moves_bytes;
    uint64_t region_bytes;
    struct vyre_vk_take takes[VYRE_VK_TAKES];
    uint32_t take_count;
    struct vyre_vk_pointers sets;
    struct vyre_vk_pointers pipelines;
    struct vyre_vk_pointers buffers;
};

/* Entries of the backend's table. */
enum vyre_status vyre_vk_record(void *native, const struct vyre_batch_view *view, uint32_t variant,
                                void **out_recording, size_t *out_size_bytes,
                                struct vyre_diag *diag);
void vyre_vk_recording_destroy(void *native, void *recording);

/* Frees the spare ones. */
void vyre_vk_recordings_deinit(struct vyre_vk_device *device);

/* Records the batch once more into a new take. */
enum vyre_status vyre_vk_recording_add_take(struct vyre_vk_device *device,
                                            struct vyre_vk_recording *recording,
                                            const struct vyre_batch_view *view, uint32_t variant,
                                            struct vyre_diag *diag);

/* Submits a recording: replay.c. */
enum vyre_status vyre_vk_replay(struct vyre_vk_device *device,
                                const struct vyre_submission *submission, struct vyre_diag *diag);

/* For the encoder. */
VkResult vyre_vk_take_add_part(struct vyre_vk_device *device, struct vyre_vk_take *take,
                               VkCommandBuffer *out_commands);
enum vyre_status vyre_vk_recording_hold_set(struct vyre_vk_device *device,
                                            struct vyre_vk_recording *recording,
                                            struct vyre_vk_set *set, struct vyre_diag *diag);
enum vyre_status vyre_vk_recording_hold_pipeline(struct vyre_vk_device *device,
                                                 struct vyre_vk_recording *recording,
                                                 struct vyre_vk_pipeline *pipeline,
                                                 struct vyre_diag *diag);
enum vyre_status vyre_vk_recording_note_buffer(struct vyre_vk_device *device,
                                               struct vyre_vk_recording *recording,
                                               struct vyre_vk_buffer *buffer,
                                               struct vyre_diag *diag);
bool vyre_vk_recording_touches(const struct vyre_vk_recording *recording,
                               const struct vyre_vk_buffer *buffer);

#endif
