/*
 * layouts.c: a short list of layouts.
 */
#include "backend/vulkan/layouts.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"

static bool is_same(const struct vyre_vk_layout *layout, const struct vyre_vk_slot *slots,
                    uint32_t count)
{
    if (layout->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (layout->slots[i].slot != slots[i].slot || layout->slots[i].type != slots[i].type)
            return false;
    }
    return true;
}

static VkResult create(struct vyre_vk_device *device, struct vyre_vk_layout *layout)
{
    VkDescriptorSetLayoutBinding bindings[VYRE_KERNEL_BINDINGS_MAX];
    for (uint32_t i = 0; i < layout->count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = layout->slots[i].slot,
            .descriptorType = layout->slots[i].type,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = layout->count,
        .pBindings = bindings,
    };
    VkResult result =
        device->vk.CreateDescriptorSetLayout(device->handle, &set, NULL, &layout->set);
    if (result != VK_SUCCESS)
        return result;
    const VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                           .size = VYRE_CONSTANTS_BYTES_MAX};
    const VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &layout->set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };
    return device->vk.CreatePipelineLayout(device->handle, &pipeline, NULL, &layout->pipeline);
}

static void destroy(struct vyre_vk_device *device, struct vyre_vk_layout *layout)
{
    if (layout->pipeline)
        device->vk.DestroyPipelineLayout(device->handle, layout->pipeline, NULL);
    if (layout->set)
        device->vk.DestroyDescriptorSetLayout(device->handle, layout->set, NULL);
    vyre_memory_free(&device->allocator, layout, sizeof *layout, _Alignof(struct vyre_vk_layout));
}

enum vyre_status vyre_vk_layout_get(struct vyre_vk_device *device, const struct vyre_vk_slot *slots,
                                    uint32_t count, const char *label,
                                    struct vyre_vk_layout **out_layout, struct vyre_diag *diag)
{
    *out_layout = NULL;
    for (struct vyre_vk_layout *layout = device->layouts; layout; layout = layout->next) {
        if (is_same(layout, slots, count)) {
            layout->users++;
            *out_layout = layout;
            return VYRE_OK;
        }
    }
    struct vyre_vk_layout *layout =
        vyre_memory_allocate(&device->allocator, sizeof *layout, _Alignof(struct vyre_vk_layout));
    if (!layout)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0, "no memory for a layout");
    layout->count = count;
    layout->users = 1;
    layout->id = ++device->next_layout;
    if (count > 0)
        memcpy(layout->slots, slots, count * sizeof *slots);
    VkResult result = create(device, layout);
    if (result != VK_SUCCESS) {
        destroy(device, layout);
        return vyre_vk_check(result, "vkCreatePipelineLayout", label, diag);
    }
    layout->next = device->layouts;
    device->layouts = layout;
    *out_layout = layout;
    return VYRE_OK;
}

void vyre_vk_layout_put(struct vyre_vk_device *device, struct vyre_vk_layout *layout)
{
    if (!layout || --layout->users > 0)
        return;
    struct vyre_vk_layout **link = &device->layouts;
    while (*link != layout)
        link = &(*link)->next;
    *link = layout->next;
    destroy(device, layout);
}
