/*
 * kernel.h: kernels: SPIR-V, or GLSL through the optional module; pipelines by specialization.
 *
 * A module reaches the driver only if it was validated (with libvyre-spirv-tools.so, if present)
 * and reflected, and uses nothing that the device lacks.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_BACKEND_VULKAN_KERNEL_H
#define VYRE_BACKEND_VULKAN_KERNEL_H

#include <vyre/backend.h>

#include "backend/vulkan/layouts.h"
#include "spirv/reflection.h"

#define VYRE_VK_VARIANTS_KEPT 32
#define VYRE_VK_ENTRY_BYTES   128
#define VYRE_VK_LABEL_BYTES   64

/* A pipeline for one set of specialization values. */
struct vyre_vk_pipeline {
    struct vyre_vk_pipeline *next;
    VkPipeline handle;
    uint64_t last_value;  /* of the timeline: when the last plain batch with it is done */
    uint32_t holders;     /* recordings */
    uint32_t value_count; /* the kernel's; 0: the constants keep their defaults */
    uint64_t values[VYRE_SPECIALIZATION_VALUES_MAX];
};

struct vyre_vk_kernel {
    VkShaderModule module;
    char entry[VYRE_VK_ENTRY_BYTES];
    char label[VYRE_VK_LABEL_BYTES];    /* for the driver's tools; cut if it is longer */
    struct vyre_vk_layout *layout;      /* counts as one user of it */
    struct vyre_vk_pipeline *pipelines; /* Owned: a list, the most recently used first */
    uint32_t pipeline_count;
    VkSpecializationMapEntry specialization[VYRE_SPECIALIZATION_VALUES_MAX];
    struct vyre_spirv_reflection reflection;
};

/* Entries of the backend's table. */
enum vyre_status vyre_vk_kernel_reflect(void *native, const struct vyre_kernel_desc *desc,
                                        void **out_kernel,
                                        struct vyre_kernel_interface *out_interface,
                                        struct vyre_diag *diag);
enum vyre_status vyre_vk_kernel_create(void *native, const struct vyre_kernel_desc *desc,
                                       const struct vyre_binding_plan *plan, void **inout_kernel,
                                       struct vyre_diag *diag);
void vyre_vk_kernel_destroy(void *native, void *kernel);

/* Whether a work-group of the device can have this much memory. */
enum vyre_status vyre_vk_kernel_check_local_bytes(const struct vyre_vk_device *device,
                                                  uint64_t bytes, const char *label,
                                                  struct vyre_diag *diag);

/*
 * The pipeline for a dispatch's values, made if it is missing. At most VYRE_VK_VARIANTS_KEPT are
 * kept, besides those in use.
 */
enum vyre_status vyre_vk_kernel_pipeline(struct vyre_vk_device *device,
                                         struct vyre_vk_kernel *kernel,
                                         const struct vyre_command *command,
                                         struct vyre_vk_pipeline **out_pipeline,
                                         struct vyre_diag *diag);

#endif
