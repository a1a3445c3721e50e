/*
 * broken_icd.c: Vulkan drivers that are of no use, one for each value of BROKEN:
 *
 *   BROKEN_HOLLOW         a shared object without any entry point
 *   BROKEN_REFUSES        refuses every interface version of the loader
 *   BROKEN_FAILS          vkCreateInstance returns VK_ERROR_INITIALIZATION_FAILED
 *   BROKEN_EMPTY          an instance without a physical device
 *   BROKEN_LISTS_NOTHING  vkEnumeratePhysicalDevices returns VK_ERROR_INITIALIZATION_FAILED
 */
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>

#include <stdlib.h>
#include <string.h>

#define BROKEN_HOLLOW        1
#define BROKEN_REFUSES       2
#define BROKEN_FAILS         3
#define BROKEN_EMPTY         4
#define BROKEN_LISTS_NOTHING 5

#define EXPORT __attribute__((visibility("default")))

#if BROKEN == BROKEN_HOLLOW

EXPORT extern const int vyre_broken_nothing;
const int vyre_broken_nothing = 0;

#else

/* The loader writes its table into the first word. */
struct instance {
    VK_LOADER_DATA loader;
};

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *out_instance)
{
    (void)info;
    (void)allocator;
    if (BROKEN == BROKEN_FAILS)
        return VK_ERROR_INITIALIZATION_FAILED;
    struct instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    set_loader_magic_value(instance);
    *out_instance = (VkInstance)instance;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator)
{
    (void)allocator;
    free(instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL list_devices(VkInstance instance, uint32_t *count,
                                                   VkPhysicalDevice *out_devices)
{
    (void)instance;
    (void)out_devices;
    if (BROKEN == BROKEN_LISTS_NOTHING)
        return VK_ERROR_INITIALIZATION_FAILED;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL list_extensions(const char *layer, uint32_t *count,
                                                      VkExtensionProperties *out_properties)
{
    (void)layer;
    (void)out_properties;
    *count = 0;
    return VK_SUCCESS;
}

/* Never called: without a physical device there is nothing to call it with. */
static VKAPI_ATTR VkResult VKAPI_CALL nothing(void)
{
    return VK_ERROR_INITIALIZATION_FAILED;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_proc(VkInstance instance, const char *name)
{
    (void)instance;
    if (strcmp(name, "vkCreateInstance") == 0)
        return (PFN_vkVoidFunction)create_instance;
    if (strcmp(name, "vkDestroyInstance") == 0)
        return (PFN_vkVoidFunction)destroy_instance;
    if (strcmp(name, "vkEnumeratePhysicalDevices") == 0)
        return (PFN_vkVoidFunction)list_devices;
    if (strcmp(name, "vkEnumerateInstanceExtensionProperties") == 0)
        return (PFN_vkVoidFunction)list_extensions;
    /* What the loader insists on before it takes a driver. */
    if (strncmp(name, "vkGetPhysicalDevice", 19) == 0 || strcmp(name, "vkCreateDevice") == 0 ||
        strcmp(name, "vkGetDeviceProcAddr") == 0 ||
        strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0)
        return (PFN_vkVoidFunction)nothing;
    return NULL;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                          const char *name);

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    if (BROKEN == BROKEN_REFUSES)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    if (*version > 3)
        *version = 3;
    return VK_SUCCESS;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                   const char *name)
{
    return get_proc(instance, name);
}

#endif
