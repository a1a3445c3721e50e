/*
 * device.c: opening and closing, and the backend's table.
 */
#include "backend/vulkan/device.h"

#include <stdio.h>
#include <string.h>

#include "backend/vulkan/kernel.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/vulkan.h"
#include "base/memory.h"

/* ---- Opening and closing ---------------------------------------------------------------------- */

/* Whether the device's clock can be read together with the host's monotonic one. */
static bool has_host_clock(const struct vyre_vk_backend *backend,
                           const struct vyre_vk_physical *physical)
{
    VkTimeDomainEXT domains[8];
    uint32_t count = 8;
    bool device = false, host = false;
    if (!backend->vk.GetPhysicalDeviceCalibrateableTimeDomainsEXT ||
        backend->vk.GetPhysicalDeviceCalibrateableTimeDomainsEXT(physical->handle, &count,
                                                                 domains) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
        host |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    }
    return device && host;
}

/* How many queues of each family. */
static void list_queues(const struct vyre_vk_physical *physical,
                        VkDeviceQueueCreateInfo out_queues[VYRE_LANES_MAX])
{
    static const float priorities[VYRE_LANES_MAX] = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
    for (uint32_t i = 0; i < physical->family_count; i++)
        out_queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = physical->families[i],
            .pQueuePriorities = priorities,
        };
    for (uint32_t i = 0; i < physical->lane_count; i++)
        out_queues[physical->lanes[i].family].queueCount++;
}

static enum vyre_status create_device(struct vyre_vk_device *device, struct vyre_diag *diag)
{
    const char *extensions[2];
    uint32_t extension_count = 0;
    if (device->has_host_clock)
        extensions[extension_count++] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    if (device->has_budget)
        extensions[extension_count++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
    VkDeviceQueueCreateInfo queues[VYRE_LANES_MAX];
    list_queues(device->physical, queues);
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &device->features.core,
        .queueCreateInfoCount = device->physical->family_count,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    const struct vyre_vk_instance_api *vk = &device->backend->vk;
    VkResult result = vk->CreateDevice(device->physical->handle, &info, NULL, &device->handle);
    if (result != VK_SUCCESS) {
        device->handle = VK_NULL_HANDLE;
        return vyre_vk_check(result, "vkCreateDevice", NULL, diag);
    }
    enum vyre_status status = vyre_vk_load_device(vk, device->handle, &device->vk, diag);
    return status == VYRE_OK ? vyre_vk_lanes_init(device, diag) : status;
}

static enum vyre_status create_objects(struct vyre_vk_device *device, struct vyre_diag *diag)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkResult result =
        device->vk.CreateSemaphore(device->handle, &semaphore, NULL, &device->timeline);
    if (result != VK_SUCCESS) {
        device->timeline = VK_NULL_HANDLE;
        return vyre_vk_check(result, "vkCreateSemaphore", NULL, diag);
    }
    result = device->vk.CreatePipelineCache(device->handle, &cache, NULL, &device->pipeline_cache);
    if (result != VK_SUCCESS)
        device->pipeline_cache = VK_NULL_HANDLE;
    return vyre_vk_check(result, "vkCreatePipelineCache", NULL, diag);
}

static void device_close(void *native)
{
    struct vyre_vk_device *device = native;
    struct vyre_allocator allocator = device->allocator;
    vyre_flight_deinit(&device->flight);
    if (device->handle && device->vk.DestroyDevice) {
        vyre_vk_frames_deinit(device);
        vyre_vk_recordings_deinit(device);
        vyre_vk_timers_deinit(device);
        vyre_vk_stamps_deinit(device);
        vyre_vk_descriptors_deinit(device);
        vyre_vk_buffer_unmake(device, &device->staging.buffer);
        vyre_vk_buffers_deinit(device);
        vyre_vk_heap_deinit(&device->heap);
        if (device->pipeline_cache)
            device->vk.DestroyPipelineCache(device->handle, device->pipeline_cache, NULL);
        vyre_vk_lanes_deinit(device);
        if (device->timeline)
            device->vk.DestroySemaphore(device->handle, device->timeline, NULL);
        device->vk.DestroyDevice(device->handle, NULL);
    }
    vyre_spirv_tools_unload(&device->tools);
    vyre_lane_plan_deinit(&device->lane_plan);
    vyre_memory_free(&allocator, device->order, device->order_capacity * sizeof *device->order,
                     _Alignof(uint32_t));
    vyre_memory_free(&allocator, device, sizeof *device, _Alignof(struct vyre_vk_device));
}

static enum vyre_status prepare(struct vyre_vk_device *device, const struct vyre_device_desc *desc,
                                struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    struct vyre_vk_backend *backend = device->backend;
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    enum vyre_status status =
        vyre_vk_features_find(backend, device->physical, &device->features, diag);
    if (status != VYRE_OK)
        return status;
    backend->vk.GetPhysicalDeviceMemoryProperties2(device->physical->handle, &memory);
    device->has_addresses = device->features.v12.bufferDeviceAddress;
    device->has_budget = device->features.memory_budget;
    device->has_host_clock =
        device->features.calibrated_timestamps && has_host_clock(backend, device->physical);
    const struct vyre_vk_heap_driver driver = vyre_vk_heap_driver_of(device);
    vyre_vk_heap_init(&device->heap, &device->allocator, &driver, &memory.memoryProperties,
                      device->physical->properties.limits.nonCoherentAtomSize);
    status = vyre_flight_init(&device->flight, &vyre_vk_flight_ops, device,
                              sizeof(struct vyre_vk_entry), &device->host, desc, diag);
    if (status == VYRE_OK)
        status = create_device(device, diag);
    if (status == VYRE_OK)
        status = create_objects(device, diag);
    if (status == VYRE_OK)
        vyre_vk_facts_state(device->physical, &device->features, &memory.memoryProperties,
                            out_facts);
    return status;
}

static enum vyre_status device_open(void *native, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    struct vyre_vk_backend *backend = native;
    enum vyre_status status = vyre_vk_backend_prepare(backend, diag);
    if (status != VYRE_OK)
        return status;
    const char *path = desc->spirv_tools_path ? desc->spirv_tools_path : "";
    if (strlen(path) >= PATH_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, desc->label, 0,
                             "spirv_tools_path has more than %d bytes", PATH_MAX - 1);
    struct vyre_vk_device *device =
        vyre_memory_allocate(&host->allocator, sizeof *device, _Alignof(struct vyre_vk_device));
    if (!device)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a device");
    device->allocator = host->allocator;
    device->host = *host;
    device->backend = backend;
    device->physical = &backend->devices[index];
    device->lane_plan.allocator = host->allocator;
    device->next_value = 1;
    vyre_vk_staging_init(&device->staging, desc->staging_bytes);
    snprintf(device->tools_path, sizeof device->tools_path, "%s", path);
    status = prepare(device, desc, out_facts, diag);
    if (status != VYRE_OK) {
        device_close(device);
        return status;
    }
    *out_device = device;
    return VYRE_OK;
}

/* Whether a lost device is idle. */
static bool is_quiet(struct vyre_vk_device *device)
{
    /*
     * A driver that has reported the loss must soon end every wait. One that hangs need not, so
     * only the value that it has reached by itself counts.
     */
    if (device->flight.loss.reason.id == VYRE_DIAG_DEVICE_HANG)
        return vyre_vk_lanes_are_idle(device);
    VkResult result = device->vk.DeviceWaitIdle(device->handle);
    return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
}

static bool quiesce(void *native)
{
    struct vyre_vk_device *device = native;
    const struct vyre_loss *loss = &device->flight.loss;
    vyre_flight_stop_helper(&device->flight);
    /* The runtime may know of a loss that the flight never saw. Then work may be left. */
    if (!vyre_is_lost(loss) && device->next_value > 1)
        (void)vyre_vk_await(device, device->next_value - 1);
    bool quiet = !vyre_is_lost(loss) || is_quiet(device);
    if (!quiet)
        vyre_vk_backend_abandon(device->backend);
    return quiet;
}

/* ---- Small helpers that the other files share ------------------------------------------------- */

void vyre_vk_device_name(struct vyre_vk_device *device, VkObjectType type, uint64_t handle,
                         const char *label)
{
    if (!label || !label[0] || !device->backend->has_labels ||
        !device->vk.SetDebugUtilsObjectNameEXT)
        return;
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = label,
    };
    (void)device->vk.SetDebugUtilsObjectNameEXT(device->handle, &info); /* only a name */
}

uint64_t vyre_vk_device_reached(struct vyre_vk_device *device)
{
    vyre_lock_acquire(&device->flight.lock);
    uint64_t value = device->seen_value;
    vyre_lock_release(&device->flight.lock);
    return value;
}

bool vyre_vk_device_order(struct vyre_vk_device *device, const struct vyre_batch_plan *plan,
                          uint32_t **out_order, uint32_t **out_ends)
{
    size_t wanted = (size_t)plan->node_count + plan->level_count + 1;
    if (wanted > device->order_capacity) {
        size_t capacity = wanted + wanted / 2;
        uint32_t *order =
            vyre_memory_allocate(&device->allocator, capacity * sizeof *order, _Alignof(uint32_t));
        if (!order)
            return false;
        vyre_memory_free(&device->allocator, device->order,
                         device->order_capacity * sizeof *device->order, _Alignof(uint32_t));
        device->order = order;
        device->order_capacity = capacity;
    }
    *out_order = device->order;
    *out_ends = device->order + plan->node_count;
    vyre_order_by_level(plan, *out_order, *out_ends);
    return true;
}

const struct vyre_backend_ops vyre_vulkan_backend_ops = {
    .abi_version = VYRE_BACKEND_ABI_VERSION,
    .size_bytes = sizeof(struct vyre_backend_ops),
    .name = "vulkan",
    .create = vyre_vk_backend_create,
    .destroy = vyre_vk_backend_destroy,
    .enumerate = vyre_vk_backend_enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_create = vyre_vk_buffer_create,
    .buffer_destroy = vyre_vk_buffer_destroy,
    .kernel_create = vyre_vk_kernel_create,
    .kernel_destroy = vyre_vk_kernel_destroy,
    .record = vyre_vk_record,
    .recording_destroy = vyre_vk_recording_destroy,
    .submit = vyre_vk_submit,
    .wait = vyre_vk_wait,
    .quiesce = quiesce,
    .buffer_write = vyre_vk_buffer_write,
    .buffer_read = vyre_vk_buffer_read,
    .kernel_reflect = vyre_vk_kernel_reflect,
    .batch_warm_up = vyre_vk_batch_warm_up,
    .memory_info = vyre_vk_memory_info,
};
