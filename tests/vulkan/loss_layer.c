/*
 * loss_layer.c: a Vulkan layer that makes one call of the driver fail, for tests.
 *
 * The test finds vyre_loss_arm in this shared object, which the Vulkan loader has brought into the
 * process, and says which function is to fail, at which of its calls from now on, and how. Once the
 * loss has been reported, the armed function goes on failing, as a lost device would; the driver itself
 * is untouched, so that waiting for it to become idle really waits.
 *
 * With VYRE_TEST_SPLIT_MEMORY in the environment the driver's one type of memory looks like two: the
 * device's own, which the host does not see, and the host's.
 *
 * With VYRE_TEST_DROP_BARRIERS in the environment it forgets every barrier between commands, which shows
 * that a run under the validation layer would see a missing one.
 *
 * One device at a time: the functions below are the latest one's.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

/* Functions that can return a loss and that the backend calls. */
#define FUNCTIONS(X)                                                                              \
    X(QueueSubmit, (VkQueue a, uint32_t b, const VkSubmitInfo *c, VkFence d), (a, b, c, d))       \
    X(WaitSemaphores, (VkDevice a, const VkSemaphoreWaitInfo *b, uint64_t c), (a, b, c))          \
    X(GetSemaphoreCounterValue, (VkDevice a, VkSemaphore b, uint64_t * c), (a, b, c))             \
    X(CreateSemaphore,                                                                            \
      (VkDevice a, const VkSemaphoreCreateInfo *b, const VkAllocationCallbacks *c,                \
       VkSemaphore *d),                                                                           \
      (a, b, c, d))                                                                               \
    X(AllocateMemory,                                                                             \
      (VkDevice a, const VkMemoryAllocateInfo *b, const VkAllocationCallbacks *c,                 \
       VkDeviceMemory *d),                                                                        \
      (a, b, c, d))                                                                               \
    X(CreateBuffer,                                                                               \
      (VkDevice a, const VkBufferCreateInfo *b, const VkAllocationCallbacks *c, VkBuffer *d),     \
      (a, b, c, d))                                                                               \
    X(BindBufferMemory, (VkDevice a, VkBuffer b, VkDeviceMemory c, VkDeviceSize d), (a, b, c, d)) \
    X(BeginCommandBuffer, (VkCommandBuffer a, const VkCommandBufferBeginInfo *b), (a, b))         \
    X(EndCommandBuffer, (VkCommandBuffer a), (a))                                                 \
    X(ResetCommandPool, (VkDevice a, VkCommandPool b, VkCommandPoolResetFlags c), (a, b, c))      \
    X(CreateCommandPool,                                                                          \
      (VkDevice a, const VkCommandPoolCreateInfo *b, const VkAllocationCallbacks *c,              \
       VkCommandPool *d),                                                                         \
      (a, b, c, d))                                                                               \
    X(CreateShaderModule,                                                                         \
      (VkDevice a, const VkShaderModuleCreateInfo *b, const VkAllocationCallbacks *c,             \
       VkShaderModule *d),                                                                        \
      (a, b, c, d))                                                                               \
    X(CreateComputePipelines,                                                                     \
      (VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,           \
       const VkAllocationCallbacks *e, VkPipeline *f),                                            \
      (a, b, c, d, e, f))                                                                         \
    X(AllocateDescriptorSets,                                                                     \
      (VkDevice a, const VkDescriptorSetAllocateInfo *b, VkDescriptorSet *c), (a, b, c))

enum function {
#define NUMBER(name, parameters, arguments) FUNCTION_##name,
    FUNCTIONS(NUMBER)
#undef NUMBER
        FUNCTION_COUNT
};

static const char *const names[FUNCTION_COUNT] = {
#define NAME(name, parameters, arguments) "vk" #name,
    FUNCTIONS(NAME)
#undef NAME
};

static struct {
#define NEXT(name, parameters, arguments) PFN_vk##name name;
    FUNCTIONS(NEXT)
#undef NEXT
    PFN_vkCmdPipelineBarrier barrier;
    PFN_vkGetBufferMemoryRequirements requirements;
    PFN_vkGetPhysicalDeviceMemoryProperties2 memory;
} next;

static _Atomic int armed = -1;
static _Atomic int countdown;
static _Atomic int how;
static _Atomic int struck;

/* `call` counts from 0; a function of NULL disarms. Returns 0, or -1 for an unknown name. */
EXPORTED int vyre_loss_arm(const char *function, int call, int result);
EXPORTED int vyre_loss_arm(const char *function, int call, int result)
{
    atomic_store(&armed, -1);
    atomic_store(&struck, 0);
    if (!function)
        return 0;
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        if (strcmp(names[i], function) == 0) {
            atomic_store(&countdown, call);
            atomic_store(&how, result);
            atomic_store(&armed, i);
            return 0;
        }
    }
    return -1;
}

/* How often the armed function has failed. */
EXPORTED int vyre_loss_struck(void);
EXPORTED int vyre_loss_struck(void)
{
    return atomic_load(&struck);
}

/* The functions that can be armed: the names, ended by NULL. */
EXPORTED const char *vyre_loss_name(int index);
EXPORTED const char *vyre_loss_name(int index)
{
    return index >= 0 && index < FUNCTION_COUNT ? names[index] : NULL;
}

static int strikes(int function)
{
    if (atomic_load(&armed) != function)
        return 0;
    if (atomic_load(&struck) == 0 && atomic_fetch_sub(&countdown, 1) > 0)
        return 0;
    /* Out of memory passes; a loss stays. */
    if (atomic_fetch_add(&struck, 1) > 0 && atomic_load(&how) != VK_ERROR_DEVICE_LOST)
        return 0;
    return 1;
}

#define WRAPPER(name, parameters, arguments)           \
    static VkResult VKAPI_CALL layer_##name parameters \
    {                                                  \
        if (strikes(FUNCTION_##name))                  \
            return (VkResult)atomic_load(&how);        \
        return next.name arguments;                    \
    }
FUNCTIONS(WRAPPER)
#undef WRAPPER

static void VKAPI_CALL split_memory(VkPhysicalDevice physical,
                                    VkPhysicalDeviceMemoryProperties2 *out)
{
    next.memory(physical, out);
    VkPhysicalDeviceMemoryProperties *memory = &out->memoryProperties;
    const VkDeviceSize size = memory->memoryHeaps[0].size;
    memory->memoryHeapCount = 2;
    memory->memoryHeaps[0] = (VkMemoryHeap){size, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory->memoryHeaps[1] = (VkMemoryHeap){size, 0};
    memory->memoryTypeCount = 2;
    memory->memoryTypes[0] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    memory->memoryTypes[1] =
        (VkMemoryType){VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                           VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                       1};
}

static void VKAPI_CALL split_requirements(VkDevice device, VkBuffer buffer,
                                          VkMemoryRequirements *out)
{
    next.requirements(device, buffer, out);
    out->memoryTypeBits = 3;
}

static VkResult VKAPI_CALL split_allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                          const VkAllocationCallbacks *allocator,
                                          VkDeviceMemory *out_memory)
{
    VkMemoryAllocateInfo real = *info;
    real.memoryTypeIndex = 0;
    return layer_AllocateMemory(device, &real, allocator, out_memory);
}

static void VKAPI_CALL drop_barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                    VkPipelineStageFlags to, VkDependencyFlags flags,
                                    uint32_t count, const VkMemoryBarrier *barriers,
                                    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                                    uint32_t image_count, const VkImageMemoryBarrier *images)
{
    if (!(to & VK_PIPELINE_STAGE_HOST_BIT))
        return;
    next.barrier(commands, from, to, flags, count, barriers, buffer_count, buffers, image_count,
                 images);
}

/* ---- The layer -------------------------------------------------------------------------------- */

static void instance_created(VkInstance instance)
{
    next.memory = (PFN_vkGetPhysicalDeviceMemoryProperties2)layer_next_of_instance(
        instance, "vkGetPhysicalDeviceMemoryProperties2");
}

static void device_created(VkDevice device)
{
#define FIND(name, parameters, arguments) \
    next.name = (PFN_vk##name)layer_next_of_device(device, "vk" #name);
    FUNCTIONS(FIND)
#undef FIND
    next.barrier = (PFN_vkCmdPipelineBarrier)layer_next_of_device(device, "vkCmdPipelineBarrier");
    next.requirements = (PFN_vkGetBufferMemoryRequirements)layer_next_of_device(
        device, "vkGetBufferMemoryRequirements");
}

static PFN_vkVoidFunction split(const char *name, bool of_instance)
{
    static const struct layer_function table[] = {
        {"vkGetBufferMemoryRequirements", (PFN_vkVoidFunction)split_requirements},
        {"vkAllocateMemory", (PFN_vkVoidFunction)split_allocate},
        {"vkGetPhysicalDeviceMemoryProperties2", (PFN_vkVoidFunction)split_memory},
    };
    const size_t count = sizeof table / sizeof table[0];
    return layer_find(table, of_instance ? count : count - 1, name); /* the last is an instance's */
}

static PFN_vkVoidFunction own(const char *name, bool of_instance)
{
    static const struct layer_function table[] = {
#define OWN(name, parameters, arguments) {"vk" #name, (PFN_vkVoidFunction)layer_##name},
        FUNCTIONS(OWN)
#undef OWN
    };
    PFN_vkVoidFunction function =
        getenv("VYRE_TEST_SPLIT_MEMORY") ? split(name, of_instance) : NULL;
    if (!function && strcmp(name, "vkCmdPipelineBarrier") == 0 && getenv("VYRE_TEST_DROP_BARRIERS"))
        function = (PFN_vkVoidFunction)drop_barrier;
    return function ? function : layer_find(table, sizeof table / sizeof table[0], name);
}

const struct layer_parts layer_parts = {
    .own = own, .instance_created = instance_created, .device_created = device_created};
