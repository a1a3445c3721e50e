// CL1.2
// scatter.cl: transposes: the 16 words of a group end up between those of all others. Slots 0 and 7.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void scatter(__global const uint *in, __global uint *out, uint offset)
{
    uint groups = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
    uint index = linear_group();
    uint i = get_local_id(0);
    out[i * groups + index] = in[index * 16 + i] + offset;
}
