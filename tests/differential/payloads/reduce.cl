// CL1.2
// reduce.cl: adds 64 words a group up in local memory, as a tree.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void reduce(__global const uint *in, __local uint *sums, __global uint *out, uint factor,
            ulong offset)
{
    uint index = linear_group();
    uint i = get_local_id(0);
    sums[i] = in[index * 64 + i] * factor;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = 32; width != 0; width /= 2) {
        if (i < width)
            sums[i] += sums[i + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        out[index] = sums[0] + (uint)offset + (uint)(offset >> 32);
}
