// CL1.2
// lcg_faulty.cl: lcg with a mistake in the first word of a group.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void lcg_faulty(__global uint *words, uint increment, uint rounds)
{
    uint at = linear_group() * 16 + get_local_id(0);
    uint value = words[at];
    for (uint step_number = 0; step_number <= rounds; step_number++)
        value = value * 1664525u + increment;
    words[at] = get_local_id(0) == 0 ? value ^ 0x100u : value;
}
