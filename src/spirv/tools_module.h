/*
 * tools_module.h: what the files of the module libvyre-spirv-tools.so share.
 *
 * The libraries behind it are C++. Their C interfaces catch exceptions, except for a few calls that
 * this module makes only where they cannot throw, or not at all (see docs/design/spirv.md).
 */
#ifndef VYRE_SPIRV_TOOLS_MODULE_H
#define VYRE_SPIRV_TOOLS_MODULE_H

#include "spirv/tools.h"

/* The entries of the table. */
enum vyre_status vyre_spirv_module_compile_glsl(const struct vyre_allocator *allocator,
                                                const struct vyre_glsl_source *source,
                                                struct vyre_spirv_words *out_words,
                                                struct vyre_diag *diag);
enum vyre_status vyre_spirv_module_validate(const uint32_t *words, size_t count, const char *label,
                                            struct vyre_diag *diag);
enum vyre_status vyre_spirv_module_reflect(const struct vyre_allocator *allocator,
                                           const uint32_t *words, size_t count, const char *entry,
                                           const char *label,
                                           struct vyre_spirv_reflection *out_reflection,
                                           struct vyre_diag *diag);

#endif
