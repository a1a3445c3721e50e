/*
 * facts.h: what a device can do, and the reason for each missing ability.
 */
#ifndef VYRE_BACKEND_VULKAN_FACTS_H
#define VYRE_BACKEND_VULKAN_FACTS_H

#include <vyre/backend.h>

#include "backend/vulkan/backend.h"

/* Features as the driver reports them. Features that only cost time are switched off. */
struct vyre_vk_features {
    VkPhysicalDeviceFeatures2 core; /* the chain begins here */
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceMaintenance4Features m4; /* in the chain from Vulkan 1.3 on */
    VkBool32 maintenance4;
    VkBool32 synchronization2;
    VkBool32 denorm_preserve, denorm_flush, inf_nan_preserve, round_even, round_zero;
    VkSubgroupFeatureFlags subgroup_operations; /* in compute shaders */
    bool push_descriptor, calibrated_timestamps, memory_budget, external_host, creation_feedback;
};

/* Asks the driver. `out_features->core` can be passed to vkCreateDevice unchanged. */
enum vyre_status vyre_vk_features_find(const struct vyre_vk_backend *backend,
                                       const struct vyre_vk_physical *physical,
                                       struct vyre_vk_features *out_features,
                                       struct vyre_diag *diag);

void vyre_vk_facts_state(const struct vyre_vk_physical *physical,
                         const struct vyre_vk_features *features,
                         const VkPhysicalDeviceMemoryProperties *memory,
                         struct vyre_device_facts *out_facts);

#endif
