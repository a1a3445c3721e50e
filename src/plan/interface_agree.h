/*
 * interface_agree.h: compares a kernel's declaration with what its payload says.
 *
 * Independent of where the reflection came from: SPIR-V, OpenCL, or a declaration.
 */
#ifndef VYRE_PLAN_INTERFACE_AGREE_H
#define VYRE_PLAN_INTERFACE_AGREE_H

#include <vyre/kernel.h>

/* Bytes of a scalar; 0 for anything else. */
uint32_t vyre_scalar_size(enum vyre_scalar scalar);

/*
 * The sizeof of a C struct of these members; UINT32_MAX if one is not a scalar or the size is above
 * VYRE_CONSTANTS_BYTES_MAX. *out_alignment is the struct's, at least 4.
 */
uint32_t vyre_scalars_layout(const enum vyre_scalar *scalars, size_t count,
                             uint32_t *out_alignment);

/*
 * Checks the declaration against the reflection.
 *
 *   slots       each is on both sides; declared local memory may be absent in the payload,
 *               which then has its own
 *   kind        local memory or buffer; for a uniform buffer, a plain buffer to read is accepted too
 *   access      the declared one includes the reflected one. For a table, which is read to find its
 *               buffers, the declared access is that of the buffers and is not compared
 *   constants   the size, and the width of each member if both sides know the members
 *   local size  equal; a declared 0 stands for 1
 *
 * A part that is not declared (no bindings, no constants, a local size of zeros) or not known to
 * the reflection agrees. The roles and accesses must be valid, as the binding plan requires.
 */
VYRE_NODISCARD enum vyre_status vyre_interface_agree(const struct vyre_kernel_desc *declared,
                                                     const struct vyre_kernel_interface *reflected,
                                                     struct vyre_diag *diag);

#endif
