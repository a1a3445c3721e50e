/*
 * binding_plan.h: what a kernel binds, checked and put in order.
 *
 * Words
 *   binding       one buffer that a kernel sees, under a slot
 *   slot          the number of a binding
 *   role          what the binding is for; it fixes which tables the binding appears in
 *   input index   position among the bindings that the caller fills (input, input-output, uniform)
 *   output index  position among those that the caller reads back (output, input-output)
 *
 * A plan lists the bindings by ascending slot. The indices count in the order of declaration, so a
 * caller's array of inputs keeps its order whatever the slots are. Slots may be sparse.
 *
 *   declared   slot 7 output     slot 2 input      slot 5 input-output
 *   plan       2: input 0        5: input 1, output 1       7: output 0
 *
 * Thread-safety: building writes only the caller's memory; a built plan may be read by any thread.
 */
#ifndef VYRE_BINDING_PLAN_H
#define VYRE_BINDING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a binding is for.
 *
 *   role          access allowed          (first = default)
 *   input         read
 *   output        write, readwrite
 *   input-output  readwrite
 *   uniform       read
 *   shared        readwrite               memory of one work-group: no buffer, no pointer
 *   persistent    readwrite, read, write  lives on the device across batches: never transferred
 */
enum vyre_role {
    VYRE_ROLE_NONE = 0,   /* not declared: follows from the access */
    VYRE_ROLE_INPUT = 1,  /* the caller fills it, the kernel reads it */
    VYRE_ROLE_OUTPUT = 2, /* the kernel writes it, the caller reads it back */
    VYRE_ROLE_INPUT_OUTPUT =
        3, /* the caller fills it, the kernel changes it, the caller reads it back */
    VYRE_ROLE_UNIFORM = 4,    /* a small input that the caller fills and the kernel reads */
    VYRE_ROLE_SHARED = 5,     /* memory of one work-group: no buffer, no pointer */
    VYRE_ROLE_PERSISTENT = 6, /* lives on the device across batches: never transferred */
};

/* What a kernel does with a binding. Bits: readwrite is read and write. */
enum vyre_access {
    VYRE_ACCESS_DEFAULT = 0,   /* what the role implies */
    VYRE_ACCESS_READ = 1,      /* the kernel reads it */
    VYRE_ACCESS_WRITE = 2,     /* the kernel writes it */
    VYRE_ACCESS_READWRITE = 3, /* the kernel reads and writes it */
};

/* The name of a role: "input-output" and so on; "none" for anything else. Static. */
VYRE_API const char *vyre_role_name(enum vyre_role role);

/* The name of an access: "default", "read", "write" or "readwrite". Static. */
VYRE_API const char *vyre_access_name(enum vyre_access access);

/* One binding as it is declared. */
struct vyre_binding_desc {
    uint32_t slot;
    enum vyre_role role;       /* 0: what the access implies: input, output or input-output */
    enum vyre_access access;   /* 0: what the role implies */
    size_t element_size_bytes; /* 0: 1, so that counts are bytes */
    size_t element_count;      /* 0: open; known when a buffer is bound */
    const char *label;         /* Borrowed by the plan; may be NULL */
    bool table;                /* an array of buffer addresses; not for shared bindings */
};

/* The index of a binding that is not in a table. */
#define VYRE_NO_INDEX SIZE_MAX

/* One binding of a plan: checked, its defaults resolved. */
struct vyre_binding {
    uint32_t slot;
    enum vyre_role role;
    enum vyre_access access;
    size_t element_size_bytes;
    size_t size_bytes;   /* 0: open */
    size_t input_index;  /* VYRE_NO_INDEX: none */
    size_t output_index; /* VYRE_NO_INDEX: none */
    const char *label;   /* Borrowed from the desc; may be NULL */
    bool table;
};

/* The bindings of a kernel, by ascending slot. */
struct vyre_binding_plan {
    struct vyre_binding *bindings; /* Borrowed: the caller's memory, ascending by slot */
    size_t binding_count;
    size_t input_count;
    size_t output_count;
};

/*
 * Builds a plan from `count` declarations into `memory`, which takes at least `count` bindings and
 * must outlive the plan. n log n. On failure *out_plan is zeroed and `memory` is undefined.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_binding_plan_build(
    const struct vyre_binding_desc *descs, size_t count, struct vyre_binding *memory,
    size_t memory_count, struct vyre_binding_plan *out_plan, struct vyre_diag *diag);

/* Finds the binding under `slot`; NULL when there is none. log n. */
VYRE_API const struct vyre_binding *vyre_binding_plan_find(const struct vyre_binding_plan *plan,
                                                           uint32_t slot);

/*
 * Checks the lengths of the inputs that a caller is about to give, in the order of their input
 * indices. A binding of known size takes exactly that size; an open one takes one whole element or
 * more, and no part of an element.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_binding_plan_check_inputs(
    const struct vyre_binding_plan *plan, const size_t *lengths_bytes, size_t count,
    struct vyre_diag *diag);

/* What moves between host and device for one run of the plan, and what stays. */
struct vyre_transfer_account {
    size_t upload_count;
    size_t upload_bytes;
    size_t readback_count;
    size_t readback_bytes;
    size_t device_bytes; /* of all bindings except the shared ones */
    size_t shared_bytes; /* per work-group */
};

/*
 * Adds up a plan's transfers. `input_lengths_bytes` gives the lengths of the inputs by input index,
 * as vyre_binding_plan_check_inputs takes them. It may be NULL when no input is open; when one is,
 * the call fails with ARGUMENT_NULL. An open binding without an input index counts 0 bytes.
 * PLAN_OVERFLOW names the table that overflowed. *out_account is zeroed on failure.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_binding_plan_account(
    const struct vyre_binding_plan *plan, const size_t *input_lengths_bytes,
    struct vyre_transfer_account *out_account, struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
