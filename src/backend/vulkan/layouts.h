/*
 * layouts.h: layouts of descriptor sets and pipelines, shared by kernels that bind the same slots.
 *
 * Every pipeline layout has the same 128 bytes of push constants, so that constants and sets stay
 * bound from one kernel to the next if their slots are the same.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_LAYOUTS_H
#define VYRE_BACKEND_VULKAN_LAYOUTS_H

#include <vyre/kernel.h>

#include "backend/vulkan/loader.h"

struct vyre_vk_device;

struct vyre_vk_slot {
    uint32_t slot;
    VkDescriptorType type;
};

struct vyre_vk_layout {
    struct vyre_vk_layout *next;
    uint64_t id; /* never reused */
    uint32_t users;
    uint32_t count;
    struct vyre_vk_slot slots[VYRE_KERNEL_BINDINGS_MAX]; /* ascending */
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
};

/* The layout of these slots, with one more user. */
enum vyre_status vyre_vk_layout_get(struct vyre_vk_device *device, const struct vyre_vk_slot *slots,
                                    uint32_t count, const char *label,
                                    struct vyre_vk_layout **out_layout, struct vyre_diag *diag);

/* Removes a user; the last one frees it. NULL is ignored. */
void vyre_vk_layout_put(struct vyre_vk_device *device, struct vyre_vk_layout *layout);

#endif
