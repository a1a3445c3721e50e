// CL1.2
// add.cl: out = left + 3 * right + bias, 16 words a group. Slots 1, 4 and 9.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void add(__global const uint *left, __global const uint *right, __global uint *out, int bias)
{
    uint at = linear_group() * 16 + get_local_id(0);
    out[at] = left[at] + 3u * right[at] + as_uint(bias);
}
