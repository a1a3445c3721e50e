/*
 * capabilities.h: whether a device has what a SPIR-V module asks for.
 */
#ifndef VYRE_BACKEND_VULKAN_CAPABILITIES_H
#define VYRE_BACKEND_VULKAN_CAPABILITIES_H

#include "backend/vulkan/facts.h"
#include "spirv/reflection.h"

/* VULKAN_CAPABILITY names the first one that is not there. */
enum vyre_status vyre_vk_capabilities_check(const struct vyre_vk_features *features,
                                            const struct vyre_spirv_reflection *reflection,
                                            const char *label, struct vyre_diag *diag);

/*
 * Removes a capability that compilers declare without need: glslang asks for arrays of descriptors
 * where a buffer holds an array of addresses, and reflection has refused every module that has the
 * former. Returns the number of words that are left.
 */
size_t vyre_vk_capabilities_strip(uint32_t *words, size_t count);

#endif
