// CL1.2
// palette.cl: 64 words a group, each with one of 16 colours. Slots 0 and 2.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void palette(__global const uint *colours, __global uint *words, uint rotation)
{
    uint at = linear_group() * 64 + get_local_id(0);
    words[at] = words[at] * 5u + colours[(words[at] + rotation) % 16];
}
