/*
 * opens_test.c: a thousand opens and closes leave no objects, file descriptors or threads.
 *
 *   opens_test DEVICE      a part of the device's name
 *
 * Every tenth open makes a kernel and runs it, by turns in persistent mode, where the device has that:
 * PoCL reads and hashes the source again for each build, which takes longer than all the rest of an
 * open. The driver stays loaded from the first open on. What it keeps for itself is not looked at; of
 * ours there must be nothing: memory goes through an allocator that counts, and what is made and
 * released of the driver's objects is counted in the table of its functions.
 */
#include <stdatomic.h>

#include <vyre/vyre.h>

#include "backend/opencl/backend.h"
#include "backend/opencl/opencl.h"
#include "support/counting_allocator.h"
#include "support/opens.h"
#include "support/test.h"

#define OPENS            1000
#define KERNEL_EVERY     10
#define PERSISTENT_EVERY 20

static const char source[] = "__kernel void add(__global uint *a, uint c)\n"
                             "{\n"
                             "    a[get_global_id(0)] += c;\n"
                             "}\n";

static const char *device_name;

/* ---- Objects of the driver -------------------------------------------------------------------- */

/* Made and not released. Events are made by many calls; those that we get are counted at each. */
enum object { OBJECT_CONTEXT, OBJECT_QUEUE, OBJECT_PROGRAM, OBJECT_KERNEL, OBJECT_SVM, OBJECTS };

static atomic_int live[OBJECTS];
static struct vyre_cl_api real; /* set before the first device is opened, constant afterwards */

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *user, cl_int *out_code)
{
    cl_context made = real.clCreateContext(properties, count, devices, notify, user, out_code);
    live[OBJECT_CONTEXT] += made != NULL;
    return made;
}

static cl_int CL_API_CALL release_context(cl_context context)
{
    live[OBJECT_CONTEXT]--;
    return real.clReleaseContext(context);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *out_code)
{
    cl_command_queue made = real.clCreateCommandQueue(context, device, properties, out_code);
    live[OBJECT_QUEUE] += made != NULL;
    return made;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    live[OBJECT_QUEUE]--;
    return real.clReleaseCommandQueue(queue);
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **texts,
                                             const size_t *sizes, cl_int *out_code)
{
    cl_program made = real.clCreateProgramWithSource(context, count, texts, sizes, out_code);
    live[OBJECT_PROGRAM] += made != NULL;
    return made;
}

static cl_int CL_API_CALL release_program(cl_program program)
{
    live[OBJECT_PROGRAM]--;
    return real.clReleaseProgram(program);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *out_code)
{
    cl_kernel made = real.clCreateKernel(program, name, out_code);
    live[OBJECT_KERNEL] += made != NULL;
    return made;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    live[OBJECT_KERNEL]--;
    return real.clReleaseKernel(kernel);
}

static void *CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                                   cl_uint alignment)
{
    void *made = real.clSVMAlloc(context, flags, size, alignment);
    live[OBJECT_SVM] += made != NULL;
    return made;
}

static void CL_API_CALL svm_free(cl_context context, void *memory)
{
    live[OBJECT_SVM] -= memory != NULL;
    real.clSVMFree(context, memory);
}

static enum vyre_status enumerate(void *native, struct vyre_device_info *out_infos, size_t capacity,
                                  size_t *out_count, struct vyre_diag *diag)
{
    struct vyre_cl_api *api = &((struct vyre_cl_backend *)native)->api;
    enum vyre_status status = vyre_cl_enumerate(native, out_infos, capacity, out_count, diag);
    if (api->clCreateContext == create_context)
        return status;
    real = *api;
    api->clCreateContext = create_context;
    api->clReleaseContext = release_context;
    api->clCreateCommandQueue = create_queue;
    api->clReleaseCommandQueue = release_queue;
    api->clCreateProgramWithSource = create_program;
    api->clReleaseProgram = release_program;
    api->clCreateKernel = create_kernel;
    api->clReleaseKernel = release_kernel;
    api->clSVMAlloc = svm_alloc;
    api->clSVMFree = svm_free;
    return status;
}

/* ---- Opens ------------------------------------------------------------------------------------ */

static void add_launch(struct vyre_device *device, struct vyre_batch *batch,
                       struct vyre_buffer *buffer)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = "add",
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = buffer}};
    const uint32_t constant = 5;
    struct vyre_kernel *kernel;
    struct vyre_diag diag;
    if (vyre_kernel_create(
            device,
            &(struct vyre_kernel_desc){
                .label = "add", .payloads = &payload, .payload_count = 1, .local_size = {16, 1, 1}},
            &kernel, &diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &constant,
                                                       .constants_size_bytes = 4});
}

/* Opens, works with a callback (which starts a thread), closes. Whether it was in this mode. */
static bool open_and_close(struct vyre_instance *instance, enum vyre_mode mode, bool kernel)
{
    const struct vyre_device_desc desc = {.backend = "counted", .name = device_name};
    struct vyre_device *device;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    uint32_t words[16] = {0};
    enum vyre_status called_with = VYRE_INTERNAL;
    struct vyre_diag diag;
    assert_int_equal(vyre_device_open(instance, &desc, &device, &diag), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(device, &(struct vyre_buffer_desc){.size_bytes = 64}, &buffer, &diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(device, NULL, &batch, &diag), VYRE_OK);
    vyre_batch_fill(batch, (struct vyre_range){.buffer = buffer}, 7);
    if (kernel)
        add_launch(device, batch, buffer);
    vyre_batch_download(batch, (struct vyre_range){.buffer = buffer}, words);
    struct vyre_submit_options options = {
        .mode = mode, .on_complete = test_note_status, .user = &called_with};
    enum vyre_status status = vyre_batch_submit(batch, &options, NULL, &diag);
    vyre_device_close(&device);
    if (status == VYRE_UNSUPPORTED && mode == VYRE_MODE_PERSISTENT)
        return false;
    assert_int_equal(status, VYRE_OK);
    assert_int_equal(called_with, VYRE_OK);
    assert_int_equal(words[15], kernel ? 12 : 7);
    return true;
}

static void thousand_opens_leave_nothing(void **state)
{
    (void)state;
    struct counting_allocator counting = {0};
    struct vyre_backend_ops ops = vyre_opencl_backend_ops;
    struct vyre_instance *instance;
    struct vyre_diag diag;
    ops.name = "counted";
    ops.enumerate = enumerate;
    assert_int_equal(
        vyre_instance_create(
            &(struct vyre_instance_desc){.allocator = counting_allocator_face(&counting)},
            &instance, &diag),
        VYRE_OK);
    assert_int_equal(vyre_instance_register_backend(instance, &ops, &diag), VYRE_OK);
    bool resident = open_and_close(instance, VYRE_MODE_PERSISTENT, true);
    for (int i = 0; i < 4; i++)
        (void)open_and_close(instance, VYRE_MODE_REPLAY, i % 2);
    assert_true(resident || !strstr(device_name, "pthread"));
    size_t files = test_entries_of("/proc/self/fd"), threads = test_entries_of("/proc/self/task");
    long long live_count = counting.live_count;
    for (int i = 0; i < OPENS; i++) {
        enum vyre_mode mode = i % 3 ? VYRE_MODE_REPLAY : VYRE_MODE_PLAIN;
        bool persistent = resident && i % PERSISTENT_EVERY == 0;
        assert_true(open_and_close(instance, persistent ? VYRE_MODE_PERSISTENT : mode,
                                   i % KERNEL_EVERY == 0));
    }
    assert_int_equal(test_entries_of("/proc/self/fd"), files);
    assert_true(test_threads_settle(threads));
    assert_int_equal(counting.live_count, live_count);
    vyre_instance_destroy(&instance);
    assert_int_equal(counting.live_count, 0);
    assert_int_equal(counting.mismatch_count, 0);
    for (int i = 0; i < OBJECTS; i++)
        assert_int_equal(live[i], 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thousand_opens_leave_nothing)};
    device_name = count > 1 ? arguments[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
