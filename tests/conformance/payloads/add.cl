// CL1.2
// add.cl: data[i] += value for the first `count` words.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void add(__global uint *data, uint value, uint count)
{
    uint i = get_global_id(0);
    if (i < count)
        data[i] += value;
}
