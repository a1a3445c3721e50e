// CL1.2
// sparse.cl: out[i] = 1000 * a[i] + b[i]. Slots 2, 5 and 9, in that order.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void sparse(__global const uint *a, __global const uint *b, __global uint *out)
{
    uint i = get_global_id(0);
    out[i] = 1000u * a[i] + b[i];
}
