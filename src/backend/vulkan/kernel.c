/*
 * kernel.c: turns a payload into a shader module with a known interface.
 */
#include "backend/vulkan/kernel.h"

#include <stdio.h>
#include <string.h>

#include "backend/vulkan/capabilities.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"
#include "spirv/words.h"

/* ---- The payload ------------------------------------------------------------------------------ */

static const struct vyre_payload *find_payload(const struct vyre_kernel_desc *desc,
                                               enum vyre_target target)
{
    for (size_t i = 0; i < desc->payload_count; i++) {
        if (desc->payloads[i].target == target)
            return &desc->payloads[i];
    }
    return NULL;
}

/*
 * The module's table, or NULL with the reason. Looked for only when needed, and once: the module is
 * large, and a device whose kernels are all SPIR-V with declared bindings works without it.
 */
static const struct vyre_spirv_tools_table *tools_of(struct vyre_vk_device *device,
                                                     struct vyre_diag *reason)
{
    if (!device->tools_tried) {
        device->tools_tried = true;
        vyre_diag_reset(&device->tools_reason);
        const char *path = device->tools_path[0] ? device->tools_path : NULL;
        if (vyre_spirv_tools_load(path, &device->tools, &device->tools_reason) != VYRE_OK)
            device->tools.table = NULL;
    }
    if (!device->tools.table && reason)
        *reason = device->tools_reason;
    return device->tools.table;
}

static enum vyre_status compile(struct vyre_vk_device *device, const struct vyre_payload *payload,
                                const char *label, struct vyre_spirv_words *out_words,
                                struct vyre_diag *diag)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    const struct vyre_spirv_tools_table *tools = tools_of(device, &reason);
    if (!tools)
        return vyre_diag_set(diag, VYRE_DIAG_VULKAN_GLSL, label, 0,
                             "the kernel has GLSL and no SPIR-V: %s", reason.message);
    const struct vyre_glsl_source source = {
        .label = label, .text = payload->bytes, .size_bytes = payload->size_bytes};
    return tools->compile_glsl(&device->allocator, &source, out_words, diag);
}

/* The payload's words, and the name of its entry point. */
static enum vyre_status read_payload(struct vyre_vk_device *device,
                                     const struct vyre_kernel_desc *desc,
                                     struct vyre_spirv_words *out_words, const char **out_entry,
                                     struct vyre_diag *diag)
{
    const struct vyre_payload *payload = find_payload(desc, VYRE_TARGET_SPIRV);
    bool glsl = !payload;
    if (glsl)
        payload = find_payload(desc, VYRE_TARGET_GLSL);
    if (!payload)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_NO_PAYLOAD, desc->label, 0,
                             "none of %zu payloads is SPIR-V or GLSL", desc->payload_count);
    if (!payload->bytes || payload->size_bytes == 0)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, desc->label, 0,
                             "a %s payload needs its bytes", vyre_target_name(payload->target));
    *out_entry = payload->entry && !glsl ? payload->entry : "main";
    if (strlen(*out_entry) >= VYRE_VK_ENTRY_BYTES)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, desc->label, 0,
                             "the entry point's name has more than %d bytes",
                             VYRE_VK_ENTRY_BYTES - 1);
    return glsl ? compile(device, payload, desc->label, out_words, diag)
                : vyre_spirv_words_copy(&device->allocator, payload->bytes, payload->size_bytes,
                                        desc->label, out_words, diag);
}

static enum vyre_status reflect(struct vyre_vk_device *device, const struct vyre_spirv_words *words,
                                const char *entry, const char *label,
                                struct vyre_spirv_reflection *out_reflection,
                                struct vyre_diag *diag)
{
    const struct vyre_spirv_tools_table *tools = tools_of(device, NULL);
    enum vyre_status status =
        tools ? tools->reflect(&device->allocator, words->words, words->count, entry, label,
                               out_reflection, diag)
              : vyre_spirv_words_reflect(&device->allocator, words->words, words->count, entry,
                                         label, out_reflection, diag);
    if (status == VYRE_OK)
        status = vyre_vk_capabilities_check(&device->features, out_reflection, label, diag);
    return status;
}

/* ---- Entries of the table --------------------------------------------------------------------- */

static enum vyre_status build(struct vyre_vk_device *device, const struct vyre_kernel_desc *desc,
                              struct vyre_vk_kernel *kernel, struct vyre_diag *diag)
{
    struct vyre_spirv_words words = {0};
    const char *entry = NULL;
    enum vyre_status status = read_payload(device, desc, &words, &entry, diag);
    if (status == VYRE_OK)
        status = reflect(device, &words, entry, desc->label, &kernel->reflection, diag);
    if (status == VYRE_OK) {
        size_t count = vyre_vk_capabilities_strip(words.words, words.count);
        const VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = count * sizeof *words.words,
            .pCode = words.words,
        };
        snprintf(kernel->entry, sizeof kernel->entry, "%s", entry);
        VkResult result =
            device->vk.CreateShaderModule(device->handle, &info, NULL, &kernel->module);
        if (result != VK_SUCCESS)
            kernel->module = VK_NULL_HANDLE;
        status = vyre_vk_check(result, "vkCreateShaderModule", desc->label, diag);
    }
    vyre_spirv_words_free(&device->allocator, &words);
    return status;
}

static uint32_t specialization_id(const struct vyre_kernel_desc *desc, size_t index)
{
    return desc->specialization_ids ? desc->specialization_ids[index] : (uint32_t)index;
}

/*
 * The local size before a dispatch gives values: declared defaults take precedence over the
 * module's.
 */
static void apply_declared(const struct vyre_kernel_desc *desc, const uint32_t local_size_ids[3],
                           uint32_t local_size[3])
{
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < desc->specialization_count; j++) {
            uint32_t declared = (uint32_t)desc->specialization_defaults[j];
            if (specialization_id(desc, j) == local_size_ids[i] && declared != 0)
                local_size[i] = declared;
        }
    }
}

enum vyre_status vyre_vk_kernel_reflect(void *native, const struct vyre_kernel_desc *desc,
                                        void **out_kernel,
                                        struct vyre_kernel_interface *out_interface,
                                        struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_kernel *kernel =
        vyre_memory_allocate(&device->allocator, sizeof *kernel, _Alignof(struct vyre_vk_kernel));
    if (!kernel)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a kernel");
    enum vyre_status status = build(device, desc, kernel, diag);
    if (status != VYRE_OK) {
        vyre_vk_kernel_destroy(device, kernel);
        return status;
    }
    *out_interface = kernel->reflection.interface;
    apply_declared(desc, kernel->reflection.local_size_ids, out_interface->local_size);
    *out_kernel = kernel;
    return VYRE_OK;
}

static VkDescriptorType type_of(const struct vyre_kernel_interface *interface, uint32_t slot)
{
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        if (interface->bindings[i].slot == slot)
            return interface->bindings[i].role == VYRE_ROLE_UNIFORM
                       ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                       : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    }
    return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

/* The size of a specialization constant; any size for constants that the module does not have. */
static size_t size_of(const struct vyre_spirv_reflection *reflection, uint32_t id)
{
    for (uint32_t i = 0; i < reflection->interface.specialization_count; i++) {
        if (reflection->interface.specialization_ids[i] == id)
            return reflection->specialization_sizes[i];
    }
    return sizeof(uint32_t);
}

static bool has_id(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* An id takes one value, which must fit all constants with that id. */
static enum vyre_status check_specialization(const struct vyre_kernel_desc *desc,
                                             const struct vyre_spirv_reflection *reflection,
                                             struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < desc->specialization_count; i++) {
        uint32_t id = specialization_id(desc, i);
        if (desc->specialization_ids && has_id(desc->specialization_ids, i, id)) {
            status = vyre_diag_set(diag, VYRE_DIAG_SPIRV_SPECIALIZATION, desc->label, 0,
                                   "two values are declared for the constant_id %u", id);
            vyre_diag_set_fix(diag,
                              "Declare each constant_id once: a value sets all its constants.");
        } else if (has_id(reflection->fixed_ids, reflection->fixed_count, id)) {
            status = vyre_diag_set(diag, VYRE_DIAG_SPIRV_SPECIALIZATION, desc->label, 0,
                                   "the constants with the constant_id %u have different sizes: no "
                                   "value fits all of them",
                                   id);
            vyre_diag_set_fix(diag, "Do not declare it, or give its constants types of one size.");
        }
    }
    return status;
}

static void lay_out_specialization(const struct vyre_kernel_desc *desc,
                                   struct vyre_vk_kernel *kernel)
{
    for (uint32_t i = 0; i < desc->specialization_count; i++) {
        uint32_t id = specialization_id(desc, i);
        kernel->specialization[i] = (VkSpecializationMapEntry){
            .constantID = id,
            .offset = i * (uint32_t)sizeof(uint64_t),
            .size = size_of(&kernel->reflection, id),
        };
    }
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The runtime compares with one number; the device has limits by type. */
static enum vyre_status check_slots(const struct vyre_vk_device *device,
                                    const struct vyre_vk_slot *slots, uint32_t count,
                                    const char *label, struct vyre_diag *diag)
{
    const VkPhysicalDeviceLimits *limits = &device->physical->properties.limits;
    const uint32_t storage_limit =
        lesser(limits->maxPerStageDescriptorStorageBuffers, limits->maxDescriptorSetStorageBuffers);
    const uint32_t uniform_limit =
        lesser(limits->maxPerStageDescriptorUniformBuffers, limits->maxDescriptorSetUniformBuffers);
    uint32_t uniform = 0;
    for (uint32_t i = 0; i < count; i++)
        uniform += slots[i].type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    if (uniform <= uniform_limit && count - uniform <= storage_limit &&
        count <= limits->maxPerStageResources)
        return VYRE_OK;
    enum vyre_status status = vyre_diag_set(
        diag, VYRE_DIAG_KERNEL_BINDINGS, label, 0,
        "%u uniform and %u storage buffers; the device takes %u, %u and %u in all", uniform,
        count - uniform, uniform_limit, storage_limit, limits->maxPerStageResources);
    if (uniform > uniform_limit)
        vyre_diag_set_fix(diag, "Put several uniform blocks into one, or use storage buffers.");
    return status;
}

enum vyre_status vyre_vk_kernel_check_local_bytes(const struct vyre_vk_device *device,
                                                  uint64_t bytes, const char *label,
                                                  struct vyre_diag *diag)
{
    uint32_t limit = device->physical->properties.limits.maxComputeSharedMemorySize;
    if (bytes <= limit)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_KERNEL_LOCAL_BYTES, label, 0,
                         "%llu bytes of the work-group's memory, which has %u",
                         (unsigned long long)bytes, limit);
}

/*
 * If the local size or memory of a kernel depends on specialization values, these are checked when
 * the pipeline is made. The runtime has seen only the defaults.
 */
enum vyre_status vyre_vk_kernel_create(void *native, const struct vyre_kernel_desc *desc,
                                       const struct vyre_binding_plan *plan, void **inout_kernel,
                                       struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_kernel *kernel = *inout_kernel;
    struct vyre_vk_slot slots[VYRE_KERNEL_BINDINGS_MAX];
    uint32_t count = 0;
    for (size_t i = 0; i < plan->binding_count; i++) {
        const struct vyre_binding *binding = &plan->bindings[i];
        if (binding->role == VYRE_ROLE_SHARED)
            continue; /* the shader declares its own */
        slots[count++] = (struct vyre_vk_slot){
            binding->slot, type_of(&kernel->reflection.interface, binding->slot)};
    }
    enum vyre_status status = check_slots(device, slots, count, desc->label, diag);
    if (status == VYRE_OK)
        status = check_specialization(desc, &kernel->reflection, diag);
    if (status == VYRE_OK)
        status = vyre_vk_kernel_check_local_bytes(device, kernel->reflection.local_bytes,
                                                  desc->label, diag);
    if (status != VYRE_OK)
        return status;
    lay_out_specialization(desc, kernel);
    snprintf(kernel->label, sizeof kernel->label, "%s", desc->label ? desc->label : "");
    return vyre_vk_layout_get(device, slots, count, desc->label, &kernel->layout, diag);
}

void vyre_vk_kernel_destroy(void *native, void *native_kernel)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_kernel *kernel = native_kernel;
    while (kernel->pipelines) {
        struct vyre_vk_pipeline *pipeline = kernel->pipelines;
        kernel->pipelines = pipeline->next;
        device->vk.DestroyPipeline(device->handle, pipeline->handle, NULL);
        vyre_memory_free(&device->allocator, pipeline, sizeof *pipeline,
                         _Alignof(struct vyre_vk_pipeline));
    }
    if (kernel->module)
        device->vk.DestroyShaderModule(device->handle, kernel->module, NULL);
    vyre_vk_layout_put(device, kernel->layout);
    vyre_memory_free(&device->allocator, kernel, sizeof *kernel, _Alignof(struct vyre_vk_kernel));
}
