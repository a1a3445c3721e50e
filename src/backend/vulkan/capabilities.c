/*
 * capabilities.c: the capabilities of compute shaders, each with the feature that it needs.
 */
#include "backend/vulkan/capabilities.h"

#include <stddef.h>
#include <string.h>

#include "spirv/grammar.h"

enum { RUNTIME_DESCRIPTOR_ARRAY = 5302 };

/* Numbers of the SPIR-V specification. */
static const struct capability {
    uint32_t number;
    const char *name;
    size_t feature; /* a VkBool32 of struct vyre_vk_features; SIZE_MAX: always present */
} capabilities[] = {
#define CORE(member) offsetof(struct vyre_vk_features, core.features.member)
#define V11(member)  offsetof(struct vyre_vk_features, v11.member)
#define V12(member)  offsetof(struct vyre_vk_features, v12.member)
    {0, "Matrix", SIZE_MAX},
    {1, "Shader", SIZE_MAX},
    {9, "Float16", V12(shaderFloat16)},
    {10, "Float64", CORE(shaderFloat64)},
    {11, "Int64", CORE(shaderInt64)},
    {12, "Int64Atomics", V12(shaderBufferInt64Atomics)},
    {22, "Int16", CORE(shaderInt16)},
    {39, "Int8", V12(shaderInt8)},
    {29, "StorageBufferArrayDynamicIndexing", CORE(shaderStorageBufferArrayDynamicIndexing)},
    {28, "UniformBufferArrayDynamicIndexing", CORE(shaderUniformBufferArrayDynamicIndexing)},
    {4427, "DrawParameters", V11(shaderDrawParameters)},
    {4433, "StorageBuffer16BitAccess", V11(storageBuffer16BitAccess)},
    {4434, "UniformAndStorageBuffer16BitAccess", V11(uniformAndStorageBuffer16BitAccess)},
    {4435, "StoragePushConstant16", V11(storagePushConstant16)},
    {4441, "VariablePointersStorageBuffer", V11(variablePointersStorageBuffer)},
    {4442, "VariablePointers", V11(variablePointers)},
    {4448, "StorageBuffer8BitAccess", V12(storageBuffer8BitAccess)},
    {4449, "UniformAndStorageBuffer8BitAccess", V12(uniformAndStorageBuffer8BitAccess)},
    {4450, "StoragePushConstant8", V12(storagePushConstant8)},
    {4464, "DenormPreserve", offsetof(struct vyre_vk_features, denorm_preserve)},
    {4465, "DenormFlushToZero", offsetof(struct vyre_vk_features, denorm_flush)},
    {4466, "SignedZeroInfNanPreserve", offsetof(struct vyre_vk_features, inf_nan_preserve)},
    {4467, "RoundingModeRTE", offsetof(struct vyre_vk_features, round_even)},
    {4468, "RoundingModeRTZ", offsetof(struct vyre_vk_features, round_zero)},
    {RUNTIME_DESCRIPTOR_ARRAY, "RuntimeDescriptorArray", SIZE_MAX}, /* stripped */
    {5345, "VulkanMemoryModel", V12(vulkanMemoryModel)},
    {5346, "VulkanMemoryModelDeviceScope", V12(vulkanMemoryModelDeviceScope)},
    {5347, "PhysicalStorageBufferAddresses", V12(bufferDeviceAddress)},
#undef CORE
#undef V11
#undef V12
};

/* GroupNonUniform and its kinds have consecutive numbers, like the bits that a device reports. */
enum { SUBGROUP_FIRST = 61, SUBGROUP_LAST = 68 };

static bool has_subgroup(const struct vyre_vk_features *features, uint32_t number)
{
    /* 61 basic, 62 vote, 63 arithmetic, 64 ballot, 65 shuffle, 66 relative, 67 clustered, 68 quad */
    static const VkSubgroupFeatureFlags bits[] = {
        VK_SUBGROUP_FEATURE_BASIC_BIT,      VK_SUBGROUP_FEATURE_VOTE_BIT,
        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, VK_SUBGROUP_FEATURE_BALLOT_BIT,
        VK_SUBGROUP_FEATURE_SHUFFLE_BIT,    VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT,
        VK_SUBGROUP_FEATURE_CLUSTERED_BIT,  VK_SUBGROUP_FEATURE_QUAD_BIT,
    };
    return (features->subgroup_operations & bits[number - SUBGROUP_FIRST]) != 0;
}

static enum vyre_status refuse(uint32_t number, const char *name, const char *why,
                               const char *label, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_VULKAN_CAPABILITY, label, number,
                         "the kernel uses the capability %s (%u), %s", name, number, why);
}

static enum vyre_status check_one(const struct vyre_vk_features *features, uint32_t number,
                                  const char *label, struct vyre_diag *diag)
{
    if (number >= SUBGROUP_FIRST && number <= SUBGROUP_LAST)
        return has_subgroup(features, number)
                   ? VYRE_OK
                   : refuse(number, "GroupNonUniform", "which the device lacks", label, diag);
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++) {
        if (capabilities[i].number != number)
            continue;
        VkBool32 there = VK_TRUE;
        if (capabilities[i].feature != SIZE_MAX)
            memcpy(&there, (const unsigned char *)features + capabilities[i].feature, sizeof there);
        return there ? VYRE_OK
                     : refuse(number, capabilities[i].name, "which the device lacks", label, diag);
    }
    return refuse(number, "unknown", "which is not taken", label, diag);
}

enum vyre_status vyre_vk_capabilities_check(const struct vyre_vk_features *features,
                                            const struct vyre_spirv_reflection *reflection,
                                            const char *label, struct vyre_diag *diag)
{
    for (uint32_t i = 0; i < reflection->capability_count; i++) {
        enum vyre_status status = check_one(features, reflection->capabilities[i], label, diag);
        if (status != VYRE_OK)
            return status;
    }
    if (reflection->local_size_by_id && !features->maintenance4)
        return vyre_diag_set(diag, VYRE_DIAG_VULKAN_CAPABILITY, label, 0,
                             "the kernel's local size is given by ids, which needs maintenance4");
    return VYRE_OK;
}

size_t vyre_vk_capabilities_strip(uint32_t *words, size_t count)
{
    const uint32_t declares = 2u << 16 | SPIRV_OP_CAPABILITY;
    for (size_t at = SPIRV_HEADER_WORDS; at + 1 < count && words[at] == declares; at += 2) {
        if (words[at + 1] != RUNTIME_DESCRIPTOR_ARRAY)
            continue;
        memmove(&words[at], &words[at + 2], (count - at - 2) * sizeof *words);
        return count - 2;
    }
    return count;
}
