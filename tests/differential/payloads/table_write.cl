// CL1.2
// table_write.cl: group g writes the (g / entries)-th run of member g % entries, if that run exists.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void table_write(__global const ulong *table, __global const uint *in, uint entries, uint words,
                 uint salt)
{
    uint index = linear_group();
    uint first = index / entries * 16;
    if (first + 16 > words)
        return;
    __global uint *member = (__global uint *)table[index % entries];
    member[first + get_local_id(0)] = in[index * 16 + get_local_id(0)] ^ salt;
}
