/*
 * result.c: from VkResult to status and diagnostic.
 */
#include "backend/vulkan/result.h"

#include <stdbool.h>

const char *vyre_vk_result_name(VkResult result)
{
    static const struct {
        VkResult result;
        const char *name;
    } names[] = {
        {VK_SUCCESS, "VK_SUCCESS"},
        {VK_NOT_READY, "VK_NOT_READY"},
        {VK_TIMEOUT, "VK_TIMEOUT"},
        {VK_INCOMPLETE, "VK_INCOMPLETE"},
        {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
        {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
        {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
        {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
        {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
        {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
        {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
        {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
        {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL"},
        {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY"},
        {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].result == result)
            return names[i].name;
    }
    return "an unknown VkResult";
}

static enum vyre_diag_id meaning_of(VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST)
        return VYRE_DIAG_VULKAN_LOST;
    bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                  result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS ||
                  result == VK_ERROR_MEMORY_MAP_FAILED || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
                  result == VK_ERROR_FRAGMENTED_POOL;
    return memory ? VYRE_DIAG_VULKAN_MEMORY : VYRE_DIAG_VULKAN_CALL;
}

enum vyre_status vyre_vk_check(VkResult result, const char *what, const char *label,
                               struct vyre_diag *diag)
{
    if (result == VK_SUCCESS)
        return VYRE_OK;
    return vyre_diag_set(diag, meaning_of(result), label, result, "%s returned %s", what,
                         vyre_vk_result_name(result));
}
