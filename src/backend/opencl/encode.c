/*
 * encode.c: commands onto the queue.
 */
#include "backend/opencl/encode.h"

#include "backend/opencl/arms.h"
#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/kernel.h"
#include "backend/opencl/memory.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/sample.h"

/* ---- Events ----------------------------------------------------------------------------------- */

void vyre_cl_encoder_begin(struct vyre_cl_encoder *encoder, struct vyre_cl_device *device,
                           const struct vyre_submission *submission, struct vyre_cl_entry *entry)
{
    const struct vyre_batch_view *view = submission->view;
    uint32_t first = 0;
    uint32_t end = view->command_count;
    while (first < end && vyre_cl_is_empty(&view->commands[first]))
        first++;
    while (end > first && vyre_cl_is_empty(&view->commands[end - 1]))
        end--;
    *encoder = (struct vyre_cl_encoder){
        .device = device,
        .view = view,
        .entry = entry,
        .first = first,
        .last = end - 1,
        .shows_first = submission->timed && device->desc.device_times,
        .queue = device->queue,
    };
    if (submission->times)
        vyre_cl_sample_begin(encoder, submission);
    encoder->profiled = encoder->shows_first || encoder->sample_count > 0;
    vyre_cl_encoder_space(encoder);
}

void vyre_cl_encoder_space(struct vyre_cl_encoder *encoder)
{
    /* Fewer than MAX before the last one, which always has room. */
    encoder->stride = (encoder->last + 1 - encoder->first) / VYRE_CL_EVENTS_MAX + 1;
    if (encoder->device->blocking) /* no thread watches: what was enqueued has ended */
        encoder->stride = encoder->last + 1 - encoder->first;
    uint32_t next = encoder->first + encoder->stride - 1;
    encoder->next_event = next < encoder->last ? next : encoder->last;
}

void vyre_cl_encoder_keep(struct vyre_cl_encoder *encoder, uint32_t index, const cl_event *event)
{
    struct vyre_cl_entry *entry = encoder->entry;
    const struct vyre_cl_api *api = encoder->device->api;
    if (encoder->shows_first && index == encoder->first && event != &entry->first &&
        api->clRetainEvent(*event) == CL_SUCCESS)
        entry->first = *event;
    cl_event *sample =
        index < encoder->sample_count ? &encoder->device->sample.events[index] : NULL;
    if (sample && event != sample && api->clRetainEvent(*event) == CL_SUCCESS)
        *sample = *event;
    if (event == sample || event == &entry->first)
        return;
    entry->event_count++;
    uint32_t next = index + encoder->stride;
    encoder->next_event = next < encoder->last ? next : encoder->last;
}

cl_event *vyre_cl_encoder_profiled_event(struct vyre_cl_encoder *encoder, uint32_t index)
{
    if (index < encoder->sample_count)
        return &encoder->device->sample.events[index];
    return encoder->shows_first && index == encoder->first ? &encoder->entry->first : NULL;
}

/* ---- Commands --------------------------------------------------------------------------------- */

cl_int vyre_cl_encode_kernel(const struct vyre_cl_encoder *encoder, cl_kernel native,
                             const struct vyre_cl_kernel *kernel, const uint32_t groups[3],
                             cl_event *out_event)
{
    const size_t *local = kernel->local_size;
    const size_t global[3] = {groups[0] * local[0], groups[1] * local[1], groups[2] * local[2]};
    cl_uint dimensions = 3;
    if (global[2] == 1 && !kernel->shows_dimensions)
        dimensions = global[1] == 1 ? 1 : 2;
    return encoder->device->api->clEnqueueNDRangeKernel(encoder->queue, native, dimensions, NULL,
                                                        global, local, 0, NULL, out_event);
}

static cl_int transfer_shared(const struct vyre_cl_encoder *encoder,
                              const struct vyre_command *command, cl_event *out_event)
{
    const struct vyre_cl_api *api = encoder->device->api;
    const struct vyre_batch_view *view = encoder->view;
    cl_command_queue queue = encoder->queue;
    const struct vyre_bound_range *range = &view->ranges[command->first_range];
    const struct vyre_cl_buffer *buffer = range->buffer;
    unsigned char *bytes = buffer->shared + range->offset_bytes;
    size_t size = range->size_bytes;
    if (command->type == VYRE_COMMAND_FILL)
        return api->clEnqueueSVMMemFill(queue, bytes, &command->fill_word,
                                        sizeof command->fill_word, size, 0, NULL, out_event);
    void *to = bytes;
    const void *from = bytes;
    if (command->type == VYRE_COMMAND_COPY) {
        const struct vyre_bound_range *target = range + 1;
        to = ((const struct vyre_cl_buffer *)target->buffer)->shared + target->offset_bytes;
    } else if (command->type == VYRE_COMMAND_UPLOAD) {
        from = command->upload_bytes;
    } else {
        to = command->download_bytes;
    }
    return api->clEnqueueSVMMemcpy(queue, CL_FALSE, to, from, size, 0, NULL, out_event);
}

static cl_int transfer_memory(const struct vyre_cl_encoder *encoder,
                              const struct vyre_command *command, cl_event *out_event)
{
    const struct vyre_cl_api *api = encoder->device->api;
    const struct vyre_batch_view *view = encoder->view;
    cl_command_queue queue = encoder->queue;
    const struct vyre_bound_range *range = &view->ranges[command->first_range];
    cl_mem memory = ((const struct vyre_cl_buffer *)range->buffer)->memory;
    size_t offset = range->offset_bytes;
    size_t size = range->size_bytes;
    if (command->type == VYRE_COMMAND_FILL)
        return api->clEnqueueFillBuffer(queue, memory, &command->fill_word,
                                        sizeof command->fill_word, offset, size, 0, NULL,
                                        out_event);
    if (command->type == VYRE_COMMAND_UPLOAD)
        return api->clEnqueueWriteBuffer(queue, memory, CL_FALSE, offset, size,
                                         command->upload_bytes, 0, NULL, out_event);
    if (command->type == VYRE_COMMAND_DOWNLOAD)
        return api->clEnqueueReadBuffer(queue, memory, CL_FALSE, offset, size,
                                        command->download_bytes, 0, NULL, out_event);
    const struct vyre_bound_range *target = range + 1;
    cl_mem to = ((const struct vyre_cl_buffer *)target->buffer)->memory;
    return api->clEnqueueCopyBuffer(queue, memory, to, offset, target->offset_bytes, size, 0, NULL,
                                    out_event);
}

cl_int vyre_cl_encode_transfer(const struct vyre_cl_encoder *encoder,
                               const struct vyre_command *command, cl_event *out_event)
{
    return encoder->device->traits.svm ? transfer_shared(encoder, command, out_event)
                                       : transfer_memory(encoder, command, out_event);
}

/* ---- Arguments -------------------------------------------------------------------------------- */

size_t vyre_cl_tables_bytes(const struct vyre_batch_view *view)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < view->binding_count; i++) {
        if (view->bindings[i].kind == VYRE_BINDING_TABLE)
            bytes += vyre_cl_table_bytes(&view->bindings[i]);
    }
    return bytes;
}

void vyre_cl_write_table(const struct vyre_batch_view *view,
                         const struct vyre_command_binding *binding, uint64_t *out_addresses)
{
    for (uint32_t i = 0; i < binding->range_count; i++) {
        const struct vyre_bound_range *range = &view->ranges[binding->first_range + i];
        const struct vyre_cl_buffer *buffer = range->buffer;
        out_addresses[i] = (uint64_t)(uintptr_t)(buffer->shared + range->offset_bytes);
    }
}

/* A marker after all that is queued. */
struct marker {
    struct vyre_cl_device *device;
    cl_event event;
    cl_int state;
};

static bool is_reached(void *context)
{
    struct marker *marker = context;
    cl_int code =
        marker->device->api->clGetEventInfo(marker->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof marker->state, &marker->state, NULL);
    if (code != CL_SUCCESS)
        marker->state = code;
    return marker->state <= CL_COMPLETE;
}

/* Counts events of the batch being queued, so that a long batch shows progress. */
static uint64_t count_events(void *context)
{
    struct vyre_cl_device *device = ((struct marker *)context)->device;
    struct vyre_cl_entry *next =
        vyre_flight_at(&device->flight, vyre_flight_submitted(&device->flight) + 1);
    (void)vyre_cl_entry_is_over(device, next);
    return next->events_done;
}

/* Waits until queues and ring are empty. CL_DEVICE_NOT_AVAILABLE: the device is lost. */
static cl_int finish(struct vyre_cl_device *device)
{
    struct marker marker = {.device = device, .state = CL_QUEUED};
    const struct vyre_awaited awaited = {
        .context = &marker,
        .is_over = is_reached,
        .progress = count_events,
        .limit_ns = device->desc.hang_timeout_ns,
    };
    cl_int code = CL_SUCCESS;
    if (vyre_cl_drain(device, NULL) == VYRE_OK &&
        vyre_cl_persistent_settle(device, NULL) != VYRE_OK)
        code = (cl_int)vyre_cl_persistent_failure(device);
    if (vyre_is_lost(&device->flight.loss))
        return CL_DEVICE_NOT_AVAILABLE;
    bool forked = device->forked;
    if (code == CL_SUCCESS && forked)
        code = vyre_cl_arms_join(device, NULL);
    device->forked = forked; /* what follows goes to the side queue again */
    if (code == CL_SUCCESS)
        code = device->api->clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &marker.event);
    if (code != CL_SUCCESS)
        return code;
    (void)device->api->clFlush(device->queue);
    bool over = vyre_flight_await(&device->flight, &awaited);
    (void)device->api->clReleaseEvent(marker.event);
    return over ? marker.state : CL_DEVICE_NOT_AVAILABLE;
}

/* Makes the ring large enough for `size_bytes` at once. Nothing may use it. */
static bool grow_tables(struct vyre_cl_device *device, size_t size_bytes)
{
    struct vyre_cl_tables *tables = &device->tables;
    size_t size = VYRE_CL_TABLES_BYTES;
    while (size < size_bytes)
        size *= 2;
    if (size <= tables->size_bytes)
        return true;
    unsigned char *memory = vyre_cl_shared_allocate(device, size, false);
    if (!memory)
        return false;
    vyre_cl_shared_free(device, tables->memory, tables->size_bytes);
    tables->memory = memory;
    tables->size_bytes = size;
    return true;
}

cl_int vyre_cl_take_tables(struct vyre_cl_device *device, const struct vyre_batch_view *view,
                           const struct vyre_command *command, unsigned char **out_memory)
{
    struct vyre_cl_tables *tables = &device->tables;
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        if (binding->kind == VYRE_BINDING_TABLE)
            size_bytes += vyre_cl_table_bytes(binding);
    }
    *out_memory = vyre_cl_tables_take(tables, size_bytes, 64);
    if (*out_memory)
        return CL_SUCCESS;
    /*
     * After this, nothing is in the encoder, and nothing of this batch is queued, so all of the
     * ring is free.
     */
    cl_int code = tables->memory ? finish(device) : CL_SUCCESS;
    if (code != CL_SUCCESS)
        return code;
    if (!grow_tables(device, size_bytes))
        return CL_OUT_OF_RESOURCES;
    vyre_cl_tables_clear(tables);
    *out_memory = vyre_cl_tables_take(tables, size_bytes, 64);
    return *out_memory ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/* Whether a range in shared memory is already bound, as most are. */
static bool is_bound(const struct vyre_cl_call *call, uint32_t index,
                     const struct vyre_batch_view *view, const struct vyre_command_binding *binding)
{
    if (binding->kind != VYRE_BINDING_RANGE)
        return false;
    const struct vyre_bound_range *range = &view->ranges[binding->first_range];
    const struct vyre_cl_buffer *buffer = range->buffer;
    return buffer->shared &&
           call->bound[index] == (uint64_t)(uintptr_t)(buffer->shared + range->offset_bytes);
}

static bool are_bound(const struct vyre_cl_call *call, const struct vyre_batch_view *view,
                      const struct vyre_command *command)
{
    const struct vyre_command_binding *bindings = &view->bindings[command->first_binding];
    for (uint32_t i = 0; i < command->binding_count; i++) {
        if (!is_bound(call, i, view, &bindings[i]))
            return false;
    }
    return true;
}

cl_int vyre_cl_set_arguments(struct vyre_cl_device *device, struct vyre_cl_call *call,
                             const struct vyre_batch_view *view, const struct vyre_command *command,
                             unsigned char **tables)
{
    const struct vyre_cl_kernel *kernel = command->kernel;
    const struct vyre_command_binding *binding = &view->bindings[command->first_binding];
    unsigned char *taken = NULL;
    for (uint32_t i = 0; i < command->binding_count; i++, binding++) {
        unsigned char *table = NULL;
        cl_int code = CL_SUCCESS;
        if (is_bound(call, i, view, binding))
            continue;
        if (binding->kind == VYRE_BINDING_TABLE) {
            if (!tables) {
                code = vyre_cl_take_tables(device, view, command, &taken);
                tables = &taken;
            }
            if (code != CL_SUCCESS)
                return code;
            table = *tables;
            *tables += vyre_cl_table_bytes(binding);
            vyre_cl_write_table(view, binding, (uint64_t *)(void *)table);
        }
        code = vyre_cl_call_bind(device, kernel, call, i, binding, view, table);
        if (code != CL_SUCCESS)
            return code;
    }
    if (vyre_cl_call_has_constants(call, command->constants, kernel->constants_size_bytes))
        return CL_SUCCESS;
    return vyre_cl_call_set_constants(device, kernel, call, command->constants);
}

/* ---- Batches ---------------------------------------------------------------------------------- */

static enum vyre_status encode_dispatch(struct vyre_cl_encoder *encoder,
                                        const struct vyre_command *command, cl_event *event,
                                        struct vyre_diag *diag)
{
    struct vyre_cl_device *device = encoder->device;
    struct vyre_cl_kernel *kernel = command->kernel;
    struct vyre_cl_variant *variant;
    enum vyre_status status = vyre_cl_kernel_variant(device, kernel, command, &variant, diag);
    if (status != VYRE_OK)
        return status;
    cl_int code = CL_SUCCESS;
    if (!are_bound(&variant->call, encoder->view, command))
        code = vyre_cl_set_arguments(device, &variant->call, encoder->view, command, NULL);
    else if (!vyre_cl_call_has_constants(&variant->call, command->constants,
                                         kernel->constants_size_bytes))
        code = vyre_cl_call_set_constants(device, kernel, &variant->call, command->constants);
    if (code != CL_SUCCESS)
        return vyre_cl_failed(diag, kernel->label, code, "clSetKernelArg");
    vyre_cl_look_ahead(encoder->view, command);
    code = vyre_cl_encode_kernel(encoder, variant->call.native, kernel, command->groups, event);
    if (code != CL_SUCCESS)
        return vyre_cl_failed(diag, kernel->label, code, "clEnqueueNDRangeKernel");
    return VYRE_OK;
}

enum vyre_status vyre_cl_encode(struct vyre_cl_encoder *encoder, uint32_t variant,
                                struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = encoder->view;
    const struct vyre_lane_plan *lanes = &encoder->device->lane_plan;
    bool arms;
    enum vyre_status planned = vyre_cl_arms_plan(encoder->device, view, variant, &arms, diag);
    if (planned != VYRE_OK)
        return planned;
    for (uint32_t i = encoder->first; i + 1 <= encoder->last + 1; i++) {
        const struct vyre_command *command = &view->commands[i];
        cl_event *event = vyre_cl_encoder_event(encoder, i);
        enum vyre_status status = VYRE_OK;
        if (vyre_cl_is_empty(command))
            continue;
        cl_int code = arms ? vyre_cl_arms_step(encoder, vyre_cl_lane(lanes, i)) : CL_SUCCESS;
        if (code != CL_SUCCESS)
            return vyre_cl_failed(diag, view->label, code, "clEnqueueBarrierWithWaitList");
        if (command->type == VYRE_COMMAND_DISPATCH) {
            status = encode_dispatch(encoder, command, event, diag);
        } else {
            code = vyre_cl_encode_transfer(encoder, command, event);
            if (code != CL_SUCCESS)
                status = vyre_cl_failed(diag, view->label, code, "a transfer");
        }
        if (status != VYRE_OK)
            return status;
        vyre_cl_encoder_kept(encoder, i, event);
    }
    return VYRE_OK;
}
