/*
 * driver_hooks.c: the hooks, and a device with them.
 */
#include "opencl/driver_hooks.h"

#include <unistd.h>

#include "backend/opencl/ring_host.h"

struct hooks hooks;
const char *hooks_device_name;

const char hooks_two_source[] =
    "__kernel void one(__global uint *o) { o[get_global_id(0)] = 1; }\n"
    "__kernel void two(__global uint *o) { o[get_global_id(0)] = 2; }\n";

/* ---- Hooks ------------------------------------------------------------------------------------ */

static bool is_ours(void)
{
    return pthread_equal(pthread_self(), hooks.thread) && hooked_device;
}

static cl_int CL_API_CALL enqueue_launch(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *out_event)
{
    hooks.launches += hooked_is_dispatcher_queue(queue);
    if (hooked_is_dispatcher_queue(queue) && is_ours()) {
        const struct vyre_cl_persistent *persistent = hooked_device->persistent;
        if (hooks.failing_launches > 0) {
            hooks.failing_launches--;
            return CL_OUT_OF_RESOURCES;
        }
        if (queue == persistent->queue &&
            (!persistent->current || persistent->current->native != kernel))
            hooks.launches_on_items += atomic_load(&persistent->control->head) !=
                                       atomic_load(&persistent->control->completion);
    }
    return hooked_real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                              wait_count, waits, out_event);
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *out,
                                     size_t *out_size)
{
    cl_int code = hooked_real.clGetEventInfo(event, what, size, out, out_size);
    cl_int *state = out;
    if (code != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS)
        return code;
    if (hooks.events_run)
        *state = CL_RUNNING;
    if (!is_ours() || !hooked_device->persistent)
        return code;
    if (hooks.events_fail && event == hooked_device->persistent->trial.launched &&
        *state == CL_COMPLETE) /* then no other thread builds */
        *state = CL_OUT_OF_RESOURCES;
    if (event == hooked_device->persistent->launched && hooks.submitting &&
        vyre_lock_try(&hooked_device->persistent->lock)) {
        vyre_lock_release(&hooked_device->persistent->lock);
        hooks.unlocked_looks++;
    }
    return code;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user)
{
    hooks.builds++;
    return hooked_real.clBuildProgram(program, count, devices, options, notify, user);
}

static void *CL_API_CALL shared_allocate(cl_context context, cl_svm_mem_flags flags, size_t size,
                                         cl_uint alignment)
{
    hooks.last_shared = hooked_real.clSVMAlloc(context, flags, size, alignment);
    return hooks.last_shared;
}

static void CL_API_CALL shared_free(cl_context context, void *memory)
{
    hooks.shared_frees++;
    hooked_real.clSVMFree(context, memory);
}

static cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void *value)
{
    if (hooks.submitting && hooks.released_flag && hooked_device->persistent->current)
        atomic_store(hooks.released_flag, 1);
    return hooked_real.clSetKernelArgSVMPointer(kernel, index, value);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                       const void *value)
{
    if (hooks.scalar_bytes != 0 && value && size != hooks.scalar_bytes)
        return CL_INVALID_ARG_SIZE;
    return hooked_real.clSetKernelArg(kernel, index, size, value);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *user, cl_int *out_code)
{
    hooks.notify = notify;
    hooks.notify_user = user;
    return hooked_real.clCreateContext(properties, count, devices, notify, user, out_code);
}

static void install(struct vyre_cl_api *api)
{
    api->clEnqueueNDRangeKernel = enqueue_launch;
    api->clGetEventInfo = event_info;
    api->clBuildProgram = build;
    api->clSVMAlloc = shared_allocate;
    api->clSVMFree = shared_free;
    api->clSetKernelArgSVMPointer = set_pointer;
    api->clSetKernelArg = set_argument;
    api->clCreateContext = create_context;
}

/* ---- The device ------------------------------------------------------------------------------- */

static void on_log(void *user, enum vyre_log_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
    hooks.messages++;
}

/* What is freed stays readable, so that a look at it is seen by what it does. */
static void *allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
}

static void keep(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    (void)user;
    (void)memory;
    (void)size_bytes;
    (void)alignment;
}

void hooks_open_observed(struct fixture *f, struct vyre_device_desc desc,
                         const struct vyre_observer *observer)
{
    struct vyre_instance_desc instance = {.log = on_log, .observer = observer};
    instance.allocator = (struct vyre_allocator){.allocate = allocate, .deallocate = keep};
    hooks.thread = pthread_self();
    fixture_open_in(f, &instance, hooks_device_name, desc, install);
}

void hooks_open(struct fixture *f, struct vyre_device_desc desc)
{
    hooks_open_observed(f, desc, NULL);
}

int hooks_forget(void **state)
{
    (void)state;
    memset(&hooks, 0, sizeof hooks);
    hooked_no_svm = false;
    return 0;
}

struct vyre_kernel *hooks_kernel(struct fixture *f, const char *source, const char *entry)
{
    return fixture_kernel(f, source, entry, (struct vyre_kernel_desc){.local_size = {8, 1, 1}});
}

enum vyre_status hooks_run(struct fixture *f, enum vyre_mode mode)
{
    const struct vyre_submit_options options = {.mode = mode};
    struct vyre_ticket ticket;
    hooks.submitting = true;
    enum vyre_status status = vyre_batch_submit(f->batch, &options, &ticket, &f->diag);
    hooks.submitting = false;
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    return status;
}

void hooks_dispatch(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer)
{
    vyre_batch_reset(f->batch);
    fixture_dispatch(f, kernel, buffer, (struct vyre_dispatch){0});
}

void hooks_expect_word(struct fixture *f, struct vyre_buffer *buffer, uint32_t expected)
{
    assert_int_equal(fixture_word(f, buffer), expected);
}

bool hooks_start(int argc, char **argv)
{
    if (argc != 2)
        return false;
    hooks_device_name = argv[1];
    (void)alarm(1200);
    return true;
}
