/*
 * backend.h: the Vulkan instance of a Vyre instance, and its physical devices.
 *
 * The first question for devices loads the loader, the VkInstance and with it the drivers, so that
 * a program that opens only the CPU pays nothing.
 *
 * Thread-safety: any thread; the first question is answered under a lock.
 */
#ifndef VYRE_BACKEND_VULKAN_BACKEND_H
#define VYRE_BACKEND_VULKAN_BACKEND_H

#include <stdbool.h>

#include <vyre/allocator.h>
#include <vyre/device.h>

#include "backend/vulkan/loader.h"
#include "base/futex.h"
#include "plan/lane_plan.h"

#define VYRE_VK_DEVICES_MAX 16

/* Which queue of the driver a lane is. */
struct vyre_vk_lane_place {
    uint32_t family; /* an index into the families in use */
    uint32_t index;  /* of the queue in its family */
};

struct vyre_vk_physical {
    VkPhysicalDevice handle;
    uint32_t families[VYRE_LANES_MAX]; /* in use; the main one, of lane 0, first */
    uint32_t family_count;
    struct vyre_lanes shape;
    struct vyre_vk_lane_place lanes[VYRE_LANES_MAX];
    uint32_t lane_count;
    uint32_t timestamp_bits;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceDriverProperties driver;
    uint8_t uuid[VK_UUID_SIZE];
    uint64_t max_allocation_bytes;
};

struct vyre_vk_backend {
    struct vyre_allocator allocator;
    const struct vyre_lane_tuning *tuning; /* Borrowed: the table's user, or the default */
    struct vyre_lock lock;
    bool ready;
    struct vyre_vk_loader loader;
    VkInstance instance;
    bool has_labels; /* VK_EXT_debug_utils */
    struct vyre_vk_instance_api vk;
    struct vyre_vk_physical
        devices[VYRE_VK_DEVICES_MAX]; /* usable devices, the strongest kind first */
    uint32_t device_count;
    bool abandoned; /* work of a closed device still runs: the driver must stay */
};

enum vyre_status vyre_vk_backend_create(void *user, const struct vyre_allocator *allocator,
                                        void **out_backend, struct vyre_diag *diag);
void vyre_vk_backend_destroy(void *native);

/* A device was closed while its work still runs. */
void vyre_vk_backend_abandon(struct vyre_vk_backend *backend);

/* Loads and lists, once. After a failure the next call tries again. */
enum vyre_status vyre_vk_backend_prepare(struct vyre_vk_backend *backend, struct vyre_diag *diag);

enum vyre_status vyre_vk_backend_enumerate(void *native, struct vyre_device_info *out_infos,
                                           size_t capacity, size_t *out_count,
                                           struct vyre_diag *diag);

void vyre_vk_physical_describe(const struct vyre_vk_physical *physical,
                               struct vyre_device_info *out_info);

#endif
