// CL1.2
// big-kernels.cl: work that dwarfs any launch.

// c = a b, of n x n words; one element to a work-item.
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul(__global const uint *a, __global const uint *b, __global uint *c, uint n)
{
    uint column = get_global_id(0);
    uint row = get_global_id(1);
    uint sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// 4 times a cell plus its four neighbours, on a torus.
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void stencil(__global const uint *source, __global uint *target, uint width, uint height)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint left = x == 0 ? width - 1 : x - 1;
    uint right = x + 1 == width ? 0 : x + 1;
    uint above = (y == 0 ? height - 1 : y - 1) * width;
    uint below = (y + 1 == height ? 0 : y + 1) * width;
    uint here = y * width;
    target[here + x] = 4u * source[here + x] + source[above + x] + source[below + x] +
                       source[here + left] + source[here + right];
}
