/*
 * samples.c: a few timings, and the statistics over them.
 */
#include "runtime/samples.h"

#include "base/sort.h"

/* A figure below this counts as 0: reading the clock costs half as much. */
#define NOTHING_NS 50.0

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

void vyre_samples_add(struct vyre_samples *samples, double value_ns)
{
    if (samples->count < VYRE_SAMPLES_MAX)
        samples->values[samples->count++] = value_ns;
}

/* Newton's method, so that users need not link the mathematics library. */
static double square_root(double value)
{
    double root = value > 1.0 ? value : 1.0;
    for (int i = 0; i < 12; i++)
        root = (root + value / root) / 2.0;
    return root;
}

/* The value at a rank between 0 and count - 1, interpolated between neighbours. */
static double at_rank(const struct vyre_samples *samples, double rank)
{
    double last = (double)(samples->count - 1);
    double clamped = rank < 0.0 ? 0.0 : rank > last ? last : rank;
    uint32_t low = (uint32_t)clamped;
    uint32_t high = low + 1 < samples->count ? low + 1 : low;
    double part = clamped - (double)low;
    return samples->values[low] * (1.0 - part) + samples->values[high] * part;
}

struct vyre_cost vyre_samples_cost(struct vyre_samples *samples)
{
    struct vyre_cost cost = {.samples = samples->count};
    if (samples->count == 0)
        return cost;
    vyre_sort(samples->values, samples->count, sizeof samples->values[0], compare);
    double middle = (double)(samples->count - 1) / 2.0;
    /* The number of samples below the median is binomial: 1.96 deviations in each direction. */
    double reach = 0.98 * square_root((double)samples->count);
    /*
     * A difference of two times may be negative. The samples keep their sign, because otherwise
     * noise around 0 would look like an exact 0; the cost does not.
     */
    cost.known = true;
    cost.min_ns = samples->values[0] > 0.0 ? samples->values[0] : 0.0;
    cost.median_ns = at_rank(samples, middle) > 0.0 ? at_rank(samples, middle) : 0.0;
    cost.spread_ns = at_rank(samples, middle * 1.5) - at_rank(samples, middle * 0.5);
    cost.confidence_ns =
        (at_rank(samples, middle + reach) - at_rank(samples, middle - reach)) / 2.0;
    return cost;
}

bool vyre_cost_within(const struct vyre_cost *cost, double percent)
{
    return cost->confidence_ns <= cost->median_ns * percent / 100.0 ||
           cost->confidence_ns <= NOTHING_NS;
}
