/*
 * fan_out.c: the steps of a track in fixed point, and the mix of all tracks. Negative numbers are
 * shifted arithmetically, as gcc and clang promise and GLSL and OpenCL C require.
 */
#include <stddef.h>

#include "host_kernels/kernels.h"

/* A 16-bit sample from the upper half of a word, times gain / 256. */
void fan_out_gain(const struct vyre_host_group *group)
{
    int32_t gain = *(const int32_t *)group->constants;
    const uint32_t *restrict source = (const uint32_t *)host_input(group, 0) + host_first(group);
    int32_t *restrict target = (int32_t *)host_output(group, 1) + host_first(group);
    for (uint32_t i = 0; i < group->local_size[0]; i++)
        target[i] = (((int32_t)(source[i] >> 16) - 32768) * gain) >> 8;
}

/* 8 binomial taps over the previous samples; before the block is silence. */
void fan_out_lowpass(const struct vyre_host_group *group)
{
    static const int32_t taps[8] = {1, 7, 21, 35, 35, 21, 7, 1};
    const int32_t *restrict source = host_input(group, 0);
    int32_t *restrict target = host_output(group, 1);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0]; i++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < 8 && k <= i; k++)
            sum += source[i - k] * taps[k];
        target[i] = sum >> 7;
    }
}

/* Adds the block to itself, later and softer. */
void fan_out_echo(const struct vyre_host_group *group)
{
    const struct {
        uint32_t delay;
        int32_t feedback;
    } *c = group->constants;
    const int32_t *restrict source = host_input(group, 0);
    int32_t *restrict target = host_output(group, 1);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0]; i++) {
        int32_t late = i >= c->delay ? source[i - c->delay] : 0;
        target[i] = source[i] + ((late * c->feedback) >> 8);
    }
}

/* Keeps an eighth of what exceeds the threshold. */
void fan_out_limit(const struct vyre_host_group *group)
{
    int32_t threshold = *(const int32_t *)group->constants;
    const int32_t *restrict source = (const int32_t *)host_input(group, 0) + host_first(group);
    int32_t *restrict target = (int32_t *)host_output(group, 1) + host_first(group);
    for (uint32_t i = 0; i < group->local_size[0]; i++) {
        int32_t kept = source[i] < -threshold  ? -threshold
                       : source[i] > threshold ? threshold
                                               : source[i];
        target[i] = kept + ((source[i] - kept) >> 3);
    }
}

/* Folds the sum of all tracks into the earlier mix, so that every run affects the result. */
void fan_out_mix_tracks(const struct vyre_host_group *group)
{
    const struct {
        uint32_t tracks, samples;
    } *c = group->constants;
    const int32_t *source = host_input(group, 0);
    uint32_t *mixed = host_output(group, 1);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0]; i++) {
        int32_t sum = 0;
        for (uint32_t t = 0; t < c->tracks; t++)
            sum += source[(size_t)t * c->samples + i];
        mixed[i] = mixed[i] * 3u + (uint32_t)sum;
    }
}
