/*
 * counting_allocator.h: an allocator that counts, checks what is given back to it, and refuses what a test
 * wants refused: the n-th call, all from the n-th on, or all. What is larger than 1 GiB is always refused.
 *
 *   [size, alignment, padding][memory ...]      the header is as large as the alignment, 64 at least
 *
 * Thread-safety: any thread. The counters are atomics.
 */
#ifndef VYRE_TESTS_SUPPORT_COUNTING_ALLOCATOR_H
#define VYRE_TESTS_SUPPORT_COUNTING_ALLOCATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/allocator.h>

struct counting_allocator {
    atomic_llong live_count;
    atomic_llong live_bytes;
    atomic_llong peak_bytes;      /* the most that was live; exact on one thread only */
    atomic_ullong call_count;     /* allocations asked for, ever */
    atomic_ullong taken_count;    /* that succeeded */
    atomic_ullong refused_count;  /* that were refused */
    atomic_ullong freed_count;    /* frees, ever */
    atomic_ullong mismatch_count; /* freed with another size or alignment than allocated */
    atomic_ullong fail_at;        /* the call that is refused, counting from 1; 0: none */
    atomic_bool fails_on;         /* all calls after it are refused, too */
    atomic_bool fails;            /* every call is refused */
};

struct counting_header {
    size_t size_bytes;
    size_t alignment;
};

enum { COUNTING_DIRTY_BYTES = 65536 };

static inline size_t counting_pad(size_t alignment)
{
    return alignment < 64 ? 64 : alignment;
}

static inline bool counting_refuses(struct counting_allocator *self, size_t size_bytes)
{
    unsigned long long call = atomic_fetch_add(&self->call_count, 1) + 1;
    unsigned long long fail_at = atomic_load(&self->fail_at);
    return call == fail_at || (fail_at != 0 && call > fail_at && atomic_load(&self->fails_on)) ||
           atomic_load(&self->fails) || size_bytes > (size_t)1 << 30;
}

static inline void *counting_allocate(void *user, size_t size_bytes, size_t alignment)
{
    struct counting_allocator *self = user;
    size_t pad = counting_pad(alignment);
    unsigned char *raw = NULL;
    if (!counting_refuses(self, size_bytes))
        raw = aligned_alloc(pad, (size_bytes + 2 * pad - 1) / pad * pad);
    if (!raw) {
        atomic_fetch_add(&self->refused_count, 1);
        return NULL;
    }
    /* Memory must not be taken for zeroed; filling its start is enough to show that. */
    memset(raw + pad, 0xa5, size_bytes < COUNTING_DIRTY_BYTES ? size_bytes : COUNTING_DIRTY_BYTES);
    struct counting_header header = {size_bytes, alignment};
    memcpy(raw, &header, sizeof header);
    atomic_fetch_add(&self->taken_count, 1);
    atomic_fetch_add(&self->live_count, 1);
    long long live = atomic_fetch_add(&self->live_bytes, (long long)size_bytes);
    live += (long long)size_bytes;
    if (live > atomic_load(&self->peak_bytes))
        atomic_store(&self->peak_bytes, live);
    return raw + pad;
}

static inline void counting_deallocate(void *user, void *memory, size_t size_bytes,
                                       size_t alignment)
{
    struct counting_allocator *self = user;
    unsigned char *raw = (unsigned char *)memory - counting_pad(alignment);
    struct counting_header header;
    memcpy(&header, raw, sizeof header);
    if (header.size_bytes != size_bytes || header.alignment != alignment)
        atomic_fetch_add(&self->mismatch_count, 1);
    atomic_fetch_sub(&self->live_count, 1);
    atomic_fetch_sub(&self->live_bytes, (long long)size_bytes);
    atomic_fetch_add(&self->freed_count, 1);
    free(raw);
}

static inline struct vyre_allocator counting_allocator_face(struct counting_allocator *self)
{
    return (struct vyre_allocator){
        .user = self, .allocate = counting_allocate, .deallocate = counting_deallocate};
}

/* Refuses one call: the one after `left` more. */
static inline void counting_fail_after(struct counting_allocator *self, unsigned long long left)
{
    atomic_store(&self->fail_at, atomic_load(&self->call_count) + left + 1);
}

static inline void counting_fail_never(struct counting_allocator *self)
{
    atomic_store(&self->fail_at, 0);
}

#endif
