/*
 * build.h: programs from source text, shared by all kernels of the same source and options.
 *
 * A program is built once for each pair of source and options, and kept as long as a kernel uses
 * it. Float contraction is off (FP_CONTRACT), so that results do not depend on what a compiler
 * fuses.
 */
#ifndef VYRE_BACKEND_OPENCL_BUILD_H
#define VYRE_BACKEND_OPENCL_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/opencl/loader.h"

struct vyre_cl_device;

#define VYRE_CL_DEFINE_BYTES 96 /* "NAME=VALUE" */
#define VYRE_CL_DEFINES_MAX  64 /* two for each specialization value */

struct vyre_cl_defines {
    uint32_t count;
    char text[VYRE_CL_DEFINES_MAX][VYRE_CL_DEFINE_BYTES];
};

bool vyre_cl_defines_equal(const struct vyre_cl_defines *a, const struct vyre_cl_defines *b);

struct vyre_cl_built {
    struct vyre_cl_built *next;
    uint32_t users;
    cl_program program; /* Owned */
    struct vyre_cl_defines defines;
    bool shows_dimensions; /* the source may ask how many dimensions a launch has */
    size_t source_bytes;
    char source[]; /* terminated */
};

/* Finds the program or builds it. VYRE_BUILD_FAILED (opencl-build) with the first error's line. */
VYRE_NODISCARD enum vyre_status vyre_cl_build_acquire(struct vyre_cl_device *device,
                                                      const char *label, const char *source,
                                                      size_t source_bytes,
                                                      const struct vyre_cl_defines *defines,
                                                      struct vyre_cl_built **out_built,
                                                      struct vyre_diag *diag);
/* The program if it is in use; NULL: it is not built. Changes nothing. */
struct vyre_cl_built *vyre_cl_build_look(const struct vyre_cl_device *device, const char *source,
                                         size_t source_bytes,
                                         const struct vyre_cl_defines *defines);
void vyre_cl_build_release(struct vyre_cl_device *device, struct vyre_cl_built *built);

/* Builds a text that is not shared. */
VYRE_NODISCARD enum vyre_status vyre_cl_build_program(
    struct vyre_cl_device *device, const char *label, const char *source, size_t source_bytes,
    const struct vyre_cl_defines *defines, cl_program *out_program, struct vyre_diag *diag);

#endif
