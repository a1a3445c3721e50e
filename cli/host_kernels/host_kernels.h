/*
 * host_kernels.h: the host kernels that workload files can name.
 *
 * They are the CPU payloads of the canonical workloads (examples/workloads), compiled into the tool.
 *
 * Thread-safety: everything here is constant.
 */
#ifndef VYRE_CLI_HOST_KERNELS_H
#define VYRE_CLI_HOST_KERNELS_H

#include <stddef.h>

#include <vyre/kernel.h>

/* NULL: no kernel has that name. */
vyre_host_function *host_kernel_find(const char *name);

/* The names in alphabetical order, for suggestions; NULL past the last one. Static. */
const char *host_kernel_name(size_t index);

#endif
