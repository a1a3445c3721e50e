/*
 * registry.h: the backends that are built in.
 */
#ifndef VYRE_BACKEND_REGISTRY_H
#define VYRE_BACKEND_REGISTRY_H

#include <stddef.h>

#include <vyre/backend.h>

/* In the order in which auto prefers them. Static. */
extern const struct vyre_backend_ops *const vyre_builtin_backends[];
extern const size_t vyre_builtin_backend_count;

#endif
