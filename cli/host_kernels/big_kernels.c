/*
 * big_kernels.c: kernels that take much longer than their launch.
 */
#include <stddef.h>

#include "host_kernels/kernels.h"

#define TILE 16

/* c = a b, matrices of n x n words; a group computes a tile of 16 x 16. */
void big_kernels_matmul(const struct vyre_host_group *group)
{
    uint32_t n = *(const uint32_t *)group->constants;
    const uint32_t *restrict a = host_input(group, 0);
    const uint32_t *restrict b = host_input(group, 1);
    uint32_t *restrict c = host_output(group, 2);
    size_t column = (size_t)group->group_id[0] * TILE;
    size_t row = (size_t)group->group_id[1] * TILE;
    for (size_t y = row; y < row + TILE; y++) {
        uint32_t sum[TILE] = {0};
        for (size_t k = 0; k < n; k++) {
            uint32_t factor = a[y * n + k];
            const uint32_t *b_row = b + k * n + column;
            for (size_t x = 0; x < TILE; x++)
                sum[x] += factor * b_row[x];
        }
        for (size_t x = 0; x < TILE; x++)
            c[y * n + column + x] = sum[x];
    }
}

/* Four times a cell plus its four neighbours, on a torus. */
void big_kernels_stencil(const struct vyre_host_group *group)
{
    const struct {
        uint32_t width, height;
    } *c = group->constants;
    const uint32_t *restrict source = host_input(group, 0);
    uint32_t *restrict target = host_output(group, 1);
    size_t width = c->width;
    size_t first_x = host_first(group);
    size_t first_y = (size_t)group->group_id[1] * group->local_size[1];
    for (size_t y = first_y; y < first_y + group->local_size[1]; y++) {
        const uint32_t *above = source + (y ? y - 1 : c->height - 1) * width;
        const uint32_t *here = source + y * width;
        const uint32_t *below = source + (y + 1 < c->height ? y + 1 : 0) * width;
        for (size_t x = first_x; x < first_x + group->local_size[0]; x++) {
            uint32_t left = here[x ? x - 1 : width - 1];
            uint32_t right = here[x + 1 < width ? x + 1 : 0];
            target[y * width + x] = 4u * here[x] + above[x] + below[x] + left + right;
        }
    }
}
