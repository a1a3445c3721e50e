/*
 * governor_math.h: what choosing and learning share: a cheap logarithm, lessons, and whether two
 * means differ.
 */
#ifndef VYRE_RUNTIME_GOVERNOR_MATH_H
#define VYRE_RUNTIME_GOVERNOR_MATH_H

#include <stdint.h>
#include <string.h>

#include "runtime/governor.h"

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

/* The square root, within 1 %. `value` is above 0. */
static inline float governor_root(float value)
{
    float root = (float)governor_exp(governor_log((double)value) * 0.5f);
    return 0.5f * (root + value / root);
}

static inline void governor_lesson_fold(struct vyre_governor_lesson *lesson, float log,
                                        const struct vyre_governor_rules *rules)
{
    float memory = (float)rules->lesson_memory;
    if (lesson->count == 0) {
        lesson->log = log;
        lesson->deviation = (float)rules->unknown;
    } else {
        float weight = (float)lesson->count + 1 < memory ? (float)lesson->count + 1 : memory;
        float distance = governor_abs(log - lesson->log);
        lesson->deviation += (distance - lesson->deviation) / weight;
        lesson->log += (log - lesson->log) / weight;
    }
    lesson->count += lesson->count < UINT32_MAX;
}

/* The factor by which to multiply a calibrated figure. */
static inline double governor_scale(const struct vyre_governor_lesson *lesson)
{
    return lesson->count ? governor_exp(lesson->log) : 1.0;
}

/* The part of a batch's time that calibration does not explain; always above 0. */
static inline double governor_execution(double cost_ns, double overhead_ns,
                                        const struct vyre_governor_rules *rules)
{
    double rest = cost_ns - overhead_ns;
    double least = cost_ns * rules->least;
    return rest > least ? rest : least;
}

/* What a batch takes, with what is paid again and again. */
static inline double governor_usual(const struct vyre_candidate_track *track)
{
    return track->mean_ns + (double)track->again_ns;
}

/* The standard error of a mean, squared, as a part of it. Few windows do not show their spread. */
static inline float governor_error(const struct vyre_candidate_track *track, float other,
                                   const struct vyre_governor_rules *rules)
{
    float spread = track->spread;
    if (track->windows < rules->few) {
        float least = other > (float)rules->spread ? other : (float)rules->spread;
        spread = spread > least ? spread : least;
    }
    return spread * spread / (float)(track->count ? track->count : 1);
}

/* Whether a ratio of two means differs from 1 by more than their spread explains. */
static inline bool governor_told_apart(const struct vyre_candidate_track *a,
                                       const struct vyre_candidate_track *b, double ratio,
                                       const struct vyre_governor_rules *rules)
{
    float distance = (float)(ratio > 1 ? ratio - 1 : 1 / ratio - 1);
    float clearly = (float)rules->clearly;
    return distance * distance >
           clearly * clearly * (governor_error(a, b->spread, rules) + governor_error(b, 0, rules));
}

#endif
