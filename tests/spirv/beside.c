/*
 * beside.c: lets a test call the loader from inside a shared object that lies where libvyre.so does.
 */
#include "spirv/tools_load.h"

__attribute__((visibility("default"))) enum vyre_status load_beside(struct vyre_diag *diag);

enum vyre_status load_beside(struct vyre_diag *diag)
{
    struct vyre_spirv_tools tools;
    enum vyre_status status = vyre_spirv_tools_load(NULL, &tools, diag);
    vyre_spirv_tools_unload(&tools);
    return status;
}
