/*
 * constants_layout.h: the layout of a block of push constants.
 */
#ifndef VYRE_SPIRV_CONSTANTS_LAYOUT_H
#define VYRE_SPIRV_CONSTANTS_LAYOUT_H

#include "spirv/index.h"

/*
 * Fills the constants of an interface from the struct type `block`. The scalars are listed if all
 * members are scalars of 4 or 8 bytes (or addresses), laid out as in a C struct; otherwise only the
 * size is given.
 */
VYRE_NODISCARD enum vyre_status vyre_spirv_constants_layout(
    const struct vyre_spirv_module *module, uint32_t block,
    struct vyre_kernel_interface *interface);

/* The same from a list of members in order, if it is one: offsets as in the block. */
struct vyre_spirv_constant_member {
    enum vyre_scalar scalar; /* none: a vector, an array and so on */
    uint32_t offset_bytes;
};
void vyre_spirv_constants_list(const struct vyre_spirv_constant_member *members, size_t count,
                               uint32_t size_bytes, struct vyre_kernel_interface *interface);

#endif
