// CL1.2
// stencil.cl: a word and its neighbours, wrapping at the ends of the input; 64 words a group.
static uint linear_group(void)
{
    return get_group_id(0) +
           get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void stencil(__global const uint *in, __global uint *out, uint in_words, uint weight)
{
    uint i = linear_group() * 64 + get_local_id(0);
    uint before = in[(i + in_words - 1) % in_words];
    uint after = in[(i + 1) % in_words];
    out[i] = before + weight * in[i % in_words] + 7u * after;
}
