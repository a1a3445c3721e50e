// CL1.2
// table_sum.cl: a hash over the table's members, 16 words a group.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void table_sum(__global const ulong *table, __global uint *out, uint entries, uint words, uint salt)
{
    uint i = linear_group() * 16 + get_local_id(0);
    uint sum = salt;
    for (uint entry = 0; entry < entries; entry++) {
        __global const uint *member = (__global const uint *)table[entry];
        sum = sum * 31u + member[(i + entry) % words];
    }
    out[i] = sum;
}
