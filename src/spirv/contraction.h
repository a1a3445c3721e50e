/*
 * contraction.h: keeps a driver from fusing multiplications and additions.
 *
 * SPIR-V lets a driver contract float arithmetic unless each instruction forbids it. Results would
 * then differ between drivers, and from the other backends, which do not contract.
 */
#ifndef VYRE_SPIRV_CONTRACTION_H
#define VYRE_SPIRV_CONTRACTION_H

#include "spirv/words.h"

/*
 * A copy of the module in which every float arithmetic instruction is decorated NoContraction, in
 * memory of the (resolved) allocator. *out_words is zeroed on failure.
 */
VYRE_NODISCARD enum vyre_status vyre_spirv_forbid_contraction(
    const struct vyre_allocator *allocator, const uint32_t *words, size_t count, const char *label,
    struct vyre_spirv_words *out_words, struct vyre_diag *diag);

#endif
