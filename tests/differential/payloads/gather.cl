// CL1.2
// gather.cl: reads where the indices say, 32 words a group of 8 by 4. Slots 0, 2 and 5.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(8, 4, 1)))
void gather(__global const uint *indices, __global const uint *source, __global uint *out,
            uint source_words)
{
    uint i = get_local_id(1) * 8 + get_local_id(0);
    uint at = linear_group() * 32 + i;
    out[at] = source[indices[at] % source_words] ^ i;
}
