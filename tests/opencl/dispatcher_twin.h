/*
 * dispatcher_twin.h: kernels of one source, run twice on equal inputs: by plain enqueues of the untouched
 * source and by a resident dispatcher. All buffers must be equal to the byte afterwards.
 */
#ifndef VYRE_TESTS_OPENCL_DISPATCHER_TWIN_H
#define VYRE_TESTS_OPENCL_DISPATCHER_TWIN_H

#include "opencl/dispatcher_host.h"

struct use {
    const char *entry;
    const char
        *arguments; /* g, c: next buffer; l: 512 bytes of local memory; 1, 2, 4, 8: a scalar */
    uint32_t groups[3];
};

struct twin_case {
    const char *source;
    const char *options;
    const char *defines[3];
    uint32_t local_size[3];
    struct use uses[4];
};

/* Where the arguments of a use lie in a slot. */
struct twin_layout {
    struct vyre_cl_argument arguments[12];
    uint32_t count;
    uint32_t addresses;
    uint32_t constants_bytes;
};
struct twin_layout twin_lay_out(const char *arguments);

/* Alone and with others, looped where that is allowed, grouped in any case. `state` is a cl_host. */
void twin_compare_all(void **state, const struct twin_case *twin, bool looped);

/* Set-up and tear-down of a group of tests: a device, as their state. */
int twin_open(void **state);
int twin_close(void **state);

#endif
