// CL1.2
// specialized.cl: one of three ways to change 16 words a group. Slot 6.
#ifndef VYRE_SPEC_0
#define VYRE_SPEC_0 1
#endif
#ifndef VYRE_SPEC_1
#define VYRE_SPEC_1 12345
#endif
#define WAY    ((ulong)VYRE_SPEC_0)
#define AMOUNT ((uint)VYRE_SPEC_1)

static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void specialized(__global uint *words, uint salt)
{
    uint at = linear_group() * 16 + get_local_id(0);
    uint word = words[at];
    if (WAY % 3 == 0)
        word += AMOUNT ^ salt;
    else if (WAY % 3 == 1)
        word = word * (AMOUNT | 1u) - salt;
    else
        word ^= (word >> (AMOUNT % 31 + 1)) + salt;
    words[at] = word;
}
