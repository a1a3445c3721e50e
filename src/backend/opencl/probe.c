/*
 * probe.c: a kernel that waits for the host, for a while.
 */
#include "backend/opencl/probe.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "backend/opencl/build.h"
#include "backend/opencl/device.h"
#include "backend/opencl/memory.h"
#include "base/clock.h"

#define TRIES         5
#define TRIES_BLOCKED 3 /* each holds up the one who opens the device */
#define POLLS_FIRST \
    UINT32_C(1000000) /* some milliseconds; each further try takes four times as many */
#define WAIT_NS UINT64_C(5000000000)

/* Words of the shared memory, each on its own line. */
enum { WORD_GO = 0, WORD_STARTED = 16, WORD_SEEN = 32, WORD_COUNT = 48 };

/* Numbers as in the enum above. */
static const char source[] =
    "__kernel void vyre_probe(__global uint *words, uint limit)\n"
    "{\n"
    "    volatile __global atomic_uint *go = (volatile __global atomic_uint *)words;\n"
    "    volatile __global atomic_uint *started = (volatile __global atomic_uint *)(words + 16);\n"
    "    volatile __global atomic_uint *seen = (volatile __global atomic_uint *)(words + 32);\n"
    "    atomic_store_explicit(started, 1u, memory_order_release, memory_scope_device);\n"
    "    for (uint polls = 0; polls < limit; polls++) {\n"
    "        if (atomic_load_explicit(go, memory_order_acquire, memory_scope_device) != 0) {\n"
    "            atomic_store_explicit(seen, 1u, memory_order_release, memory_scope_device);\n"
    "            return;\n"
    "        }\n"
    "    }\n"
    "}\n";

enum outcome {
    OUTCOME_NONE,
    OUTCOME_SEEN,
    OUTCOME_BLOCKED,
    OUTCOME_MISSED,
    OUTCOME_FAILED,
    OUTCOME_LATE, /* it may run still */
};

static bool is_over(struct vyre_cl_device *device, cl_event event)
{
    cl_int state = CL_COMPLETE;
    return device->api->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                       &state, NULL) != CL_SUCCESS ||
           state <= CL_COMPLETE;
}

/* One try. An enqueue that comes back when the kernel has ended leaves it nobody to wait for. */
static enum outcome try_once(struct vyre_cl_device *device, cl_kernel kernel,
                             _Atomic uint32_t *words)
{
    const size_t one[3] = {1, 1, 1};
    cl_event event = NULL;
    for (int i = 0; i < WORD_COUNT; i++)
        atomic_store_explicit(&words[i], 0, memory_order_relaxed);
    if (device->api->clEnqueueNDRangeKernel(device->queue, kernel, 3, NULL, one, one, 0, NULL,
                                            &event) != CL_SUCCESS)
        return OUTCOME_FAILED;
    bool blocked = is_over(device, event);
    (void)device->api->clFlush(device->queue);
    uint64_t start_ns = vyre_clock_now_ns();
    while (!is_over(device, event) && vyre_clock_now_ns() - start_ns < WAIT_NS) {
        /* acquire: pairs with the kernel's release. */
        if (atomic_load_explicit(&words[WORD_STARTED], memory_order_acquire))
            atomic_store_explicit(&words[WORD_GO], 1, memory_order_release);
        sched_yield();
    }
    bool over = is_over(device, event);
    (void)device->api->clReleaseEvent(event);
    if (!over)
        return OUTCOME_LATE;
    if (atomic_load_explicit(&words[WORD_SEEN], memory_order_acquire))
        return OUTCOME_SEEN;
    return blocked ? OUTCOME_BLOCKED : OUTCOME_MISSED;
}

static enum outcome try_kernel(struct vyre_cl_device *device)
{
    enum outcome outcome = OUTCOME_FAILED;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_int code;
    size_t bytes = WORD_COUNT * sizeof(uint32_t);
    void *words = vyre_cl_shared_allocate(device, bytes, true);
    if (words && vyre_cl_build_program(device, NULL, source, sizeof source - 1, NULL, &program,
                                       NULL) == VYRE_OK)
        kernel = device->api->clCreateKernel(program, "vyre_probe", &code);
    cl_uint polls = POLLS_FIRST;
    for (int i = 0; kernel && i < TRIES; i++, polls *= 4) {
        if (device->api->clSetKernelArgSVMPointer(kernel, 0, words) != CL_SUCCESS ||
            device->api->clSetKernelArg(kernel, 1, sizeof polls, &polls) != CL_SUCCESS)
            break;
        outcome = try_once(device, kernel, words);
        /* On a busy machine the host may come too late; one compute unit is too few in any case. */
        if (outcome == OUTCOME_SEEN || outcome == OUTCOME_FAILED || outcome == OUTCOME_LATE ||
            device->traits.compute_units == 1 ||
            (outcome == OUTCOME_BLOCKED && i + 1 >= TRIES_BLOCKED))
            break;
    }
    if (kernel)
        (void)device->api->clReleaseKernel(kernel);
    if (program)
        (void)device->api->clReleaseProgram(program);
    if (outcome != OUTCOME_LATE) /* else never: the kernel still looks at them */
        vyre_cl_shared_free(device, words, bytes);
    return outcome;
}

static enum outcome probe(struct vyre_cl_device *device)
{
    _Atomic uint32_t *kept = &device->listed->probed;
    /* Relaxed: two threads that open the device at the same time may both find out. */
    enum outcome outcome = (enum outcome)atomic_load_explicit(kept, memory_order_relaxed);
    if (outcome == OUTCOME_NONE) {
        outcome = try_kernel(device);
        atomic_store_explicit(kept, (uint32_t)outcome, memory_order_relaxed);
    }
    return outcome;
}

uint32_t vyre_cl_probe_resident(struct vyre_cl_device *device, char out_reason[VYRE_REASON_BYTES])
{
    const struct vyre_cl_traits *traits = &device->traits;
    const char *reason = "";
    if (!traits->svm_atomics)
        reason = "the device has no fine-grained shared virtual memory with atomics";
    else if (traits->c_version < 200)
        reason = "the device has no OpenCL C 2.0: no atomics to share with the host";
    else
        switch (probe(device)) {
        case OUTCOME_NONE:
        case OUTCOME_SEEN:
            break;
        case OUTCOME_BLOCKED:
            device->blocking = true;
            reason = "an enqueue returns only when the kernel has ended";
            break;
        case OUTCOME_MISSED:
            reason = "a running kernel does not see what the host writes";
            break;
        case OUTCOME_FAILED:
            reason = "the probe kernel could not be run";
            break;
        case OUTCOME_LATE:
            reason = "the probe kernel did not end in time";
            break;
        }
    if (reason[0] == '\0' && traits->compute_units < 2)
        reason = "one compute unit: a resident kernel would starve everything else";
    snprintf(out_reason, VYRE_REASON_BYTES, "%s", reason);
    return reason[0] ? 0 : traits->compute_units - 1;
}
