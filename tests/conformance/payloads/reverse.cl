// CL1.2
// reverse.cl: turns the 64 words of a group round, by way of local memory.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void reverse(__global const uint *in, __global uint *out, __local uint *turned)
{
    uint i = get_local_id(0);
    turned[63 - i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = turned[i];
}
