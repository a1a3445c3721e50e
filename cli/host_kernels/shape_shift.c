/*
 * shape_shift.c: a correlation that is specialized for its tile and length.
 */
#include <stddef.h>

#include "host_kernels/kernels.h"

/* For common tile sizes the loop has a constant bound: this is how the host specializes. */
static inline void correlate(const struct vyre_host_group *group, uint32_t tile, uint32_t length)
{
    uint32_t salt = *(const uint32_t *)group->constants;
    const uint32_t *taps = host_input(group, 1);
    const uint32_t *scales = host_input(group, 2);
    uint32_t *restrict result = host_output(group, 3);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0]; i++) {
        const uint32_t *signal = (const uint32_t *)host_input(group, 0) + i;
        uint32_t sum = 0;
        for (uint32_t t = 0; t < length / tile; t++) {
            uint32_t part = 0;
            for (uint32_t j = 0; j < tile; j++)
                part += signal[t * tile + j] * taps[t * tile + j];
            sum += part * scales[t];
        }
        result[i] = result[i] * 5u + sum + salt;
    }
}

void shape_shift_correlate(const struct vyre_host_group *group)
{
    uint32_t tile = (uint32_t)group->specialization[0];
    uint32_t length = (uint32_t)group->specialization[1];
    if (tile == 0)
        return;
    switch (tile) {
    case 8:
        correlate(group, 8, length);
        break;
    case 16:
        correlate(group, 16, length);
        break;
    default:
        correlate(group, tile, length);
        break;
    }
}
