/*
 * compare_ratio.c: how the modes of a comparison differ.
 *
 * Within a round all modes run the same batches, at about the same pace of the machine. So the ratios within
 * each round say more than the ratio of two medians. The 95 % interval of their median comes from order
 * statistics: of n independent values, the number below the true median is binomial with p = 1/2.
 */
#include <math.h>
#include <stdlib.h>

#include "run/compare.h"

#define TAIL            0.025 /* on each side */
#define INTERVAL_ROUNDS 6 /* with fewer, all values lie on one side of the true median too often */

static int compare_values(const void *first, const void *second)
{
    double a = *(const double *)first;
    double b = *(const double *)second;
    return (a > b) - (a < b);
}

/* The largest k, counted from 0, whose interval still holds with 95 %. */
static size_t interval_rank(size_t count)
{
    double term = ldexp(1, -(int)count); /* P(0 below) */
    double below = term;
    size_t rank = 0;
    for (size_t i = 0; below <= TAIL; i++) {
        rank = i;
        term *= (double)(count - i) / (double)(i + 1);
        below += term;
    }
    return rank;
}

struct compare_ratio compare_ratio_to(const struct contender *contender,
                                      const struct contender *best)
{
    double ratios[SAMPLES_MAX];
    size_t count = 0;
    if (!best)
        return (struct compare_ratio){0};
    for (size_t i = 0; i < contender->rounds.count && i < best->rounds.count; i++) {
        if (best->rounds.values[i] > 0)
            ratios[count++] = (double)contender->rounds.values[i] / (double)best->rounds.values[i];
    }
    if (count == 0)
        return (struct compare_ratio){0};
    qsort(ratios, count, sizeof *ratios, compare_values);
    struct compare_ratio ratio = {.median = (ratios[(count - 1) / 2] + ratios[count / 2]) / 2};
    if (count < INTERVAL_ROUNDS)
        return ratio;
    size_t rank = interval_rank(count);
    ratio.has_interval = true;
    ratio.low = ratios[rank];
    ratio.high = ratios[count - 1 - rank];
    ratio.is_clear = ratio.low > 1 || ratio.high < 1;
    return ratio;
}

const struct contender *compare_best(const struct comparison *comparison)
{
    const struct contender *first = NULL;
    const struct contender *best = NULL;
    double least = 0;
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        const struct contender *contender = &comparison->contenders[i];
        bool measured = contender_is_there(contender) && contender->rounds.count > 0;
        if (!measured || contender->mode == VYRE_MODE_AUTO)
            continue;
        if (!first)
            first = contender;
        double ratio = compare_ratio_to(contender, first).median;
        if (!best || ratio < least) {
            best = contender;
            least = ratio;
        }
    }
    return best;
}
