/*
 * internal.h: what the files of the reference share.
 */
#ifndef VYRE_TESTS_WORKLOADS_REFERENCE_INTERNAL_H
#define VYRE_TESTS_WORKLOADS_REFERENCE_INTERNAL_H

#include "reference.h"

/* One check. The comparisons stop at the first difference; `failed` then holds. */
struct check {
    const struct workload *workload; /* Borrowed */
    const void *const *outputs;      /* Borrowed */
    char *message;
    size_t capacity;
    size_t compared; /* outputs that were found equal */
    bool failed;
};

typedef void reference_function(struct check *check);
reference_function reference_decode;
reference_function reference_scan_jobs;
reference_function reference_fan_out;
reference_function reference_stream_upload;
reference_function reference_gather_64;
reference_function reference_shape_shift;
reference_function reference_big_kernels;

/* Zeroed; ends the program when there is none. Freed by the caller. */
void *reference_memory(size_t count, size_t size);

/* {"random": seed}: xoshiro256**, seeded by splitmix64. */
void reference_random_bytes(uint64_t seed, void *bytes, size_t size);
/* The upper 24 bits of one output each, in [0, 1). */
void reference_random_floats(uint64_t seed, double *values, size_t count);

void reference_fail(struct check *check, const char *format, ...) VYRE_PRINTF(2, 3);

void reference_compare_u8(struct check *check, const char *output, const uint8_t *expected,
                          size_t count);
void reference_compare_u32(struct check *check, const char *output, const uint32_t *expected,
                           size_t count);
void reference_compare_f32(struct check *check, const char *output, const double *expected,
                           size_t count, double tolerance);

/* The output's bytes, if it has this type and count; NULL with the failure noted. */
const void *reference_output(struct check *check, const char *output, enum workload_type type,
                             size_t count);

#endif
