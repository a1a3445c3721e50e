/*
 * layer.c: the loader's way into a layer of the tests, and the way on to the layer below.
 */
#include "layer.h"

#include <stdint.h>
#include <string.h>

#include <vulkan/vk_layer.h>

static struct {
    PFN_vkGetInstanceProcAddr get_instance;
    PFN_vkGetDeviceProcAddr get_device;
} next;

PFN_vkVoidFunction layer_find(const struct layer_function *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, table[i].name) == 0)
            return table[i].function;
    }
    return NULL;
}

PFN_vkVoidFunction layer_next_of_instance(VkInstance instance, const char *name)
{
    return next.get_instance ? next.get_instance(instance, name) : NULL;
}

PFN_vkVoidFunction layer_next_of_device(VkDevice device, const char *name)
{
    return next.get_device(device, name);
}

/* ---- Creation --------------------------------------------------------------------------------- */

/* The way on from this layer; the next layer will find its own. NULL: the loader gave none. */
static const VkLayerInstanceLink *take_instance_link(const VkInstanceCreateInfo *info)
{
    VkLayerInstanceCreateInfo *entry = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    while (entry && (entry->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
                     entry->function != VK_LAYER_LINK_INFO))
        entry = (VkLayerInstanceCreateInfo *)(uintptr_t)entry->pNext;
    const VkLayerInstanceLink *link = entry ? entry->u.pLayerInfo : NULL;
    if (link)
        entry->u.pLayerInfo = link->pNext;
    return link;
}

static const VkLayerDeviceLink *take_device_link(const VkDeviceCreateInfo *info)
{
    VkLayerDeviceCreateInfo *entry = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
    while (entry && (entry->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO ||
                     entry->function != VK_LAYER_LINK_INFO))
        entry = (VkLayerDeviceCreateInfo *)(uintptr_t)entry->pNext;
    const VkLayerDeviceLink *link = entry ? entry->u.pLayerInfo : NULL;
    if (link)
        entry->u.pLayerInfo = link->pNext;
    return link;
}

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkInstance *out_instance)
{
    const VkLayerInstanceLink *link = take_instance_link(info);
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next.get_instance = link->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)next.get_instance(VK_NULL_HANDLE, "vkCreateInstance");
    VkResult result =
        create ? create(info, allocator, out_instance) : VK_ERROR_INITIALIZATION_FAILED;
    if (result == VK_SUCCESS && layer_parts.instance_created)
        layer_parts.instance_created(*out_instance);
    return result;
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkDevice *out_device)
{
    const VkLayerDeviceLink *link = take_device_link(info);
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr get_instance = link->pfnNextGetInstanceProcAddr;
    next.get_device = link->pfnNextGetDeviceProcAddr;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)get_instance(VK_NULL_HANDLE, "vkCreateDevice");
    VkDeviceCreateInfo changed = *info;
    if (layer_parts.device_creating)
        layer_parts.device_creating(&changed);
    VkResult result =
        create ? create(physical, &changed, allocator, out_device) : VK_ERROR_INITIALIZATION_FAILED;
    if (result == VK_SUCCESS && layer_parts.device_created)
        layer_parts.device_created(*out_device);
    return result;
}

/* ---- Look-ups --------------------------------------------------------------------------------- */

/* Not exported: of several layers in a process each must answer with its own. */
static PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device;
    PFN_vkVoidFunction function = layer_parts.own(name, false);
    return function ? function : layer_next_of_device(device, name);
}

static PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name)
{
    static const struct layer_function table[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
    };
    PFN_vkVoidFunction function = layer_find(table, sizeof table / sizeof table[0], name);
    if (!function)
        function = layer_parts.own(name, true);
    return function ? function : layer_next_of_instance(instance, name);
}

/* The names stand in layer.json.in. */
EXPORTED PFN_vkVoidFunction VKAPI_CALL vyre_layer_get_device(VkDevice device, const char *name);
EXPORTED PFN_vkVoidFunction VKAPI_CALL vyre_layer_get_device(VkDevice device, const char *name)
{
    return get_device(device, name);
}

EXPORTED PFN_vkVoidFunction VKAPI_CALL vyre_layer_get_instance(VkInstance instance,
                                                               const char *name);
EXPORTED PFN_vkVoidFunction VKAPI_CALL vyre_layer_get_instance(VkInstance instance,
                                                               const char *name)
{
    return get_instance(instance, name);
}
