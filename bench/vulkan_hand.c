/*
 * vulkan_hand.c: see vulkan_hand.h.
 */
#define VK_NO_PROTOTYPES
#include "vulkan_hand.h"

#include <vulkan/vulkan_core.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "lcg_spirv.h"

#define RING         20 /* command buffers that P3 records while others run */
#define PHYSICAL_MAX 8

const uint32_t *const hand_spirv = lcg_spirv;
const size_t hand_spirv_bytes = sizeof lcg_spirv;

#define INSTANCE_FUNCTIONS(X)                   \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceMemoryProperties)      \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkCreateDevice)                           \
    X(vkGetDeviceProcAddr)

#define DEVICE_FUNCTIONS(X)          \
    X(vkDestroyDevice)               \
    X(vkGetDeviceQueue)              \
    X(vkCreateBuffer)                \
    X(vkDestroyBuffer)               \
    X(vkGetBufferMemoryRequirements) \
    X(vkAllocateMemory)              \
    X(vkFreeMemory)                  \
    X(vkBindBufferMemory)            \
    X(vkMapMemory)                   \
    X(vkCreateDescriptorSetLayout)   \
    X(vkDestroyDescriptorSetLayout)  \
    X(vkCreateDescriptorPool)        \
    X(vkDestroyDescriptorPool)       \
    X(vkAllocateDescriptorSets)      \
    X(vkUpdateDescriptorSets)        \
    X(vkCreatePipelineLayout)        \
    X(vkDestroyPipelineLayout)       \
    X(vkCreateShaderModule)          \
    X(vkDestroyShaderModule)         \
    X(vkCreateComputePipelines)      \
    X(vkDestroyPipeline)             \
    X(vkCreateCommandPool)           \
    X(vkDestroyCommandPool)          \
    X(vkAllocateCommandBuffers)      \
    X(vkBeginCommandBuffer)          \
    X(vkEndCommandBuffer)            \
    X(vkCmdBindPipeline)             \
    X(vkCmdBindDescriptorSets)       \
    X(vkCmdPushConstants)            \
    X(vkCmdDispatch)                 \
    X(vkCmdPipelineBarrier)          \
    X(vkCreateFence)                 \
    X(vkDestroyFence)                \
    X(vkResetFences)                 \
    X(vkWaitForFences)               \
    X(vkGetFenceStatus)              \
    X(vkQueueSubmit)                 \
    X(vkDeviceWaitIdle)

struct hand_device {
    void *handle;
    PFN_vkGetInstanceProcAddr get_proc;
#define MEMBER(name) PFN_##name name;
    INSTANCE_FUNCTIONS(MEMBER)
    DEVICE_FUNCTIONS(MEMBER)
#undef MEMBER
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    uint32_t family;
    VkDevice device;
    VkQueue queue;
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *mapped;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool set_pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkCommandPool pool;
    VkFence fence;
    VkCommandBuffer ring[RING];               /* recorded each time */
    VkCommandBuffer recorded[LAUNCHES_CELLS]; /* recorded once */
    bool is_recorded[LAUNCHES_CELLS];
    VkCommandBuffer spare; /* for what is no cell */
};

static bool works(VkResult result, const char *what)
{
    if (result != VK_SUCCESS)
        fprintf(stderr, "bench_vulkan: by hand: %s: %d\n", what, result);
    return result == VK_SUCCESS;
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static bool open_instance(struct hand_device *vk)
{
    vk->handle = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!vk->handle) {
        fprintf(stderr, "bench_vulkan: no Vulkan loader: %s\n", dlerror());
        return false;
    }
    /* POSIX promises that a function's address fits; memcpy, because ISO C does not convert it. */
    void *symbol = dlsym(vk->handle, "vkGetInstanceProcAddr");
    memcpy(&vk->get_proc, &symbol, sizeof symbol);
    if (!symbol)
        return false;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)vk->get_proc(NULL, "vkCreateInstance");
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    if (!create || !works(create(&info, NULL, &vk->instance), "vkCreateInstance"))
        return false;
#define LOAD(name)                                            \
    vk->name = (PFN_##name)vk->get_proc(vk->instance, #name); \
    if (!vk->name)                                            \
        return false;
    INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

static bool choose_physical(struct hand_device *vk, const char *name)
{
    VkPhysicalDevice physical[PHYSICAL_MAX];
    uint32_t count = PHYSICAL_MAX;
    VkResult result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, physical);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return works(result, "vkEnumeratePhysicalDevices");
    const char *wanted = name ? name : "llvmpipe";
    for (uint32_t i = 0; i < count && !vk->physical; i++) {
        vk->vkGetPhysicalDeviceProperties(physical[i], &vk->properties);
        if (strstr(vk->properties.deviceName, wanted))
            vk->physical = physical[i];
    }
    if (!vk->physical && !name && count > 0)
        vk->physical = physical[0];
    if (!vk->physical) {
        fprintf(stderr, "bench_vulkan: no Vulkan device%s%s\n", name ? " named " : "",
                name ? name : "");
        return false;
    }
    vk->vkGetPhysicalDeviceProperties(vk->physical, &vk->properties);
    return true;
}

static bool choose_family(struct hand_device *vk)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(vk->physical, &count, families);
    for (vk->family = 0; vk->family < count; vk->family++) {
        if (families[vk->family].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return true;
    }
    fprintf(stderr, "bench_vulkan: the device has no compute queue\n");
    return false;
}

static bool open_device(struct hand_device *vk)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = vk->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    if (!works(vk->vkCreateDevice(vk->physical, &info, NULL, &vk->device), "vkCreateDevice"))
        return false;
#define LOAD(name)                                                     \
    vk->name = (PFN_##name)vk->vkGetDeviceProcAddr(vk->device, #name); \
    if (!vk->name)                                                     \
        return false;
    DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    vk->vkGetDeviceQueue(vk->device, vk->family, 0, &vk->queue);
    return true;
}

/* Device-local and mapped where there is such memory, else just mapped. */
static uint32_t choose_memory(struct hand_device *vk, uint32_t allowed)
{
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wanted[] = {mapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, mapped};
    VkPhysicalDeviceMemoryProperties memory;
    vk->vkGetPhysicalDeviceMemoryProperties(vk->physical, &memory);
    for (size_t w = 0; w < 2; w++) {
        for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
            if ((allowed >> i & 1) &&
                (memory.memoryTypes[i].propertyFlags & wanted[w]) == wanted[w])
                return i;
        }
    }
    return 0;
}

static bool open_buffer(struct hand_device *vk)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = LAUNCHES_BUFFER_BYTES,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    if (!works(vk->vkCreateBuffer(vk->device, &info, NULL, &vk->buffer), "vkCreateBuffer"))
        return false;
    VkMemoryRequirements need;
    vk->vkGetBufferMemoryRequirements(vk->device, vk->buffer, &need);
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = need.size,
                                           .memoryTypeIndex =
                                               choose_memory(vk, need.memoryTypeBits)};
    return works(vk->vkAllocateMemory(vk->device, &allocate, NULL, &vk->memory),
                 "vkAllocateMemory") &&
           works(vk->vkBindBufferMemory(vk->device, vk->buffer, vk->memory, 0),
                 "vkBindBufferMemory") &&
           works(vk->vkMapMemory(vk->device, vk->memory, 0, VK_WHOLE_SIZE, 0, &vk->mapped),
                 "vkMapMemory");
}

static bool open_set(struct hand_device *vk)
{
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    if (!works(vk->vkCreateDescriptorSetLayout(vk->device, &layout, NULL, &vk->set_layout),
               "vkCreateDescriptorSetLayout") ||
        !works(vk->vkCreateDescriptorPool(vk->device, &pool, NULL, &vk->set_pool),
               "vkCreateDescriptorPool"))
        return false;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = vk->set_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &vk->set_layout};
    if (!works(vk->vkAllocateDescriptorSets(vk->device, &allocate, &vk->set),
               "vkAllocateDescriptorSets"))
        return false;
    const VkDescriptorBufferInfo range = {vk->buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = vk->set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = &range};
    vk->vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
    return true;
}

static bool open_pipeline(struct hand_device *vk)
{
    const VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &vk->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &constants};
    const VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = hand_spirv_bytes,
                                             .pCode = hand_spirv};
    VkShaderModule module = VK_NULL_HANDLE;
    if (!works(vk->vkCreatePipelineLayout(vk->device, &layout, NULL, &vk->layout),
               "vkCreatePipelineLayout") ||
        !works(vk->vkCreateShaderModule(vk->device, &shader, NULL, &module),
               "vkCreateShaderModule"))
        return false;
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = vk->layout};
    VkResult result =
        vk->vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &vk->pipeline);
    vk->vkDestroyShaderModule(vk->device, module, NULL);
    return works(result, "vkCreateComputePipelines");
}

static bool open_commands(struct hand_device *vk)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = vk->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!works(vk->vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool),
               "vkCreateCommandPool") ||
        !works(vk->vkCreateFence(vk->device, &fence, NULL, &vk->fence), "vkCreateFence"))
        return false;
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = vk->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = RING};
    VkResult result = vk->vkAllocateCommandBuffers(vk->device, &allocate, vk->ring);
    allocate.commandBufferCount = LAUNCHES_CELLS;
    if (result == VK_SUCCESS)
        result = vk->vkAllocateCommandBuffers(vk->device, &allocate, vk->recorded);
    allocate.commandBufferCount = 1;
    if (result == VK_SUCCESS)
        result = vk->vkAllocateCommandBuffers(vk->device, &allocate, &vk->spare);
    return works(result, "vkAllocateCommandBuffers");
}

struct hand_device *hand_device_open(const char *name)
{
    struct hand_device *vk = calloc(1, sizeof *vk);
    if (!vk)
        return NULL;
    if (open_instance(vk) && choose_physical(vk, name) && choose_family(vk) && open_device(vk) &&
        open_buffer(vk) && open_set(vk) && open_pipeline(vk) && open_commands(vk))
        return vk;
    hand_device_close(vk);
    return NULL;
}

const char *hand_device_name(const struct hand_device *device)
{
    return device->properties.deviceName;
}

void hand_device_close(struct hand_device *vk)
{
    if (vk->device && vk->vkDeviceWaitIdle) {
        vk->vkDeviceWaitIdle(vk->device);
        vk->vkDestroyFence(vk->device, vk->fence, NULL);
        vk->vkDestroyCommandPool(vk->device, vk->pool, NULL);
        vk->vkDestroyPipeline(vk->device, vk->pipeline, NULL);
        vk->vkDestroyPipelineLayout(vk->device, vk->layout, NULL);
        vk->vkDestroyDescriptorPool(vk->device, vk->set_pool, NULL);
        vk->vkDestroyDescriptorSetLayout(vk->device, vk->set_layout, NULL);
        vk->vkDestroyBuffer(vk->device, vk->buffer, NULL);
        vk->vkFreeMemory(vk->device, vk->memory, NULL);
        vk->vkDestroyDevice(vk->device, NULL);
    }
    if (vk->instance && vk->vkDestroyInstance)
        vk->vkDestroyInstance(vk->instance, NULL);
    if (vk->handle)
        dlclose(vk->handle);
    free(vk);
}

/* ---- Recording and submitting ----------------------------------------------------------------- */

static void barrier(struct hand_device *vk, VkCommandBuffer commands, VkPipelineStageFlags stage,
                    VkAccessFlags access)
{
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = access};
    vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, stage, 0, 1, &memory,
                             0, NULL, 0, NULL);
}

/*
 * `after_others`: what was submitted before may still run, so that a barrier comes first, too.
 */
static bool record(struct hand_device *vk, VkCommandBuffer commands, VkCommandBufferUsageFlags use,
                   uint32_t groups, uint32_t launches, bool after_others)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = use};
    if (!works(vk->vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer"))
        return false;
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, vk->pipeline);
    vk->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, vk->layout, 0, 1,
                                &vk->set, 0, NULL);
    for (uint32_t k = 0; k < launches; k++) {
        uint32_t constant = launches_constant(k);
        if (k > 0 || after_others)
            barrier(vk, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        vk->vkCmdPushConstants(commands, vk->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               sizeof constant, &constant);
        vk->vkCmdDispatch(commands, groups, 1, 1);
    }
    return works(vk->vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static bool submit(struct hand_device *vk, VkCommandBuffer commands, VkFence fence)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    return works(vk->vkQueueSubmit(vk->queue, 1, &info, fence), "vkQueueSubmit");
}

static bool wait_fence(struct hand_device *vk)
{
    return works(vk->vkWaitForFences(vk->device, 1, &vk->fence, VK_TRUE, UINT64_MAX),
                 "vkWaitForFences") &&
           works(vk->vkResetFences(vk->device, 1, &vk->fence), "vkResetFences");
}

static bool poll_fence(struct hand_device *vk)
{
    VkResult result = VK_NOT_READY;
    while (result == VK_NOT_READY)
        result = vk->vkGetFenceStatus(vk->device, vk->fence);
    return works(result, "vkGetFenceStatus") &&
           works(vk->vkResetFences(vk->device, 1, &vk->fence), "vkResetFences");
}

/* ---- The rows --------------------------------------------------------------------------------- */

/* P1 and P2 wait after each run; P3 when all buffers of the ring are in flight, and at the end. */
static bool run_recorded_each(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *vk = state;
    bool streams = cell->pattern == LAUNCHES_P3;
    for (uint32_t r = 0; r < repeats; r++) {
        VkCommandBuffer commands = vk->ring[streams ? r % RING : 0];
        bool wait = !streams || r + 1 == repeats || r % RING == RING - 1;
        if (!record(vk, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, cell->groups,
                    cell->launches, streams) ||
            !submit(vk, commands, wait ? vk->fence : VK_NULL_HANDLE) || (wait && !wait_fence(vk)))
            return false;
    }
    return true;
}

/* Records in the round that is not counted. */
static bool make_recording(struct hand_device *vk, const struct launches_cell *cell)
{
    bool streams = cell->pattern == LAUNCHES_P3;
    if (!vk->is_recorded[cell->index])
        vk->is_recorded[cell->index] =
            record(vk, vk->recorded[cell->index],
                   streams ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0, cell->groups,
                   cell->launches, streams);
    return vk->is_recorded[cell->index];
}

static bool run_replayed(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *vk = state;
    if (!make_recording(vk, cell))
        return false;
    for (uint32_t r = 0; r < repeats; r++) {
        bool wait = cell->pattern != LAUNCHES_P3 || r + 1 == repeats;
        if (!submit(vk, vk->recorded[cell->index], wait ? vk->fence : VK_NULL_HANDLE) ||
            (wait && !wait_fence(vk)))
            return false;
    }
    return true;
}

static bool run_polled(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *vk = state;
    bool ok = make_recording(vk, cell);
    for (uint32_t r = 0; ok && r < repeats; r++)
        ok = submit(vk, vk->recorded[cell->index], vk->fence) && poll_fence(vk);
    return ok;
}

static bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    struct hand_device *vk = state;
    memcpy(vk->mapped, bytes, size_bytes);
    return true;
}

/* The barrier towards the host is here, where the bytes are read, and not in what is timed. */
static bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    struct hand_device *vk = state;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!works(vk->vkBeginCommandBuffer(vk->spare, &begin), "vkBeginCommandBuffer"))
        return false;
    barrier(vk, vk->spare, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    if (!works(vk->vkEndCommandBuffer(vk->spare), "vkEndCommandBuffer") ||
        !submit(vk, vk->spare, vk->fence) || !wait_fence(vk))
        return false;
    memcpy(out_bytes, vk->mapped, size_bytes);
    return true;
}

void hand_add_rows(struct hand_device *device, struct launches *launches)
{
    static const struct {
        const char *name;
        unsigned patterns;
        bool (*run)(void *, const struct launches_cell *, uint32_t);
    } rows[] = {
        {HAND_RECORDED, LAUNCHES_NOT_REBUILT, run_recorded_each},
        {HAND_REPLAYED, 1u << LAUNCHES_P1 | 1u << LAUNCHES_P3, run_replayed},
        {HAND_POLLED, 1u << LAUNCHES_P1, run_polled},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        *launches_add(launches) = (struct launches_row){.name = rows[i].name,
                                                        .role = BENCH_BASE,
                                                        .patterns = rows[i].patterns,
                                                        .state = device,
                                                        .run = rows[i].run,
                                                        .write = write_bytes,
                                                        .read = read_bytes};
}

/* ---- Host time of a submit -------------------------------------------------------------------- */

bool hand_prepare_submit(struct hand_device *device, uint32_t dispatches)
{
    return record(device, device->spare, 0, 1, dispatches, false);
}

bool hand_time_submit(struct hand_device *device, double *out_ns)
{
    uint64_t start = bench_now_ns();
    if (!submit(device, device->spare, device->fence))
        return false;
    *out_ns = (double)(bench_now_ns() - start);
    return wait_fence(device);
}
