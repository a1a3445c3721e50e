/*
 * loader.h: libvulkan.so.1 and the tables of functions that it leads to.
 *
 * Nothing is linked. The loader is opened by name and gives the instance functions. Each device has
 * a table of its own, so that calls go straight to the driver.
 */
#ifndef VYRE_BACKEND_VULKAN_LOADER_H
#define VYRE_BACKEND_VULKAN_LOADER_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES 1
#endif
#include <vulkan/vulkan_core.h>

#include <vyre/diag.h>

#define VYRE_VK_GLOBAL_FUNCTIONS(X) \
    X(CreateInstance)               \
    X(EnumerateInstanceVersion)     \
    X(EnumerateInstanceExtensionProperties)

#define VYRE_VK_INSTANCE_FUNCTIONS(X)         \
    X(DestroyInstance)                        \
    X(EnumeratePhysicalDevices)               \
    X(EnumerateDeviceExtensionProperties)     \
    X(GetPhysicalDeviceProperties)            \
    X(GetPhysicalDeviceProperties2)           \
    X(GetPhysicalDeviceFeatures2)             \
    X(GetPhysicalDeviceMemoryProperties2)     \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(CreateDevice)                           \
    X(GetDeviceProcAddr)

/* Of extensions: may be NULL. */
#define VYRE_VK_INSTANCE_OPTIONAL(X) X(GetPhysicalDeviceCalibrateableTimeDomainsEXT)

#define VYRE_VK_DEVICE_FUNCTIONS(X) \
    X(DestroyDevice)                \
    X(DeviceWaitIdle)               \
    X(GetDeviceQueue)               \
    X(QueueSubmit)                  \
    X(AllocateMemory)               \
    X(FreeMemory)                   \
    X(MapMemory)                    \
    X(CreateBuffer)                 \
    X(DestroyBuffer)                \
    X(GetBufferMemoryRequirements)  \
    X(BindBufferMemory)             \
    X(GetBufferDeviceAddress)       \
    X(CreateSemaphore)              \
    X(DestroySemaphore)             \
    X(WaitSemaphores)               \
    X(GetSemaphoreCounterValue)     \
    X(CreateCommandPool)            \
    X(DestroyCommandPool)           \
    X(ResetCommandPool)             \
    X(AllocateCommandBuffers)       \
    X(BeginCommandBuffer)           \
    X(EndCommandBuffer)             \
    X(CmdPipelineBarrier)           \
    X(CmdBindPipeline)              \
    X(CmdBindDescriptorSets)        \
    X(CmdPushConstants)             \
    X(CmdDispatch)                  \
    X(CmdCopyBuffer)                \
    X(CmdFillBuffer)                \
    X(CmdResetQueryPool)            \
    X(CmdWriteTimestamp)            \
    X(CmdCopyQueryPoolResults)      \
    X(CreateQueryPool)              \
    X(DestroyQueryPool)             \
    X(CreateShaderModule)           \
    X(DestroyShaderModule)          \
    X(CreatePipelineCache)          \
    X(DestroyPipelineCache)         \
    X(CreateComputePipelines)       \
    X(DestroyPipeline)              \
    X(CreateDescriptorSetLayout)    \
    X(DestroyDescriptorSetLayout)   \
    X(CreatePipelineLayout)         \
    X(DestroyPipelineLayout)        \
    X(CreateDescriptorPool)         \
    X(DestroyDescriptorPool)        \
    X(AllocateDescriptorSets)       \
    X(FreeDescriptorSets)           \
    X(UpdateDescriptorSets)

/* Of extensions: may be NULL. */
#define VYRE_VK_DEVICE_OPTIONAL(X) \
    X(GetCalibratedTimestampsEXT)  \
    X(SetDebugUtilsObjectNameEXT)  \
    X(CmdBeginDebugUtilsLabelEXT)  \
    X(CmdEndDebugUtilsLabelEXT)

#define VYRE_VK_MEMBER(name) PFN_vk##name name;

struct vyre_vk_loader {
    void *library; /* Owned: from dlopen */
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    VYRE_VK_GLOBAL_FUNCTIONS(VYRE_VK_MEMBER)
};

struct vyre_vk_instance_api {
    VYRE_VK_INSTANCE_FUNCTIONS(VYRE_VK_MEMBER)
    VYRE_VK_INSTANCE_OPTIONAL(VYRE_VK_MEMBER)
};

struct vyre_vk_device_api {
    VYRE_VK_DEVICE_FUNCTIONS(VYRE_VK_MEMBER)
    VYRE_VK_DEVICE_OPTIONAL(VYRE_VK_MEMBER)
};

/* On failure nothing stays open; the message names the missing library or function. */
enum vyre_status vyre_vk_loader_open(struct vyre_vk_loader *out_loader, struct vyre_diag *diag);
void vyre_vk_loader_close(struct vyre_vk_loader *loader);

enum vyre_status vyre_vk_load_instance(const struct vyre_vk_loader *loader, VkInstance instance,
                                       struct vyre_vk_instance_api *out_api,
                                       struct vyre_diag *diag);
enum vyre_status vyre_vk_load_device(const struct vyre_vk_instance_api *instance, VkDevice device,
                                     struct vyre_vk_device_api *out_api, struct vyre_diag *diag);

#endif
