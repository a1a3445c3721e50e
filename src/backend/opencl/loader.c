/*
 * loader.c: libOpenCL.so.1.
 */
#include "backend/opencl/loader.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libOpenCL.so.1"

/* POSIX promises that a symbol's address fits a function pointer. C has no cast for it. */
static void find(void *library, const char *name, void *out_function)
{
    void *symbol = dlsym(library, name);
    memcpy(out_function, &symbol, sizeof symbol);
}

static enum vyre_status absent(struct vyre_cl_api *api, const char *name, struct vyre_diag *diag)
{
    vyre_cl_unload(api);
    return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, "opencl", 0,
                         LIBRARY " has no %s: it is older than OpenCL 1.2", name);
}

enum vyre_status vyre_cl_load(struct vyre_cl_api *api, struct vyre_diag *diag)
{
    memset(api, 0, sizeof *api);
    /* Drivers start threads and register exit handlers, so once loaded, their code must stay. */
    api->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!api->library)
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, "opencl", 0, "no OpenCL loader: %s",
                             dlerror());
#define FIND(name) find(api->library, #name, &api->name);
    VYRE_CL_REQUIRED(FIND)
    VYRE_CL_OPTIONAL(FIND)
#undef FIND
#define CHECK(name) \
    if (!api->name) \
        return absent(api, #name, diag);
    VYRE_CL_REQUIRED(CHECK)
#undef CHECK
    return VYRE_OK;
}

void vyre_cl_unload(struct vyre_cl_api *api)
{
    if (api->library)
        dlclose(api->library);
    memset(api, 0, sizeof *api);
}
