// CL1.2
// wide.cl: writes its 32 constants, as many as there may be.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void wide(__global uint *out, uint c0, uint c1, uint c2, uint c3, uint c4, uint c5, uint c6, uint c7,
          uint c8, uint c9, uint c10, uint c11, uint c12, uint c13, uint c14, uint c15, uint c16,
          uint c17, uint c18, uint c19, uint c20, uint c21, uint c22, uint c23, uint c24, uint c25,
          uint c26, uint c27, uint c28, uint c29, uint c30, uint c31)
{
    const uint constants[32] = {c0,  c1,  c2,  c3,  c4,  c5,  c6,  c7,  c8,  c9,  c10,
                                c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21,
                                c22, c23, c24, c25, c26, c27, c28, c29, c30, c31};
    for (uint i = 0; i < 32; i++)
        out[i] = constants[i];
}
