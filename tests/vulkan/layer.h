/*
 * layer.h: what the Vulkan layers of the tests share.
 *
 *   the program --> the loader --> layer.c --> <name>_layer.c or the layer below --> the driver
 *
 * A layer is layer.c and one <name>_layer.c, which defines `layer_parts`. layer.c is the loader's way in: it
 * creates instances and devices through the layer below, and answers look-ups with the layer's own function
 * where there is one.
 *
 * The functions of the layer below are kept for the latest instance and the latest device.
 */
#ifndef VYRE_TESTS_VULKAN_LAYER_H
#define VYRE_TESTS_VULKAN_LAYER_H

#define VK_NO_PROTOTYPES
#include <stdbool.h>
#include <stddef.h>

#include <vulkan/vulkan.h>

#define EXPORTED __attribute__((visibility("default")))

struct layer_function {
    const char *name; /* with "vk" */
    PFN_vkVoidFunction function;
};

struct layer_parts {
    /* The layer's function of that name, or NULL. `of_instance`: a function of the instance will do, too. */
    PFN_vkVoidFunction (*own)(const char *name, bool of_instance);

    /* Each may be NULL. */
    void (*instance_created)(VkInstance instance);
    void (*device_creating)(VkDeviceCreateInfo *inout_info);
    void (*device_created)(VkDevice device);
};
extern const struct layer_parts layer_parts;

PFN_vkVoidFunction layer_find(const struct layer_function *table, size_t count, const char *name);

/* Of the layer below. */
PFN_vkVoidFunction layer_next_of_instance(VkInstance instance, const char *name);
PFN_vkVoidFunction layer_next_of_device(VkDevice device, const char *name);

#endif
