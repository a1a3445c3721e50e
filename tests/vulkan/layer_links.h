/*
 * layer_links.h: how a layer of the tests gets from the loader's lists to the layer below it.
 */
#ifndef VYRE_TESTS_VULKAN_LAYER_LINKS_H
#define VYRE_TESTS_VULKAN_LAYER_LINKS_H

#include <stdint.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* The way on from this layer; the next layer will find its own. NULL: the loader gave none. */
static inline const VkLayerInstanceLink *layer_take_instance_link(const VkInstanceCreateInfo *info)
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

static inline const VkLayerDeviceLink *layer_take_device_link(const VkDeviceCreateInfo *info)
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

#endif
