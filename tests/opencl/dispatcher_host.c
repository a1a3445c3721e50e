/*
 * dispatcher_host.c: a small OpenCL host for tests of generated dispatchers.
 */
#include "opencl/dispatcher_host.h"

#include <sched.h>

#define CHECK(call) assert_int_equal((call), CL_SUCCESS)

void host_open(struct cl_host *host)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    *host = (struct cl_host){0};
    CHECK(clGetPlatformIDs(8, platforms, &count));
    for (cl_uint i = 0; i < count && i < 8 && !host->device; i++) {
        cl_device_id devices[8];
        cl_uint device_count = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 8, devices, &device_count))
            continue;
        for (cl_uint d = 0; d < device_count && d < 8 && !host->device; d++) {
            cl_device_svm_capabilities svm = 0;
            clGetDeviceInfo(devices[d], CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
            if ((svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) && (svm & CL_DEVICE_SVM_ATOMICS))
                host->device = devices[d];
        }
    }
    assert_non_null(host->device);
    cl_int error = 0;
    host->context = clCreateContext(NULL, 1, &host->device, NULL, NULL, &error);
    CHECK(error);
    host->queue = clCreateCommandQueueWithProperties(host->context, host->device, NULL, &error);
    CHECK(error);
}

void host_close(struct cl_host *host)
{
    clReleaseCommandQueue(host->queue);
    clReleaseContext(host->context);
}

cl_program host_build(struct cl_host *host, const char *source, size_t size, const char *options)
{
    cl_int error = 0;
    cl_program program = clCreateProgramWithSource(host->context, 1, &source, &size, &error);
    CHECK(error);
    if (clBuildProgram(program, 1, &host->device, options, NULL, NULL) != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, host->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("build failed:\n%s\n%.*s", log, (int)size, source);
    }
    return program;
}

void *host_memory(struct cl_host *host, size_t size)
{
    void *memory = clSVMAlloc(host->context,
                              CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS,
                              size, 128);
    assert_non_null(memory);
    memset(memory, 0, size);
    return memory;
}

void host_free(struct cl_host *host, void *memory)
{
    clSVMFree(host->context, memory);
}

void resident_open(struct cl_resident *resident, struct cl_host *host,
                   const struct vyre_cl_dispatcher_input *input, const char *options)
{
    struct vyre_allocator allocator = {0};
    struct vyre_diag diag = {0};
    *resident = (struct cl_resident){.host = host};
    enum vyre_status status =
        vyre_cl_dispatcher_generate(&allocator, input, &resident->output, &diag);
    if (status != VYRE_OK)
        fail_msg("refused: %s", diag.message);
    resident->program =
        host_build(host, resident->output.source, resident->output.source_bytes, options);
    cl_int error = 0;
    resident->kernel = clCreateKernel(resident->program, "vyre_resident", &error);
    CHECK(error);
    resident->ring = host_memory(host, vyre_cl_ring_bytes(RING_SLOTS));
    /* Close to the end, so that every test sees the counters wrap. */
    vyre_cl_ring_init(resident->ring, RING_SLOTS, 0xfffffffbu);
    resident->ring->idle_polls = 20000;
    resident->ring->lease_turns = 1u << 20;
    resident->groups = input->resident_groups ? input->resident_groups : 1;
    CHECK(clSetKernelArgSVMPointer(resident->kernel, 0, resident->ring));
}

void resident_close(struct cl_resident *resident)
{
    struct vyre_allocator allocator = {0};
    resident_stop(resident);
    host_free(resident->host, resident->ring);
    clReleaseKernel(resident->kernel);
    clReleaseProgram(resident->program);
    vyre_cl_dispatcher_free(&allocator, &resident->output);
}

static void launch(struct cl_resident *resident)
{
    size_t local[3];
    size_t global[3];
    for (size_t i = 0; i < 3; i++)
        global[i] = local[i] = resident->output.launch_local_size[i];
    global[0] *= resident->groups;
    vyre_cl_ring_rearm(resident->ring);
    CHECK(clEnqueueNDRangeKernel(resident->host->queue, resident->kernel, 3, NULL, global, local, 0,
                                 NULL, NULL));
    CHECK(clFlush(resident->host->queue));
    resident->running = true;
}

/* Launches where nothing runs and there is work. Pairs: (F), (H) of ring.h. */
static void keep_running(struct cl_resident *resident)
{
    struct vyre_cl_control *ring = resident->ring;
    if (resident->running &&
        atomic_load_explicit(&ring->exited, memory_order_acquire) == resident->groups)
        resident->running = false;
    if (!resident->running && atomic_load_explicit(&ring->head, memory_order_relaxed) !=
                                  atomic_load_explicit(&ring->completion, memory_order_acquire))
        launch(resident);
}

static bool is_done(const struct cl_resident *resident, uint32_t item)
{
    uint32_t done = atomic_load_explicit(&resident->ring->completion, memory_order_acquire);
    return (int32_t)(done - item) > 0;
}

void resident_wait(struct cl_resident *resident, uint32_t item)
{
    for (uint64_t spins = 0; !is_done(resident, item); spins++) {
        if (spins % 64 == 0)
            keep_running(resident);
        if (spins % 4096 == 4095)
            sched_yield();
        if (spins > (uint64_t)1 << 36)
            fail_msg("the item never ends");
    }
}

uint32_t resident_push(struct cl_resident *resident, uint32_t kernel, const uint32_t groups[3],
                       uint32_t flags, void *const *addresses, uint32_t address_count,
                       const void *constants, size_t constants_bytes)
{
    struct vyre_cl_control *ring = resident->ring;
    uint32_t item = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (item - atomic_load_explicit(&ring->completion, memory_order_acquire) == RING_SLOTS)
        resident_wait(resident, item - RING_SLOTS);
    struct vyre_cl_slot *slot = vyre_cl_ring_slot(ring, item);
    slot->kernel = kernel;
    slot->flags = flags;
    memcpy(slot->groups, groups, sizeof slot->groups);
    slot->group_total = groups[0] * groups[1] * groups[2];
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < address_count; i++) {
        uint64_t address = (uint64_t)(uintptr_t)addresses[i];
        memcpy(slot->payload + 8 * (size_t)i, &address, 8);
    }
    if (constants_bytes)
        memcpy(slot->payload + vyre_cl_slot_constants_offset(address_count), constants,
               constants_bytes);
    atomic_store_explicit(&ring->head, item + 1, memory_order_release); /* (A) */
    keep_running(resident);
    return item;
}

void resident_stop(struct cl_resident *resident)
{
    atomic_store_explicit(&resident->ring->stop, 1, memory_order_relaxed);
    CHECK(clFinish(resident->host->queue));
    if (resident->running)
        assert_int_equal(atomic_load_explicit(&resident->ring->exited, memory_order_acquire),
                         resident->groups);
    resident->running = false;
}
