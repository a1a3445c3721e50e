/*
 * call.h: a cl_kernel with its current arguments.
 *
 * The driver copies the arguments at each enqueue and keeps them in the kernel, so arguments that
 * have not changed since the last launch need not be set again.
 */
#ifndef VYRE_BACKEND_OPENCL_CALL_H
#define VYRE_BACKEND_OPENCL_CALL_H

#include <string.h>

#include <vyre/backend.h>

#include "backend/opencl/loader.h"

struct vyre_cl_device;
struct vyre_cl_kernel;

struct vyre_cl_call {
    cl_kernel native; /* Owned */
    /*
     * Borrowed: what each binding is set to: an address in shared memory, the number of a part of a
     * buffer, or bytes of local memory; 0: not set.
     */
    uint64_t *bound;
    bool has_constants;
    _Alignas(8) unsigned char constants[VYRE_CONSTANTS_BYTES_MAX];
};

/* Makes the cl_kernel. `bound` has room for the kernel's bindings and lives as long as the call. */
VYRE_NODISCARD enum vyre_status vyre_cl_call_init(struct vyre_cl_device *device,
                                                  const struct vyre_cl_kernel *kernel,
                                                  cl_program program, uint64_t *bound,
                                                  struct vyre_cl_call *call,
                                                  struct vyre_diag *diag);
void vyre_cl_call_deinit(struct vyre_cl_device *device, struct vyre_cl_call *call);

/*
 * Sets one binding, if it changed. A table is an address that the caller keeps valid until the
 * launch is over.
 */
cl_int vyre_cl_call_bind(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel,
                         struct vyre_cl_call *call, uint32_t binding,
                         const struct vyre_command_binding *what,
                         const struct vyre_batch_view *view, const void *table);

/* Sets the constants that differ. To be called if has_constants below is false. */
cl_int vyre_cl_call_set_constants(struct vyre_cl_device *device,
                                  const struct vyre_cl_kernel *kernel, struct vyre_cl_call *call,
                                  const void *constants);

/* Whether two blocks of constants are equal. Most are one scalar, which needs no call. */
static inline bool vyre_cl_same_constants(const void *a, const void *b, uint32_t size_bytes)
{
    if (size_bytes == 4)
        return memcmp(a, b, 4) == 0;
    return size_bytes == 8 ? memcmp(a, b, 8) == 0
                           : size_bytes == 0 || memcmp(a, b, size_bytes) == 0;
}

/* Whether the call has these constants already. */
static inline bool vyre_cl_call_has_constants(const struct vyre_cl_call *call,
                                              const void *constants, uint32_t size_bytes)
{
    return size_bytes == 0 ||
           (call->has_constants && vyre_cl_same_constants(call->constants, constants, size_bytes));
}

#endif
