// CL1.2
// specialized.cl: the number of specialization values, then the values.
#ifndef VYRE_SPEC_0
#define VYRE_SPEC_0 11
#endif
#ifndef VYRE_SPEC_1
#define VYRE_SPEC_1 22
#endif
#ifndef VYRE_SPEC_2
#define VYRE_SPEC_2 33
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void specialized(__global ulong *out)
{
    out[0] = 3;
    out[1] = (ulong)VYRE_SPEC_0;
    out[2] = (ulong)VYRE_SPEC_1;
    out[3] = (ulong)VYRE_SPEC_2;
}
