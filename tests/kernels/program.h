/*
 * program.h: a generated program with what is run of it: buffers, and batches of dispatches.
 *
 * Everything that a dispatch binds is a range inside a larger buffer. What lies between the ranges
 * is filled like the rest and must stay as it is.
 */
#ifndef VYRE_TESTS_KERNELS_PROGRAM_H
#define VYRE_TESTS_KERNELS_PROGRAM_H

#include <stddef.h>

#include "kernels/tree.h"

enum {
    BUFFERS_MAX = 4,
    BATCHES_MAX = 4,
    DISPATCHES_MAX = 6, /* of a batch */
    RANGE_ALIGNMENT = 256,
    GROUP_ITEMS_MAX = 64,
};

enum feature {
#define FEATURE(name, text) FEATURE_##name,
#include "kernels/features.def"
#undef FEATURE
    FEATURE_COUNT,
};
const char *feature_name(enum feature feature);

struct area {
    uint32_t buffer;
    uint32_t offset_bytes;
    uint32_t size_bytes; /* local memory: only this */
};

struct dispatch {
    bool dropped;
    uint32_t kernel; /* a function of the tree */
    uint32_t groups[3];
    struct area areas[PARAMETERS_MAX]; /* by parameter */
    uint64_t scalars[PARAMETERS_MAX];  /* by parameter */
    uint64_t specialized[SPECIALIZED_MAX];
};

struct batch {
    struct dispatch dispatches[DISPATCHES_MAX];
    uint32_t dispatch_count;
    uint32_t repeats; /* how often it is submitted */
};

struct program {
    uint64_t seed;
    struct tree tree;
    uint32_t buffer_bytes[BUFFERS_MAX];
    uint32_t buffer_count;
    struct batch batches[BATCHES_MAX];
    uint32_t batch_count;
    uint64_t specialized[SPECIALIZED_MAX]; /* the defaults */
    uint32_t features[FEATURE_COUNT];
};

/* The bytes of all buffers, one behind the other, as they are before the first dispatch. */
size_t program_bytes(const struct program *program);
void program_fill(const struct program *program, unsigned char *bytes);

/* Where a buffer begins among all bytes. */
size_t program_buffer_at(const struct program *program, uint32_t buffer);

uint32_t program_kernel_count(const struct program *program);
uint32_t program_dispatch_count(const struct program *program);

#endif
