/*
 * dispatcher_host.h: a small OpenCL host for tests of generated dispatchers.
 *
 * Runs a kernel by a plain enqueue of the untouched source, and by a resident dispatcher and its ring.
 * Failures of OpenCL end the test.
 */
#ifndef VYRE_TESTS_OPENCL_DISPATCHER_HOST_H
#define VYRE_TESTS_OPENCL_DISPATCHER_HOST_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "support/test.h"

#include "backend/opencl/dispatcher/dispatcher.h"
#include "backend/opencl/dispatcher/ring.h"

struct cl_host {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

struct cl_resident {
    struct cl_host *host;
    cl_program program;
    cl_kernel kernel;
    struct vyre_cl_control *ring; /* fine-grained SVM */
    struct vyre_cl_dispatcher_output output;
    uint32_t groups;
    bool running;
};

#define RING_SLOTS 16u

void host_open(struct cl_host *host);
void host_close(struct cl_host *host);
cl_program host_build(struct cl_host *host, const char *source, size_t size, const char *options);
void *host_memory(struct cl_host *host, size_t size);
void host_free(struct cl_host *host, void *memory);

/* Generates, builds and prepares; the first launch happens with the first item. */
void resident_open(struct cl_resident *resident, struct cl_host *host,
                   const struct vyre_cl_dispatcher_input *input, const char *options);
void resident_close(struct cl_resident *resident);

/* Puts an item into the ring; waits for room. `addresses` and `constants` as the kernel has them. */
uint32_t resident_push(struct cl_resident *resident, uint32_t kernel, const uint32_t groups[3],
                       uint32_t flags, void *const *addresses, uint32_t address_count,
                       const void *constants, size_t constants_bytes);
/* Waits until the item is done, launching the dispatcher as often as it leaves. */
void resident_wait(struct cl_resident *resident, uint32_t item);
/* Waits for the acknowledgement of the exit and for the event of the launch. */
void resident_stop(struct cl_resident *resident);

#endif
