/*
 * resident.h: dispatcher programs and the kernels that they serve.
 *
 * A dispatcher is made for one build, one local size and the local memory that its kernels are given.
 * It is compiled and launched once, with nothing to do, when it is made: what is left for its first use
 * is a launch.
 *
 * Thread-safety: called under the device's lock.
 */
#ifndef VYRE_BACKEND_OPENCL_RESIDENT_H
#define VYRE_BACKEND_OPENCL_RESIDENT_H

#include <vyre/backend.h>

#include "backend/opencl/dispatcher/dispatcher.h"
#include "backend/opencl/kernel.h"

#define VYRE_CL_RESIDENTS_MAX       64
#define VYRE_CL_RESIDENT_LOCALS_MAX 8

struct vyre_cl_served {
    const struct vyre_cl_kernel *kernel; /* Borrowed; NULL once it is destroyed */
    uint32_t local_bytes[VYRE_CL_RESIDENT_LOCALS_MAX];
    cl_kernel single; /* Owned: of the user's program, for fallback.h; NULL until it is needed */
};

struct vyre_cl_resident {
    struct vyre_cl_resident *next;
    struct vyre_cl_built *built; /* a user of it */
    size_t local_size[3];
    uint32_t served_count;
    struct vyre_cl_served served[VYRE_CL_DISPATCHER_KERNELS];
    struct vyre_hash128 code; /* of the generated text and its build options */
    cl_program program;       /* Owned */
    cl_kernel native;         /* Owned */
    size_t launch_global[3];  /* all resident groups */
    size_t launch_local[3];
    uint64_t last_used;
    char refusal[VYRE_REASON_BYTES]; /* not "": what it was made for cannot be resident */
    int64_t refusal_code;            /* the driver's, where it has one */
};

/*
 * The dispatcher for a dispatch and the kernel's index in it, made if there is none. VYRE_UNSUPPORTED
 * (submit-mode) with the reason when the kernel cannot be resident.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_resident_find(struct vyre_cl_device *device,
                                                      const struct vyre_batch_view *view,
                                                      const struct vyre_command *command,
                                                      struct vyre_cl_resident **out_resident,
                                                      uint32_t *out_index, struct vyre_diag *diag);

void vyre_cl_resident_destroy(struct vyre_cl_device *device, struct vyre_cl_resident *resident);

#endif
