/*
 * tools_load.h: finding and loading the module libvyre-spirv-tools.so.
 */
#ifndef VYRE_SPIRV_TOOLS_LOAD_H
#define VYRE_SPIRV_TOOLS_LOAD_H

#include "spirv/tools.h"

struct vyre_spirv_tools {
    void *library; /* Owned */
    const struct vyre_spirv_tools_table *table;
};

/*
 * Loads the module: the file `path` if it is given, otherwise the module's SONAME in the folder of
 * the running libvyre, then in the system's library path. SPIRV_TOOLS_ABSENT if none loads,
 * SPIRV_TOOLS_ABI if its version is another. *out_tools is zeroed on failure.
 */
VYRE_NODISCARD enum vyre_status vyre_spirv_tools_load(const char *path,
                                                      struct vyre_spirv_tools *out_tools,
                                                      struct vyre_diag *diag);

/*
 * Zeroes the struct; ignores one that was never loaded. The code stays in the process: its compiler
 * keeps state per thread, whose destructors must not disappear.
 */
void vyre_spirv_tools_unload(struct vyre_spirv_tools *tools);

#endif
