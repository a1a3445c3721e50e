/*
 * allocator.h: where Vyre takes its memory from.
 *
 * The caller passes an allocator when it creates an object, and the object uses it for all that it
 * owns. A zeroed struct means the C library's allocator.
 *
 * Thread-safety: the callbacks must be callable from every thread that uses the object.
 */
#ifndef VYRE_ALLOCATOR_H
#define VYRE_ALLOCATOR_H

#include <stddef.h>

#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Callbacks that give and take memory. Set both, or neither. */
struct vyre_allocator {
    void *user; /* Borrowed: passed back to the callbacks */

    /* `size_bytes` is not 0, `alignment` is a power of two. NULL means out of memory. */
    void *(*allocate)(void *user, size_t size_bytes, size_t alignment);

    /* Called with the size and alignment that allocate was called with. `memory` is never NULL. */
    void (*deallocate)(void *user, void *memory, size_t size_bytes, size_t alignment);
};

#ifdef __cplusplus
}
#endif

#endif
