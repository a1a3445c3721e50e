/*
 * sample.h: interleaved timing with medians and spread, shared by the benchmarks.
 */
#ifndef VYRE_BENCH_SAMPLE_H
#define VYRE_BENCH_SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct sample_summary {
    double min;
    double low; /* first quartile */
    double median;
    double high; /* third quartile */
};

static inline uint64_t sample_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline int sample_compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts `values` in place. */
static inline struct sample_summary sample_summarize(double *values, size_t count)
{
    qsort(values, count, sizeof *values, sample_compare);
    return (struct sample_summary){values[0], values[count / 4], values[count / 2],
                                   values[count - 1 - count / 4]};
}

#endif
