/*
 * local_memory.h: how much memory of its work-group a kernel declares.
 *
 * Drivers lay such variables out as they like: what is counted is the bytes that they hold, without
 * padding and a boolean as 4, which no driver does with less.
 */
#ifndef VYRE_SPIRV_LOCAL_MEMORY_H
#define VYRE_SPIRV_LOCAL_MEMORY_H

#include "spirv/index.h"

struct vyre_spirv_local_reader {
    uint64_t *sizes; /* Owned: by id, the bytes of a type; NULL until there is something to count */
    uint32_t lookups; /* of what sizes a variable, each a walk over all decorations */
};

/* Counts a variable of the storage class Workgroup in the reflection. */
VYRE_NODISCARD enum vyre_status vyre_spirv_local_add(struct vyre_spirv_local_reader *reader,
                                                     const struct vyre_spirv_module *module,
                                                     const struct vyre_spirv_instruction *variable,
                                                     struct vyre_spirv_reflection *reflection);
void vyre_spirv_local_deinit(struct vyre_spirv_local_reader *reader,
                             const struct vyre_spirv_module *module);

#endif
