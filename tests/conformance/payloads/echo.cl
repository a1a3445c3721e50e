// CL1.2
// echo.cl: the bits of each constant, widened without a sign.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void echo(__global ulong *out, uint a, ulong b, int c, double d, float e, long f)
{
    out[0] = a;
    out[1] = b;
    out[2] = as_uint(c);
    out[3] = as_ulong(d);
    out[4] = as_uint(e);
    out[5] = as_ulong(f);
}
