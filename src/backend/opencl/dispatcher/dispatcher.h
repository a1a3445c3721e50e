/*
 * dispatcher.h: persistent mode for ordinary OpenCL C kernels.
 *
 * The source of a program is turned into another: the same functions, and one kernel,
 * `vyre_resident`, that stays on the device and runs the user's kernels for the items of a ring
 * (ring.h). What cannot be rewritten exactly is refused with a reason; such a kernel runs in other
 * modes. Nothing here calls OpenCL.
 *
 *   __kernel void vyre_resident(__global uchar *ring)      ring: struct vyre_cl_control and its slots
 *
 * The caller builds the output with the same options as the user's program, among them
 * -cl-std=CL2.0 or later, so that tests for the language version or for features have the same
 * outcome. It launches `resident_groups` groups of `launch_local_size`. If the build fails, the
 * dispatcher met something that only the compiler could see: treat that as a refusal.
 *
 * Words: a *looped* dispatcher is one work-item that runs each group as a loop over local ids. It
 * needs kernels without barriers and suits devices whose cores are CPU cores. A *grouped*
 * dispatcher is a work-group of the kernels' local size; it runs every kernel that is not refused.
 *
 * Thread-safety: pure functions over the caller's memory.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_DISPATCHER_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#define VYRE_CL_REASON_BYTES       96
#define VYRE_CL_SOURCE_BYTES_MAX   (1u << 20)
#define VYRE_CL_DISPATCHER_KERNELS 64 /* at most, in one dispatcher */

enum vyre_cl_argument_kind {
    VYRE_CL_ARGUMENT_NONE = 0,
    VYRE_CL_ARGUMENT_GLOBAL = 1,   /* pointer to global memory */
    VYRE_CL_ARGUMENT_CONSTANT = 2, /* pointer to constant memory */
    VYRE_CL_ARGUMENT_LOCAL = 3,    /* pointer to local memory */
    VYRE_CL_ARGUMENT_SCALAR = 4,
};

struct vyre_cl_argument {
    enum vyre_cl_argument_kind kind;
    uint32_t address;      /* GLOBAL, CONSTANT: index among the slot's addresses */
    uint32_t offset_bytes; /* SCALAR: in the constants */
    uint32_t size_bytes;   /* SCALAR: of the value; LOCAL: of the memory */
};

struct vyre_cl_dispatcher_kernel {
    const char *entry;
    const struct vyre_cl_argument *arguments; /* in the order of the parameters */
    size_t argument_count;
    uint32_t address_count; /* of the slot's addresses; the constants follow them (ring.h) */
};

enum vyre_cl_dispatcher_form {
    VYRE_CL_FORM_AUTO = 0, /* looped if all kernels allow it, else grouped */
    VYRE_CL_FORM_LOOPED = 1,
    VYRE_CL_FORM_GROUPED = 2,
};

struct vyre_cl_dispatcher_input {
    const char *source; /* need not be terminated */
    size_t source_bytes;
    const char *const *defines; /* from the build options: "NAME" or "NAME=VALUE", in order */
    size_t define_count;
    const struct vyre_cl_dispatcher_kernel *kernels;
    size_t kernel_count;
    uint32_t local_size[3];   /* of every kernel in this dispatcher */
    uint32_t work_dim;        /* the result of get_work_dim; 0: 3 */
    uint32_t resident_groups; /* 0: 1. More than one needs 64-bit atomics on the device */
    enum vyre_cl_dispatcher_form form;
    bool splits_at_barriers; /* the compiler runs work-items one after the other from barrier to
                                barrier: barriers under a condition are refused */
};

struct vyre_cl_dispatcher_output {
    char *source; /* Owned; terminated */
    size_t source_bytes;
    enum vyre_cl_dispatcher_form form; /* LOOPED or GROUPED */
    uint32_t launch_local_size[3];
};

/*
 * Writes the dispatcher's source. VYRE_UNSUPPORTED if a kernel is refused; the diagnostic's message
 * is then the reason that vyre_cl_dispatcher_check gives. `out` is zeroed on failure.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_dispatcher_generate(
    const struct vyre_allocator *allocator, const struct vyre_cl_dispatcher_input *input,
    struct vyre_cl_dispatcher_output *out, struct vyre_diag *diag);

/* With the allocator that generated it. Zeroes the output. */
void vyre_cl_dispatcher_free(const struct vyre_allocator *allocator,
                             struct vyre_cl_dispatcher_output *output);

/*
 * Whether generate would succeed: VYRE_OK with an empty reason and the form that it would take, or
 * VYRE_UNSUPPORTED and the reason, or another failure. `out_form` may be NULL.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_dispatcher_check(
    const struct vyre_allocator *allocator, const struct vyre_cl_dispatcher_input *input,
    char out_reason[VYRE_CL_REASON_BYTES], enum vyre_cl_dispatcher_form *out_form);

#endif
