/*
 * capabilities.h: whether a device has what a SPIR-V module needs.
 */
#ifndef VYRE_BACKEND_VULKAN_CAPABILITIES_H
#define VYRE_BACKEND_VULKAN_CAPABILITIES_H

#include "backend/vulkan/facts.h"
#include "spirv/reflection.h"

/* VULKAN_CAPABILITY names the first missing one. */
enum vyre_status vyre_vk_capabilities_check(const struct vyre_vk_features *features,
                                            const struct vyre_spirv_reflection *reflection,
                                            const char *label, struct vyre_diag *diag);

/*
 * Removes a capability that compilers declare without need: glslang declares arrays of descriptors
 * for a buffer that holds an array of addresses, and reflection has refused every module that
 * really uses such arrays. Returns the number of words left.
 */
size_t vyre_vk_capabilities_strip(uint32_t *words, size_t count);

#endif
