/*
 * load_backend.h: an out-of-tree backend: a shared object with a function
 * `const struct vyre_backend_ops *NAME(void)`.
 */
#ifndef VYRE_TESTS_SUPPORT_LOAD_BACKEND_H
#define VYRE_TESTS_SUPPORT_LOAD_BACKEND_H

#include <dlfcn.h>
#include <stdio.h>

#include <vyre/backend.h>

#define TEST_BACKEND_SYMBOL "vyre_backend_entry"

/* NULL with the reason on standard error. The library stays: the table lives in it. */
static inline const struct vyre_backend_ops *test_load_backend(const char *path, const char *symbol)
{
    typedef const struct vyre_backend_ops *entry_function(void);
    union {
        void *object;
        entry_function *function;
    } entry = {0};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        entry.object = dlsym(library, symbol);
    if (!entry.object) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    const struct vyre_backend_ops *ops = entry.function();
    if (!ops)
        fprintf(stderr, "%s: %s returned NULL\n", path, symbol);
    return ops;
}

#endif
