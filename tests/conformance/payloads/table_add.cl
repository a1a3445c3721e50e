// CL1.2
// table_add.cl: one member of the table to a group: its first 16 words grow by the group's number + 1.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void table_add(__global const ulong *table)
{
    __global uint *member = (__global uint *)table[get_group_id(0)];
    for (uint i = 0; i < 16; i++)
        member[i] += get_group_id(0) + 1;
}
