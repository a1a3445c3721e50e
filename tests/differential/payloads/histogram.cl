// CL1.2
// histogram.cl: each group counts its own 32 words into its own 16 bins, with local atomics.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void histogram(__global const uint *in, __global uint *bins, uint shift)
{
    __local uint counts[16];
    uint index = linear_group();
    uint i = get_local_id(0);
    if (i < 16)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&counts[(in[index * 32 + i] >> (shift % 28)) & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16)
        bins[index * 16 + i] = counts[i];
}
