/*
 * kernels.h: the parameters and the shape of a kernel, as its source shows them.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_KERNELS_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_KERNELS_H

#include "backend/opencl/dispatcher/program.h"

/* Tokens [first, end). */
struct vyre_cl_span {
    uint32_t first;
    uint32_t end;
};

/* The tokens of one parameter; the last is its name. `index` is below the number of parameters. */
struct vyre_cl_span vyre_cl_kernel_parameter(const struct vyre_cl_program *program,
                                             const struct vyre_cl_function *function, size_t index);

/* Finds what is in the parentheses of reqd_work_group_size. */
bool vyre_cl_kernel_shape(const struct vyre_cl_program *program,
                          const struct vyre_cl_function *function, struct vyre_cl_span *out);

#endif
