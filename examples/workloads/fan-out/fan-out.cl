// CL1.2
// fan-out.cl: the steps of a track, in fixed point, and the mix of all tracks.

// A 16-bit sample from the upper half of a word, times gain / 256.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void gain(__global const uint *source, __global int *target, int gain)
{
    uint i = get_global_id(0);
    int sample = (int)(source[i] >> 16) - 32768;
    target[i] = (sample * gain) >> 8;
}

// 8 binomial taps over the samples before; silence before the block.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void lowpass(__global const int *source, __global int *target)
{
    const int taps[8] = {1, 7, 21, 35, 35, 21, 7, 1};
    uint i = get_global_id(0);
    int sum = 0;
    for (uint k = 0; k < 8; k++) {
        if (k <= i)
            sum += source[i - k] * taps[k];
    }
    target[i] = sum >> 7;
}

// Adds the block to itself, later and softer.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void echo(__global const int *source, __global int *target, uint delay, int feedback)
{
    uint i = get_global_id(0);
    int late = i >= delay ? source[i - delay] : 0;
    target[i] = source[i] + ((late * feedback) >> 8);
}

// Beyond the threshold, an eighth of the excess is left.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void limit(__global const int *source, __global int *target, int threshold)
{
    uint i = get_global_id(0);
    int kept = clamp(source[i], -threshold, threshold);
    target[i] = kept + ((source[i] - kept) >> 3);
}

// Folds the sum of all tracks into what was mixed before, so that every run counts.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mix_tracks(__global const int *source, __global uint *mixed, uint tracks, uint samples)
{
    uint i = get_global_id(0);
    int sum = 0;
    for (uint t = 0; t < tracks; t++)
        sum += source[t * samples + i];
    mixed[i] = mixed[i] * 3u + (uint)sum;
}
