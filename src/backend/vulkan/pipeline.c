/*
 * pipeline.c: pipelines by specialization.
 */
#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/kernel.h"
#include "backend/vulkan/result.h"
#include "base/checked.h"
#include "base/memory.h"

/*
 * The value that a dispatch gives for an id. Without one, each constant of the id has its own
 * default.
 */
static bool find_given(const struct vyre_vk_kernel *kernel, const struct vyre_command *command,
                       uint32_t id, uint64_t *out_value)
{
    for (uint32_t i = 0; i < command->specialization_count; i++) {
        const VkSpecializationMapEntry *entry = &kernel->specialization[i];
        if (entry->constantID != id)
            continue;
        *out_value = command->specialization[i] & UINT64_MAX >> (64 - 8 * entry->size);
        return true;
    }
    return false;
}

static enum vyre_status check_local_bytes(const struct vyre_vk_device *device,
                                          const struct vyre_vk_kernel *kernel,
                                          const struct vyre_command *command,
                                          struct vyre_diag *diag)
{
    uint64_t bytes = kernel->reflection.local_bytes;
    for (uint32_t i = 0; i < kernel->reflection.sized_count; i++) {
        const struct vyre_spirv_sized *sized = &kernel->reflection.sized[i];
        uint64_t size = sized->unit_bytes;
        for (uint32_t j = 0; j < sized->id_count; j++) {
            uint64_t length = sized->defaults[j];
            (void)find_given(kernel, command, sized->ids[j], &length);
            size = vyre_saturating_mul_u64(size, length);
        }
        bytes = vyre_saturating_add_u64(bytes, size);
    }
    return vyre_vk_kernel_check_local_bytes(device, bytes, kernel->label, diag);
}

/* A local size that results from these values must be one that the device allows. */
static enum vyre_status check_local_size(const struct vyre_vk_device *device,
                                         const struct vyre_vk_kernel *kernel,
                                         const struct vyre_command *command, struct vyre_diag *diag)
{
    const VkPhysicalDeviceLimits *limits = &device->physical->properties.limits;
    uint64_t invocations = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t size = kernel->reflection.interface.local_size[i];
        if (find_given(kernel, command, kernel->reflection.local_size_ids[i], &size) && size == 0)
            return vyre_diag_set(diag, VYRE_DIAG_SPIRV_LOCAL_SIZE, kernel->label, 0,
                                 "specialization makes the local size 0");
        invocations *= size ? size : 1;
        if (size > limits->maxComputeWorkGroupSize[i] ||
            invocations > limits->maxComputeWorkGroupInvocations)
            return vyre_diag_set(diag, VYRE_DIAG_KERNEL_LOCAL_SIZE, NULL, 0,
                                 "specialization makes the local size larger than %u invocations",
                                 limits->maxComputeWorkGroupInvocations);
    }
    return VYRE_OK;
}

static VkResult create(struct vyre_vk_device *device, const struct vyre_vk_kernel *kernel,
                       struct vyre_vk_pipeline *pipeline)
{
    const VkSpecializationInfo specialization = {
        .mapEntryCount = pipeline->value_count,
        .pMapEntries = kernel->specialization,
        .dataSize = sizeof pipeline->values,
        .pData = pipeline->values,
    };
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = kernel->module,
                .pName = kernel->entry,
                .pSpecializationInfo = pipeline->value_count ? &specialization : NULL,
            },
        .layout = kernel->layout->pipeline,
    };
    return device->vk.CreateComputePipelines(device->handle, device->pipeline_cache, 1, &info, NULL,
                                             &pipeline->handle);
}

/* Removes the least recently used pipelines beyond those kept, if they are not in use. */
static void trim(struct vyre_vk_device *device, struct vyre_vk_kernel *kernel)
{
    uint64_t reached = vyre_vk_device_reached(device);
    uint32_t index = 0;
    for (struct vyre_vk_pipeline **link = &kernel->pipelines; *link; index++) {
        struct vyre_vk_pipeline *pipeline = *link;
        if (index < VYRE_VK_VARIANTS_KEPT - 1 || pipeline->holders > 0 ||
            pipeline->last_value > reached) {
            link = &pipeline->next;
            continue;
        }
        *link = pipeline->next;
        kernel->pipeline_count--;
        device->vk.DestroyPipeline(device->handle, pipeline->handle, NULL);
        vyre_memory_free(&device->allocator, pipeline, sizeof *pipeline,
                         _Alignof(struct vyre_vk_pipeline));
    }
}

static enum vyre_status make(struct vyre_vk_device *device, struct vyre_vk_kernel *kernel,
                             const struct vyre_command *command, struct vyre_diag *diag)
{
    enum vyre_status status = check_local_size(device, kernel, command, diag);
    if (status == VYRE_OK)
        status = check_local_bytes(device, kernel, command, diag);
    if (status != VYRE_OK)
        return status;
    if (kernel->pipeline_count >= VYRE_VK_VARIANTS_KEPT)
        trim(device, kernel);
    struct vyre_vk_pipeline *pipeline = vyre_memory_allocate(&device->allocator, sizeof *pipeline,
                                                             _Alignof(struct vyre_vk_pipeline));
    if (!pipeline)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for a pipeline");
    pipeline->value_count = command->specialization_count;
    if (command->specialization_count > 0)
        memcpy(pipeline->values, command->specialization,
               command->specialization_count * sizeof *pipeline->values);
    VkResult result = create(device, kernel, pipeline);
    if (result != VK_SUCCESS) {
        vyre_memory_free(&device->allocator, pipeline, sizeof *pipeline,
                         _Alignof(struct vyre_vk_pipeline));
        return vyre_vk_check(result, "vkCreateComputePipelines", NULL, diag);
    }
    vyre_vk_device_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)(uintptr_t)pipeline->handle,
                        kernel->label);
    pipeline->next = kernel->pipelines;
    kernel->pipelines = pipeline;
    kernel->pipeline_count++;
    return VYRE_OK;
}

static bool is_for(const struct vyre_vk_pipeline *pipeline, const struct vyre_command *command)
{
    if (pipeline->value_count != command->specialization_count)
        return false;
    for (uint32_t i = 0; i < pipeline->value_count; i++) {
        if (pipeline->values[i] != command->specialization[i])
            return false;
    }
    return true;
}

enum vyre_status vyre_vk_kernel_pipeline(struct vyre_vk_device *device,
                                         struct vyre_vk_kernel *kernel,
                                         const struct vyre_command *command,
                                         struct vyre_vk_pipeline **out_pipeline,
                                         struct vyre_diag *diag)
{
    struct vyre_vk_pipeline **link = &kernel->pipelines;
    while (*link && !is_for(*link, command))
        link = &(*link)->next;
    struct vyre_vk_pipeline *found = *link;
    if (!found) {
        enum vyre_status status = make(device, kernel, command, diag);
        *out_pipeline = kernel->pipelines;
        return status;
    }
    if (found != kernel->pipelines) {
        *link = found->next;
        found->next = kernel->pipelines;
        kernel->pipelines = found;
    }
    *out_pipeline = found;
    return VYRE_OK;
}
