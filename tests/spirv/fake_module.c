/*
 * fake_module.c: shared objects that the loader must refuse.
 */
#include "spirv/tools.h"

extern int fake_module_is_not_empty;
int fake_module_is_not_empty = 1;

#if defined(FAKE_OTHER) || defined(FAKE_SHORT)
__attribute__((visibility("default"))) const struct vyre_spirv_tools_table *vyre_spirv_tools_table(
    void)
{
    static const struct vyre_spirv_tools_table table = {
#ifdef FAKE_OTHER
        .abi_version = VYRE_SPIRV_TOOLS_ABI_VERSION + 1,
        .size_bytes = sizeof table,
#else
        .abi_version = VYRE_SPIRV_TOOLS_ABI_VERSION,
        .size_bytes = sizeof table - sizeof(void *),
#endif
    };
    return &table;
}
#endif
