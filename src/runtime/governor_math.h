/*
 * governor_math.h: what choosing and learning share: a cheap logarithm, and lessons.
 */
#ifndef VYRE_RUNTIME_GOVERNOR_MATH_H
#define VYRE_RUNTIME_GOVERNOR_MATH_H

#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/governor.h"

/* A new lesson's deviation, in octaves: two shapes of a device rarely agree better than this. */
#define LESSON_DEVIATION 0.5f
/* Later samples move a lesson by at least 1 part in this many. */
#define LESSON_MEMORY 8u
/* Clocks vary by less than this factor. */
#define GOVERNOR_PACE 2.0
/* A logarithm to base 2 times this is one to base e. */
#define NATURAL 0.6931472f
/* So many mean deviations make a difference clear. */
#define CLEARLY 1.5f
/* From this many windows on their spread is known; before, it is assumed to be this. */
#define SPREAD_KNOWN   3u
#define SPREAD_UNKNOWN 0.03f

/*
 * The exponent, with the mantissa as its fraction: a logarithm to base 2 with an error below 0.09,
 * whose inverse is exact. It needs no libm and gives the same bits everywhere. `value` is above 0.
 */
static inline float governor_log(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (float)((double)bits / 8388608.0 - 127.0);
}

static inline double governor_exp(float log)
{
    float limited = log < -100.0f ? -100.0f : log > 100.0f ? 100.0f : log;
    uint32_t bits = (uint32_t)(((double)limited + 127.0) * 8388608.0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline float governor_abs(float value)
{
    return value < 0 ? -value : value;
}

static inline void governor_lesson_fold(struct vyre_governor_lesson *lesson, float log)
{
    if (lesson->count == 0) {
        lesson->log = log;
        lesson->deviation = LESSON_DEVIATION;
    } else {
        uint32_t weight = lesson->count < LESSON_MEMORY ? lesson->count + 1 : LESSON_MEMORY;
        float distance = governor_abs(log - lesson->log);
        lesson->deviation += (distance - lesson->deviation) / (float)weight;
        lesson->log += (log - lesson->log) / (float)weight;
    }
    lesson->count += lesson->count < UINT32_MAX;
}

/* The factor by which to multiply a calibrated figure. */
static inline double governor_scale(const struct vyre_governor_lesson *lesson)
{
    return lesson->count ? governor_exp(lesson->log) : 1.0;
}

/* The part of a batch's time that calibration does not explain; always above 0. */
static inline double governor_execution(double cost_ns, double overhead_ns)
{
    double rest = cost_ns - overhead_ns;
    double least = cost_ns * 0.05;
    return rest > least ? rest : least;
}

static inline float governor_square(float value)
{
    return value * value;
}

/* The square root, within 1 %. `value` is above 0. */
static inline float governor_root(float value)
{
    float root = (float)governor_exp(governor_log((double)value) * 0.5f);
    return 0.5f * (root + value / root);
}

/* The error of a mean of windows, squared, as a part of it. Few windows do not show their spread. */
static inline float governor_error(const struct vyre_candidate_track *track, float least)
{
    float spread = track->spread > least ? track->spread : least;
    return governor_square(spread) / (float)(track->count ? track->count : 1);
}

/* Few windows do not show their spread: it is taken for that of the other candidate. */
static inline float governor_least_spread(const struct vyre_candidate_track *track, float other)
{
    if (track->windows >= SPREAD_KNOWN)
        return 0;
    return other > SPREAD_UNKNOWN ? other : SPREAD_UNKNOWN;
}

/* Twice the standard error of the ratio of two means, squared. `b` is the current one. */
static inline float governor_doubt(const struct vyre_candidate_track *a,
                                   const struct vyre_candidate_track *b)
{
    return governor_square(CLEARLY) *
           (governor_error(a, governor_least_spread(a, b->spread)) +
            governor_error(b, governor_least_spread(b, 0)));
}

/* Whether a ratio of two means differs from 1 by more than their spread explains. */
static inline bool governor_told_apart(const struct vyre_candidate_track *a,
                                       const struct vyre_candidate_track *b, double ratio)
{
    float distance = (governor_log(ratio) - governor_log(1.0)) * NATURAL;
    return governor_square(distance) > governor_doubt(a, b);
}

#endif
