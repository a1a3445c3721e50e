// CL1.2
// sort.cl: sorts 32 words a group. Every work-item finds the place of its word. Slot 5.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void sort(__global uint *words)
{
    __local uint before[32];
    uint first = linear_group() * 32;
    uint i = get_local_id(0);
    uint word = words[first + i];
    before[i] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = 0;
    for (uint j = 0; j < 32; j++)
        place += before[j] < word || (before[j] == word && j < i) ? 1 : 0;
    words[first + place] = word;
}
