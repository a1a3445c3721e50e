/*
 * probe.c: a kernel that waits for the host, for a while.
 *
 * The load of the machine must not decide anything: the host or the kernel may lose its core at any
 * time. So each finding needs proof from what happened. Without proof the kernel runs again and
 * waits four times as long:
 *
 *   seen      the kernel saw a word that the host wrote after the enqueue and after the kernel's start
 *   blocked   the kernel ran on the stack of the thread that enqueued it, and was over when the enqueue
 *             returned. An enqueue that merely returns late leaves it on another stack
 *   inside    the same in a later call
 *   missed    the kernel read the word many times after it was written, and did not see it
 *
 * These hold permanently and are kept in the instance. Everything else holds for this open only.
 */
#include "backend/opencl/probe.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/build.h"
#include "backend/opencl/device.h"
#include "backend/opencl/memory.h"
#include "base/clock.h"

#define TRIES        5
#define POLLS_FIRST  UINT32_C(1000000) /* some milliseconds */
#define POLLS_MISSED UINT32_C(250000)  /* after the word was written: as good as never */
/* The driver never ends the kernel: no sign of life for this long, and in this many looks. */
#define QUIET_NS    UINT64_C(5000000000)
#define QUIET_LOOKS 1000

/* Words of the shared memory, each on its own line. */
enum {
    WORD_GO = 0,       /* by the host, once it has seen that the kernel runs */
    WORD_STARTED = 16, /* by the kernel */
    WORD_POLLS = 32,   /* how often it looked, written now and then */
    WORD_ENDED = 48,   /* ENDED_: the last word that it writes */
    WORD_STACK = 64,   /* two words: the address of one of its own variables */
    WORD_COUNT = 80,
};

enum { ENDED_ALONE = 1, ENDED_TOLD = 2 };

/* The numbers are those of the enums above. */
static const char source[] =
    "#define WORD(n) ((volatile __global atomic_uint *)(words + n))\n"
    "#define SET(n, x) atomic_store_explicit(WORD(n), x, memory_order_release, "
    "memory_scope_device)\n"
    "__kernel void vyre_probe(__global uint *words, uint limit)\n"
    "{\n"
    "    volatile uint mine = limit;\n"
    "    uint polls = 0, released = 0;\n"
    "    *(volatile __global ulong *)(words + 64) = (ulong)(uintptr_t)&mine;\n"
    "    SET(16, 1u);\n"
    "    while (polls < limit && !released) {\n"
    "        if (polls % 1024u == 0)\n"
    "            SET(32, polls);\n"
    "        released = atomic_load_explicit(WORD(0), memory_order_acquire, memory_scope_device);\n"
    "        polls++;\n"
    "    }\n"
    "    SET(32, polls);\n"
    "    SET(48, released ? 2u : 1u);\n"
    "}\n";

enum outcome {
    OUTCOME_NONE,
    OUTCOME_SEEN,
    OUTCOME_BLOCKED,
    OUTCOME_INSIDE,
    OUTCOME_MISSED,
    OUTCOME_PROVEN = OUTCOME_MISSED, /* the last one with a proof */
    OUTCOME_UNSURE,
    OUTCOME_FAILED,
    OUTCOME_LATE, /* it may still run */
};

/* Waiting for the end of one kernel. */
struct watch {
    struct vyre_cl_device *device;
    cl_event event;
    _Atomic uint32_t *words;
    cl_int state;         /* of the event */
    uint32_t life;        /* changes while the kernel makes progress */
    uint64_t quiet_since; /* ns */
    uint32_t quiet_looks;
    bool released;     /* the host wrote WORD_GO ... */
    uint32_t polls_at; /* ... and how often the kernel had looked by then */
};

/* acquire: pairs with the kernel's releases. */
static uint32_t word(const struct watch *watch, int index)
{
    return atomic_load_explicit(&watch->words[index], memory_order_acquire);
}

/* False if the driver does not answer. */
static bool look(struct watch *watch)
{
    return watch->device->api->clGetEventInfo(watch->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof watch->state, &watch->state,
                                              NULL) == CL_SUCCESS;
}

/* Whether to keep waiting. */
static bool is_patient(struct watch *watch)
{
    uint32_t life = word(watch, WORD_POLLS) + word(watch, WORD_STARTED) + word(watch, WORD_ENDED) +
                    (uint32_t)watch->state;
    if (life != watch->life || watch->quiet_looks == 0) {
        watch->life = life;
        watch->quiet_since = vyre_clock_now_ns();
        watch->quiet_looks = 0;
    }
    return watch->quiet_looks++ < QUIET_LOOKS ||
           vyre_clock_now_ns() - watch->quiet_since < QUIET_NS;
}

/* Signals the kernel, once it runs, and waits for its end. False if the end was not seen. */
static bool await_end(struct watch *watch)
{
    bool answered = look(watch);
    while (answered && watch->state > CL_COMPLETE && is_patient(watch)) {
        if (!watch->released && word(watch, WORD_STARTED)) {
            /* seq_cst: the look after it counts only polls from before the word was written. */
            (void)atomic_exchange_explicit(&watch->words[WORD_GO], 1, memory_order_seq_cst);
            watch->released = true;
            watch->polls_at = word(watch, WORD_POLLS);
        }
        sched_yield();
        answered = look(watch);
    }
    return answered && watch->state <= CL_COMPLETE;
}

/* Whether the kernel's own variable was on the stack of this thread, which then ran it itself. */
static bool ran_here(const struct watch *watch)
{
    pthread_attr_t attributes;
    uint64_t address;
    void *stack = NULL;
    size_t size = 0;
    memcpy(&address, (const void *)&watch->words[WORD_STACK], sizeof address);
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    bool known = pthread_attr_getstack(&attributes, &stack, &size) == 0;
    (void)pthread_attr_destroy(&attributes);
    return known && address - (uint64_t)(uintptr_t)stack < size;
}

/* What the kernel's run proves, `inside` the enqueue or not. */
static enum outcome judge(const struct watch *watch, bool inside)
{
    if (watch->state < CL_COMPLETE || word(watch, WORD_ENDED) == 0)
        return OUTCOME_FAILED;
    if (word(watch, WORD_ENDED) == ENDED_TOLD)
        return OUTCOME_SEEN;
    if (ran_here(watch))
        return inside ? OUTCOME_BLOCKED : OUTCOME_INSIDE;
    if (watch->released && word(watch, WORD_POLLS) - watch->polls_at >= POLLS_MISSED)
        return OUTCOME_MISSED;
    return OUTCOME_UNSURE;
}

static enum outcome try_once(struct vyre_cl_device *device, cl_kernel kernel,
                             _Atomic uint32_t *words)
{
    const size_t one[3] = {1, 1, 1};
    struct watch watch = {.device = device, .words = words, .state = CL_QUEUED};
    for (int i = 0; i < WORD_COUNT; i++)
        atomic_store_explicit(&words[i], 0, memory_order_relaxed);
    if (device->api->clEnqueueNDRangeKernel(device->queue, kernel, 3, NULL, one, one, 0, NULL,
                                            &watch.event) != CL_SUCCESS)
        return OUTCOME_FAILED;
    bool inside = word(&watch, WORD_ENDED) != 0 && look(&watch) && watch.state == CL_COMPLETE;
    (void)device->api->clFlush(device->queue);
    bool ended = await_end(&watch);
    (void)device->api->clReleaseEvent(watch.event);
    return ended ? judge(&watch, inside) : OUTCOME_LATE;
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
        outcome = OUTCOME_FAILED;
        if (device->api->clSetKernelArgSVMPointer(kernel, 0, words) == CL_SUCCESS &&
            device->api->clSetKernelArg(kernel, 1, sizeof polls, &polls) == CL_SUCCESS)
            outcome = try_once(device, kernel, words);
        /* One compute unit is too few in any case. */
        if (outcome != OUTCOME_UNSURE || device->traits.compute_units == 1)
            break;
    }
    if (kernel)
        (void)device->api->clReleaseKernel(kernel);
    if (program)
        (void)device->api->clReleaseProgram(program);
    if (outcome != OUTCOME_LATE) /* else never: the kernel may still read them */
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
        if (outcome <= OUTCOME_PROVEN)
            atomic_store_explicit(kept, (uint32_t)outcome, memory_order_relaxed);
    }
    return outcome;
}

static const char *reason_of(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_NONE:
    case OUTCOME_SEEN:
        break;
    case OUTCOME_BLOCKED:
        return "an enqueue returns only when the kernel has ended";
    case OUTCOME_INSIDE:
        return "a kernel runs inside the host's calls";
    case OUTCOME_MISSED:
        return "a running kernel does not see what the host writes";
    case OUTCOME_UNSURE:
        return "not sure that a kernel runs beside the host: busy machine? Open the device again";
    case OUTCOME_FAILED:
        return "the probe kernel could not be run";
    case OUTCOME_LATE:
        return "the probe kernel did not end in time";
    }
    return "";
}

uint32_t vyre_cl_probe_resident(struct vyre_cl_device *device, char out_reason[VYRE_REASON_BYTES])
{
    const struct vyre_cl_traits *traits = &device->traits;
    const char *reason = "";
    if (!traits->svm_atomics)
        reason = "the device has no fine-grained shared virtual memory with atomics";
    else if (traits->c_version < 200)
        reason = "the device has no OpenCL C 2.0: no atomics to share with the host";
    else {
        enum outcome outcome = probe(device);
        device->blocking = outcome == OUTCOME_BLOCKED;
        reason = reason_of(outcome);
        if (traits->compute_units < 2 && (outcome == OUTCOME_SEEN || outcome == OUTCOME_UNSURE))
            reason = "one compute unit: a resident kernel would starve everything else";
    }
    snprintf(out_reason, VYRE_REASON_BYTES, "%s", reason);
    return reason[0] ? 0 : traits->compute_units - 1;
}
