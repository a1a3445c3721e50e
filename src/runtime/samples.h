/*
 * samples.h: a few timings, and the statistics over them.
 *
 * The median's 95 % confidence interval comes from order statistics. That assumes no particular
 * distribution of the noise, and a preempted sample changes nothing.
 *
 * Thread-safety: touches only the caller's struct.
 */
#ifndef VYRE_RUNTIME_SAMPLES_H
#define VYRE_RUNTIME_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/calibration.h>

#define VYRE_SAMPLES_MAX 96
#define VYRE_SAMPLES_MIN 7

struct vyre_samples {
    double values[VYRE_SAMPLES_MAX];
    uint32_t count;
};

/* Negative if a difference is negative. Ignored when full. */
void vyre_samples_add(struct vyre_samples *samples, double value_ns);

/* Sorts the samples. Unknown if there are none. */
struct vyre_cost vyre_samples_cost(struct vyre_samples *samples);

/* Whether the interval is within `percent` of the median, or within 50 ns. */
bool vyre_cost_within(const struct vyre_cost *cost, double percent);

/*
 * What confidence_ns would be if the samples lay evenly between the quartiles. A store keeps the
 * spread and the number of samples, but no confidence.
 */
double vyre_cost_interval_ns(const struct vyre_cost *cost);

/*
 * By how much the true cost may differ from the one that is used, to either side. A noisy figure
 * was taken while the machine did other work: it counts its quartiles too.
 */
double vyre_cost_error_ns(const struct vyre_cost *cost);

#endif
