/*
 * gate_layer.c: a Vulkan layer that decides when work seems to end, for tests.
 *
 * Between vyre_gate_hold and vyre_gate_end the device's timeline seems to stand still. From vyre_gate_begin
 * on, each call of the driver that the calling thread makes lets one value through and waits until another
 * thread has taken what ended with it. So other threads get their turn between any two calls of a submit,
 * however busy the machine is.
 *
 * Everything that passes between the threads here is relaxed: the layer must not order what the library
 * has to order, or the thread sanitizer would not see that it forgot to.
 *
 * One device with one queue at a time: the functions below are the latest one's.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "layer.h"

/* What the backend calls while it submits, records or makes objects, and holds no lock of a waiter's. */
#define RESULT_FUNCTIONS(X)                                                                       \
    X(CreateBuffer,                                                                               \
      (VkDevice a, const VkBufferCreateInfo *b, const VkAllocationCallbacks *c, VkBuffer *d),     \
      (a, b, c, d))                                                                               \
    X(AllocateMemory,                                                                             \
      (VkDevice a, const VkMemoryAllocateInfo *b, const VkAllocationCallbacks *c,                 \
       VkDeviceMemory *d),                                                                        \
      (a, b, c, d))                                                                               \
    X(BindBufferMemory, (VkDevice a, VkBuffer b, VkDeviceMemory c, VkDeviceSize d), (a, b, c, d)) \
    X(CreateCommandPool,                                                                          \
      (VkDevice a, const VkCommandPoolCreateInfo *b, const VkAllocationCallbacks *c,              \
       VkCommandPool *d),                                                                         \
      (a, b, c, d))                                                                               \
    X(ResetCommandPool, (VkDevice a, VkCommandPool b, VkCommandPoolResetFlags c), (a, b, c))      \
    X(AllocateCommandBuffers,                                                                     \
      (VkDevice a, const VkCommandBufferAllocateInfo *b, VkCommandBuffer *c), (a, b, c))          \
    X(BeginCommandBuffer, (VkCommandBuffer a, const VkCommandBufferBeginInfo *b), (a, b))         \
    X(EndCommandBuffer, (VkCommandBuffer a), (a))                                                 \
    X(CreateQueryPool,                                                                            \
      (VkDevice a, const VkQueryPoolCreateInfo *b, const VkAllocationCallbacks *c,                \
       VkQueryPool *d),                                                                           \
      (a, b, c, d))                                                                               \
    X(CreateComputePipelines,                                                                     \
      (VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,           \
       const VkAllocationCallbacks *e, VkPipeline *f),                                            \
      (a, b, c, d, e, f))                                                                         \
    X(AllocateDescriptorSets,                                                                     \
      (VkDevice a, const VkDescriptorSetAllocateInfo *b, VkDescriptorSet *c), (a, b, c))

#define VOID_FUNCTIONS(X)                                                                         \
    X(UpdateDescriptorSets,                                                                       \
      (VkDevice a, uint32_t b, const VkWriteDescriptorSet *c, uint32_t d,                         \
       const VkCopyDescriptorSet *e),                                                             \
      (a, b, c, d, e))                                                                            \
    X(CmdBindPipeline, (VkCommandBuffer a, VkPipelineBindPoint b, VkPipeline c), (a, b, c))       \
    X(CmdDispatch, (VkCommandBuffer a, uint32_t b, uint32_t c, uint32_t d), (a, b, c, d))         \
    X(CmdCopyBuffer,                                                                              \
      (VkCommandBuffer a, VkBuffer b, VkBuffer c, uint32_t d, const VkBufferCopy *e),             \
      (a, b, c, d, e))                                                                            \
    X(CmdFillBuffer, (VkCommandBuffer a, VkBuffer b, VkDeviceSize c, VkDeviceSize d, uint32_t e), \
      (a, b, c, d, e))                                                                            \
    X(CmdPipelineBarrier,                                                                         \
      (VkCommandBuffer a, VkPipelineStageFlags b, VkPipelineStageFlags c, VkDependencyFlags d,    \
       uint32_t e, const VkMemoryBarrier *f, uint32_t g, const VkBufferMemoryBarrier *h,          \
       uint32_t i, const VkImageMemoryBarrier *j),                                                \
      (a, b, c, d, e, f, g, h, i, j))

static struct {
#define NEXT(name, parameters, arguments) PFN_vk##name name;
    RESULT_FUNCTIONS(NEXT)
    VOID_FUNCTIONS(NEXT)
#undef NEXT
    PFN_vkQueueSubmit QueueSubmit;
    PFN_vkWaitSemaphores WaitSemaphores;
    PFN_vkGetSemaphoreCounterValue GetSemaphoreCounterValue;
} next;

static _Atomic uint64_t queued;               /* the value that the last submit signals */
static _Atomic uint64_t allowed = UINT64_MAX; /* values that seem to be reached */

/* Of the thread that passes the gate. */
static _Thread_local struct {
    const _Atomic int *ended; /* NULL: it is another thread */
    uint64_t first;           /* the last value before those that are held */
    int held;                 /* at the beginning */
    int passed;
} gate;

/* ---- For tests -------------------------------------------------------------------------------- */

/* What is queued from now on does not end. */
EXPORTED void vyre_gate_hold(void);
EXPORTED void vyre_gate_hold(void)
{
    gate.first = atomic_load_explicit(&queued, memory_order_relaxed);
    atomic_store_explicit(&allowed, gate.first, memory_order_relaxed);
}

/* Each call of this thread lets one of what is held end, and waits until *ended has counted it. */
EXPORTED void vyre_gate_begin(const _Atomic int *ended);
EXPORTED void vyre_gate_begin(const _Atomic int *ended)
{
    gate.held = (int)(atomic_load_explicit(&queued, memory_order_relaxed) - gate.first);
    gate.passed = 0;
    gate.ended = ended;
}

/* Everything ends. Returns how many of those that were held at the beginning have not been let through. */
EXPORTED int vyre_gate_end(void);
EXPORTED int vyre_gate_end(void)
{
    gate.ended = NULL;
    atomic_store_explicit(&allowed, UINT64_MAX, memory_order_relaxed);
    return gate.held - gate.passed;
}

/* ---- The gate --------------------------------------------------------------------------------- */

static void rest(void)
{
    const struct timespec moment = {.tv_nsec = 50000};
    nanosleep(&moment, NULL);
}

static void allow(uint64_t value)
{
    if (value > atomic_load_explicit(&allowed, memory_order_relaxed))
        atomic_store_explicit(&allowed, value, memory_order_relaxed);
}

static void pass(void)
{
    if (!gate.ended || gate.passed == gate.held)
        return;
    gate.passed++;
    allow(gate.first + (uint64_t)gate.passed);
    while (atomic_load_explicit(gate.ended, memory_order_relaxed) < gate.passed)
        rest();
}

static VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                           uint64_t timeout)
{
    uint64_t value = info->pValues[0];
    if (gate.ended) {
        allow(value); /* no other thread would let it through */
    } else if (value > atomic_load_explicit(&allowed, memory_order_relaxed)) {
        rest();
        return VK_TIMEOUT;
    }
    return next.WaitSemaphores(device, info, timeout);
}

static VkResult VKAPI_CALL get_counter(VkDevice device, VkSemaphore semaphore, uint64_t *out_value)
{
    uint64_t limit = atomic_load_explicit(&allowed, memory_order_relaxed);
    VkResult result = next.GetSemaphoreCounterValue(device, semaphore, out_value);
    if (result == VK_SUCCESS && *out_value > limit)
        *out_value = limit;
    return result;
}

static VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                                        VkFence fence)
{
    const VkTimelineSemaphoreSubmitInfo *values = infos[0].pNext;
    pass();
    VkResult result = next.QueueSubmit(queue, count, infos, fence);
    atomic_store_explicit(&queued, values->pSignalSemaphoreValues[0], memory_order_relaxed);
    pass();
    return result;
}

#define RESULT_WRAPPER(name, parameters, arguments)    \
    static VkResult VKAPI_CALL layer_##name parameters \
    {                                                  \
        pass();                                        \
        return next.name arguments;                    \
    }
RESULT_FUNCTIONS(RESULT_WRAPPER)
#undef RESULT_WRAPPER

#define VOID_WRAPPER(name, parameters, arguments)  \
    static void VKAPI_CALL layer_##name parameters \
    {                                              \
        pass();                                    \
        next.name arguments;                       \
    }
VOID_FUNCTIONS(VOID_WRAPPER)
#undef VOID_WRAPPER

/* ---- The layer -------------------------------------------------------------------------------- */

static void device_created(VkDevice device)
{
    atomic_store_explicit(&queued, 0,
                          memory_order_relaxed); /* values count from 1 on each device */
#define FIND(name, parameters, arguments) \
    next.name = (PFN_vk##name)layer_next_of_device(device, "vk" #name);
    RESULT_FUNCTIONS(FIND)
    VOID_FUNCTIONS(FIND)
    FIND(QueueSubmit, , )
    FIND(WaitSemaphores, , )
    FIND(GetSemaphoreCounterValue, , )
#undef FIND
}

static PFN_vkVoidFunction own(const char *name, bool of_instance)
{
    (void)of_instance;
    static const struct layer_function table[] = {
        {"vkQueueSubmit", (PFN_vkVoidFunction)queue_submit},
        {"vkWaitSemaphores", (PFN_vkVoidFunction)wait_semaphores},
        {"vkGetSemaphoreCounterValue", (PFN_vkVoidFunction)get_counter},
#define OWN(name, parameters, arguments) {"vk" #name, (PFN_vkVoidFunction)layer_##name},
        RESULT_FUNCTIONS(OWN) VOID_FUNCTIONS(OWN)
#undef OWN
    };
    return layer_find(table, sizeof table / sizeof table[0], name);
}

const struct layer_parts layer_parts = {.own = own, .device_created = device_created};
