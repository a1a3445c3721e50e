/*
 * opencl_hand.c: see opencl_hand.h.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "opencl_hand.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 128
#define RETIRE_NS  UINT64_C(1000000000) /* a buffer that is refused for longer is broken */

const char hand_source[] = "kernel void lcg(global uint *a, uint c)\n"
                           "{\n"
                           "    size_t i = get_global_id(0);\n"
                           "    a[i] = a[i] * 1664525u + c;\n"
                           "}\n";

#define FUNCTIONS(X)                            \
    X(clGetPlatformIDs)                         \
    X(clGetDeviceIDs)                           \
    X(clGetDeviceInfo)                          \
    X(clGetExtensionFunctionAddressForPlatform) \
    X(clCreateContext)                          \
    X(clReleaseContext)                         \
    X(clCreateCommandQueue)                     \
    X(clReleaseCommandQueue)                    \
    X(clCreateProgramWithSource)                \
    X(clBuildProgram)                           \
    X(clReleaseProgram)                         \
    X(clCreateKernel)                           \
    X(clReleaseKernel)                          \
    X(clSetKernelArg)                           \
    X(clSetKernelArgSVMPointer)                 \
    X(clSVMAlloc)                               \
    X(clSVMFree)                                \
    X(clCreateBuffer)                           \
    X(clReleaseMemObject)                       \
    X(clEnqueueReadBuffer)                      \
    X(clEnqueueWriteBuffer)                     \
    X(clEnqueueNDRangeKernel)                   \
    X(clFlush)                                  \
    X(clFinish)                                 \
    X(clGetEventInfo)                           \
    X(clReleaseEvent)

struct hand_library {
    void *handle;
    size_t device_count;
    cl_device_id devices[HAND_DEVICES_MAX];
    cl_platform_id platforms[HAND_DEVICES_MAX]; /* of each device */
    char names[HAND_DEVICES_MAX][NAME_BYTES];
#define MEMBER(name) cl_api_##name name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

struct command_buffers {
    clCreateCommandBufferKHR_fn create;
    clCommandNDRangeKernelKHR_fn launch;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
};

struct hand_device {
    const struct hand_library *cl; /* Borrowed */
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;                 /* the rows that set arguments as they go */
    cl_kernel kernels[LAUNCHES_MOST]; /* one with the arguments of each launch */
    void *svm;                        /* NULL: `memory` is used */
    cl_mem memory;
    bool has_command_buffers;
    struct command_buffers buffers;
    cl_command_buffer_khr recorded[LAUNCHES_CELLS]; /* made in the round that is not counted */
};

/* ---- The loader ------------------------------------------------------------------------------- */

static bool load(struct hand_library *library)
{
    library->handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return false;
        /* POSIX promises that a function's address fits; memcpy, because ISO C does not convert it. */
#define LOAD(name)                                      \
    {                                                   \
        void *symbol = dlsym(library->handle, #name);   \
        memcpy(&library->name, &symbol, sizeof symbol); \
        if (!symbol)                                    \
            return false;                               \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

static void list_devices(struct hand_library *cl)
{
    cl_platform_id platforms[8];
    cl_uint platform_count = 0;
    if (cl->clGetPlatformIDs(8, platforms, &platform_count) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < platform_count && p < 8; p++) {
        cl_uint count = 0;
        size_t used = cl->device_count;
        if (used == HAND_DEVICES_MAX ||
            cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, (cl_uint)(HAND_DEVICES_MAX - used),
                               &cl->devices[used], &count) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < count && cl->device_count < HAND_DEVICES_MAX; i++) {
            cl->clGetDeviceInfo(cl->devices[cl->device_count], CL_DEVICE_NAME, NAME_BYTES - 1,
                                cl->names[cl->device_count], NULL);
            cl->platforms[cl->device_count++] = platforms[p];
        }
    }
}

struct hand_library *hand_library_open(void)
{
    struct hand_library *library = calloc(1, sizeof *library);
    if (library && load(library)) {
        list_devices(library);
        return library;
    }
    const char *reason = dlerror();
    fprintf(stderr, "bench_opencl: no OpenCL loader: %s\n", reason ? reason : "out of memory");
    hand_library_close(library);
    return NULL;
}

void hand_library_close(struct hand_library *library)
{
    if (library && library->handle)
        dlclose(library->handle);
    free(library);
}

size_t hand_library_devices(const struct hand_library *library)
{
    return library->device_count;
}

const char *hand_library_device_name(const struct hand_library *library, size_t index)
{
    return library->names[index];
}

/* ---- The device ------------------------------------------------------------------------------- */

static bool works(cl_int code, const char *what)
{
    if (code != CL_SUCCESS)
        fprintf(stderr, "bench_opencl: by hand: %s: %d\n", what, code);
    return code == CL_SUCCESS;
}

static bool open_memory(struct hand_device *device)
{
    const struct hand_library *cl = device->cl;
    cl_device_svm_capabilities svm = 0;
    cl_int code = CL_SUCCESS;
    cl->clGetDeviceInfo(device->id, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
    if (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
        device->svm =
            cl->clSVMAlloc(device->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER,
                           LAUNCHES_BUFFER_BYTES, 0);
    if (!device->svm)
        device->memory = cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                            LAUNCHES_BUFFER_BYTES, NULL, &code);
    return works(code, "clCreateBuffer");
}

static bool make_kernel(struct hand_device *device, uint32_t constant, cl_kernel *out_kernel)
{
    const struct hand_library *cl = device->cl;
    cl_int code = CL_SUCCESS;
    *out_kernel = cl->clCreateKernel(device->program, "lcg", &code);
    if (!works(code, "clCreateKernel"))
        return false;
    code = device->svm ? cl->clSetKernelArgSVMPointer(*out_kernel, 0, device->svm)
                       : cl->clSetKernelArg(*out_kernel, 0, sizeof(cl_mem), &device->memory);
    return works(code, "first argument") &&
           works(cl->clSetKernelArg(*out_kernel, 1, sizeof constant, &constant), "constant");
}

static bool open_program(struct hand_device *device)
{
    const struct hand_library *cl = device->cl;
    const char *source = hand_source;
    cl_int code = CL_SUCCESS;
    device->program = cl->clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
    return works(code, "clCreateProgramWithSource") &&
           works(cl->clBuildProgram(device->program, 1, &device->id, "", NULL, NULL),
                 "clBuildProgram");
}

static bool open_objects(struct hand_device *device)
{
    const struct hand_library *cl = device->cl;
    cl_int code = CL_SUCCESS;
    device->context = cl->clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    if (!works(code, "clCreateContext"))
        return false;
    device->queue = cl->clCreateCommandQueue(device->context, device->id, 0, &code);
    if (!works(code, "clCreateCommandQueue") || !open_program(device) || !open_memory(device) ||
        !make_kernel(device, launches_constant(0), &device->kernel))
        return false;
    for (uint32_t k = 0; k < LAUNCHES_MOST; k++) {
        if (!make_kernel(device, launches_constant(k), &device->kernels[k]))
            return false;
    }
    return true;
}

static void find_command_buffers(struct hand_device *device, cl_platform_id platform)
{
    static const char *const names[] = {"clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR",
                                        "clFinalizeCommandBufferKHR", "clEnqueueCommandBufferKHR",
                                        "clReleaseCommandBufferKHR"};
    struct command_buffers *buffers = &device->buffers;
    void *const slots[] = {&buffers->create, &buffers->launch, &buffers->finalize,
                           &buffers->enqueue, &buffers->release};
    char extensions[4096] = "";
    device->cl->clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions,
                                NULL);
    device->has_command_buffers = strstr(extensions, "cl_khr_command_buffer") != NULL;
    for (size_t i = 0; device->has_command_buffers && i < sizeof slots / sizeof slots[0]; i++) {
        void *symbol = device->cl->clGetExtensionFunctionAddressForPlatform(platform, names[i]);
        memcpy(slots[i], &symbol, sizeof symbol);
        device->has_command_buffers = symbol != NULL;
    }
}

struct hand_device *hand_device_open(struct hand_library *library, size_t index)
{
    struct hand_device *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->cl = library;
    device->id = library->devices[index];
    find_command_buffers(device, library->platforms[index]);
    if (!open_objects(device)) {
        hand_device_close(device);
        return NULL;
    }
    return device;
}

void hand_device_close(struct hand_device *device)
{
    const struct hand_library *cl = device->cl;
    for (size_t i = 0; i < LAUNCHES_CELLS; i++) {
        if (device->recorded[i])
            device->buffers.release(device->recorded[i]);
    }
    for (size_t k = 0; k < LAUNCHES_MOST && device->kernels[k]; k++)
        cl->clReleaseKernel(device->kernels[k]);
    if (device->kernel)
        cl->clReleaseKernel(device->kernel);
    if (device->program)
        cl->clReleaseProgram(device->program);
    if (device->memory)
        cl->clReleaseMemObject(device->memory);
    if (device->svm)
        cl->clSVMFree(device->context, device->svm);
    if (device->queue)
        cl->clReleaseCommandQueue(device->queue);
    if (device->context)
        cl->clReleaseContext(device->context);
    free(device);
}

/* ---- The rows --------------------------------------------------------------------------------- */

static cl_int enqueue(const struct hand_device *device, cl_kernel kernel,
                      const struct launches_cell *cell, cl_event *out_event)
{
    const size_t local = LAUNCHES_LOCAL_SIZE;
    const size_t global = (size_t)cell->groups * LAUNCHES_LOCAL_SIZE;
    return device->cl->clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, &local, 0,
                                              NULL, out_event);
}

static cl_int set_constant(const struct hand_device *device, uint32_t launch)
{
    uint32_t constant = launches_constant(launch);
    return device->cl->clSetKernelArg(device->kernel, 1, sizeof constant, &constant);
}

static bool run_finish_each(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *device = state;
    cl_int code = CL_SUCCESS;
    for (uint32_t r = 0; r < repeats; r++) {
        for (uint32_t k = 0; k < cell->launches; k++) {
            code |= enqueue(device, device->kernels[k], cell, NULL);
            code |= device->cl->clFinish(device->queue);
        }
    }
    return works(code, "enqueue and finish");
}

static cl_int poll_event(const struct hand_library *cl, cl_event event)
{
    cl_int state = CL_QUEUED;
    cl_int code = CL_SUCCESS;
    while (code == CL_SUCCESS && state > CL_COMPLETE)
        code = cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                  NULL);
    cl->clReleaseEvent(event);
    return code != CL_SUCCESS ? code : state;
}

static bool run_polled(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *device = state;
    cl_int code = CL_SUCCESS;
    for (uint32_t r = 0; r < repeats && code == CL_SUCCESS; r++) {
        cl_event event = NULL;
        code = enqueue(device, device->kernels[0], cell, &event);
        if (code == CL_SUCCESS)
            code = device->cl->clFlush(device->queue);
        if (event && code == CL_SUCCESS)
            code = poll_event(device->cl, event);
    }
    return works(code, "enqueue and poll");
}

/* P3 waits once for all repeats, P2 after each. */
static bool run_enqueue(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *device = state;
    cl_int code = CL_SUCCESS;
    for (uint32_t r = 0; r < repeats; r++) {
        for (uint32_t k = 0; k < cell->launches; k++) {
            code |= set_constant(device, k);
            code |= enqueue(device, device->kernel, cell, NULL);
        }
        if (cell->pattern == LAUNCHES_P2 || r + 1 == repeats)
            code |= device->cl->clFinish(device->queue);
    }
    return works(code, "enqueue all");
}

static bool run_kernels(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *device = state;
    cl_int code = CL_SUCCESS;
    for (uint32_t r = 0; r < repeats; r++) {
        for (uint32_t k = 0; k < cell->launches; k++)
            code |= enqueue(device, device->kernels[k], cell, NULL);
    }
    code |= device->cl->clFinish(device->queue);
    return works(code, "enqueue set-up kernels");
}

/*
 * A kernel object of its own for each command: PoCL 3.1 takes the arguments when the buffer runs, not
 * when it is recorded, so that one object would give all commands the last constant.
 */
static cl_int record(struct hand_device *device, const struct launches_cell *cell,
                     cl_command_buffer_khr *out_buffer)
{
    const struct command_buffers *buffers = &device->buffers;
    const size_t local = LAUNCHES_LOCAL_SIZE;
    const size_t global = (size_t)cell->groups * LAUNCHES_LOCAL_SIZE;
    cl_int code = CL_SUCCESS;
    *out_buffer = buffers->create(1, &device->queue, NULL, &code);
    for (uint32_t k = 0; k < cell->launches && code == CL_SUCCESS; k++)
        code = buffers->launch(*out_buffer, NULL, NULL, device->kernels[k], 1, NULL, &global,
                               &local, 0, NULL, NULL, NULL);
    return code == CL_SUCCESS ? buffers->finalize(*out_buffer) : code;
}

/*
 * PoCL reports a run as complete a moment before the buffer may run again, and refuses an enqueue in that
 * moment with CL_INVALID_OPERATION (PoCL's pull request 2306 describes it). So the enqueue is tried again.
 */
static cl_int run_recorded(struct hand_device *device, cl_command_buffer_khr buffer)
{
    cl_int code = device->buffers.enqueue(0, NULL, buffer, 0, NULL, NULL);
    if (code == CL_INVALID_OPERATION) {
        uint64_t start_ns = bench_now_ns();
        while (code == CL_INVALID_OPERATION && bench_now_ns() - start_ns < RETIRE_NS) {
            sched_yield();
            code = device->buffers.enqueue(0, NULL, buffer, 0, NULL, NULL);
        }
    }
    return code | device->cl->clFinish(device->queue);
}

/*
 * Waits after each run: a buffer that may be enqueued while it is pending was measured slower on
 * PoCL, and a wait is spread over all launches of the run.
 */
static bool run_command_buffer(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    struct hand_device *device = state;
    cl_command_buffer_khr *kept = &device->recorded[cell->index];
    cl_int code = CL_SUCCESS;
    if (cell->pattern != LAUNCHES_P2 && !*kept)
        code = record(device, cell, kept);
    for (uint32_t r = 0; r < repeats && code == CL_SUCCESS; r++) {
        if (cell->pattern != LAUNCHES_P2) {
            code = run_recorded(device, *kept);
            continue;
        }
        cl_command_buffer_khr buffer = NULL;
        code = record(device, cell, &buffer);
        if (code == CL_SUCCESS)
            code = run_recorded(device, buffer);
        if (buffer)
            device->buffers.release(buffer);
    }
    return works(code, "command buffer");
}

static bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    struct hand_device *device = state;
    if (!device->svm)
        return works(device->cl->clEnqueueWriteBuffer(device->queue, device->memory, CL_TRUE, 0,
                                                      size_bytes, bytes, 0, NULL, NULL),
                     "write");
    memcpy(device->svm, bytes, size_bytes);
    return true;
}

static bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    struct hand_device *device = state;
    if (!device->svm)
        return works(device->cl->clEnqueueReadBuffer(device->queue, device->memory, CL_TRUE, 0,
                                                     size_bytes, out_bytes, 0, NULL, NULL),
                     "read");
    memcpy(out_bytes, device->svm, size_bytes);
    return true;
}

void hand_add_rows(struct hand_device *device, struct launches *launches)
{
    static const struct {
        const char *name;
        unsigned patterns;
        bool (*run)(void *, const struct launches_cell *, uint32_t);
    } rows[] = {
        /* Not in P3, where it would say the same as in P2 in twenty times the time. */
        {HAND_FINISH_EACH, 1u << LAUNCHES_P1 | 1u << LAUNCHES_P2, run_finish_each},
        {HAND_POLLED, 1u << LAUNCHES_P1, run_polled},
        {HAND_ENQUEUE, 1u << LAUNCHES_P2 | 1u << LAUNCHES_P3, run_enqueue},
        {HAND_KERNELS, 1u << LAUNCHES_P3, run_kernels},
        {HAND_COMMAND_BUFFER, LAUNCHES_NOT_REBUILT, run_command_buffer},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct launches_row *row = launches_add(launches);
        *row = (struct launches_row){.name = rows[i].name,
                                     .role = BENCH_BASE,
                                     .patterns = rows[i].patterns,
                                     .state = device,
                                     .run = rows[i].run,
                                     .write = write_bytes,
                                     .read = read_bytes};
        if (rows[i].run == run_command_buffer && !device->has_command_buffers)
            snprintf(row->absent, sizeof row->absent, "the device has no cl_khr_command_buffer");
    }
}
