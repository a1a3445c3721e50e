/*
 * stream_upload.c: two filters over 8-bit frames and a trace of the results. An invocation handles
 * four pixels. Outside the frame its edge pixels repeat.
 */
#include <stddef.h>
#include <stdlib.h>

#include "host_kernels/kernels.h"

#define PIXELS 4

struct extent {
    uint32_t width, height;
};

/* The 3 x 3 pixels around one: rows and columns before, at and after. */
struct window {
    const uint8_t *row[3];
    uint32_t column[3];
};

static void window_at(const struct extent *extent, const uint8_t *source, uint32_t at,
                      struct window *out_window)
{
    uint32_t x = at % extent->width;
    uint32_t y = at / extent->width;
    uint32_t above = y ? y - 1 : 0;
    uint32_t below = y + 1 < extent->height ? y + 1 : y;
    *out_window = (struct window){
        .row = {source + (size_t)above * extent->width, source + (size_t)y * extent->width,
                source + (size_t)below * extent->width},
        .column = {x ? x - 1 : 0, x, x + 1 < extent->width ? x + 1 : x},
    };
}

/* Mean of 3 x 3 pixels. */
void stream_upload_box(const struct vyre_host_group *group)
{
    const struct extent *extent = group->constants;
    const uint8_t *source = host_input(group, 0);
    uint8_t *restrict target = host_output(group, 1);
    uint32_t first = host_first(group) * PIXELS;
    for (uint32_t at = first; at < first + group->local_size[0] * PIXELS; at++) {
        struct window w;
        window_at(extent, source, at, &w);
        uint32_t sum = 0;
        for (uint32_t r = 0; r < 3; r++)
            sum += (uint32_t)w.row[r][w.column[0]] + w.row[r][w.column[1]] + w.row[r][w.column[2]];
        target[at] = (uint8_t)(sum * 57 >> 9);
    }
}

/* |dx| + |dy| of 3 x 3 pixels, at most 255. */
void stream_upload_sobel(const struct vyre_host_group *group)
{
    const struct extent *extent = group->constants;
    const uint8_t *source = host_input(group, 0);
    uint8_t *restrict target = host_output(group, 1);
    uint32_t first = host_first(group) * PIXELS;
    for (uint32_t at = first; at < first + group->local_size[0] * PIXELS; at++) {
        struct window w;
        window_at(extent, source, at, &w);
        uint32_t left = w.column[0], here = w.column[1], right = w.column[2];
        int32_t dx = w.row[0][right] + 2 * w.row[1][right] + w.row[2][right] - w.row[0][left] -
                     2 * w.row[1][left] - w.row[2][left];
        int32_t dy = w.row[2][left] + 2 * w.row[2][here] + w.row[2][right] - w.row[0][left] -
                     2 * w.row[0][here] - w.row[0][right];
        int32_t strength = abs(dx) + abs(dy);
        target[at] = (uint8_t)(strength < 255 ? strength : 255);
    }
}

/* Folds a frame into the trace of all frames, which depends on their order. */
void stream_upload_fold(const struct vyre_host_group *group)
{
    const uint32_t *restrict source = (const uint32_t *)host_input(group, 0) + host_first(group);
    uint32_t *restrict trace = (uint32_t *)host_output(group, 1) + host_first(group);
    for (uint32_t i = 0; i < group->local_size[0]; i++)
        trace[i] = trace[i] * 5u + source[i];
}
