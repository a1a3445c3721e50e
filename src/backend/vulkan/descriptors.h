/*
 * descriptors.h: descriptor sets, found by their contents, so that nothing is written twice.
 *
 * A set is looked up by a hash over its layout and the identities, offsets and sizes of all that is
 * bound, including tables. Identities are never reused, so a set with a destroyed buffer is never
 * found. A table is a small buffer of addresses that belongs to its set.
 *
 * Kept: all sets that recordings hold, and of the others the SETS_KEPT most recently used. A set is
 * reused for something else only when the device is done with it.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_DESCRIPTORS_H
#define VYRE_BACKEND_VULKAN_DESCRIPTORS_H

#include <vyre/backend.h>
#include <vyre/hash.h>

#include "backend/vulkan/buffer.h"
#include "backend/vulkan/layouts.h"

struct vyre_vk_pool;

struct vyre_vk_set {
    struct vyre_hash128 key;
    VkDescriptorSet handle;
    struct vyre_vk_pool *pool;
    uint64_t layout_id;
    uint64_t last_value;          /* of the timeline: when the last plain batch with it is done */
    uint32_t holders;             /* recordings */
    struct vyre_vk_buffer tables; /* zeroed: none */
    struct vyre_vk_set *next_in_bucket;
    struct vyre_vk_set *newer, *older; /* while no recording holds it: by use */
};

struct vyre_vk_descriptors {
    struct vyre_vk_pool *pools;   /* Owned: a list, the one last taken from first */
    struct vyre_vk_set **buckets; /* Owned: bucket_mask + 1 */
    uint32_t bucket_mask;
    uint32_t count;
    uint32_t idle_count; /* not held */
    struct vyre_vk_set *newest, *oldest;
    uint64_t written; /* sets that were written */
};

/* The set for a dispatch, found or written. The layout has slots. */
enum vyre_status vyre_vk_descriptors_find(struct vyre_vk_device *device,
                                          const struct vyre_vk_layout *layout,
                                          const struct vyre_batch_view *view,
                                          const struct vyre_command *command,
                                          struct vyre_vk_set **out_set, struct vyre_diag *diag);

/* A recording holds the set, and releases it. */
void vyre_vk_set_hold(struct vyre_vk_device *device, struct vyre_vk_set *set);
void vyre_vk_set_release(struct vyre_vk_device *device, struct vyre_vk_set *set);

/* To be called when nothing is in flight. */
void vyre_vk_descriptors_deinit(struct vyre_vk_device *device);

#endif
