/*
 * recording.c: recordings.
 */
#include "backend/opencl/recording.h"

#include <string.h>

#include "backend/opencl/arms.h"
#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/kernel.h"
#include "backend/opencl/memory.h"
#include "base/memory.h"

/* How many launches back to look for one with the same bindings. */
#define SHARE_WINDOW 16
/*
 * A list makes up to this many cl_kernels with their constants set. Beyond that, launches that
 * differ only in constants share one.
 */
#define OWN_CALLS_MAX 4096

struct recorded_call {
    uint32_t maker; /* the command that it was made for */
    struct vyre_cl_call call;
};

/* A run of commands in one command buffer, or, without one, a single upload or download. */
struct segment {
    uint32_t first_command;
    uint32_t command_count;
    cl_command_buffer_khr buffer; /* Owned; may be NULL */
};

struct vyre_cl_recording {
    uint32_t command_count;
    uint32_t call_count;
    uint32_t segment_count;
    size_t size_bytes;           /* of this block */
    uint32_t *command_calls;     /* by command: its call */
    uint64_t *bound;             /* of all calls: room for each command's bindings */
    struct recorded_call *calls; /* room for one per command */
    struct segment *segments;    /* DRIVER: the same */
    uint64_t *lanes;             /* by command, if arms run side by side (arms.h); else NULL */
    unsigned char *tables;       /* Owned: shared memory */
    size_t tables_bytes;
    bool driver;
    uint64_t last_sequence;
};

/* ---- Memory ----------------------------------------------------------------------------------- */

static uint32_t count_dispatches(const struct vyre_batch_view *view)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->command_count; i++)
        count += view->commands[i].type == VYRE_COMMAND_DISPATCH;
    return count;
}

/* One block: the recording, calls, segments, lanes, what is bound, indices. */
static struct vyre_cl_recording *allocate(struct vyre_cl_device *device,
                                          const struct vyre_batch_view *view, bool driver,
                                          bool arms)
{
    size_t calls = (size_t)count_dispatches(view) * sizeof(struct recorded_call);
    size_t segments = driver ? (size_t)view->command_count * sizeof(struct segment) : 0;
    size_t indices = driver ? 0 : (size_t)view->command_count * sizeof(uint32_t);
    size_t lanes = arms ? (size_t)view->command_count * sizeof(uint64_t) : 0;
    size_t bound = (size_t)view->binding_count * sizeof(uint64_t);
    size_t size = sizeof(struct vyre_cl_recording) + calls + segments + lanes + bound + indices;
    struct vyre_cl_recording *recording =
        vyre_memory_allocate(&device->allocator, size, _Alignof(struct vyre_cl_recording));
    if (!recording)
        return NULL;
    recording->size_bytes = size;
    recording->command_count = view->command_count;
    recording->driver = driver;
    recording->calls = (struct recorded_call *)(recording + 1);
    recording->segments = (struct segment *)(void *)((unsigned char *)recording->calls + calls);
    unsigned char *behind = (unsigned char *)recording->segments + segments;
    recording->lanes = arms ? (uint64_t *)(void *)behind : NULL;
    recording->bound = (uint64_t *)(void *)(behind + lanes);
    recording->command_calls = (uint32_t *)(void *)(behind + lanes + bound);
    recording->tables_bytes = vyre_cl_tables_bytes(view);
    if (recording->tables_bytes > 0) {
        recording->tables = vyre_cl_shared_allocate(device, recording->tables_bytes, false);
        if (!recording->tables) {
            vyre_memory_free(&device->allocator, recording, size,
                             _Alignof(struct vyre_cl_recording));
            return NULL;
        }
    }
    return recording;
}

void vyre_cl_recording_destroy(void *native, void *native_recording)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_recording *recording = native_recording;
    for (uint32_t i = 0; i < recording->segment_count; i++) {
        if (recording->segments[i].buffer)
            (void)device->command_buffers.release(recording->segments[i].buffer);
    }
    for (uint32_t i = 0; i < recording->call_count; i++)
        vyre_cl_call_deinit(device, &recording->calls[i].call);
    vyre_cl_shared_free(device, recording->tables, recording->tables_bytes);
    vyre_memory_free(&device->allocator, recording, recording->size_bytes,
                     _Alignof(struct vyre_cl_recording));
}

/* ---- Lists ------------------------------------------------------------------------------------ */

/*
 * Whether two dispatches with the same bindings share a call. With different constants each has its
 * own, so that a replay finds them set. Command buffers need this: PoCL 3.1 keeps the kernel's own
 * memory of scalar arguments in them, so setting one again changes what was recorded before.
 */
static bool may_share(const struct vyre_cl_recording *recording, const struct vyre_command *a,
                      const struct vyre_command *b)
{
    return vyre_cl_same_constants(a->constants, b->constants, a->constants_size_bytes) ||
           (!recording->driver && recording->call_count >= OWN_CALLS_MAX);
}

/* Whether two dispatches have the same kernel and bindings; constants may differ. */
static bool is_same_call(const struct vyre_batch_view *view, const struct vyre_command *a,
                         const struct vyre_command *b)
{
    if (a->kernel != b->kernel || a->specialization_count != b->specialization_count ||
        (a->specialization_count &&
         memcmp(a->specialization, b->specialization,
                a->specialization_count * sizeof *a->specialization) != 0))
        return false;
    for (uint32_t i = 0; i < a->binding_count; i++) {
        const struct vyre_command_binding *left = &view->bindings[a->first_binding + i];
        const struct vyre_command_binding *right = &view->bindings[b->first_binding + i];
        if (left->kind != right->kind || left->kind == VYRE_BINDING_TABLE ||
            left->local_bytes != right->local_bytes)
            return false;
        if (left->kind == VYRE_BINDING_LOCAL)
            continue;
        const struct vyre_bound_range *from = &view->ranges[left->first_range];
        const struct vyre_bound_range *to = &view->ranges[right->first_range];
        if (from->identity != to->identity || from->offset_bytes != to->offset_bytes ||
            from->size_bytes != to->size_bytes)
            return false;
    }
    return true;
}

static enum vyre_status make_call(struct vyre_cl_device *device,
                                  struct vyre_cl_recording *recording,
                                  const struct vyre_batch_view *view, uint32_t index,
                                  unsigned char **tables, uint32_t *out_call,
                                  struct vyre_diag *diag)
{
    const struct vyre_command *command = &view->commands[index];
    struct vyre_cl_variant *variant;
    for (uint32_t i = recording->call_count; i-- > 0;) {
        if (recording->call_count - i > SHARE_WINDOW)
            break;
        const struct vyre_command *maker = &view->commands[recording->calls[i].maker];
        if (is_same_call(view, maker, command) && may_share(recording, maker, command)) {
            *out_call = i;
            return VYRE_OK;
        }
    }
    enum vyre_status status =
        vyre_cl_kernel_variant(device, command->kernel, command, &variant, diag);
    struct recorded_call *made = &recording->calls[recording->call_count];
    if (status == VYRE_OK)
        status = vyre_cl_call_init(device, command->kernel, variant->built->program,
                                   recording->bound + command->first_binding, &made->call, diag);
    if (status != VYRE_OK)
        return status;
    made->maker = index;
    *out_call = recording->call_count++;
    cl_int code = vyre_cl_set_arguments(device, &made->call, view, command, tables);
    return code == CL_SUCCESS ? VYRE_OK : vyre_cl_failed(diag, view->label, code, "clSetKernelArg");
}

static enum vyre_status record_list(struct vyre_cl_device *device,
                                    struct vyre_cl_recording *recording,
                                    const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    unsigned char *tables = recording->tables;
    for (uint32_t i = 0; i < view->command_count; i++) {
        if (recording->lanes)
            recording->lanes[i] = vyre_cl_lane(&device->lane_plan, i);
        if (view->commands[i].type != VYRE_COMMAND_DISPATCH)
            continue;
        enum vyre_status status =
            make_call(device, recording, view, i, &tables, &recording->command_calls[i], diag);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

static enum vyre_status replay_list(struct vyre_cl_encoder *encoder,
                                    struct vyre_cl_recording *recording, struct vyre_diag *diag)
{
    struct vyre_cl_device *device = encoder->device;
    const struct vyre_batch_view *view = encoder->view;
    for (uint32_t i = encoder->first; i + 1 <= encoder->last + 1; i++) {
        const struct vyre_command *command = &view->commands[i];
        cl_event *event = vyre_cl_encoder_event(encoder, i);
        cl_int code = CL_SUCCESS;
        if (vyre_cl_is_empty(command))
            continue;
        if (recording->lanes)
            code = vyre_cl_arms_step(encoder, recording->lanes[i]);
        if (code != CL_SUCCESS)
            return vyre_cl_failed(diag, view->label, code, "clEnqueueBarrierWithWaitList");
        if (command->type == VYRE_COMMAND_DISPATCH) {
            const struct vyre_cl_kernel *kernel = command->kernel;
            struct vyre_cl_call *call = &recording->calls[recording->command_calls[i]].call;
            /*
             * A buffer may have replaced the part that a call was made with. An address stays
             * valid.
             */
            if (!device->traits.svm)
                code = vyre_cl_set_arguments(device, call, view, command, NULL);
            else if (!vyre_cl_call_has_constants(call, command->constants,
                                                 kernel->constants_size_bytes))
                code = vyre_cl_call_set_constants(device, kernel, call, command->constants);
            vyre_cl_look_ahead(view, command);
            if (code == CL_SUCCESS)
                code = vyre_cl_encode_kernel(encoder, call->native, kernel, command->groups, event);
        } else {
            code = vyre_cl_encode_transfer(encoder, command, event);
        }
        if (code != CL_SUCCESS)
            return vyre_cl_failed(diag, view->label, code, "a replayed command");
        vyre_cl_encoder_kept(encoder, i, event);
    }
    return VYRE_OK;
}

/* ---- Command buffers -------------------------------------------------------------------------- */

static bool is_host_transfer(const struct vyre_command *command)
{
    return command->type == VYRE_COMMAND_UPLOAD || command->type == VYRE_COMMAND_DOWNLOAD;
}

static cl_int record_transfer(struct vyre_cl_device *device, cl_command_buffer_khr buffer,
                              const struct vyre_batch_view *view,
                              const struct vyre_command *command)
{
    const struct vyre_bound_range *range = &view->ranges[command->first_range];
    const struct vyre_bound_range *target = range + 1;
    cl_mem memory;
    cl_mem to;
    cl_int code = vyre_cl_buffer_memory(device, range->buffer, &memory);
    if (code != CL_SUCCESS)
        return code;
    if (command->type == VYRE_COMMAND_FILL)
        return vyre_cl_command_buffer_fill(device, buffer, memory, command->fill_word,
                                           range->offset_bytes, range->size_bytes);
    code = vyre_cl_buffer_memory(device, target->buffer, &to);
    if (code != CL_SUCCESS)
        return code;
    return vyre_cl_command_buffer_copy(device, buffer, memory, to, range->offset_bytes,
                                       target->offset_bytes, range->size_bytes);
}

static enum vyre_status record_dispatch(struct vyre_cl_device *device,
                                        struct vyre_cl_recording *recording,
                                        cl_command_buffer_khr buffer,
                                        const struct vyre_batch_view *view, uint32_t index,
                                        unsigned char **tables, struct vyre_diag *diag)
{
    const struct vyre_command *command = &view->commands[index];
    const struct vyre_cl_kernel *kernel = command->kernel;
    size_t global[3];
    uint32_t number;
    enum vyre_status status = make_call(device, recording, view, index, tables, &number, diag);
    if (status != VYRE_OK)
        return status;
    for (int i = 0; i < 3; i++)
        global[i] = command->groups[i] * kernel->local_size[i];
    cl_int code =
        device->command_buffers.launch(buffer, NULL, NULL, recording->calls[number].call.native, 3,
                                       NULL, global, kernel->local_size, 0, NULL, NULL, NULL);
    return code == CL_SUCCESS
               ? VYRE_OK
               : vyre_cl_failed(diag, view->label, code, "clCommandNDRangeKernelKHR");
}

/* Records a run of commands; an empty run has no command buffer. */
static enum vyre_status record_segment(struct vyre_cl_device *device,
                                       struct vyre_cl_recording *recording,
                                       const struct vyre_batch_view *view, struct segment *segment,
                                       unsigned char **tables, struct vyre_diag *diag)
{
    const struct vyre_cl_command_buffer_api *api = &device->command_buffers;
    const cl_command_buffer_properties_khr simultaneous[] = {
        CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    cl_int code = CL_SUCCESS;
    segment->buffer =
        api->create(1, &device->queue, api->simultaneous ? simultaneous : NULL, &code);
    if (!segment->buffer)
        return vyre_cl_failed(diag, view->label, code, "clCreateCommandBufferKHR");
    for (uint32_t i = 0; i < segment->command_count; i++) {
        uint32_t index = segment->first_command + i;
        const struct vyre_command *command = &view->commands[index];
        enum vyre_status status = VYRE_OK;
        if (vyre_cl_is_empty(command))
            continue;
        if (command->type == VYRE_COMMAND_DISPATCH) {
            status = record_dispatch(device, recording, segment->buffer, view, index, tables, diag);
        } else {
            code = record_transfer(device, segment->buffer, view, command);
            if (code != CL_SUCCESS)
                status = vyre_cl_failed(diag, view->label, code, "recording a transfer");
        }
        if (status != VYRE_OK)
            return status;
    }
    code = api->finalize(segment->buffer);
    return code == CL_SUCCESS
               ? VYRE_OK
               : vyre_cl_failed(diag, view->label, code, "clFinalizeCommandBufferKHR");
}

static enum vyre_status record_buffers(struct vyre_cl_device *device,
                                       struct vyre_cl_recording *recording,
                                       const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    unsigned char *tables = recording->tables;
    for (uint32_t i = 0; i < view->command_count;) {
        if (vyre_cl_is_empty(&view->commands[i])) {
            i++;
            continue;
        }
        struct segment *segment = &recording->segments[recording->segment_count++];
        *segment = (struct segment){.first_command = i, .command_count = 1};
        bool host = is_host_transfer(&view->commands[i++]);
        while (!host && i < view->command_count && !is_host_transfer(&view->commands[i])) {
            segment->command_count++;
            i++;
        }
        enum vyre_status status =
            host ? VYRE_OK : record_segment(device, recording, view, segment, &tables, diag);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

static enum vyre_status replay_buffers(struct vyre_cl_encoder *encoder,
                                       struct vyre_cl_recording *recording, uint64_t sequence,
                                       struct vyre_diag *diag)
{
    struct vyre_cl_device *device = encoder->device;
    const struct vyre_cl_command_buffer_api *api = &device->command_buffers;
    if (!api->simultaneous && !vyre_cl_has_ended(device, recording->last_sequence)) {
        enum vyre_status status = vyre_cl_drain(device, diag);
        if (status != VYRE_OK)
            return status;
    }
    recording->last_sequence = sequence;
    encoder->first = 0;
    encoder->last = recording->segment_count - 1;
    vyre_cl_encoder_space(encoder);
    for (uint32_t i = 0; i < recording->segment_count; i++) {
        const struct segment *segment = &recording->segments[i];
        cl_event *event = vyre_cl_encoder_event(encoder, i);
        cl_int code = segment->buffer
                          ? api->enqueue(0, NULL, segment->buffer, 0, NULL, event)
                          : vyre_cl_encode_transfer(
                                encoder, &encoder->view->commands[segment->first_command], event);
        if (code != CL_SUCCESS)
            return vyre_cl_failed(diag, encoder->view->label, code, "clEnqueueCommandBufferKHR");
        vyre_cl_encoder_kept(encoder, i, event);
    }
    return VYRE_OK;
}

/* ---- The table's entries ---------------------------------------------------------------------- */

enum vyre_status vyre_cl_record(void *native, const struct vyre_batch_view *view, uint32_t variant,
                                void **out_recording, size_t *out_size_bytes,
                                struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    bool driver = variant & VYRE_VARIANT_DRIVER;
    bool arms;
    enum vyre_status status = vyre_cl_arms_plan(device, view, variant, &arms, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_cl_recording *recording = allocate(device, view, driver, arms);
    if (!recording)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, view->label, 0,
                             "no memory for a recording");
    status = driver ? record_buffers(device, recording, view, diag)
                    : record_list(device, recording, view, diag);
    if (status != VYRE_OK) {
        vyre_cl_recording_destroy(device, recording);
        return vyre_flight_note_loss(&device->flight, status, diag);
    }
    *out_recording = recording;
    *out_size_bytes = recording->size_bytes + recording->tables_bytes;
    return VYRE_OK;
}

enum vyre_status vyre_cl_replay(struct vyre_cl_encoder *encoder,
                                const struct vyre_submission *submission, struct vyre_diag *diag)
{
    struct vyre_cl_recording *recording = submission->recording;
    return recording->driver ? replay_buffers(encoder, recording, submission->sequence, diag)
                             : replay_list(encoder, recording, diag);
}
