/*
 * tools.h: the C ABI between libvyre and the module libvyre-spirv-tools.so.
 *
 * The module holds what is written in C++ (shaderc, SPIRV-Tools, SPIRV-Cross) and exports one
 * function, vyre_spirv_tools_table. libvyre loads it with dlopen if it is present.
 *
 * Thread-safety: the table's functions may be called from any thread; calls are independent.
 */
#ifndef VYRE_SPIRV_TOOLS_H
#define VYRE_SPIRV_TOOLS_H

#include <vyre/allocator.h>

#include "spirv/reflection.h"

/* Bumped when a function or a struct below changes; entries are added at the table's end. */
#define VYRE_SPIRV_TOOLS_ABI_VERSION 3

#define VYRE_SPIRV_TOOLS_SYMBOL "vyre_spirv_tools_table"

#define VYRE_GLSL_BYTES_MAX  (1u << 20)
#define VYRE_GLSL_MACROS_MAX 64

/* As -Dname=value; a NULL value defines just the name. */
struct vyre_glsl_macro {
    const char *name;
    const char *value;
};

/* Everything is Borrowed for the call. */
struct vyre_glsl_source {
    const char *label; /* the name in messages; may be NULL */
    const char *text;  /* needs no terminator */
    size_t size_bytes;
    const struct vyre_glsl_macro *macros;
    size_t macro_count;
};

struct vyre_spirv_tools_table {
    uint32_t abi_version; /* VYRE_SPIRV_TOOLS_ABI_VERSION; comes first in every version */
    uint32_t size_bytes;  /* of the table */

    /*
     * A compute shader's entry `main` as valid SPIR-V for Vulkan 1.2, not optimised, with float
     * contraction forbidden. #include is refused. GLSL_COMPILE has the compiler's first error and
     * its line; the line's number is the native code. *out_words is memory of the (resolved)
     * allocator, zeroed on failure; free it with `free_words`.
     */
    enum vyre_status (*compile_glsl)(const struct vyre_allocator *allocator,
                                     const struct vyre_glsl_source *source,
                                     struct vyre_spirv_words *out_words, struct vyre_diag *diag);

    /* Frees and zeroes; ignores an empty one. */
    void (*free_words)(const struct vyre_allocator *allocator, struct vyre_spirv_words *words);

    /* Whether the module is valid for Vulkan 1.2 (LocalSizeId allowed). */
    enum vyre_status (*validate)(const uint32_t *words, size_t count, const char *label,
                                 struct vyre_diag *diag);

    /* Validates, then reflects the entry point (NULL: "main"). Refuses what words.h refuses. */
    enum vyre_status (*reflect)(const struct vyre_allocator *allocator, const uint32_t *words,
                                size_t count, const char *entry, const char *label,
                                struct vyre_spirv_reflection *out_reflection,
                                struct vyre_diag *diag);
};

/* The module's one export. Static. */
const struct vyre_spirv_tools_table *vyre_spirv_tools_table(void);

#endif
