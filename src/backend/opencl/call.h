/*
 * call.h: a cl_kernel together with the arguments that it has now.
 *
 * The driver takes a copy of the arguments at each enqueue and keeps them in the kernel: what has not
 * changed since the last launch need not be set again.
 */
#ifndef VYRE_BACKEND_OPENCL_CALL_H
#define VYRE_BACKEND_OPENCL_CALL_H

#include <vyre/backend.h>

#include "backend/opencl/loader.h"

struct vyre_cl_device;
struct vyre_cl_kernel;

struct vyre_cl_call {
    cl_kernel native; /* Owned */
    /*
     * By binding, what it is set to: an address in shared memory, the number of a part of a buffer, or
     * bytes of local memory; 0: not set.
     */
    uint64_t bound[VYRE_KERNEL_BINDINGS_MAX];
    bool has_constants;
    unsigned char constants[VYRE_CONSTANTS_BYTES_MAX];
};

/* Makes the cl_kernel. */
VYRE_NODISCARD enum vyre_status vyre_cl_call_init(struct vyre_cl_device *device,
                                                  const struct vyre_cl_kernel *kernel,
                                                  cl_program program, struct vyre_cl_call *call,
                                                  struct vyre_diag *diag);
void vyre_cl_call_deinit(struct vyre_cl_device *device, struct vyre_cl_call *call);

/*
 * Sets one binding, if it is another than before. Tables are given as an address that the caller keeps
 * until the launch is over.
 */
cl_int vyre_cl_call_bind(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel,
                         struct vyre_cl_call *call, uint32_t binding,
                         const struct vyre_command_binding *what,
                         const struct vyre_batch_view *view, const void *table);

/* Sets the constants that differ. */
cl_int vyre_cl_call_set_constants(struct vyre_cl_device *device,
                                  const struct vyre_cl_kernel *kernel, struct vyre_cl_call *call,
                                  const void *constants);

#endif
