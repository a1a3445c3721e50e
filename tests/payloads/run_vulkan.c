/*
 * run_vulkan.c: a trial through plain Vulkan 1.2.
 *
 * All bindings are storage buffers of set 0 under their slots; local memory has none. The table is an
 * array of 64-bit device addresses. Constants are push constants from offset 0; specialization values
 * are 32-bit constants with the index as id.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "payloads/payloads.h"

enum { MODULE_BYTES_MAX = 1 << 16 };

struct program {
    struct program_key key;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkShaderModule module;
    VkPipeline pipeline;
};

struct runner {
    const char *directory;
    size_t memory_bytes;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    unsigned char *mapped;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet set;
    struct program programs[RUNNER_PROGRAMS];
    size_t program_count;
};

static bool worked(VkResult result, const char *what)
{
    if (result != VK_SUCCESS)
        fprintf(stderr, "%s: Vulkan error %d\n", what, (int)result);
    return result == VK_SUCCESS;
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static bool create_instance(struct runner *self)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    uint32_t count = 1;
    if (!worked(vkCreateInstance(&info, NULL, &self->instance), "vkCreateInstance"))
        return false;
    VkResult result = vkEnumeratePhysicalDevices(self->instance, &count, &self->physical);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0) {
        fprintf(stderr, "no Vulkan device\n");
        return false;
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(self->physical, &properties);
    printf("vulkan: %s\n", properties.deviceName);
    return true;
}

static bool create_device(struct runner *self)
{
    float priority = 1.0f;
    uint32_t family = 0, count = 16;
    VkQueueFamilyProperties families[16];
    vkGetPhysicalDeviceQueueFamilyProperties(self->physical, &count, families);
    while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        family++;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .bufferDeviceAddress = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    if (!worked(vkCreateDevice(self->physical, &info, NULL, &self->device), "vkCreateDevice"))
        return false;
    vkGetDeviceQueue(self->device, family, 0, &self->queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = family};
    if (!worked(vkCreateCommandPool(self->device, &pool, NULL, &self->command_pool),
                "vkCreateCommandPool"))
        return false;
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = self->command_pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    return worked(vkAllocateCommandBuffers(self->device, &commands, &self->commands),
                  "vkAllocateCommandBuffers");
}

static uint32_t host_memory_type(const struct runner *self, uint32_t allowed)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(self->physical, &properties);
    uint32_t type = 0;
    while (
        type < properties.memoryTypeCount &&
        (!(allowed >> type & 1) || (properties.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    return type;
}

static bool create_memory(struct runner *self)
{
    VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = self->memory_bytes,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                          VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (!worked(vkCreateBuffer(self->device, &buffer, NULL, &self->buffer), "vkCreateBuffer"))
        return false;
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(self->device, self->buffer, &needs);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = host_memory_type(self, needs.memoryTypeBits)};
    void *mapped = NULL;
    if (!worked(vkAllocateMemory(self->device, &memory, NULL, &self->memory), "vkAllocateMemory") ||
        !worked(vkBindBufferMemory(self->device, self->buffer, self->memory, 0),
                "vkBindBufferMemory") ||
        !worked(vkMapMemory(self->device, self->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                "vkMapMemory"))
        return false;
    self->mapped = mapped;
    self->address = vkGetBufferDeviceAddress(
        self->device,
        &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                     .buffer = self->buffer});
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, SUBJECT_BINDINGS_MAX};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    return worked(vkCreateDescriptorPool(self->device, &pool, NULL, &self->descriptor_pool),
                  "vkCreateDescriptorPool");
}

/* ---- Closing ---------------------------------------------------------------------------------- */

static void forget_program(struct runner *self, struct program *program)
{
    vkDestroyPipeline(self->device, program->pipeline, NULL);
    vkDestroyShaderModule(self->device, program->module, NULL);
    vkDestroyPipelineLayout(self->device, program->layout, NULL);
    vkDestroyDescriptorSetLayout(self->device, program->set_layout, NULL);
}

static void forget_programs(struct runner *self)
{
    for (size_t i = 0; i < self->program_count; i++)
        forget_program(self, &self->programs[i]);
    self->program_count = 0;
}

static void close_runner(void *runner)
{
    struct runner *self = runner;
    if (self->device) {
        forget_programs(self);
        vkDestroyDescriptorPool(self->device, self->descriptor_pool, NULL);
        vkDestroyBuffer(self->device, self->buffer, NULL);
        vkFreeMemory(self->device, self->memory, NULL);
        vkDestroyCommandPool(self->device, self->command_pool, NULL);
        vkDestroyDevice(self->device, NULL);
    }
    if (self->instance)
        vkDestroyInstance(self->instance, NULL);
    free(self);
}

static void *open_runner(size_t memory_bytes, const char *argument)
{
    struct runner *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->directory = argument ? argument : ".";
    self->memory_bytes = memory_bytes;
    if (create_instance(self) && create_device(self) && create_memory(self))
        return self;
    close_runner(self);
    return NULL;
}

static unsigned char *memory_of(void *runner)
{
    return ((struct runner *)runner)->mapped;
}

/* ---- Pipelines -------------------------------------------------------------------------------- */

static bool create_module(struct runner *self, const struct subject *subject,
                          VkShaderModule *out_module)
{
    static uint32_t words[MODULE_BYTES_MAX / 4];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s-%s.spv", self->directory, subject->suite, subject->name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s is not there; compile.sh writes it\n", path);
        return false;
    }
    size_t size_bytes = fread(words, 1, sizeof words, file);
    bool whole = feof(file) != 0 || size_bytes < sizeof words;
    fclose(file);
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = size_bytes,
                                     .pCode = words};
    return whole && size_bytes != 0 &&
           worked(vkCreateShaderModule(self->device, &info, NULL, out_module),
                  "vkCreateShaderModule");
}

static bool create_layouts(struct runner *self, const struct subject *subject, struct program *out)
{
    VkDescriptorSetLayoutBinding bindings[SUBJECT_BINDINGS_MAX];
    VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     subject_constants_size(subject)};
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .pBindings = bindings};
    for (uint32_t i = 0; i < subject->binding_count; i++)
        if (!subject->bindings[i].local)
            bindings[set.bindingCount++] =
                (VkDescriptorSetLayoutBinding){.binding = subject->bindings[i].slot,
                                               .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                               .descriptorCount = 1,
                                               .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    if (!worked(vkCreateDescriptorSetLayout(self->device, &set, NULL, &out->set_layout),
                "vkCreateDescriptorSetLayout"))
        return false;
    VkPipelineLayoutCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &out->set_layout,
                                           .pushConstantRangeCount = constants.size != 0,
                                           .pPushConstantRanges = &constants};
    return worked(vkCreatePipelineLayout(self->device, &pipeline, NULL, &out->layout),
                  "vkCreatePipelineLayout");
}

static bool create_pipeline(struct runner *self, const struct program_key *key, struct program *out)
{
    const struct subject *subject = key->subject;
    VkSpecializationMapEntry entries[SUBJECT_SPECIALIZATION_MAX];
    for (uint32_t i = 0; i < subject->specialization_count; i++)
        entries[i] = (VkSpecializationMapEntry){i, i * 8, 4}; /* the low word */
    VkSpecializationInfo specialization = {.mapEntryCount = subject->specialization_count,
                                           .pMapEntries = entries,
                                           .dataSize = sizeof key->specialization,
                                           .pData = key->specialization};
    if (!create_module(self, subject, &out->module) || !create_layouts(self, subject, out))
        return false;
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = out->module,
                  .pName = "main",
                  .pSpecializationInfo = key->specialized ? &specialization : NULL},
        .layout = out->layout};
    return worked(
        vkCreateComputePipelines(self->device, VK_NULL_HANDLE, 1, &info, NULL, &out->pipeline),
        "vkCreateComputePipelines");
}

static const struct program *find_program(struct runner *self, const struct subject *subject,
                                          const struct trial *trial)
{
    struct program_key key = program_key_of(subject, trial);
    for (size_t i = 0; i < self->program_count; i++)
        if (program_key_equal(&self->programs[i].key, &key))
            return &self->programs[i];
    if (self->program_count == RUNNER_PROGRAMS)
        forget_programs(self);
    struct program *program = &self->programs[self->program_count];
    *program = (struct program){.key = key};
    if (!create_pipeline(self, &key, program)) {
        forget_program(self, program);
        return NULL;
    }
    self->program_count++;
    return program;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static bool write_set(struct runner *self, const struct program *program,
                      const struct subject *subject, const struct trial *trial)
{
    VkDescriptorBufferInfo buffers[SUBJECT_BINDINGS_MAX];
    VkWriteDescriptorSet writes[SUBJECT_BINDINGS_MAX];
    uint32_t count = 0;
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = self->descriptor_pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &program->set_layout};
    if (!worked(vkResetDescriptorPool(self->device, self->descriptor_pool, 0),
                "vkResetDescriptorPool") ||
        !worked(vkAllocateDescriptorSets(self->device, &info, &self->set),
                "vkAllocateDescriptorSets"))
        return false;
    for (uint32_t i = 0; i < subject->binding_count; i++) {
        if (subject->bindings[i].local)
            continue;
        buffers[count] = (VkDescriptorBufferInfo){self->buffer, trial->areas[i].offset_bytes,
                                                  trial->areas[i].size_bytes};
        writes[count] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                               .dstSet = self->set,
                                               .dstBinding = subject->bindings[i].slot,
                                               .descriptorCount = 1,
                                               .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                               .pBufferInfo = &buffers[count]};
        count++;
    }
    vkUpdateDescriptorSets(self->device, count, writes, 0, NULL);
    return true;
}

static void record(struct runner *self, const struct program *program,
                   const struct subject *subject, const struct trial *trial)
{
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdBindPipeline(self->commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->pipeline);
    vkCmdBindDescriptorSets(self->commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->layout, 0, 1,
                            &self->set, 0, NULL);
    if (subject->constant_count != 0)
        vkCmdPushConstants(self->commands, program->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           subject_constants_size(subject), trial->constants);
    vkCmdDispatch(self->commands, trial->groups[0], trial->groups[1], trial->groups[2]);
    vkCmdPipelineBarrier(self->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
}

static bool run(void *runner, const struct subject *subject, const struct trial *trial)
{
    struct runner *self = runner;
    const struct program *program = find_program(self, subject, trial);
    if (!program || !write_set(self, program, subject, trial))
        return false;
    trial_write_table(subject, trial, self->address, self->mapped);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &self->commands};
    if (!worked(vkBeginCommandBuffer(self->commands, &begin), "vkBeginCommandBuffer"))
        return false;
    record(self, program, subject, trial);
    return worked(vkEndCommandBuffer(self->commands), "vkEndCommandBuffer") &&
           worked(vkQueueSubmit(self->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit") &&
           worked(vkQueueWaitIdle(self->queue), "vkQueueWaitIdle");
}

const struct runner_ops vulkan_runner = {"vulkan", open_runner, memory_of, run, close_runner};
