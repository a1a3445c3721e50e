/*
 * recording.c: making and replaying recordings.
 */
#include "backend/vulkan/recording.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "backend/vulkan/transfers.h"
#include "base/memory.h"

/* What a driver is taken to keep of a recorded command: it does not say. */
#define COMMAND_BYTES 512
#define SPARES_KEPT   16

/* ---- What a recording holds ------------------------------------------------------------------- */

/* Room for one item more in a list that doubles. */
static bool reserve(struct vyre_vk_device *device, void **items, uint32_t count, uint32_t *capacity,
                    size_t item_bytes)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown = vyre_memory_allocate(&device->allocator, wanted * item_bytes, _Alignof(void *));
    if (!grown)
        return false;
    if (count > 0)
        memcpy(grown, *items, count * item_bytes);
    vyre_memory_free(&device->allocator, *items, *capacity * item_bytes, _Alignof(void *));
    *items = grown;
    *capacity = wanted;
    return true;
}

static enum vyre_status keep(struct vyre_vk_device *device, struct vyre_vk_pointers *pointers,
                             void *pointer, struct vyre_diag *diag)
{
    void *items = pointers->items;
    if (!reserve(device, &items, pointers->count, &pointers->capacity, sizeof pointer))
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory for what a recording uses");
    pointers->items = items;
    pointers->items[pointers->count++] = pointer;
    return VYRE_OK;
}

static void free_pointers(struct vyre_vk_device *device, struct vyre_vk_pointers *pointers)
{
    vyre_memory_free(&device->allocator, pointers->items,
                     pointers->capacity * sizeof *pointers->items, _Alignof(void *));
    *pointers = (struct vyre_vk_pointers){0};
}

/* A recording may hold a thing several times: what counts is that it is released as often. */
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
    void *parts = take->parts;
    if (!reserve(device, &parts, take->part_count, &take->part_capacity, sizeof(VkCommandBuffer)))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    take->parts = parts;
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

/* Empties a take; its lists and its command pool stay. */
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
    vyre_memory_free(&device->allocator, take->parts, take->part_capacity * sizeof(VkCommandBuffer),
                     _Alignof(void *));
    vyre_vk_transfers_deinit(&take->uploads, &device->allocator);
    vyre_vk_transfers_deinit(&take->downloads, &device->allocator);
    *take = (struct vyre_vk_take){0};
}

static VkResult prepare_pool(struct vyre_vk_device *device, struct vyre_vk_take *take)
{
    if (take->pool)
        return device->vk.ResetCommandPool(device->handle, take->pool, 0);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = device->physical->family};
    VkResult result = device->vk.CreateCommandPool(device->handle, &pool, NULL, &take->pool);
    if (result != VK_SUCCESS)
        take->pool = VK_NULL_HANDLE;
    return result;
}

/* Records the batch once more into a new take. */
static enum vyre_status add_take(struct vyre_vk_device *device, struct vyre_vk_recording *recording,
                                 const struct vyre_batch_view *view,
                                 const struct vyre_batch_plan *plan, struct vyre_diag *diag)
{
    struct vyre_vk_take *take = &recording->takes[recording->take_count];
    take->recording = recording;
    enum vyre_status status = vyre_vk_check(
        prepare_pool(device, take), "vkCreateCommandPool or vkResetCommandPool", view->label, diag);
    if (status == VYRE_OK && recording->region_bytes > 0)
        status = vyre_vk_buffer_make(device, VYRE_VK_MEMORY_STAGING, recording->region_bytes,
                                     view->label, &take->region, diag);
    if (status == VYRE_OK) {
        struct vyre_vk_writer writer = {
            .device = device,
            .view = view,
            .plan = plan,
            .diag = diag,
            .take = take,
            .recording = recording,
        };
        status = vyre_vk_write(&writer);
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

enum vyre_status vyre_vk_record(void *native, const struct vyre_batch_view *view,
                                const struct vyre_batch_plan *plan, uint32_t variant,
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
    if (view->is_chain || (variant & VYRE_VARIANT_SERIAL))
        plan = NULL;
    enum vyre_status status = add_take(device, recording, view, plan, diag);
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

/* ---- Replay ----------------------------------------------------------------------------------- */

static bool is_idle(struct vyre_vk_device *device, const struct vyre_vk_take *take)
{
    return take->last_sequence <=
           atomic_load_explicit(&device->flight.harvested, memory_order_acquire);
}

/* A take whose bytes nobody needs any more. */
static enum vyre_status choose_take(struct vyre_vk_device *device,
                                    const struct vyre_submission *submission,
                                    struct vyre_vk_take **out_take, struct vyre_diag *diag)
{
    struct vyre_vk_recording *recording = submission->recording;
    struct vyre_vk_take *oldest = &recording->takes[0];
    *out_take = oldest;
    if (!recording->moves_bytes)
        return VYRE_OK;
    enum vyre_status status = vyre_vk_check(vyre_vk_harvest(device), "vkGetSemaphoreCounterValue",
                                            submission->view->label, diag);
    for (uint32_t i = 0; status == VYRE_OK && i < recording->take_count; i++) {
        *out_take = &recording->takes[i];
        if (is_idle(device, *out_take))
            return VYRE_OK;
        if ((*out_take)->last_sequence < oldest->last_sequence)
            oldest = *out_take;
    }
    if (status != VYRE_OK)
        return status;
    if (recording->take_count < VYRE_VK_TAKES) {
        const struct vyre_batch_view *view = submission->view;
        struct vyre_batch_plan plan;
        bool planned = !view->is_chain && !(submission->variant & VYRE_VARIANT_SERIAL);
        if (planned)
            status = device->host.plan(device->host.context, view, &plan, diag);
        if (status == VYRE_OK)
            status = add_take(device, recording, view, planned ? &plan : NULL, diag);
        *out_take = &recording->takes[recording->take_count - 1];
        return status;
    }
    *out_take = oldest;
    return vyre_vk_check(vyre_vk_reach(device, oldest->last_value), "vkWaitSemaphores",
                         submission->view->label, diag);
}

/* Whether an upload reads what a download in an earlier part writes: then the parts run one by one. */
static bool parts_meet(const struct vyre_vk_take *take, const struct vyre_batch_view *view)
{
    for (uint32_t i = 0; take->part_count > 1 && i < take->uploads.count; i++) {
        const struct vyre_vk_transfer *upload = &take->uploads.items[i];
        const struct vyre_command *command = &view->commands[upload->command];
        const unsigned char *bytes = command->upload_bytes;
        if (!command->upload_owned && upload->part > 0 &&
            vyre_vk_transfers_meet(&take->downloads, view, bytes + upload->command_bytes,
                                   upload->size_bytes))
            return true;
    }
    return false;
}

/* Runs the parts one by one, with the host's copies between them. */
static VkResult run_parts(struct vyre_vk_device *device, const struct vyre_vk_take *take,
                          const struct vyre_batch_view *view, struct vyre_vk_timer *timer)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t part = 0; result == VK_SUCCESS && part < take->part_count; part++) {
        vyre_vk_copy_in(&take->uploads, view, part);
        result = vyre_vk_queue(device, &take->parts[part], 1, part == 0 ? timer : NULL,
                               part + 1 == take->part_count ? timer : NULL);
        if (result == VK_SUCCESS)
            result = vyre_vk_reach(device, device->next_value - 1);
        if (result == VK_SUCCESS)
            vyre_vk_copy_out(&take->downloads, view, part);
    }
    return result;
}

static enum vyre_status await_borrowed(struct vyre_vk_device *device,
                                       const struct vyre_vk_take *take,
                                       const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < take->uploads.count; i++) {
        const struct vyre_vk_transfer *upload = &take->uploads.items[i];
        const struct vyre_command *command = &view->commands[upload->command];
        if (!command->upload_owned)
            status = vyre_vk_await_downloads(
                device, (const unsigned char *)command->upload_bytes + upload->command_bytes,
                upload->size_bytes, diag);
    }
    return status;
}

enum vyre_status vyre_vk_replay(struct vyre_vk_device *device,
                                const struct vyre_submission *submission, struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    struct vyre_vk_take *take;
    enum vyre_status status = choose_take(device, submission, &take, diag);
    if (status == VYRE_OK)
        status = await_borrowed(device, take, view, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_vk_timer *timer = submission->timed ? vyre_vk_timer_take(device) : NULL;
    bool by_part = parts_meet(take, view);
    const uint64_t first_value = device->next_value;
    VkResult result;
    if (by_part) {
        result = run_parts(device, take, view, timer);
    } else {
        for (uint32_t part = 0; part < take->part_count && take->uploads.count > 0; part++)
            vyre_vk_copy_in(&take->uploads, view, part);
        result = vyre_vk_queue(device, take->parts, take->part_count, timer, timer);
    }
    if (result != VK_SUCCESS &&
        (device->next_value == first_value || result == VK_ERROR_DEVICE_LOST)) {
        vyre_vk_timer_put(device, timer);
        return vyre_vk_check(result, "vkQueueSubmit", view->label, diag);
    }
    /* What has begun is not the caller's to do again: it is in flight, and ends badly. */
    status = vyre_vk_check(result, "vkQueueSubmit", view->label, NULL);
    take->last_sequence = submission->sequence;
    take->last_value = device->next_value - 1;
    const struct vyre_vk_entry entry = {
        .value = take->last_value,
        .view = view,
        .downloads = by_part || status != VYRE_OK ? NULL : &take->downloads,
        .take = take,
        .timer = timer,
        .called_back = submission->called_back,
        .completion = {.sequence = submission->sequence, .status = status},
    };
    vyre_vk_publish(device, &entry);
    return VYRE_OK;
}
