// CL1.2
// shape-shift.cl: a kernel that is built for its tile and length.
#ifndef VYRE_SPEC_0
#define VYRE_SPEC_0 8
#endif
#ifndef VYRE_SPEC_1
#define VYRE_SPEC_1 64
#endif
#define TILE ((uint)VYRE_SPEC_0)
#define LENGTH ((uint)VYRE_SPEC_1)

// Signal against LENGTH taps in tiles of TILE, each tile with a scale of its own.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void correlate(__global const uint *signal, __global const uint *taps, __global const uint *scales,
               __global uint *result, uint salt)
{
    uint i = get_global_id(0);
    uint sum = 0;
    for (uint tile = 0; tile < LENGTH / TILE; tile++) {
        uint part = 0;
        for (uint j = 0; j < TILE; j++)
            part += signal[i + tile * TILE + j] * taps[tile * TILE + j];
        sum += part * scales[tile];
    }
    result[i] = result[i] * 5u + sum + salt;
}
