// CL1.2
// table_sum.cl: out[i] = the sum over the table of member[i], for the first `count` words.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void table_sum(__global const ulong *table, __global uint *out, uint table_count, uint count)
{
    uint i = get_global_id(0);
    if (i >= count)
        return;
    uint sum = 0;
    for (uint j = 0; j < table_count; j++) {
        __global const uint *member = (__global const uint *)table[j];
        sum += member[i];
    }
    out[i] = sum;
}
