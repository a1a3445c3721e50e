/*
 * kernel.h: kernels of OpenCL C programs.
 *
 * Pointer arguments in order are the bindings in the order of slots; scalar arguments in order are
 * the constants. Each specialization is a build of its own. A kernel keeps a few of them; the least
 * recently used is dropped first.
 *
 * Thread-safety: called under the device's lock.
 */
#ifndef VYRE_BACKEND_OPENCL_KERNEL_H
#define VYRE_BACKEND_OPENCL_KERNEL_H

#include <vyre/backend.h>

#include "backend/opencl/build.h"
#include "backend/opencl/call.h"

#define VYRE_CL_VARIANTS_MAX  16
#define VYRE_CL_ARGUMENTS_MAX (VYRE_KERNEL_BINDINGS_MAX + VYRE_KERNEL_CONSTANTS_MAX)
#define VYRE_CL_ENTRY_BYTES   128

enum vyre_cl_space {
    VYRE_CL_SPACE_SCALAR = 0,
    VYRE_CL_SPACE_GLOBAL = 1,
    VYRE_CL_SPACE_CONSTANT = 2,
    VYRE_CL_SPACE_LOCAL = 3,
};

/* One argument, as reflected. */
struct vyre_cl_parameter {
    enum vyre_cl_space space;
    bool read_only;
    enum vyre_scalar scalar; /* NONE: not a type that constants can have, or not known */
    uint32_t size_bytes; /* of an argument by value; 0: not known, its type is the program's own */
};

/* Words for messages; "" if the driver does not report them. */
struct vyre_cl_argument_text {
    char type[64];
    char name[64];
};

struct vyre_cl_constant {
    uint32_t argument;
    uint32_t offset_bytes;
    uint32_t size_bytes;
};

/* One set of specialization values. */
struct vyre_cl_variant {
    struct vyre_cl_built *built; /* counts as a user of it; NULL: unused */
    uint64_t values[VYRE_SPECIALIZATION_VALUES_MAX];
    uint64_t last_used;
    struct vyre_cl_call call; /* for plain launches */
    uint64_t bound[VYRE_KERNEL_BINDINGS_MAX];
};

struct vyre_cl_kernel {
    struct vyre_cl_kernel *next;        /* in the device's list */
    const struct vyre_cl_device *owner; /* Borrowed: NULL until it is in the list */
    char entry[VYRE_CL_ENTRY_BYTES];
    char label[VYRE_DIAG_LABEL_BYTES];
    /* the build that was reflected: its source serves all variants */
    struct vyre_cl_built *first_built;

    uint32_t parameter_count;
    struct vyre_cl_parameter parameters[VYRE_CL_ARGUMENTS_MAX];
    uint32_t binding_count;
    uint32_t binding_arguments[VYRE_KERNEL_BINDINGS_MAX]; /* by binding: the argument */
    uint32_t constant_count;
    struct vyre_cl_constant constants[VYRE_KERNEL_CONSTANTS_MAX];
    uint32_t constants_size_bytes;
    uint32_t required_local[3]; /* reqd_work_group_size; zeros: none */
    size_t local_size[3];
    bool shows_dimensions; /* the program may ask how many dimensions a launch has */
    bool is_alone;         /* its dispatcher could not be built together with others */

    uint32_t specialization_count;
    char spec_names[VYRE_SPECIALIZATION_VALUES_MAX][64];
    uint64_t spec_defaults[VYRE_SPECIALIZATION_VALUES_MAX];
    uint64_t use_count;
    struct vyre_cl_variant *variants; /* Owned: VYRE_CL_VARIANTS_MAX */
    struct vyre_cl_variant *last;     /* the one used last */
};

/* Entries of the backend's table. */
enum vyre_status vyre_cl_kernel_reflect(void *native, const struct vyre_kernel_desc *desc,
                                        void **out_kernel,
                                        struct vyre_kernel_interface *out_interface,
                                        struct vyre_diag *diag);
enum vyre_status vyre_cl_kernel_create(void *native, const struct vyre_kernel_desc *desc,
                                       const struct vyre_binding_plan *plan, void **inout_kernel,
                                       struct vyre_diag *diag);
void vyre_cl_kernel_destroy(void *native, void *native_kernel);

/* The variant for these values, built if it is new. */
VYRE_NODISCARD enum vyre_status vyre_cl_kernel_specialize(struct vyre_cl_device *device,
                                                          struct vyre_cl_kernel *kernel,
                                                          const struct vyre_command *command,
                                                          struct vyre_cl_variant **out_variant,
                                                          struct vyre_diag *diag);

/*
 * The build that a dispatch needs, whether the kernel keeps a variant of it or only a dispatcher
 * uses it; NULL: it is not built. Changes nothing.
 */
const struct vyre_cl_built *vyre_cl_kernel_look(const struct vyre_cl_device *device,
                                                const struct vyre_cl_kernel *kernel,
                                                const struct vyre_command *command);

/* Whether two dispatches need the same build, even if it is not built. */
bool vyre_cl_kernel_same_build(const struct vyre_command *a, const struct vyre_command *b);

VYRE_NODISCARD static inline enum vyre_status vyre_cl_kernel_variant(
    struct vyre_cl_device *device, struct vyre_cl_kernel *kernel,
    const struct vyre_command *command, struct vyre_cl_variant **out_variant,
    struct vyre_diag *diag)
{
    *out_variant = kernel->last;
    if (kernel->specialization_count == 0)
        return VYRE_OK;
    return vyre_cl_kernel_specialize(device, kernel, command, out_variant, diag);
}

/* reflect.c: asks the driver for the parameters of a kernel. */
VYRE_NODISCARD enum vyre_status vyre_cl_reflect(struct vyre_cl_device *device, cl_kernel native,
                                                struct vyre_cl_kernel *kernel,
                                                struct vyre_diag *diag);

/* reflect.c: the names of an argument and its type. */
void vyre_cl_argument_ask(struct vyre_cl_device *device, cl_kernel native, uint32_t index,
                          struct vyre_cl_argument_text *out);

/* agree.c: compares the declaration with what was reflected, and lays the constants out. */
VYRE_NODISCARD enum vyre_status vyre_cl_agree(struct vyre_cl_device *device,
                                              struct vyre_cl_kernel *kernel,
                                              const struct vyre_kernel_desc *desc,
                                              const struct vyre_binding_plan *plan,
                                              struct vyre_diag *diag);

/* reflect.c: describes them to the runtime. */
void vyre_cl_describe(const struct vyre_cl_kernel *kernel, struct vyre_kernel_interface *out);

#endif
