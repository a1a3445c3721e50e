/*
 * local_memory.h: how much work-group memory a kernel declares.
 *
 * Drivers lay such variables out as they like. Counted are the bytes that they hold, without
 * padding, and 4 for a boolean; no driver needs less.
 */
#ifndef VYRE_SPIRV_LOCAL_MEMORY_H
#define VYRE_SPIRV_LOCAL_MEMORY_H

#include "spirv/index.h"

struct vyre_spirv_local_reader {
    uint64_t *sizes;  /* Owned: by id, the bytes of a type; NULL until needed */
    uint32_t lookups; /* of what determines a variable's size, each a walk over all decorations */
};

/* Counts a variable of the storage class Workgroup in the reflection. */
VYRE_NODISCARD enum vyre_status vyre_spirv_local_add(struct vyre_spirv_local_reader *reader,
                                                     const struct vyre_spirv_module *module,
                                                     const struct vyre_spirv_instruction *variable,
                                                     struct vyre_spirv_reflection *reflection);
void vyre_spirv_local_deinit(struct vyre_spirv_local_reader *reader,
                             const struct vyre_spirv_module *module);

#endif
