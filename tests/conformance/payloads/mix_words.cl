// CL1.2
// mix_words.cl: to[i] = to[i] * factor + from[i] + i for the first `count` words.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mix_words(__global const uint *from, __global uint *to, uint factor, uint count)
{
    uint i = get_global_id(0);
    if (i < count)
        to[i] = to[i] * factor + from[i] + i;
}
