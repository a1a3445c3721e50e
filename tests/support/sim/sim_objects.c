/*
 * sim_objects.c: what is created from devices of the sim: buffers, kernels, recordings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim/sim_internal.h"

/* Objects take their memory from the instance's allocator, so that tests see what is not freed. */
enum { OBJECT_ALIGNMENT = 64 };

static void *take(const struct sim_device *device, size_t size_bytes)
{
    const struct vyre_allocator *allocator = &device->host->allocator;
    void *memory = allocator->allocate(allocator->user, size_bytes, OBJECT_ALIGNMENT);
    if (memory)
        memset(memory, 0, size_bytes);
    return memory;
}

static void give_back(const struct sim_device *device, void *memory, size_t size_bytes)
{
    const struct vyre_allocator *allocator = &device->host->allocator;
    if (memory)
        allocator->deallocate(allocator->user, memory, size_bytes, OBJECT_ALIGNMENT);
}

static enum vyre_status no_memory(struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, "sim", 0, "the sim got no memory");
}

/* ---- Calls that must be alone ----------------------------------------------------------------- */

void sim_call_begin_locked(struct sim_device *device, const char *what)
{
    if (device->call_depth > 0 && !pthread_equal(device->caller, pthread_self()))
        sim_violate(device->sim, "%s was called beside another call of the device", what);
    device->caller = pthread_self();
    device->call_depth++;
}

void sim_call_end_locked(struct sim_device *device)
{
    device->call_depth--;
}

static enum vyre_status begin(struct sim_device *device, enum vyre_sim_entry entry,
                              const char *what, struct vyre_diag *diag)
{
    pthread_mutex_lock(&device->sim->lock);
    sim_call_begin_locked(device, what);
    enum vyre_status status = sim_count_call_locked(device->sim, entry, diag);
    if (status == VYRE_DEVICE_LOST)
        sim_drop_locked(device);
    return status;
}

static void end(struct sim_device *device)
{
    sim_call_end_locked(device);
    pthread_mutex_unlock(&device->sim->lock);
}

static void link_locked(struct sim_device *device, struct sim_object *object,
                        void (*free_memory)(struct sim_device *, struct sim_object *))
{
    object->device = device;
    object->free_memory = free_memory;
    object->next = device->objects;
    object->previous = &device->objects;
    if (object->next)
        object->next->previous = &object->next;
    device->objects = object;
}

/* A caller that destroys an object in use breaks the contract. */
static void retire(void *self, struct sim_object *object, const char *what)
{
    struct sim_device *device = self;
    pthread_mutex_lock(&device->sim->lock);
    sim_call_begin_locked(device, what);
    if (object->device != device)
        sim_violate(device->sim, "%s of another device", what);
    if (object->last_use > device->ended && !device->lost)
        sim_violate(device->sim, "%s while submission %llu uses it", what,
                    (unsigned long long)object->last_use);
    if (object->holders > 0)
        sim_violate(device->sim, "%s while a recording names it", what);
    *object->previous = object->next;
    if (object->next)
        object->next->previous = object->previous;
    object->free_memory(device, object);
    end(device);
}

/* ---- Buffers ---------------------------------------------------------------------------------- */

static void free_buffer(struct sim_device *device, struct sim_object *object)
{
    struct sim_buffer *buffer = (struct sim_buffer *)object;
    give_back(device, buffer->data, buffer->size_bytes);
    give_back(device, buffer, sizeof *buffer);
}

static enum vyre_status buffer_create(void *self, const struct vyre_buffer_desc *desc,
                                      void **out_buffer, void **out_address, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct sim_buffer *buffer = NULL;
    enum vyre_status status = begin(device, VYRE_SIM_BUFFER_CREATE, "buffer_create", diag);
    if (desc->size_bytes == 0 || desc->size_bytes > device->sim->desc.limits.buffer_size_bytes)
        sim_violate(device->sim, "buffer_create with a size of %zu", desc->size_bytes);
    if (status == VYRE_OK) {
        buffer = take(device, sizeof *buffer);
        unsigned char *data = buffer ? take(device, desc->size_bytes) : NULL;
        if (data) {
            buffer->data = data;
            buffer->size_bytes = desc->size_bytes;
            link_locked(device, &buffer->object, free_buffer);
        } else {
            give_back(device, buffer, sizeof *buffer);
            buffer = NULL;
            status = no_memory(diag);
        }
    }
    end(device);
    *out_buffer = buffer;
    *out_address = buffer && !device->sim->desc.no_host_addresses ? buffer->data : NULL;
    return status;
}

static void buffer_destroy(void *self, void *memory)
{
    retire(self, memory, "buffer_destroy");
}

static void check_direct_locked(struct sim_device *device, const struct sim_buffer *buffer,
                                size_t offset_bytes, size_t size_bytes, const char *what)
{
    if (device->submitted != device->ended && !device->lost)
        sim_violate(device->sim, "%s with work in flight", what);
    if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
        sim_violate(device->sim, "%s out of bounds", what);
}

static enum vyre_status buffer_write(void *self, void *memory, size_t offset_bytes,
                                     const void *bytes, size_t size_bytes, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct sim_buffer *buffer = memory;
    enum vyre_status status = begin(device, VYRE_SIM_BUFFER_WRITE, "buffer_write", diag);
    check_direct_locked(device, buffer, offset_bytes, size_bytes, "buffer_write");
    if (status == VYRE_OK)
        memcpy(buffer->data + offset_bytes, bytes, size_bytes);
    end(device);
    return status;
}

static enum vyre_status buffer_read(void *self, void *memory, size_t offset_bytes, void *out_bytes,
                                    size_t size_bytes, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    const struct sim_buffer *buffer = memory;
    enum vyre_status status = begin(device, VYRE_SIM_BUFFER_READ, "buffer_read", diag);
    check_direct_locked(device, buffer, offset_bytes, size_bytes, "buffer_read");
    if (status == VYRE_OK)
        memcpy(out_bytes, buffer->data + offset_bytes, size_bytes);
    end(device);
    return status;
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static void free_kernel(struct sim_device *device, struct sim_object *object)
{
    sim_builds_forget_locked(device, (const struct sim_kernel *)object);
    give_back(device, object, sizeof(struct sim_kernel));
}

void sim_kernels_unbuild_locked(struct sim_device *device)
{
    for (struct sim_object *object = device->objects; object; object = object->next) {
        if (object->free_memory == free_kernel)
            ((struct sim_kernel *)object)->is_built = false;
    }
}

static vyre_host_function *host_function(const struct vyre_kernel_desc *desc)
{
    for (size_t i = 0; i < desc->payload_count; i++) {
        if (desc->payloads[i].target == VYRE_TARGET_HOST)
            return desc->payloads[i].function;
    }
    return NULL;
}

static enum vyre_status kernel_fill(struct sim_kernel *kernel, const struct vyre_kernel_desc *desc,
                                    const struct vyre_binding_plan *plan, struct vyre_diag *diag)
{
    kernel->function = host_function(desc);
    if (!kernel->function)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_NO_PAYLOAD, desc->label, 0,
                             "the sim runs host functions only");
    for (int i = 0; i < 3; i++)
        kernel->local_size[i] = desc->local_size[i] ? desc->local_size[i] : 1;
    kernel->binding_count = (uint32_t)plan->binding_count;
    kernel->scratch_bytes = desc->scratch_bytes;
    snprintf(kernel->label, sizeof kernel->label, "%s", desc->label ? desc->label : "");
    return VYRE_OK;
}

static enum vyre_status kernel_create(void *self, const struct vyre_kernel_desc *desc,
                                      const struct vyre_binding_plan *plan, void **out_kernel,
                                      struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct sim_kernel *kernel = NULL;
    enum vyre_status status = begin(device, VYRE_SIM_KERNEL_CREATE, "kernel_create", diag);
    for (size_t i = 1; i < plan->binding_count; i++) {
        if (plan->bindings[i - 1].slot >= plan->bindings[i].slot)
            sim_violate(device->sim, "kernel_create with bindings out of order");
    }
    if (status == VYRE_OK) {
        kernel = take(device, sizeof *kernel);
        status = kernel ? kernel_fill(kernel, desc, plan, diag) : no_memory(diag);
        if (status == VYRE_OK) {
            link_locked(device, &kernel->object, free_kernel);
        } else {
            give_back(device, kernel, sizeof *kernel);
            kernel = NULL;
        }
    }
    end(device);
    *out_kernel = kernel;
    return status;
}

/* A kernel that is half made: its function is found, its bindings are not known. */
static enum vyre_status kernel_reflect(void *self, const struct vyre_kernel_desc *desc,
                                       void **out_kernel,
                                       struct vyre_kernel_interface *out_interface,
                                       struct vyre_diag *diag)
{
    struct sim_device *device = self;
    (void)desc;
    (void)diag;
    *out_kernel = NULL;
    *out_interface = *device->sim->desc.reflected;
    return VYRE_OK;
}

static void kernel_destroy(void *self, void *memory)
{
    retire(self, memory, "kernel_destroy");
}

/* ---- Recordings ------------------------------------------------------------------------------- */

bool sim_plan_copy(struct sim_plan *out_plan, const struct vyre_batch_plan *plan)
{
    *out_plan = (struct sim_plan){0};
    if (!plan)
        return true;
    size_t node_bytes = plan->node_count * sizeof *plan->nodes;
    size_t segment_bytes = plan->segment_count * sizeof *plan->segments;
    size_t dep_bytes = plan->dep_count * sizeof *plan->deps;
    out_plan->size_bytes = node_bytes + segment_bytes + dep_bytes;
    unsigned char *memory = malloc(out_plan->size_bytes + 1);
    if (!memory)
        return false;
    if (node_bytes)
        memcpy(memory, plan->nodes, node_bytes);
    if (segment_bytes)
        memcpy(memory + node_bytes, plan->segments, segment_bytes);
    if (dep_bytes)
        memcpy(memory + node_bytes + segment_bytes, plan->deps, dep_bytes);
    out_plan->memory = memory;
    out_plan->view = *plan;
    out_plan->view.nodes = (const void *)memory;
    out_plan->view.segments = (const void *)(memory + node_bytes);
    out_plan->view.deps = (const void *)(memory + node_bytes + segment_bytes);
    return true;
}

void sim_plan_free(struct sim_plan *plan)
{
    free(plan->memory);
    *plan = (struct sim_plan){0};
}

/* Notes what the recording names, so that the sim can report what is destroyed first. */
static bool hold(struct sim_recording *recording, const struct vyre_batch_view *view)
{
    uint32_t count = view->command_count + view->range_count;
    recording->held = calloc((size_t)count + 1, sizeof *recording->held);
    if (!recording->held)
        return false;
    for (uint32_t i = 0; i < view->command_count; i++)
        recording->held[i] = view->commands[i].kernel;
    for (uint32_t i = 0; i < view->range_count; i++)
        recording->held[view->command_count + i] = view->ranges[i].buffer;
    recording->held_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (recording->held[i])
            recording->held[i]->holders++;
    }
    return true;
}

static void let_go(const struct sim_recording *recording)
{
    for (uint32_t i = 0; i < recording->held_count; i++) {
        if (recording->held[i])
            recording->held[i]->holders--;
    }
}

static void free_recording(struct sim_device *device, struct sim_object *object)
{
    sim_plan_free(&((struct sim_recording *)object)->plan);
    free(((struct sim_recording *)object)->held);
    give_back(device, object, sizeof(struct sim_recording));
}

static enum vyre_status record_locked(struct sim_device *device, const struct vyre_batch_view *view,
                                      const struct vyre_batch_plan *plan, uint32_t variant,
                                      struct sim_recording **out_recording, struct vyre_diag *diag)
{
    struct vyre_sim *sim = device->sim;
    sim->now_ns += sim_vary_locked(sim, sim->costs.record_ns +
                                            sim->costs.record_command_ns * view->command_count);
    struct sim_recording *recording = take(device, sizeof *recording);
    if (!recording || !sim_plan_copy(&recording->plan, plan) || !hold(recording, view)) {
        if (recording)
            sim_plan_free(&recording->plan);
        give_back(device, recording, sizeof *recording);
        return no_memory(diag);
    }
    recording->shape = sim_shape(view);
    recording->baked = sim_baked(view, sim_bakes(sim, variant));
    recording->variant = variant;
    link_locked(device, &recording->object, free_recording);
    *out_recording = recording;
    return VYRE_OK;
}

static enum vyre_status record(void *self, const struct vyre_batch_view *view, uint32_t variant,
                               void **out_recording, size_t *out_size_bytes, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct vyre_batch_plan memory;
    const struct vyre_batch_plan *plan;
    enum vyre_status planned = sim_ask_for_plan(device, view, &memory, &plan, diag);
    struct sim_recording *recording = NULL;
    size_t size_bytes = device->sim->desc.recording_size_bytes;
    enum vyre_status status = begin(device, VYRE_SIM_RECORD, "record", diag);
    sim_check_view(device, view);
    if (status == VYRE_OK)
        status = planned;
    if (status == VYRE_OK)
        sim_check_plan(device->sim, view, plan);
    if (device->sim->desc.absent[VYRE_ABILITY_REPLAY])
        sim_violate(device->sim, "record without the ability");
    if (status == VYRE_OK)
        status = record_locked(device, view, plan, variant, &recording, diag);
    if (recording && size_bytes == 0)
        size_bytes = sizeof *recording + recording->plan.size_bytes;
    end(device);
    *out_recording = recording;
    *out_size_bytes = recording ? size_bytes : 0;
    return status;
}

static void recording_destroy(void *self, void *memory)
{
    struct sim_device *device = self;
    pthread_mutex_lock(&device->sim->lock);
    let_go(memory);
    pthread_mutex_unlock(&device->sim->lock);
    retire(self, memory, "recording_destroy");
}

void sim_objects_free_locked(struct sim_device *device)
{
    while (device->objects) {
        struct sim_object *object = device->objects;
        device->objects = object->next;
        object->free_memory(device, object);
    }
}

void sim_objects_fill_ops(struct vyre_backend_ops *ops)
{
    ops->buffer_create = buffer_create;
    ops->buffer_destroy = buffer_destroy;
    ops->kernel_create = kernel_create;
    ops->kernel_destroy = kernel_destroy;
    ops->kernel_reflect = kernel_reflect;
    ops->record = record;
    ops->recording_destroy = recording_destroy;
    ops->buffer_write = buffer_write;
    ops->buffer_read = buffer_read;
}
