/*
 * entry.h: the compute entry point of a module, and the variables that it sees.
 */
#ifndef VYRE_SPIRV_ENTRY_H
#define VYRE_SPIRV_ENTRY_H

#include "spirv/index.h"

struct vyre_spirv_entry {
    uint32_t function;
    const uint32_t *interface; /* Borrowed from the words: ids of variables */
    uint32_t interface_count;
    uint32_t count; /* entry points of the module, of all kinds */
};

/* The compute entry point of that name. SPIRV_NO_COMPUTE or SPIRV_ENTRY if there is none. */
VYRE_NODISCARD enum vyre_status vyre_spirv_entry_find(const struct vyre_spirv_module *module,
                                                      const char *name,
                                                      struct vyre_spirv_entry *out_entry);

/*
 * Called for a module-scope OpVariable. Any status except VYRE_OK ends the visit and is returned.
 */
typedef enum vyre_status vyre_spirv_variable_visit(void *user,
                                                   const struct vyre_spirv_instruction *variable);

/* Visits the variables that the entry point sees, as reflection.h says. */
VYRE_NODISCARD enum vyre_status vyre_spirv_entry_visit(const struct vyre_spirv_module *module,
                                                       const struct vyre_spirv_entry *entry,
                                                       vyre_spirv_variable_visit *visit,
                                                       void *user);

#endif
