/*
 * tools_load.c: finding and loading the module libvyre-spirv-tools.so.
 */
#include "spirv/tools_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <vyre/version.h>

#define TEXT_OF(number)  #number
#define VALUE_OF(number) TEXT_OF(number)
#define SONAME           "libvyre-spirv-tools.so." VALUE_OF(VYRE_ABI_VERSION)

/*
 * The module next to the object that holds this code. False if that is unknown or nothing is there.
 * A relative path would depend on the current directory.
 */
static bool path_beside(char *out, size_t capacity)
{
    static const char anchor = 0;
    Dl_info info;
    if (dladdr(&anchor, &info) == 0 || !info.dli_fname || info.dli_fname[0] != '/')
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int length =
        snprintf(out, capacity, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname, SONAME);
    return length > 0 && (size_t)length < capacity && access(out, F_OK) == 0;
}

static enum vyre_status take_table(void *library, const char *path,
                                   const struct vyre_spirv_tools_table **out_table,
                                   struct vyre_diag *diag)
{
    void *symbol = dlsym(library, VYRE_SPIRV_TOOLS_SYMBOL);
    if (!symbol)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_ABI, NULL, 0, "%.200s has no symbol %s",
                             path, VYRE_SPIRV_TOOLS_SYMBOL);
    const struct vyre_spirv_tools_table *(*get)(void);
    /* POSIX promises that a symbol's address fits a function pointer. C has no cast for it. */
    memcpy(&get, &symbol, sizeof symbol);
    const struct vyre_spirv_tools_table *table = get();
    if (!table || table->abi_version != VYRE_SPIRV_TOOLS_ABI_VERSION)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_ABI, NULL, table ? table->abi_version : 0,
                             "%.200s has ABI %u, the library wants %d", path,
                             table ? table->abi_version : 0, VYRE_SPIRV_TOOLS_ABI_VERSION);
    if (table->size_bytes < sizeof *table || !table->compile_glsl || !table->free_words ||
        !table->validate || !table->reflect)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_ABI, NULL, table->size_bytes,
                             "%.200s has a table of %u bytes that lacks entries", path,
                             table->size_bytes);
    *out_table = table;
    return VYRE_OK;
}

enum vyre_status vyre_spirv_tools_load(const char *path, struct vyre_spirv_tools *out_tools,
                                       struct vyre_diag *diag)
{
    *out_tools = (struct vyre_spirv_tools){0};
    char beside[PATH_MAX];
    if (!path)
        path = path_beside(beside, sizeof beside) ? beside : SONAME;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *reason = dlerror();
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_ABSENT, NULL, 0, "%s",
                             reason ? reason : path);
    }
    const struct vyre_spirv_tools_table *table = NULL;
    enum vyre_status status = take_table(library, path, &table, diag);
    if (status != VYRE_OK) {
        dlclose(library);
        return status;
    }
    *out_tools = (struct vyre_spirv_tools){.library = library, .table = table};
    return VYRE_OK;
}

void vyre_spirv_tools_unload(struct vyre_spirv_tools *tools)
{
    if (tools->library)
        dlclose(tools->library);
    *tools = (struct vyre_spirv_tools){0};
}
