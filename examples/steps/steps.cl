/* One step of a diffusion on a ring: each cell moves towards the mean of its neighbours. */
__kernel void smooth(__global const float *from, __global float *to)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    to[i] = 0.25f * from[(i + n - 1) % n] + 0.5f * from[i] + 0.25f * from[(i + 1) % n];
}
