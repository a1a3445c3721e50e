/*
 * watch_layer.c: a Vulkan layer that sees the calls of the driver, and can forget one barrier, for tests.
 *
 * A test finds the functions below in this shared object, which the Vulkan loader has brought into the
 * process. With VYRE_TEST_DROP_BARRIER=n in the environment the n-th call of vkCmdPipelineBarrier of the
 * process, from 0, is forgotten.
 *
 * One device at a time: the functions below are the latest one's.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

enum { NOTES_MAX = 256, NOTE_BYTES = 96 };

/* Names of objects, and labels with the type 0. */
static struct {
    pthread_mutex_t lock;
    int count;
    struct {
        int type;
        char text[NOTE_BYTES];
    } items[NOTES_MAX];
} notes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    PFN_vkSetDebugUtilsObjectNameEXT name;
    PFN_vkCmdBeginDebugUtilsLabelEXT begin_label;
    PFN_vkCmdEndDebugUtilsLabelEXT end_label;
    PFN_vkCmdPipelineBarrier barrier;
    PFN_vkCmdCopyBuffer copy;
} next;

static _Atomic int open_labels;
static _Atomic int barriers;
static _Atomic int copies;

/* ---- For tests -------------------------------------------------------------------------------- */

/* How often an object of this type was given this name; type 0: how often a label was begun. */
EXPORTED int vyre_watch_noted(int type, const char *text);
EXPORTED int vyre_watch_noted(int type, const char *text)
{
    int found = 0;
    pthread_mutex_lock(&notes.lock);
    for (int i = 0; i < notes.count; i++)
        found += notes.items[i].type == type && strcmp(notes.items[i].text, text) == 0;
    pthread_mutex_unlock(&notes.lock);
    return found;
}

/* All names and labels so far. */
EXPORTED int vyre_watch_note_count(void);
EXPORTED int vyre_watch_note_count(void)
{
    pthread_mutex_lock(&notes.lock);
    int count = notes.count;
    pthread_mutex_unlock(&notes.lock);
    return count;
}

/* Labels that were begun and not ended. */
EXPORTED int vyre_watch_open_labels(void);
EXPORTED int vyre_watch_open_labels(void)
{
    return atomic_load(&open_labels);
}

/* Calls of vkCmdCopyBuffer so far. */
EXPORTED int vyre_watch_copies(void);
EXPORTED int vyre_watch_copies(void)
{
    return atomic_load(&copies);
}

/* Calls of vkCmdPipelineBarrier so far. */
EXPORTED int vyre_watch_barriers(void);
EXPORTED int vyre_watch_barriers(void)
{
    return atomic_load(&barriers);
}

/* ---- What is watched -------------------------------------------------------------------------- */

static void note(int type, const char *text)
{
    pthread_mutex_lock(&notes.lock);
    if (notes.count < NOTES_MAX) {
        notes.items[notes.count].type = type;
        snprintf(notes.items[notes.count].text, NOTE_BYTES, "%s", text);
        notes.count++;
    }
    pthread_mutex_unlock(&notes.lock);
}

static VkResult VKAPI_CALL name_object(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    note((int)info->objectType, info->pObjectName ? info->pObjectName : "");
    return next.name ? next.name(device, info) : VK_SUCCESS;
}

static void VKAPI_CALL begin_label(VkCommandBuffer commands, const VkDebugUtilsLabelEXT *label)
{
    note(0, label->pLabelName);
    atomic_fetch_add(&open_labels, 1);
    if (next.begin_label)
        next.begin_label(commands, label);
}

static void VKAPI_CALL end_label(VkCommandBuffer commands)
{
    atomic_fetch_sub(&open_labels, 1);
    if (next.end_label)
        next.end_label(commands);
}

static void VKAPI_CALL copy_buffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                   uint32_t count, const VkBufferCopy *regions)
{
    atomic_fetch_add(&copies, 1);
    next.copy(commands, from, to, count, regions);
}

static void VKAPI_CALL put_barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                   VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t count,
                                   const VkMemoryBarrier *memory, uint32_t buffer_count,
                                   const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                   const VkImageMemoryBarrier *images)
{
    const char *dropped = getenv("VYRE_TEST_DROP_BARRIER");
    if (atomic_fetch_add(&barriers, 1) == (dropped ? atoi(dropped) : -1))
        return;
    next.barrier(commands, from, to, flags, count, memory, buffer_count, buffers, image_count,
                 images);
}

/* ---- The layer -------------------------------------------------------------------------------- */

static void device_created(VkDevice device)
{
#define FIND(member, function) \
    next.member = (PFN_##function)layer_next_of_device(device, #function);
    FIND(name, vkSetDebugUtilsObjectNameEXT)
    FIND(begin_label, vkCmdBeginDebugUtilsLabelEXT)
    FIND(end_label, vkCmdEndDebugUtilsLabelEXT)
    FIND(barrier, vkCmdPipelineBarrier)
    FIND(copy, vkCmdCopyBuffer)
#undef FIND
}

static PFN_vkVoidFunction own(const char *name, bool of_instance)
{
    (void)of_instance;
    static const struct layer_function table[] = {
        {"vkSetDebugUtilsObjectNameEXT", (PFN_vkVoidFunction)name_object},
        {"vkCmdBeginDebugUtilsLabelEXT", (PFN_vkVoidFunction)begin_label},
        {"vkCmdEndDebugUtilsLabelEXT", (PFN_vkVoidFunction)end_label},
        {"vkCmdPipelineBarrier", (PFN_vkVoidFunction)put_barrier},
        {"vkCmdCopyBuffer", (PFN_vkVoidFunction)copy_buffer},
    };
    return layer_find(table, sizeof table / sizeof table[0], name);
}

const struct layer_parts layer_parts = {.own = own, .device_created = device_created};
