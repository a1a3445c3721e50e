/*
 * run_opencl.c: a trial through plain OpenCL, in shared virtual memory.
 *
 * Arguments: the pointers by ascending slot, then the constants in order. A pointer is a buffer, the
 * table (an array of 64-bit addresses) or local memory. Specialization values are raw bits in macros
 * VYRE_SPEC_<index>.
 */
#define CL_TARGET_OPENCL_VERSION 200

#include <CL/cl.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/payloads.h"

/* ---- The library ------------------------------------------------------------------------------ */

#define FUNCTIONS(X)                      \
    X(clGetPlatformIDs)                   \
    X(clGetDeviceIDs)                     \
    X(clGetDeviceInfo)                    \
    X(clCreateContext)                    \
    X(clReleaseContext)                   \
    X(clCreateCommandQueueWithProperties) \
    X(clReleaseCommandQueue)              \
    X(clCreateProgramWithSource)          \
    X(clBuildProgram)                     \
    X(clGetProgramBuildInfo)              \
    X(clReleaseProgram)                   \
    X(clCreateKernel)                     \
    X(clReleaseKernel)                    \
    X(clSetKernelArg)                     \
    X(clSetKernelArgSVMPointer)           \
    X(clSetKernelExecInfo)                \
    X(clEnqueueNDRangeKernel)             \
    X(clEnqueueSVMMap)                    \
    X(clEnqueueSVMUnmap)                  \
    X(clSVMAlloc)                         \
    X(clSVMFree)

struct program {
    struct program_key key;
    cl_program program;
    cl_kernel kernel;
};

struct runner {
    void *library;
#define DECLARE(name) __typeof__(name) *name;
    FUNCTIONS(DECLARE)
#undef DECLARE
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    size_t memory_bytes;
    unsigned char *memory; /* mapped between runs */
    struct program programs[RUNNER_PROGRAMS];
    size_t program_count;
};

static bool worked(cl_int status, const char *what)
{
    if (status != CL_SUCCESS)
        fprintf(stderr, "%s: OpenCL error %d\n", what, (int)status);
    return status == CL_SUCCESS;
}

static bool load(struct runner *self)
{
    self->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!self->library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    bool complete = true;
    void *symbol;
#define FIND(name)                               \
    symbol = dlsym(self->library, #name);        \
    memcpy(&self->name, &symbol, sizeof symbol); \
    complete &= symbol != NULL;
    FUNCTIONS(FIND)
#undef FIND
    if (!complete)
        fprintf(stderr, "libOpenCL.so.1 lacks a function\n");
    return complete;
}

/* ---- Opening and closing ---------------------------------------------------------------------- */

static void forget_programs(struct runner *self)
{
    for (size_t i = 0; i < self->program_count; i++) {
        if (self->programs[i].kernel)
            self->clReleaseKernel(self->programs[i].kernel);
        self->clReleaseProgram(self->programs[i].program);
    }
    self->program_count = 0;
}

static void close_runner(void *runner)
{
    struct runner *self = runner;
    if (self->library) {
        forget_programs(self);
        if (self->memory)
            self->clSVMFree(self->context, self->memory);
        if (self->queue)
            self->clReleaseCommandQueue(self->queue);
        if (self->context)
            self->clReleaseContext(self->context);
    }
    free(self); /* the library stays: drivers leave threads behind */
}

static bool map(struct runner *self)
{
    return worked(self->clEnqueueSVMMap(self->queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                        self->memory, self->memory_bytes, 0, NULL, NULL),
                  "clEnqueueSVMMap");
}

static bool open_device(struct runner *self)
{
    cl_platform_id platform;
    cl_int status = self->clGetPlatformIDs(1, &platform, NULL);
    if (!worked(status, "clGetPlatformIDs"))
        return false;
    status = self->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &self->device, NULL);
    if (!worked(status, "clGetDeviceIDs"))
        return false;
    char name[256] = "";
    self->clGetDeviceInfo(self->device, CL_DEVICE_NAME, sizeof name, name, NULL);
    printf("opencl: %s\n", name);
    self->context = self->clCreateContext(NULL, 1, &self->device, NULL, NULL, &status);
    if (!worked(status, "clCreateContext"))
        return false;
    self->queue =
        self->clCreateCommandQueueWithProperties(self->context, self->device, NULL, &status);
    if (!worked(status, "clCreateCommandQueueWithProperties"))
        return false;
    self->memory = self->clSVMAlloc(self->context, CL_MEM_READ_WRITE, self->memory_bytes, 128);
    return worked(self->memory ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "clSVMAlloc") && map(self);
}

static void *open_runner(size_t memory_bytes, const char *argument)
{
    (void)argument;
    struct runner *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->memory_bytes = memory_bytes;
    if (load(self) && open_device(self))
        return self;
    close_runner(self);
    return NULL;
}

static unsigned char *memory_of(void *runner)
{
    return ((struct runner *)runner)->memory;
}

/* ---- Programs --------------------------------------------------------------------------------- */

static bool build(struct runner *self, const struct program_key *key, struct program *out)
{
    const struct subject *subject = key->subject;
    char options[256];
    /* The first line names the version: "// CL1.2". */
    snprintf(options, sizeof options, "-cl-std=%.5s", subject->opencl_c + 3);
    for (uint32_t i = 0; key->specialized && i < subject->specialization_count; i++) {
        size_t used = strlen(options);
        snprintf(options + used, sizeof options - used, " -DVYRE_SPEC_%" PRIu32 "=0x%" PRIx64 "ul",
                 i, key->specialization[i]);
    }
    cl_int status;
    const char *text = subject->opencl_c;
    out->program = self->clCreateProgramWithSource(self->context, 1, &text, NULL, &status);
    if (!worked(status, "clCreateProgramWithSource"))
        return false;
    status = self->clBuildProgram(out->program, 1, &self->device, options, NULL, NULL);
    if (!worked(status, "clBuildProgram")) {
        char log[4096] = "";
        self->clGetProgramBuildInfo(out->program, self->device, CL_PROGRAM_BUILD_LOG,
                                    sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
    } else {
        out->kernel = self->clCreateKernel(out->program, subject->name, &status);
        worked(status, "clCreateKernel");
    }
    if (status != CL_SUCCESS)
        self->clReleaseProgram(out->program);
    return status == CL_SUCCESS;
}

static cl_kernel find_kernel(struct runner *self, const struct subject *subject,
                             const struct trial *trial)
{
    struct program_key key = program_key_of(subject, trial);
    for (size_t i = 0; i < self->program_count; i++)
        if (program_key_equal(&self->programs[i].key, &key))
            return self->programs[i].kernel;
    if (self->program_count == RUNNER_PROGRAMS)
        forget_programs(self);
    struct program *program = &self->programs[self->program_count];
    *program = (struct program){.key = key};
    if (!build(self, &key, program))
        return NULL;
    self->program_count++;
    return program->kernel;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static bool set_arguments(struct runner *self, cl_kernel kernel, const struct subject *subject,
                          const struct trial *trial)
{
    cl_uint argument = 0;
    for (uint32_t i = 0; i < subject->binding_count; i++, argument++) {
        const struct trial_area *area = &trial->areas[i];
        cl_int status = subject->bindings[i].local
                            ? self->clSetKernelArg(kernel, argument, area->size_bytes, NULL)
                            : self->clSetKernelArgSVMPointer(kernel, argument,
                                                             self->memory + area->offset_bytes);
        if (!worked(status, "clSetKernelArg of a binding"))
            return false;
    }
    for (uint32_t i = 0; i < subject->constant_count; i++, argument++) {
        size_t size = subject_scalar_size(subject->constants[i].scalar);
        const void *value = trial->constants + subject_constant_offset(subject, i);
        if (!worked(self->clSetKernelArg(kernel, argument, size, value),
                    "clSetKernelArg of a constant"))
            return false;
    }
    void *pointers[] = {self->memory};
    return worked(
        self->clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers),
        "clSetKernelExecInfo");
}

static bool run(void *runner, const struct subject *subject, const struct trial *trial)
{
    struct runner *self = runner;
    size_t local[3], global[3];
    for (uint32_t i = 0; i < 3; i++) {
        local[i] = subject->local_size[i];
        global[i] = local[i] * trial->groups[i];
    }
    cl_kernel kernel = find_kernel(self, subject, trial);
    if (!kernel)
        return false;
    trial_write_table(subject, trial, (uintptr_t)self->memory, self->memory);
    return worked(self->clEnqueueSVMUnmap(self->queue, self->memory, 0, NULL, NULL),
                  "clEnqueueSVMUnmap") &&
           set_arguments(self, kernel, subject, trial) &&
           worked(self->clEnqueueNDRangeKernel(self->queue, kernel, 3, NULL, global, local, 0, NULL,
                                               NULL),
                  "clEnqueueNDRangeKernel") &&
           map(self);
}

const struct runner_ops opencl_runner = {"opencl", open_runner, memory_of, run, close_runner};
