/*
 * backend.c: the Vulkan instance, and which physical devices can be used.
 */
#include "backend/vulkan/backend.h"

#include <stdio.h>
#include <string.h>

#include <vyre/version.h>

#include "backend/vulkan/result.h"
#include "base/memory.h"

#define FAMILIES_MAX 16

/* ---- Physical devices ------------------------------------------------------------------------- */

static enum vyre_device_kind kind_of(VkPhysicalDeviceType type)
{
    if (type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU)
        return VYRE_DEVICE_KIND_DISCRETE;
    if (type == VK_PHYSICAL_DEVICE_TYPE_CPU)
        return VYRE_DEVICE_KIND_SOFTWARE;
    return VYRE_DEVICE_KIND_INTEGRATED;
}

void vyre_vk_physical_describe(const struct vyre_vk_physical *physical,
                               struct vyre_device_info *out_info)
{
    *out_info = (struct vyre_device_info){.kind = kind_of(physical->properties.deviceType)};
    snprintf(out_info->name, sizeof out_info->name, "%.*s", VYRE_NAME_BYTES - 1,
             physical->properties.deviceName);
    uint32_t version = physical->properties.apiVersion;
    snprintf(out_info->driver, sizeof out_info->driver, "%.48s %.48s, Vulkan %u.%u.%u",
             physical->driver.driverName, physical->driver.driverInfo,
             VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
             VK_API_VERSION_PATCH(version));
    memcpy(out_info->uuid, physical->uuid, sizeof out_info->uuid);
}

/* The family to work on; `count` if none can compute. */
static uint32_t find_main_family(const VkQueueFamilyProperties *families, uint32_t count)
{
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
        VkQueueFlags flags = families[i].queueFlags;
        if (!(flags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0)
            continue;
        /* A family without graphics is scheduled independently of the display's work. */
        bool better = best == count || (!(flags & VK_QUEUE_GRAPHICS_BIT) &&
                                        (families[best].queueFlags & VK_QUEUE_GRAPHICS_BIT));
        best = better ? i : best;
    }
    return best;
}

/* Makes lanes from the first `count` queues of a family. */
static void add_lanes(struct vyre_vk_physical *physical, uint32_t family, uint32_t count)
{
    if (count == 0)
        return;
    physical->families[physical->family_count] = family;
    for (uint32_t i = 0; i < count; i++)
        physical->lanes[physical->lane_count++] =
            (struct vyre_vk_lane_place){physical->family_count, i};
    physical->family_count++;
}

static void add_compute_lanes(struct vyre_vk_physical *physical, uint32_t family,
                              const VkQueueFamilyProperties *properties)
{
    uint32_t room = VYRE_COMPUTE_LANES_MAX - physical->shape.compute;
    uint32_t count = properties->queueCount < room ? properties->queueCount : room;
    add_lanes(physical, family, count);
    physical->shape.compute += count;
}

/* Finds the queues to work on. False if none can compute. */
static bool find_queues(const struct vyre_vk_instance_api *vk, struct vyre_vk_physical *physical)
{
    VkQueueFamilyProperties families[FAMILIES_MAX];
    uint32_t count = FAMILIES_MAX;
    vk->GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, families);
    uint32_t main_family = find_main_family(families, count);
    if (main_family == count)
        return false;
    add_compute_lanes(physical, main_family, &families[main_family]);
    physical->timestamp_bits = families[main_family].timestampValidBits;
    for (uint32_t i = 0; i < count; i++) {
        if (i != main_family && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            add_compute_lanes(physical, i, &families[i]);
    }
    /* Copy engines: families that do nothing else, not even video. */
    const VkQueueFlags beside = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    for (uint32_t i = 0; i < count && !physical->shape.transfer; i++) {
        if ((families[i].queueFlags & ~beside) == VK_QUEUE_TRANSFER_BIT &&
            families[i].queueCount > 0) {
            add_lanes(physical, i, 1);
            physical->shape.transfer = true;
        }
    }
    return true;
}

/* Fills in a device. False with the reason if it cannot be used. */
static bool inspect(const struct vyre_vk_instance_api *vk, VkPhysicalDevice handle,
                    struct vyre_vk_physical *out_physical, struct vyre_diag *reason)
{
    *out_physical = (struct vyre_vk_physical){.handle = handle};
    vk->GetPhysicalDeviceProperties(handle, &out_physical->properties);
    const char *name = out_physical->properties.deviceName;
    uint32_t version = out_physical->properties.apiVersion;
    if (version < VK_API_VERSION_1_2) {
        (void)vyre_diag_set(reason, VYRE_DIAG_VULKAN_NO_DEVICE, NULL, 0,
                            "%s has Vulkan %u.%u, and 1.2 is needed", name,
                            VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
        return false;
    }
    out_physical->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceMaintenance3Properties maintenance = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
        .pNext = &out_physical->driver,
    };
    VkPhysicalDeviceIDProperties identity = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, .pNext = &maintenance};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &identity};
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    vk->GetPhysicalDeviceProperties2(handle, &properties);
    vk->GetPhysicalDeviceFeatures2(handle, &features);
    memcpy(out_physical->uuid, identity.deviceUUID, sizeof out_physical->uuid);
    out_physical->max_allocation_bytes = maintenance.maxMemoryAllocationSize;
    bool computes = find_queues(vk, out_physical);
    if (!timeline.timelineSemaphore || !computes)
        (void)vyre_diag_set(reason, VYRE_DIAG_VULKAN_NO_DEVICE, NULL, 0, "%s has no %s", name,
                            computes ? "timeline semaphores" : "queue that computes");
    return timeline.timelineSemaphore && computes;
}

static int rank_of(const struct vyre_vk_physical *physical)
{
    enum vyre_device_kind kind = kind_of(physical->properties.deviceType);
    return kind == VYRE_DEVICE_KIND_DISCRETE ? 0 : kind == VYRE_DEVICE_KIND_INTEGRATED ? 1 : 2;
}

/* Inserts a device after those of its kind. */
static void add_device(struct vyre_vk_backend *backend, const struct vyre_vk_physical *physical)
{
    uint32_t at = backend->device_count;
    while (at > 0 && rank_of(&backend->devices[at - 1]) > rank_of(physical)) {
        backend->devices[at] = backend->devices[at - 1];
        at--;
    }
    backend->devices[at] = *physical;
    backend->device_count++;
}

static enum vyre_status find_devices(struct vyre_vk_backend *backend, struct vyre_diag *diag)
{
    VkPhysicalDevice handles[VYRE_VK_DEVICES_MAX];
    uint32_t count = VYRE_VK_DEVICES_MAX;
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    VkResult result = backend->vk.EnumeratePhysicalDevices(backend->instance, &count, handles);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return vyre_diag_set(diag, VYRE_DIAG_VULKAN_NO_DEVICE, NULL, result,
                             "vkEnumeratePhysicalDevices returned %s", vyre_vk_result_name(result));
    backend->device_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct vyre_vk_physical physical;
        if (inspect(&backend->vk, handles[i], &physical, &reason))
            add_device(backend, &physical);
    }
    if (backend->device_count > 0)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_VULKAN_NO_DEVICE, NULL, 0, "%s",
                         count ? reason.message : "the drivers of this machine offer no device");
}

/* ---- The instance ----------------------------------------------------------------------------- */

static void leave(struct vyre_vk_backend *backend)
{
    if (backend->instance && backend->vk.DestroyInstance)
        backend->vk.DestroyInstance(backend->instance, NULL);
    backend->instance = VK_NULL_HANDLE;
    vyre_vk_loader_close(&backend->loader);
}

/* Whether objects and command buffers can have names; if in doubt, no. */
static bool offers_labels(const struct vyre_vk_backend *backend)
{
    uint32_t count = 0;
    bool found = false;
    if (backend->loader.EnumerateInstanceExtensionProperties(NULL, &count, NULL) != VK_SUCCESS ||
        count == 0)
        return false;
    size_t bytes = count * sizeof(VkExtensionProperties);
    VkExtensionProperties *list =
        vyre_memory_allocate(&backend->allocator, bytes, _Alignof(VkExtensionProperties));
    if (!list)
        return false;
    uint32_t filled = count;
    if (backend->loader.EnumerateInstanceExtensionProperties(NULL, &filled, list) < VK_SUCCESS)
        filled = 0;
    for (uint32_t i = 0; i < filled; i++)
        found |= strcmp(list[i].extensionName, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0;
    vyre_memory_free(&backend->allocator, list, bytes, _Alignof(VkExtensionProperties));
    return found;
}

static enum vyre_status create_instance(struct vyre_vk_backend *backend, struct vyre_diag *diag)
{
    uint32_t version = VK_API_VERSION_1_0;
    VkResult result = backend->loader.EnumerateInstanceVersion(&version);
    if (result != VK_SUCCESS || version < VK_API_VERSION_1_2)
        return vyre_diag_set(diag, VYRE_DIAG_VULKAN_INSTANCE, NULL, result,
                             "the loader has Vulkan %u.%u, and 1.2 is needed",
                             VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "vyre",
        .engineVersion =
            VK_MAKE_API_VERSION(0, VYRE_VERSION_MAJOR, VYRE_VERSION_MINOR, VYRE_VERSION_PATCH),
        .apiVersion =
            VK_API_VERSION_1_3, /* the highest version whose features are used if present */
    };
    static const char *const labels = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    backend->has_labels = offers_labels(backend);
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = backend->has_labels ? 1 : 0,
                                 .ppEnabledExtensionNames = &labels};
    result = backend->loader.CreateInstance(&info, NULL, &backend->instance);
    if (result != VK_SUCCESS) {
        backend->instance = VK_NULL_HANDLE;
        return vyre_diag_set(diag, VYRE_DIAG_VULKAN_INSTANCE, NULL, result,
                             "vkCreateInstance returned %s%s", vyre_vk_result_name(result),
                             result == VK_ERROR_INCOMPATIBLE_DRIVER
                                 ? ": no driver of this machine can be loaded"
                                 : "");
    }
    return vyre_vk_load_instance(&backend->loader, backend->instance, &backend->vk, diag);
}

enum vyre_status vyre_vk_backend_prepare(struct vyre_vk_backend *backend, struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    vyre_lock_acquire(&backend->lock);
    if (!backend->ready) {
        status = vyre_vk_loader_open(&backend->loader, diag);
        if (status == VYRE_OK)
            status = create_instance(backend, diag);
        if (status == VYRE_OK)
            status = find_devices(backend, diag);
        if (status != VYRE_OK)
            leave(backend);
        backend->ready = status == VYRE_OK;
    }
    vyre_lock_release(&backend->lock);
    return status;
}

enum vyre_status vyre_vk_backend_create(void *user, const struct vyre_allocator *allocator,
                                        void **out_backend, struct vyre_diag *diag)
{
    /* A fork and a join are assumed to cost about ten microseconds: see the design page. */
    static const struct vyre_lane_tuning usual = {.split_groups = 512, .ahead_bytes = 65536};
    struct vyre_vk_backend *backend =
        vyre_memory_allocate(allocator, sizeof *backend, _Alignof(struct vyre_vk_backend));
    if (!backend)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory for the Vulkan backend");
    backend->allocator = *allocator;
    backend->tuning = user ? user : &usual;
    *out_backend = backend;
    return VYRE_OK;
}

void vyre_vk_backend_abandon(struct vyre_vk_backend *backend)
{
    vyre_lock_acquire(&backend->lock);
    backend->abandoned = true;
    vyre_lock_release(&backend->lock);
}

void vyre_vk_backend_destroy(void *native)
{
    struct vyre_vk_backend *backend = native;
    struct vyre_allocator allocator = backend->allocator;
    /* Threads of the driver may still run its code and use its instance, so both are leaked. */
    if (!backend->abandoned)
        leave(backend);
    vyre_memory_free(&allocator, backend, sizeof *backend, _Alignof(struct vyre_vk_backend));
}

enum vyre_status vyre_vk_backend_enumerate(void *native, struct vyre_device_info *out_infos,
                                           size_t capacity, size_t *out_count,
                                           struct vyre_diag *diag)
{
    struct vyre_vk_backend *backend = native;
    *out_count = 0;
    enum vyre_status status = vyre_vk_backend_prepare(backend, diag);
    if (status != VYRE_OK)
        return status;
    for (uint32_t i = 0; i < backend->device_count && i < capacity; i++)
        vyre_vk_physical_describe(&backend->devices[i], &out_infos[i]);
    *out_count = backend->device_count;
    return VYRE_OK;
}
