/*
 * fake_icd_test.c: the fake driver does what its words say, seen through the real loader. Run with
 * OCL_ICD_VENDORS pointing at the driver alone.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>

#include "support/test.h"

#define FUNCTIONS(X)             \
    X(clGetPlatformIDs)          \
    X(clGetPlatformInfo)         \
    X(clGetDeviceIDs)            \
    X(clGetDeviceInfo)           \
    X(clCreateContext)           \
    X(clReleaseContext)          \
    X(clCreateCommandQueue)      \
    X(clReleaseCommandQueue)     \
    X(clCreateBuffer)            \
    X(clReleaseMemObject)        \
    X(clCreateProgramWithSource) \
    X(clReleaseProgram)          \
    X(clBuildProgram)            \
    X(clGetProgramBuildInfo)     \
    X(clCreateKernel)            \
    X(clReleaseKernel)           \
    X(clGetKernelInfo)           \
    X(clGetKernelArgInfo)        \
    X(clSetKernelArg)            \
    X(clEnqueueNDRangeKernel)    \
    X(clEnqueueReadBuffer)       \
    X(clEnqueueWriteBuffer)      \
    X(clEnqueueFillBuffer)       \
    X(clFinish)                  \
    X(clWaitForEvents)           \
    X(clGetEventInfo)            \
    X(clReleaseEvent)            \
    X(clCreateUserEvent)         \
    X(clEnqueueNativeKernel)

struct loader {
    void *library;
    cl_platform_id platform;
    cl_device_id device;
#define MEMBER(name) cl_api_##name name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static void set_words(const char *words)
{
    assert_int_equal(setenv("FAKE_ICD", words, 1), 0);
}

static int load(void **state)
{
    static struct loader cl;
    set_words("ok");
    cl.library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(cl.library);
    void *symbol = NULL;
#define LOAD(name)                     \
    symbol = dlsym(cl.library, #name); \
    assert_non_null(symbol);           \
    memcpy(&cl.name, &symbol, sizeof symbol);
    FUNCTIONS(LOAD)
#undef LOAD
    cl_uint count = 0;
    assert_int_equal(cl.clGetPlatformIDs(1, &cl.platform, &count), CL_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(cl.clGetDeviceIDs(cl.platform, CL_DEVICE_TYPE_ALL, 1, &cl.device, &count),
                     CL_SUCCESS);
    assert_int_equal(count, 1);
    *state = &cl;
    return 0;
}

static int behave(void **state)
{
    (void)state;
    set_words("ok");
    return 0;
}

/* ---- Queries ---------------------------------------------------------------------------------- */

static size_t name_size(const struct loader *cl)
{
    size_t size = 77;
    assert_int_equal(cl->clGetDeviceInfo(cl->device, CL_DEVICE_NAME, 0, NULL, &size), CL_SUCCESS);
    return size;
}

static void sizes_are_as_asked(void **state)
{
    const struct loader *cl = *state;
    assert_int_equal(name_size(cl), sizeof "Fake device");
    set_words("size-zero");
    assert_int_equal(name_size(cl), 0);
    set_words("size-huge");
    assert_true(name_size(cl) == SIZE_MAX);
    set_words("size-grows");
    size_t first = name_size(cl);
    assert_true(first > sizeof "Fake device");
    assert_true(name_size(cl) > first);
    set_words("size-odd");
    cl_uint units = 0;
    size_t size = 0;
    assert_int_equal(
        cl->clGetDeviceInfo(cl->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, &size),
        CL_SUCCESS);
    assert_int_equal(size, sizeof units + 1);
    assert_int_equal(units, 4);
}

static void text_comes_without_terminator(void **state)
{
    const struct loader *cl = *state;
    char text[32];
    memset(text, '#', sizeof text);
    set_words("svm,unterminated");
    assert_int_equal(cl->clGetDeviceInfo(cl->device, CL_DEVICE_NAME, sizeof text, text, NULL),
                     CL_SUCCESS);
    assert_memory_equal(text, "Fake device##", 13);
}

static void lies_are_limited(void **state)
{
    const struct loader *cl = *state;
    size_t size = 0;
    set_words("size-huge,on-platform,on-kernel");
    assert_int_equal(name_size(cl), sizeof "Fake device");
    assert_int_equal(cl->clGetPlatformInfo(cl->platform, CL_PLATFORM_NAME, 0, NULL, &size),
                     CL_SUCCESS);
    assert_true(size == SIZE_MAX);
}

static void platform_has_no_name(void **state)
{
    const struct loader *cl = *state;
    char text[8] = "before";
    size_t size = 77;
    set_words("null-name");
    assert_int_equal(
        cl->clGetPlatformInfo(cl->platform, CL_PLATFORM_NAME, sizeof text, text, &size),
        CL_SUCCESS);
    assert_int_equal(size, 0);
    assert_string_equal(text, "before");
}

static void queries_fail(void **state)
{
    const struct loader *cl = *state;
    size_t size = 0;
    set_words("info-fails");
    assert_int_equal(cl->clGetDeviceInfo(cl->device, CL_DEVICE_NAME, 0, NULL, &size),
                     CL_OUT_OF_HOST_MEMORY);
}

static void devices_are_as_asked(void **state)
{
    const struct loader *cl = *state;
    cl_device_id device = NULL;
    cl_uint count = 77;
    set_words("no-devices");
    assert_int_equal(cl->clGetDeviceIDs(cl->platform, CL_DEVICE_TYPE_ALL, 1, &device, &count),
                     CL_DEVICE_NOT_FOUND);
    set_words("zero-devices");
    assert_int_equal(cl->clGetDeviceIDs(cl->platform, CL_DEVICE_TYPE_ALL, 1, &device, &count),
                     CL_SUCCESS);
    assert_int_equal(count, 0);
    assert_null(device);
    set_words("many-devices");
    assert_int_equal(cl->clGetDeviceIDs(cl->platform, CL_DEVICE_TYPE_ALL, 1, &device, &count),
                     CL_SUCCESS);
    assert_int_equal(count, UINT32_MAX);
    assert_non_null(device);
}

/* ---- Objects and commands --------------------------------------------------------------------- */

struct objects {
    cl_context context;
    cl_command_queue queue;
    cl_mem memory;
    cl_program program;
    cl_kernel kernel;
    int notified;
};

static void CL_CALLBACK notice(const char *text, const void *bytes, size_t size, void *user)
{
    struct objects *objects = user;
    (void)text;
    (void)bytes;
    (void)size;
    objects->notified++;
}

static void open_objects(const struct loader *cl, struct objects *o)
{
    const char *source = "kernel void k(global uint *a, uint c) { a[get_global_id(0)] += c; }";
    cl_int code = -1;
    *o = (struct objects){0};
    o->context = cl->clCreateContext(NULL, 1, &cl->device, notice, o, &code);
    assert_int_equal(code, CL_SUCCESS);
    o->queue = cl->clCreateCommandQueue(o->context, cl->device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    o->memory = cl->clCreateBuffer(o->context, CL_MEM_READ_WRITE, 256, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    o->program = cl->clCreateProgramWithSource(o->context, 1, &source, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(cl->clBuildProgram(o->program, 1, &cl->device, "", NULL, NULL), CL_SUCCESS);
    o->kernel = cl->clCreateKernel(o->program, "k", &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(cl->clSetKernelArg(o->kernel, 0, sizeof o->memory, &o->memory), CL_SUCCESS);
}

static void close_objects(const struct loader *cl, struct objects *o)
{
    cl->clReleaseKernel(o->kernel);
    cl->clReleaseProgram(o->program);
    cl->clReleaseMemObject(o->memory);
    cl->clReleaseCommandQueue(o->queue);
    cl->clReleaseContext(o->context);
}

static cl_int launch(const struct loader *cl, const struct objects *o, cl_event *out_event)
{
    const size_t size = 64;
    return cl->clEnqueueNDRangeKernel(o->queue, o->kernel, 1, NULL, &size, &size, 0, NULL,
                                      out_event);
}

static void commands_are_complete_at_once(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    uint32_t words[64];
    const uint32_t seven = 7;
    cl_event event = NULL;
    cl_int status = 77;
    open_objects(cl, &o);
    assert_int_equal(cl->clEnqueueFillBuffer(o.queue, o.memory, &seven, sizeof seven, 0,
                                             sizeof words, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(launch(cl, &o, &event), CL_SUCCESS);
    assert_int_equal(cl->clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(
        cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
        CL_SUCCESS);
    assert_int_equal(status, CL_COMPLETE);
    cl->clReleaseEvent(event);
    assert_int_equal(
        cl->clEnqueueReadBuffer(o.queue, o.memory, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(words[63], 7);
    assert_int_equal(o.notified, 0);
    close_objects(cl, &o);
}

static void commands_fail(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    uint32_t word = 0;
    cl_event event = NULL;
    open_objects(cl, &o);
    set_words("enqueue-fails");
    assert_int_equal(launch(cl, &o, NULL), CL_OUT_OF_RESOURCES);
    assert_int_equal(
        cl->clEnqueueWriteBuffer(o.queue, o.memory, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL),
        CL_OUT_OF_RESOURCES);
    set_words("launch-fails");
    assert_int_equal(launch(cl, &o, NULL), CL_OUT_OF_RESOURCES);
    assert_int_equal(
        cl->clEnqueueWriteBuffer(o.queue, o.memory, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL),
        CL_SUCCESS);
    set_words("finish-fails");
    assert_int_equal(cl->clFinish(o.queue), CL_OUT_OF_RESOURCES);
    set_words("event-fails");
    assert_int_equal(launch(cl, &o, &event), CL_SUCCESS);
    assert_int_equal(cl->clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    cl->clReleaseEvent(event);
    close_objects(cl, &o);
}

static void context_callback_is_called(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    open_objects(cl, &o);
    set_words("context-error");
    assert_int_equal(launch(cl, &o, NULL), CL_SUCCESS);
    assert_int_equal(o.notified, 1);
    set_words("context-error,launch-fails");
    assert_int_equal(launch(cl, &o, NULL), CL_OUT_OF_RESOURCES);
    assert_int_equal(o.notified, 2);
    close_objects(cl, &o);
}

static void creation_fails(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    cl_int code = 0;
    open_objects(cl, &o);
    set_words("context-fails");
    assert_null(cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &code));
    assert_int_equal(code, CL_OUT_OF_RESOURCES);
    set_words("queue-fails");
    assert_null(cl->clCreateCommandQueue(o.context, cl->device, 0, &code));
    assert_int_equal(code, CL_OUT_OF_RESOURCES);
    set_words("buffer-fails");
    assert_null(cl->clCreateBuffer(o.context, CL_MEM_READ_WRITE, 256, NULL, &code));
    assert_int_equal(code, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    set_words("kernel-fails");
    assert_null(cl->clCreateKernel(o.program, "k", &code));
    assert_int_equal(code, CL_OUT_OF_RESOURCES);
    set_words("argument-fails");
    assert_int_equal(cl->clSetKernelArg(o.kernel, 0, sizeof o.memory, &o.memory),
                     CL_OUT_OF_RESOURCES);
    close_objects(cl, &o);
}

static void build_fails_with_a_log(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    char log[64] = "";
    open_objects(cl, &o);
    set_words("build-fails");
    assert_int_equal(cl->clBuildProgram(o.program, 1, &cl->device, "", NULL, NULL),
                     CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(cl->clGetProgramBuildInfo(o.program, cl->device, CL_PROGRAM_BUILD_LOG,
                                               sizeof log, log, NULL),
                     CL_SUCCESS);
    assert_contains(log, ":3:");
    close_objects(cl, &o);
}

static void kernel_says_what_it_takes(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    cl_uint count = 0;
    char type[16] = "";
    open_objects(cl, &o);
    assert_int_equal(cl->clGetKernelInfo(o.kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL),
                     CL_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(
        cl->clGetKernelArgInfo(o.kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL),
        CL_SUCCESS);
    assert_string_equal(type, "uint*");
    close_objects(cl, &o);
}

/* Entries that the driver does not have fail instead of crashing. */
static void what_is_missing_fails(void **state)
{
    const struct loader *cl = *state;
    struct objects o;
    cl_int code = 0;
    open_objects(cl, &o);
    assert_null(cl->clCreateUserEvent(o.context, &code));
    assert_int_equal(
        cl->clEnqueueNativeKernel(o.queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
        CL_INVALID_OPERATION);
    close_objects(cl, &o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sizes_are_as_asked, behave),
        cmocka_unit_test_teardown(text_comes_without_terminator, behave),
        cmocka_unit_test_teardown(lies_are_limited, behave),
        cmocka_unit_test_teardown(platform_has_no_name, behave),
        cmocka_unit_test_teardown(queries_fail, behave),
        cmocka_unit_test_teardown(devices_are_as_asked, behave),
        cmocka_unit_test_teardown(commands_are_complete_at_once, behave),
        cmocka_unit_test_teardown(commands_fail, behave),
        cmocka_unit_test_teardown(context_callback_is_called, behave),
        cmocka_unit_test_teardown(creation_fails, behave),
        cmocka_unit_test_teardown(build_fails_with_a_log, behave),
        cmocka_unit_test_teardown(kernel_says_what_it_takes, behave),
        cmocka_unit_test_teardown(what_is_missing_fails, behave),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
