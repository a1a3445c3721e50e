/*
 * stats.c: medians and their 95 % intervals. See bench.h.
 *
 * The interval comes from order statistics: of n independent values, the number below the true median is
 * binomial with p = 1/2, whatever their distribution. So the median lies between the k-th smallest and the k-th
 * largest value unless fewer than k of them fall on one side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define TAIL 0.025 /* on each side */

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The largest k, counted from 0, whose interval still holds with 95 %; 0 when there is none. */
static size_t interval_rank(size_t count)
{
    double term = ldexp(1, -(int)count); /* P(0 below); 2^-1001 is a normal double */
    double below = term;
    size_t rank = 0;
    for (size_t i = 0; below <= TAIL; i++) {
        rank = i;
        term *= (double)(count - i) / (double)(i + 1);
        below += term;
    }
    return rank;
}

struct bench_summary bench_summarize(const double *values, size_t count)
{
    double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, compare);
    size_t rank = interval_rank(count);
    return (struct bench_summary){.count = count,
                                  .min = sorted[0],
                                  .low = sorted[rank],
                                  .median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                                  .high = sorted[count - 1 - rank]};
}
