/*
 * queue_layer.c: a Vulkan layer that invents queues on a driver with one, for tests.
 *
 *   family 0   GRAPHICS COMPUTE TRANSFER   a queues     VYRE_TEST_QUEUES=a,b,t; b and t may be 0
 *   family 1   COMPUTE TRANSFER            b queues
 *   family 2   TRANSFER                    t queues
 *
 * What is submitted to an invented queue is kept, in order, and handed to the real queue when its waits
 * are for what has been handed over before: of all queues whose turn it could be, one drawn by chance
 * (VYRE_TEST_QUEUES_SEED), as late as the submits that wait for it allow. The real queue runs what it gets in
 * order; so a semaphore that is missing between two queues gives wrong bytes, sooner or later.
 *
 *   VYRE_TEST_QUEUES_IGNORE=k   forgets what every k-th submit that waits for something waits for: shows
 *                               that a run would see a missing edge
 *   VYRE_TEST_QUEUES_HIDE=1     the device's memory cannot be mapped, as that of a card cannot
 *
 * A test finds vyre_queues_submits and vyre_queues_waits in this shared object.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

enum {
    FAMILIES = 3,
    QUEUES_MAX = 12,
    SEMAPHORES_MAX = 64,
    WAITS_MAX = 16,
    HELD_MAX = 48, /* submits that are held back at once */
};

static const VkQueueFlags family_flags[FAMILIES] = {
    VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
    VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
    VK_QUEUE_TRANSFER_BIT,
};

struct held {
    struct held *next;
    VkSemaphore waits[WAITS_MAX];
    uint64_t wait_values[WAITS_MAX];
    uint32_t wait_count;
    VkSemaphore signal;
    uint64_t signal_value;
    uint32_t command_count;
    VkCommandBuffer commands[];
};

struct device;

/* What the caller takes for a VkQueue: begins with the loader's word. */
struct queue {
    void *dispatch;
    struct device *device;
    uint32_t family;
    uint32_t index;
    struct held *first, *last;
};

struct device {
    struct device *next;
    VkDevice handle;
    VkQueue real;
    struct queue queues[QUEUES_MAX];
    uint32_t queue_count;
    struct {
        VkSemaphore handle;
        uint64_t handed; /* the value that what was handed over will signal */
    } semaphores[SEMAPHORES_MAX];
    uint32_t semaphore_count;
    uint32_t held_count;
};

/* What the layer calls below itself; looked up when instance and device are made. */
#define INSTANCE_FUNCTIONS(X)                   \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkGetPhysicalDeviceMemoryProperties)      \
    X(vkGetPhysicalDeviceMemoryProperties2)
#define DEVICE_FUNCTIONS(X)          \
    X(vkQueueSubmit)                 \
    X(vkWaitSemaphores)              \
    X(vkGetSemaphoreCounterValue)    \
    X(vkDeviceWaitIdle)              \
    X(vkDestroySemaphore)            \
    X(vkGetDeviceQueue)              \
    X(vkCreateCommandPool)           \
    X(vkCreateBuffer)                \
    X(vkGetBufferMemoryRequirements) \
    X(vkAllocateMemory)              \
    X(vkDestroyDevice)

#define MEMBER(name) PFN_##name name;
static struct {
    INSTANCE_FUNCTIONS(MEMBER)
    DEVICE_FUNCTIONS(MEMBER) /* the same for all devices: there is one driver */
} next;

static struct {
    pthread_mutex_t lock;
    bool ready;
    uint32_t counts[FAMILIES];
    uint32_t ignore;
    bool hide;
    uint64_t random;
    uint64_t waiting; /* submits with waits so far */
    uint64_t submits[FAMILIES][QUEUES_MAX];
    uint64_t waits;
    struct device *devices;
} layer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Settings --------------------------------------------------------------------------------- */

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 0) : otherwise;
}

static void read_settings(void)
{
    if (layer.ready)
        return;
    const char *text = getenv("VYRE_TEST_QUEUES");
    unsigned counts[FAMILIES] = {3, 0, 1};
    if (text && sscanf(text, "%u,%u,%u", &counts[0], &counts[1], &counts[2]) != FAMILIES)
        abort();
    for (int i = 0; i < FAMILIES; i++)
        layer.counts[i] = counts[i] < 4 ? counts[i] : 4;
    layer.ignore = (uint32_t)number("VYRE_TEST_QUEUES_IGNORE", 0);
    layer.hide = number("VYRE_TEST_QUEUES_HIDE", 0) != 0;
    layer.random = number("VYRE_TEST_QUEUES_SEED", 1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    layer.ready = true;
}

/* Families that have no queues do not exist; the numbers of those that do have no gaps. */
static uint32_t family_of(uint32_t shown)
{
    for (uint32_t i = 0; i < FAMILIES; i++) {
        if (layer.counts[i] > 0 && shown-- == 0)
            return i;
    }
    abort();
}

static uint32_t draw(uint32_t limit)
{
    layer.random ^= layer.random << 13;
    layer.random ^= layer.random >> 7;
    layer.random ^= layer.random << 17;
    return (uint32_t)((layer.random >> 11) % limit);
}

/* ---- For tests -------------------------------------------------------------------------------- */

/* How many submits a queue of a family has got; the families as above. */
EXPORTED uint64_t vyre_queues_submits(uint32_t family, uint32_t index);
EXPORTED uint64_t vyre_queues_submits(uint32_t family, uint32_t index)
{
    pthread_mutex_lock(&layer.lock);
    uint64_t count = layer.submits[family][index];
    pthread_mutex_unlock(&layer.lock);
    return count;
}

/* How many waits for semaphores there were. */
EXPORTED uint64_t vyre_queues_waits(void);
EXPORTED uint64_t vyre_queues_waits(void)
{
    pthread_mutex_lock(&layer.lock);
    uint64_t count = layer.waits;
    pthread_mutex_unlock(&layer.lock);
    return count;
}

/* ---- Handing over; the caller holds the lock -------------------------------------------------- */

static struct device *find_device(VkDevice handle)
{
    struct device *device = layer.devices;
    while (device && device->handle != handle)
        device = device->next;
    return device;
}

/* What was handed over will signal this value; a semaphore that is not known yet is at 0. */
static uint64_t *handed(struct device *device, VkSemaphore semaphore)
{
    for (uint32_t i = 0; i < device->semaphore_count; i++) {
        if (device->semaphores[i].handle == semaphore)
            return &device->semaphores[i].handed;
    }
    if (device->semaphore_count == SEMAPHORES_MAX)
        abort();
    device->semaphores[device->semaphore_count].handle = semaphore;
    device->semaphores[device->semaphore_count].handed = 0;
    return &device->semaphores[device->semaphore_count++].handed;
}

static bool is_ready(struct device *device, const struct held *held)
{
    for (uint32_t i = 0; i < held->wait_count; i++) {
        if (*handed(device, held->waits[i]) < held->wait_values[i])
            return false;
    }
    return true;
}

static void hand_over(struct device *device, struct queue *queue)
{
    struct held *held = queue->first;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &held->signal_value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = held->command_count,
        .pCommandBuffers = held->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &held->signal,
    };
    if (next.vkQueueSubmit(device->real, 1, &info, VK_NULL_HANDLE) != VK_SUCCESS) {
        fputs("queue_layer: the driver failed\n", stderr);
        abort();
    }
    *handed(device, held->signal) = held->signal_value;
    queue->first = held->next;
    if (!queue->first)
        queue->last = NULL;
    device->held_count--;
    free(held);
}

/* Hands one submit over, if there is one whose turn it can be. */
static bool pump(struct device *device)
{
    struct queue *ready[QUEUES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < device->queue_count; i++) {
        struct queue *queue = &device->queues[i];
        if (queue->first && is_ready(device, queue->first))
            ready[count++] = queue;
    }
    if (count == 0)
        return false;
    hand_over(device, ready[draw(count)]);
    return true;
}

static void hold(struct queue *queue, const VkSubmitInfo *info)
{
    const VkTimelineSemaphoreSubmitInfo *values = info->pNext;
    struct held *held =
        calloc(1, sizeof *held + info->commandBufferCount * sizeof(VkCommandBuffer));
    if (!held || info->signalSemaphoreCount != 1 || info->waitSemaphoreCount > WAITS_MAX ||
        !values || values->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
        abort();
    held->wait_count = info->waitSemaphoreCount;
    for (uint32_t i = 0; i < held->wait_count; i++) {
        held->waits[i] = info->pWaitSemaphores[i];
        held->wait_values[i] = values->pWaitSemaphoreValues[i];
    }
    held->signal = info->pSignalSemaphores[0];
    held->signal_value = values->pSignalSemaphoreValues[0];
    held->command_count = info->commandBufferCount;
    for (uint32_t i = 0; i < held->command_count; i++)
        held->commands[i] = info->pCommandBuffers[i];
    layer.submits[queue->family][queue->index]++;
    layer.waits += held->wait_count;
    if (held->wait_count > 0 && layer.ignore > 0 && ++layer.waiting % layer.ignore == 0)
        held->wait_count = 0;
    if (queue->last)
        queue->last->next = held;
    else
        queue->first = held;
    queue->last = held;
    queue->device->held_count++;
}

/* ---- The device's functions ------------------------------------------------------------------- */

static VkResult VKAPI_CALL queue_submit(VkQueue handle, uint32_t count, const VkSubmitInfo *infos,
                                        VkFence fence)
{
    struct queue *queue = (struct queue *)(void *)handle;
    struct device *device = queue->device;
    if (fence != VK_NULL_HANDLE)
        abort(); /* not looked after here */
    pthread_mutex_lock(&layer.lock);
    for (uint32_t i = 0; i < count; i++)
        hold(queue, &infos[i]);
    if (draw(3) == 0)
        (void)pump(device);
    while (device->held_count > HELD_MAX && pump(device)) {
    }
    pthread_mutex_unlock(&layer.lock);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL wait_semaphores(VkDevice handle, const VkSemaphoreWaitInfo *info,
                                           uint64_t timeout_ns)
{
    pthread_mutex_lock(&layer.lock);
    struct device *device = find_device(handle);
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        while (*handed(device, info->pSemaphores[i]) < info->pValues[i] && pump(device)) {
        }
    }
    pthread_mutex_unlock(&layer.lock);
    return next.vkWaitSemaphores(handle, info, timeout_ns);
}

static VkResult VKAPI_CALL get_counter(VkDevice handle, VkSemaphore semaphore, uint64_t *out_value)
{
    pthread_mutex_lock(&layer.lock);
    struct device *device = find_device(handle);
    if (device->held_count > 0 && draw(2) == 0)
        (void)pump(device);
    pthread_mutex_unlock(&layer.lock);
    return next.vkGetSemaphoreCounterValue(handle, semaphore, out_value);
}

static VkResult VKAPI_CALL device_wait_idle(VkDevice handle)
{
    pthread_mutex_lock(&layer.lock);
    struct device *device = find_device(handle);
    while (pump(device)) {
    }
    pthread_mutex_unlock(&layer.lock);
    return next.vkDeviceWaitIdle(handle);
}

static void VKAPI_CALL destroy_semaphore(VkDevice handle, VkSemaphore semaphore,
                                         const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&layer.lock);
    struct device *device = find_device(handle);
    for (uint32_t i = 0; i < device->semaphore_count; i++) {
        if (device->semaphores[i].handle == semaphore)
            device->semaphores[i] = device->semaphores[--device->semaphore_count];
    }
    pthread_mutex_unlock(&layer.lock);
    next.vkDestroySemaphore(handle, semaphore, allocator);
}

static void VKAPI_CALL get_device_queue(VkDevice handle, uint32_t family, uint32_t index,
                                        VkQueue *out_queue)
{
    pthread_mutex_lock(&layer.lock);
    struct device *device = find_device(handle);
    uint32_t found = 0;
    family = family_of(family);
    while (found < device->queue_count &&
           (device->queues[found].family != family || device->queues[found].index != index))
        found++;
    if (found == QUEUES_MAX || index >= layer.counts[family])
        abort();
    if (found == device->queue_count) {
        device->queue_count++;
        device->queues[found] = (struct queue){.dispatch = *(void **)(void *)handle,
                                               .device = device,
                                               .family = family,
                                               .index = index};
    }
    *out_queue = (VkQueue)(void *)&device->queues[found];
    pthread_mutex_unlock(&layer.lock);
}

static VkResult VKAPI_CALL create_pool(VkDevice handle, const VkCommandPoolCreateInfo *info,
                                       const VkAllocationCallbacks *allocator,
                                       VkCommandPool *out_pool)
{
    VkCommandPoolCreateInfo real = *info;
    real.queueFamilyIndex = 0;
    return next.vkCreateCommandPool(handle, &real, allocator, out_pool);
}

static VkResult VKAPI_CALL create_buffer(VkDevice handle, const VkBufferCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkBuffer *out_buffer)
{
    VkBufferCreateInfo real = *info;
    real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    real.queueFamilyIndexCount = 0;
    real.pQueueFamilyIndices = NULL;
    return next.vkCreateBuffer(handle, &real, allocator, out_buffer);
}

static void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&layer.lock);
    struct device **place = &layer.devices;
    while (*place && (*place)->handle != handle)
        place = &(*place)->next;
    struct device *device = *place;
    if (device) {
        *place = device->next;
        for (uint32_t i = 0; i < device->queue_count; i++) {
            while (device->queues[i].first) {
                struct held *held = device->queues[i].first;
                device->queues[i].first = held->next;
                free(held);
            }
        }
        free(device);
    }
    pthread_mutex_unlock(&layer.lock);
    next.vkDestroyDevice(handle, allocator);
}

/* ---- Memory that the host does not see -------------------------------------------------------- */

static void hide_memory(VkPhysicalDeviceMemoryProperties *properties)
{
    if (!layer.hide)
        return;
    VkMemoryType real = properties->memoryTypes[0];
    if (properties->memoryTypeCount != 1)
        abort(); /* made for a driver with one type */
    properties->memoryTypeCount = 2;
    properties->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    properties->memoryTypes[1] = real;
    properties->memoryTypes[1].propertyFlags &= ~(VkFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
}

static void VKAPI_CALL get_requirements(VkDevice handle, VkBuffer buffer,
                                        VkMemoryRequirements *out_requirements)
{
    next.vkGetBufferMemoryRequirements(handle, buffer, out_requirements);
    out_requirements->memoryTypeBits = layer.hide ? 3 : out_requirements->memoryTypeBits;
}

static VkResult VKAPI_CALL allocate(VkDevice handle, const VkMemoryAllocateInfo *info,
                                    const VkAllocationCallbacks *allocator,
                                    VkDeviceMemory *out_memory)
{
    VkMemoryAllocateInfo real = *info;
    real.memoryTypeIndex = layer.hide ? 0 : real.memoryTypeIndex;
    return next.vkAllocateMemory(handle, &real, allocator, out_memory);
}

/* ---- The instance's functions ----------------------------------------------------------------- */

static void VKAPI_CALL get_memory(VkPhysicalDevice physical,
                                  VkPhysicalDeviceMemoryProperties *out_properties)
{
    next.vkGetPhysicalDeviceMemoryProperties(physical, out_properties);
    hide_memory(out_properties);
}

static void VKAPI_CALL get_memory2(VkPhysicalDevice physical,
                                   VkPhysicalDeviceMemoryProperties2 *out_properties)
{
    next.vkGetPhysicalDeviceMemoryProperties2(physical, out_properties);
    hide_memory(&out_properties->memoryProperties);
}

/* The real family's properties with what is invented; returns how many families there are. */
static uint32_t invent(VkPhysicalDevice physical, VkQueueFamilyProperties out_families[FAMILIES])
{
    VkQueueFamilyProperties real = {0};
    uint32_t one = 1, count = 0;
    next.vkGetPhysicalDeviceQueueFamilyProperties(physical, &one, &real);
    for (int i = 0; i < FAMILIES; i++) {
        if (layer.counts[i] == 0)
            continue;
        out_families[count] = real;
        out_families[count].queueFlags = family_flags[i];
        out_families[count++].queueCount = layer.counts[i];
    }
    return count;
}

static void VKAPI_CALL get_families(VkPhysicalDevice physical, uint32_t *inout_count,
                                    VkQueueFamilyProperties *out_families)
{
    VkQueueFamilyProperties families[FAMILIES];
    uint32_t count = invent(physical, families);
    if (out_families) {
        count = *inout_count < count ? *inout_count : count;
        memcpy(out_families, families, count * sizeof *families);
    }
    *inout_count = count;
}

static void VKAPI_CALL get_families2(VkPhysicalDevice physical, uint32_t *inout_count,
                                     VkQueueFamilyProperties2 *out_families)
{
    VkQueueFamilyProperties families[FAMILIES];
    uint32_t count = invent(physical, families);
    if (out_families) {
        count = *inout_count < count ? *inout_count : count;
        for (uint32_t i = 0; i < count; i++)
            out_families[i].queueFamilyProperties = families[i];
    }
    *inout_count = count;
}

/* ---- The layer -------------------------------------------------------------------------------- */

static void instance_created(VkInstance instance)
{
    pthread_mutex_lock(&layer.lock);
    read_settings();
    pthread_mutex_unlock(&layer.lock);
#define FIND(name) next.name = (PFN_##name)layer_next_of_instance(instance, #name);
    INSTANCE_FUNCTIONS(FIND)
#undef FIND
}

/* The driver has one queue, whatever the caller asks for. */
static void device_creating(VkDeviceCreateInfo *inout_info)
{
    static const float priority = 1.0f;
    static const VkDeviceQueueCreateInfo one = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .queueCount = 1,
                                                .pQueuePriorities = &priority};
    inout_info->queueCreateInfoCount = 1;
    inout_info->pQueueCreateInfos = &one;
}

static void device_created(VkDevice handle)
{
    struct device *device = calloc(1, sizeof *device);
    if (!device)
        abort();
/* Devices of one driver have the same functions, which other threads may be using. */
#define FIND(name)                                                          \
    {                                                                       \
        PFN_##name found = (PFN_##name)layer_next_of_device(handle, #name); \
        if (next.name != found)                                             \
            next.name = found;                                              \
    }
    DEVICE_FUNCTIONS(FIND)
#undef FIND
    device->handle = handle;
    next.vkGetDeviceQueue(handle, 0, 0, &device->real);
    pthread_mutex_lock(&layer.lock);
    device->next = layer.devices;
    layer.devices = device;
    pthread_mutex_unlock(&layer.lock);
}

static PFN_vkVoidFunction own(const char *name, bool of_instance)
{
    static const struct layer_function of_instances[] = {
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_families},
        {"vkGetPhysicalDeviceQueueFamilyProperties2", (PFN_vkVoidFunction)get_families2},
        {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)get_memory},
        {"vkGetPhysicalDeviceMemoryProperties2", (PFN_vkVoidFunction)get_memory2},
    };
    static const struct layer_function of_devices[] = {
        {"vkQueueSubmit", (PFN_vkVoidFunction)queue_submit},
        {"vkWaitSemaphores", (PFN_vkVoidFunction)wait_semaphores},
        {"vkGetSemaphoreCounterValue", (PFN_vkVoidFunction)get_counter},
        {"vkDeviceWaitIdle", (PFN_vkVoidFunction)device_wait_idle},
        {"vkDestroySemaphore", (PFN_vkVoidFunction)destroy_semaphore},
        {"vkGetDeviceQueue", (PFN_vkVoidFunction)get_device_queue},
        {"vkCreateCommandPool", (PFN_vkVoidFunction)create_pool},
        {"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer},
        {"vkGetBufferMemoryRequirements", (PFN_vkVoidFunction)get_requirements},
        {"vkAllocateMemory", (PFN_vkVoidFunction)allocate},
        {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
    };
    PFN_vkVoidFunction function =
        of_instance ? layer_find(of_instances, sizeof of_instances / sizeof of_instances[0], name)
                    : NULL;
    return function ? function
                    : layer_find(of_devices, sizeof of_devices / sizeof of_devices[0], name);
}

const struct layer_parts layer_parts = {.own = own,
                                        .instance_created = instance_created,
                                        .device_creating = device_creating,
                                        .device_created = device_created};
