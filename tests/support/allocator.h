/*
 * allocator.h: an allocator that counts, checks what it is given back, and fails when told.
 *
 *   [size, alignment, padding][memory ...]
 *
 * The header is as large as the alignment, and 64 bytes at least.
 *
 * Thread-safety: one thread.
 */
#ifndef VYRE_TESTS_SUPPORT_ALLOCATOR_H
#define VYRE_TESTS_SUPPORT_ALLOCATOR_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/allocator.h>

struct test_allocator {
    size_t live_count;
    size_t live_bytes;
    size_t peak_bytes;
    size_t taken_count;    /* allocations that succeeded, ever */
    size_t refused_count;  /* allocations that failed, ever */
    size_t mismatch_count; /* freed with another size or alignment than allocated */
    bool fails;
};

struct test_allocator_header {
    size_t size_bytes;
    size_t alignment;
};

static inline size_t test_allocator_pad(size_t alignment)
{
    return alignment < 64 ? 64 : alignment;
}

static inline void *test_allocate(void *user, size_t size_bytes, size_t alignment)
{
    struct test_allocator *self = user;
    size_t pad = test_allocator_pad(alignment);
    if (self->fails || size_bytes > (size_t)1 << 30) {
        self->refused_count++;
        return NULL;
    }
    unsigned char *raw = aligned_alloc(pad, (size_bytes + 2 * pad - 1) / pad * pad);
    if (!raw)
        abort();
    memset(raw, 0xa5, size_bytes + pad); /* nobody may take memory for zeroed */
    struct test_allocator_header header = {size_bytes, alignment};
    memcpy(raw, &header, sizeof header);
    self->taken_count++;
    self->live_count++;
    self->live_bytes += size_bytes;
    if (self->live_bytes > self->peak_bytes)
        self->peak_bytes = self->live_bytes;
    return raw + pad;
}

static inline void test_deallocate(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    struct test_allocator *self = user;
    unsigned char *raw = (unsigned char *)memory - test_allocator_pad(alignment);
    struct test_allocator_header header;
    memcpy(&header, raw, sizeof header);
    if (header.size_bytes != size_bytes || header.alignment != alignment)
        self->mismatch_count++;
    self->live_count--;
    self->live_bytes -= size_bytes;
    free(raw);
}

static inline struct vyre_allocator test_allocator_face(struct test_allocator *self)
{
    return (struct vyre_allocator){
        .user = self, .allocate = test_allocate, .deallocate = test_deallocate};
}

#endif
