/*
 * recording.c: making recordings. For replaying them see replay.c.
 */
#include "backend/vulkan/recording.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"

/* What a driver is assumed to keep per recorded command: it does not report it. */
#define COMMAND_BYTES 512
#define SPARES_KEPT   16

/* ---- What a recording holds ------------------------------------------------------------------- */

static enum vyre_status keep(struct vyre_vk_device *device, struct vyre_vk_pointers *pointers,
                             void *pointer, struct vyre_diag *diag)
{
    void **grown = vyre_memory_grow(&device->allocator, pointers->items, pointers->count,
                                    &pointers->capacity, sizeof pointer, _Alignof(void *));
    if (!grown)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory for what a recording uses");
    pointers->items = grown;
    pointers->items[pointers->count++] = pointer;
    return VYRE_OK;
}

static void free_pointers(struct vyre_vk_device *device, struct vyre_vk_pointers *pointers)
{
    vyre_memory_free(&device->allocator, pointers->items,
                     pointers->capacity * sizeof *pointers->items, _Alignof(void *));
    *pointers = (struct vyre_vk_pointers){0};
}

/* A recording may hold an object several times, and releases it as often. */
enum vyre_status vyre_vk_recording_hold_set(struct vyre_vk_device *device,
                                            struct vyre_vk_recording *recording,
                                            struct vyre_vk_set *set, struct vyre_diag *diag)
{
    enum vyre_status status = keep(device, &recording->sets, set, diag);
    if (status == VYRE_OK)
        vyre_vk_set_hold(device, set);
    return status;
}

enum vyre_status vyre_vk_recording_hold_pipeline(struct vyre_vk_device *device,
                                                 struct vyre_vk_recording *recording,
                                                 struct vyre_vk_pipeline *pipeline,
                                                 struct vyre_diag *diag)
{
    enum vyre_status status = keep(device, &recording->pipelines, pipeline, diag);
    if (status == VYRE_OK)
        pipeline->holders++;
    return status;
}

enum vyre_status vyre_vk_recording_note_buffer(struct vyre_vk_device *device,
                                               struct vyre_vk_recording *recording,
                                               struct vyre_vk_buffer *buffer,
                                               struct vyre_diag *diag)
{
    if (buffer->mark == recording->mark)
        return VYRE_OK;
    buffer->mark = recording->mark;
    return keep(device, &recording->buffers, buffer, diag);
}

bool vyre_vk_recording_touches(const struct vyre_vk_recording *recording,
                               const struct vyre_vk_buffer *buffer)
{
    for (uint32_t i = 0; i < recording->buffers.count; i++) {
        if (recording->buffers.items[i] == buffer)
            return true;
    }
    return false;
}

/* ---- Takes ------------------------------------------------------------------------------------ */

VkResult vyre_vk_take_add_part(struct vyre_vk_device *device, struct vyre_vk_take *take,
                               VkCommandBuffer *out_commands)
{
    if (take->part_count < take->part_made) {
        *out_commands = take->parts[take->part_count++];
        return VK_SUCCESS;
    }
    VkCommandBuffer *grown =
        vyre_memory_grow(&device->allocator, take->parts, take->part_count, &take->part_capacity,
                         sizeof *take->parts, _Alignof(VkCommandBuffer));
    if (!grown)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    take->parts = grown;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = take->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkResult result = device->vk.AllocateCommandBuffers(device->handle, &info, out_commands);
    if (result == VK_SUCCESS) {
        take->parts[take->part_count++] = *out_commands;
        take->part_made = take->part_count;
    }
    return result;
}

/* Empties a take, but keeps its lists and its command pool. */
static void reset_take(struct vyre_vk_device *device, struct vyre_vk_take *take)
{
    vyre_vk_buffer_unmake(device, &take->region);
    take->part_count = 0;
    take->uploads.count = 0;
    take->downloads.count = 0;
    take->last_sequence = 0;
    take->last_value = 0;
}

static void free_take(struct vyre_vk_device *device, struct vyre_vk_take *take)
{
    reset_take(device, take);
    if (take->pool)
        device->vk.DestroyCommandPool(device->handle, take->pool, NULL);
    vyre_vk_steps_deinit(device, &take->steps);
    vyre_memory_free(&device->allocator, take->parts, take->part_capacity * sizeof *take->parts,
                     _Alignof(VkCommandBuffer));
    vyre_vk_transfers_deinit(&take->uploads, &device->allocator);
    vyre_vk_transfers_deinit(&take->downloads, &device->allocator);
    *take = (struct vyre_vk_take){0};
}

static VkResult prepare_pool(struct vyre_vk_device *device, struct vyre_vk_take *take)
{
    VkResult result = vyre_vk_steps_reset(device, &take->steps);
    /*
     * Spare takes go to batches of all kinds, so for a steady load room for steps is allocated now.
     */
    if (result == VK_SUCCESS && !vyre_vk_steps_reserve(device, &take->steps))
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS)
        return result;
    if (take->pool)
        return device->vk.ResetCommandPool(device->handle, take->pool, 0);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = device->physical->families[0]};
    result = device->vk.CreateCommandPool(device->handle, &pool, NULL, &take->pool);
    if (result != VK_SUCCESS)
        take->pool = VK_NULL_HANDLE;
    return result;
}

enum vyre_status vyre_vk_recording_add_take(struct vyre_vk_device *device,
                                            struct vyre_vk_recording *recording,
                                            const struct vyre_batch_view *view, uint32_t variant,
                                            struct vyre_diag *diag)
{
    struct vyre_vk_take *take = &recording->takes[recording->take_count];
    take->recording = recording;
    enum vyre_status status = vyre_vk_check(
        prepare_pool(device, take), "vkCreateCommandPool or vkResetCommandPool", view->label, diag);
    if (status == VYRE_OK && recording->region_bytes > 0)
        status = vyre_vk_buffer_make(device, VYRE_VK_MEMORY_STAGING, recording->region_bytes,
                                     view->label, &take->region, diag);
    if (status == VYRE_OK) {
        struct vyre_vk_encoder encoder = {
            .device = device,
            .view = view,
            .diag = diag,
            .take = take,
            .recording = recording,
        };
        struct vyre_batch_plan plan;
        status = vyre_vk_encoder_plan(&encoder, variant, &plan);
        if (status == VYRE_OK)
            status = vyre_vk_encoder_spread(&encoder);
        if (status == VYRE_OK)
            status = vyre_vk_encode(&encoder);
    }
    if (status != VYRE_OK)
        reset_take(device, take);
    else
        recording->take_count++;
    return status;
}

/* Bytes that all transfers of a batch need at once. */
static uint64_t measure_region(const struct vyre_batch_view *view)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        if (command->type != VYRE_COMMAND_UPLOAD && command->type != VYRE_COMMAND_DOWNLOAD)
            continue;
        uint64_t bytes = view->ranges[command->first_range].size_bytes;
        size += (bytes + VYRE_VK_REGION_UNIT - 1) / VYRE_VK_REGION_UNIT * VYRE_VK_REGION_UNIT;
    }
    return size;
}

/* ---- Entries of the table --------------------------------------------------------------------- */

enum vyre_status vyre_vk_record(void *native, const struct vyre_batch_view *view, uint32_t variant,
                                void **out_recording, size_t *out_size_bytes,
                                struct vyre_diag *diag)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_recording *recording = device->spare_recordings;
    if (recording) {
        device->spare_recordings = recording->next;
        device->spare_recording_count--;
    } else {
        recording = vyre_memory_allocate(&device->allocator, sizeof *recording,
                                         _Alignof(struct vyre_vk_recording));
    }
    if (!recording)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, view->label, 0,
                             "no memory for a recording");
    recording->mark = ++device->next_mark;
    recording->region_bytes = measure_region(view);
    recording->moves_bytes = recording->region_bytes > 0;
    enum vyre_status status = vyre_vk_recording_add_take(device, recording, view, variant, diag);
    if (status != VYRE_OK) {
        vyre_vk_recording_destroy(device, recording);
        return status;
    }
    *out_recording = recording;
    *out_size_bytes = sizeof *recording + (size_t)view->command_count * COMMAND_BYTES +
                      (size_t)recording->region_bytes * VYRE_VK_TAKES;
    return VYRE_OK;
}

static void free_recording(struct vyre_vk_device *device, struct vyre_vk_recording *recording)
{
    for (uint32_t i = 0; i < VYRE_VK_TAKES; i++)
        free_take(device, &recording->takes[i]);
    free_pointers(device, &recording->sets);
    free_pointers(device, &recording->pipelines);
    free_pointers(device, &recording->buffers);
    vyre_memory_free(&device->allocator, recording, sizeof *recording,
                     _Alignof(struct vyre_vk_recording));
}

void vyre_vk_recording_destroy(void *native, void *native_recording)
{
    struct vyre_vk_device *device = native;
    struct vyre_vk_recording *recording = native_recording;
    for (uint32_t i = 0; i < VYRE_VK_TAKES; i++)
        reset_take(device, &recording->takes[i]);
    for (uint32_t i = 0; i < recording->sets.count; i++)
        vyre_vk_set_release(device, recording->sets.items[i]);
    for (uint32_t i = 0; i < recording->pipelines.count; i++)
        ((struct vyre_vk_pipeline *)recording->pipelines.items[i])->holders--;
    recording->take_count = 0;
    recording->sets.count = recording->pipelines.count = recording->buffers.count = 0;
    if (device->spare_recording_count >= SPARES_KEPT) {
        free_recording(device, recording);
        return;
    }
    recording->next = device->spare_recordings;
    device->spare_recordings = recording;
    device->spare_recording_count++;
}

void vyre_vk_recordings_deinit(struct vyre_vk_device *device)
{
    while (device->spare_recordings) {
        struct vyre_vk_recording *recording = device->spare_recordings;
        device->spare_recordings = recording->next;
        free_recording(device, recording);
    }
}
