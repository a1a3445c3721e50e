/*
 * interface_agree.h: whether what a kernel declares goes with what its payload says.
 *
 * Independent of where the reflection came from: SPIR-V, OpenCL, or a declaration.
 */
#ifndef VYRE_PLAN_INTERFACE_AGREE_H
#define VYRE_PLAN_INTERFACE_AGREE_H

#include <vyre/kernel.h>

/* Bytes of a scalar; 0 for what is none. */
uint32_t vyre_scalar_size(enum vyre_scalar scalar);

/*
 * The sizeof of a C struct of these members, by natural alignment; UINT32_MAX when one is no scalar
 * or the size is above VYRE_CONSTANTS_BYTES_MAX. *out_alignment is the struct's, at least 4.
 */
uint32_t vyre_scalars_layout(const enum vyre_scalar *scalars, size_t count,
                             uint32_t *out_alignment);

/*
 * Checks the declaration against the reflection.
 *
 *   slots       each is on both sides; local memory may be declared and be absent in the payload,
 *               which then has its own
 *   kind        local memory against buffers; a uniform buffer takes a plain buffer to read as well
 *   access      the declared one holds the reflected one; of a table, which is read to find its
 *               buffers, the declared access speaks of the buffers and is not compared
 *   constants   the size, and member by member the width where both sides know the members
 *   local size  equal, a declared 0 standing for 1
 *
 * A part that is not declared (no bindings, no constants, a local size of zeros) or not known to the
 * reflection agrees. The roles and accesses must be valid, as the binding plan says.
 */
VYRE_NODISCARD enum vyre_status vyre_interface_agree(const struct vyre_kernel_desc *declared,
                                                     const struct vyre_kernel_interface *reflected,
                                                     struct vyre_diag *diag);

#endif
