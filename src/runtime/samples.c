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

/* The number of samples below the median is binomial: 1.96 deviations in each direction. */
static double reach_of(uint32_t count)
{
    return 0.98 * square_root((double)count);
}

struct vyre_cost vyre_samples_cost(struct vyre_samples *samples)
{
    struct vyre_cost cost = {.samples = samples->count};
    if (samples->count == 0)
        return cost;
    vyre_sort(samples->values, samples->count, sizeof samples->values[0], compare);
    double middle = (double)(samples->count - 1) / 2.0;
    double reach = reach_of(samples->count);
    double median = at_rank(samples, middle);
    /*
     * A difference of two times may be negative. The samples keep their sign, because otherwise
     * noise around 0 would look like an exact 0; the cost does not.
     */
    cost.known = true;
    cost.min_ns = samples->values[0] > 0.0 ? samples->values[0] : 0.0;
    cost.median_ns = median > 0.0 ? median : 0.0;
    cost.spread_ns = at_rank(samples, middle * 1.5) - at_rank(samples, middle * 0.5);
    cost.confidence_ns =
        (at_rank(samples, middle + reach) - at_rank(samples, middle - reach)) / 2.0;
    /*
     * No cost is negative: a median below 0 is wrong by at least its distance from 0. The spread
     * shows it too, because a store keeps only that.
     */
    if (median < 0.0) {
        cost.confidence_ns -= median;
        cost.spread_ns -= median * (reach < middle ? middle / reach : 1.0);
    }
    return cost;
}

bool vyre_cost_within(const struct vyre_cost *cost, double percent)
{
    return cost->confidence_ns <= cost->median_ns * percent / 100.0 ||
           cost->confidence_ns <= NOTHING_NS;
}

double vyre_cost_interval_ns(const struct vyre_cost *cost)
{
    if (cost->samples < 2)
        return cost->spread_ns;
    double between_quartiles = (double)(cost->samples - 1) / 2.0;
    double reach = reach_of(cost->samples);
    return reach < between_quartiles ? cost->spread_ns * reach / between_quartiles
                                     : cost->spread_ns;
}

double vyre_cost_bound_ns(const struct vyre_cost *cost)
{
    double interval = vyre_cost_interval_ns(cost);
    bool lost = cost->known && interval > 0.0 && cost->median_ns <= interval;
    return lost ? cost->median_ns + interval : 0.0;
}

double vyre_cost_error_ns(const struct vyre_cost *cost)
{
    double bound = vyre_cost_bound_ns(cost);
    double error = bound > cost->confidence_ns ? bound : cost->confidence_ns;
    double quartile = cost->spread_ns / 2.0;
    return cost->noisy && quartile > error ? quartile : error;
}
