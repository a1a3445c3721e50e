// CL1.2
// reverse.cl: turns 32 words a group round, in place: each work-item reads, all wait, then they write.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void reverse(__global uint *words)
{
    uint first = linear_group() * 32;
    uint i = get_local_id(0);
    uint value = words[first + i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    words[first + 31 - i] = value;
}
