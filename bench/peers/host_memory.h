/*
 * host_memory.h: the plain memory that peers work on, and the kernel's argument over it.
 */
#ifndef VYRE_BENCH_PEERS_HOST_MEMORY_H
#define VYRE_BENCH_PEERS_HOST_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "../launch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct host_memory {
    struct vyre_host_buffer buffer; /* Owned */
};

/* Page-aligned, touched; data is NULL when there is none. */
static inline void host_memory_init(struct host_memory *memory)
{
    memory->buffer.data = aligned_alloc(4096, LAUNCHES_BUFFER_BYTES);
    memory->buffer.size_bytes = LAUNCHES_BUFFER_BYTES;
    if (memory->buffer.data)
        memset(memory->buffer.data, 0, LAUNCHES_BUFFER_BYTES);
}

static inline void host_memory_deinit(struct host_memory *memory)
{
    free(memory->buffer.data);
}

/* A group whose group_id is the caller's to count; `constant` must outlive it. */
static inline struct vyre_host_group host_memory_group(const struct host_memory *memory,
                                                       uint32_t groups, const uint32_t *constant)
{
    struct vyre_host_group group;
    memset(&group, 0, sizeof group);
    group.size_bytes = sizeof group;
    group.buffer_count = 1;
    group.group_count[0] = groups;
    group.group_count[1] = 1;
    group.group_count[2] = 1;
    group.local_size[0] = LAUNCHES_LOCAL_SIZE;
    group.local_size[1] = 1;
    group.local_size[2] = 1;
    group.buffers = &memory->buffer;
    group.constants = constant;
    return group;
}

#ifdef __cplusplus
}
#endif

#endif
