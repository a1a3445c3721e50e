/*
 * tables.h: memory for table bindings of batches in flight: a ring in shared memory.
 *
 * Offsets are free-running: [released, head) is in use. A batch's tables are released together when
 * it is complete. If a dispatch's tables do not fit, the ring grows while nothing uses it.
 *
 * Thread-safety: one thread allocates, under the device's lock; threads that collect completions
 * release.
 */
#ifndef VYRE_BACKEND_OPENCL_TABLES_H
#define VYRE_BACKEND_OPENCL_TABLES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct vyre_cl_tables {
    unsigned char *memory; /* Owned: shared virtual memory; NULL until needed */
    size_t size_bytes;     /* a power of two */
    uint64_t head;
    _Atomic uint64_t released;
};

/* Never moves backwards: a batch may be collected after all of the ring was found free. */
static inline void vyre_cl_tables_release(struct vyre_cl_tables *tables, uint64_t end)
{
    uint64_t at = atomic_load_explicit(&tables->released, memory_order_relaxed);
    /* release: pairs with the acquire of the allocation. */
    while (at < end && !atomic_compare_exchange_weak_explicit(
                           &tables->released, &at, end, memory_order_release, memory_order_relaxed))
        ;
}

/*
 * Nothing uses the ring. The next table begins at its start, so that one table can use all of it.
 */
static inline void vyre_cl_tables_clear(struct vyre_cl_tables *tables)
{
    uint64_t mask = tables->size_bytes - 1;
    tables->head = (tables->head + mask) & ~mask;
    vyre_cl_tables_release(tables, tables->head);
}

/* Room for `size_bytes`, aligned; NULL if it is in use. */
static inline unsigned char *vyre_cl_tables_take(struct vyre_cl_tables *tables, size_t size_bytes,
                                                 size_t alignment)
{
    if (!tables->memory)
        return NULL;
    size_t mask = tables->size_bytes - 1;
    uint64_t begin = (tables->head + alignment - 1) & ~(uint64_t)(alignment - 1);
    if ((begin & mask) + size_bytes > tables->size_bytes)
        begin = (begin + mask) & ~(uint64_t)mask; /* not across the end */
    /* acquire: pairs with vyre_cl_tables_release: the device has read what was there. */
    uint64_t released = atomic_load_explicit(&tables->released, memory_order_acquire);
    if (begin + size_bytes - released > tables->size_bytes)
        return NULL;
    tables->head = begin + size_bytes;
    return tables->memory + (begin & mask);
}

#endif
