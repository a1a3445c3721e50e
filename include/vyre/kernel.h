/*
 * kernel.h: kernels and the host kernel ABI.
 *
 * Words
 *   kernel     an entry point with code for one or more targets
 *   payload    the code of a kernel for one target
 *   constants  the small block of scalars that a dispatch carries
 *
 * A kernel carries payloads for one or more targets; a device takes the one that it can run. The
 * caller declares what the kernel takes (bindings by slot, constants as scalars in order,
 * specialization values), or leaves it out where the payload says it: OpenCL C, SPIR-V, GLSL. A
 * declaration must agree with the payload; a declared access may be wider.
 *
 * Thread-safety: any thread. Destroying a kernel while work uses it is safe, as for buffers.
 */
#ifndef VYRE_KERNEL_H
#define VYRE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/binding_plan.h>
#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An entry point with code for one or more targets. */
struct vyre_kernel;

/* The most bytes of constants that a dispatch carries. */
#define VYRE_CONSTANTS_BYTES_MAX 128
/* The most specialization values of a kernel. */
#define VYRE_SPECIALIZATION_VALUES_MAX 32

/* ---- Host kernels ----------------------------------------------------------------------------- */

/* One binding as a host kernel sees it. */
struct vyre_host_buffer {
    void *data; /* table bindings: an array of void * */
    size_t size_bytes;
};

/*
 * What a host kernel is called with, once per work-group. The struct grows only at its end;
 * `size_bytes` says how much of it is filled in. Everything is Borrowed for the call.
 */
struct vyre_host_group {
    uint32_t size_bytes;
    uint32_t buffer_count;
    uint32_t group_id[3];
    uint32_t group_count[3];
    uint32_t local_size[3];
    uint32_t specialization_count;
    const struct vyre_host_buffer *buffers; /* ordered by slot; slots may be sparse */
    const void *constants;                  /* as given at dispatch; 16-byte aligned */
    const uint64_t *specialization;         /* by declaration order */
    void *scratch;                          /* of the kernel's scratch_bytes; 64-byte aligned */
    size_t scratch_bytes;
};

/* Runs one work-group: all invocations of it. Must return. */
typedef void vyre_host_function(const struct vyre_host_group *group);

/* ---- Creation --------------------------------------------------------------------------------- */

/* What a payload is. */
enum vyre_target {
    VYRE_TARGET_NONE = 0,         /* not set: invalid */
    VYRE_TARGET_HOST = 1,         /* a function of this process */
    VYRE_TARGET_HOST_LIBRARY = 2, /* a function in a shared object */
    VYRE_TARGET_OPENCL_C = 3,     /* source text */
    VYRE_TARGET_SPIRV = 4,        /* words of a module */
    VYRE_TARGET_GLSL = 5,         /* source text */
};

/*
 * The name of a target: "none", "host", "host-library", "opencl-c", "spirv", "glsl"; else
 * "unknown". Static.
 */
VYRE_API const char *vyre_target_name(enum vyre_target target);

/* The code of a kernel for one target. */
struct vyre_payload {
    enum vyre_target target;
    vyre_host_function *function; /* HOST */
    const char *path;             /* HOST_LIBRARY: the shared object, as dlopen takes it */
    const char *entry;            /* the function's or entry point's name; NULL: the default */
    const void *bytes;            /* OPENCL_C, SPIRV, GLSL: Borrowed during creation */
    size_t size_bytes;
};

/* The type of a constant. */
enum vyre_scalar {
    VYRE_SCALAR_NONE = 0, /* not set: invalid */
    VYRE_SCALAR_U32 = 1,  /* uint32_t */
    VYRE_SCALAR_I32 = 2,  /* int32_t */
    VYRE_SCALAR_F32 = 3,  /* float */
    VYRE_SCALAR_U64 = 4,  /* uint64_t */
    VYRE_SCALAR_I64 = 5,  /* int64_t */
    VYRE_SCALAR_F64 = 6,  /* double */
};

/*
 * How to create a kernel. For bindings see binding_plan.h: `role` may be 0 when `access` is set. A
 * shared binding is local memory of the work-group; its size is set here or at dispatch. Read
 * during creation only.
 */
struct vyre_kernel_desc {
    const char *label; /* copied; may be NULL */
    const struct vyre_payload *payloads;
    size_t payload_count;
    uint32_t local_size[3]; /* zeros: 1 */
    const struct vyre_binding_desc *bindings;
    size_t binding_count;
    const enum vyre_scalar *constants; /* laid out as a C struct of these members: its sizeof */
    size_t constant_count;
    const uint64_t *specialization_defaults; /* raw bits of each value */
    size_t specialization_count;
    size_t scratch_bytes; /* host kernels: memory for one group, not kept between groups */
    const uint32_t *specialization_ids; /* of each value; NULL: 0, 1, ... in order */
    /* OpenCL C: a macro of this name beside VYRE_SPEC_<n>, n its place here. */
    const char *const *specialization_names;
};

/*
 * Creates a kernel from the payload that the device can run, and compiles what has to be compiled.
 * The caller owns the kernel; closing the device frees it too.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_kernel_create(struct vyre_device *device,
                                                            const struct vyre_kernel_desc *desc,
                                                            struct vyre_kernel **out_kernel,
                                                            struct vyre_diag *diag);

/*
 * Destroys the kernel and sets *kernel to NULL. Work that uses it still runs. NULL and a pointer to
 * NULL are ignored.
 */
VYRE_API void vyre_kernel_destroy(struct vyre_kernel **kernel);

/* The most bindings of a kernel. */
#define VYRE_KERNEL_BINDINGS_MAX 64
/* The most constants of a kernel. */
#define VYRE_KERNEL_CONSTANTS_MAX 32

/* What a kernel takes, as its payload says or as it was declared. */
struct vyre_kernel_interface {
    bool has_bindings, has_constants, has_local_size, has_specialization; /* known, maybe empty */
    uint32_t binding_count;
    struct vyre_binding_desc bindings[VYRE_KERNEL_BINDINGS_MAX]; /* access set; labels NULL */
    uint32_t constant_count; /* 0 with constants_size_bytes > 0: only the size is known */
    enum vyre_scalar constants[VYRE_KERNEL_CONSTANTS_MAX];
    uint32_t constants_size_bytes;
    uint32_t local_size[3];
    uint32_t specialization_count;
    uint32_t specialization_ids[VYRE_SPECIALIZATION_VALUES_MAX];
    uint64_t specialization_defaults[VYRE_SPECIALIZATION_VALUES_MAX];
    /*
     * Several constants of a payload may share one id: a value for the id sets all of them. Bit i
     * says that those of the i-th id have different defaults, of which the first is listed. Each
     * keeps its own while neither the kernel's desc nor a dispatch sets values.
     */
    uint32_t specialization_mixed;
};

/* What the kernel takes: bindings, constants, local size, specialization. */
VYRE_API void vyre_kernel_get_interface(const struct vyre_kernel *kernel,
                                        struct vyre_kernel_interface *out_interface);

/* The label of the kernel, or ""; valid until the kernel is destroyed. */
VYRE_API const char *vyre_kernel_label(const struct vyre_kernel *kernel);

/* How many bytes of constants a dispatch of the kernel takes. */
VYRE_API uint32_t vyre_kernel_constants_size(const struct vyre_kernel *kernel);

#ifdef __cplusplus
}
#endif

#endif
