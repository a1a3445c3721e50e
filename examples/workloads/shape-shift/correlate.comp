#version 450
// correlate.comp: signal against LENGTH taps in tiles of TILE, each tile with a scale of its own.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Signal { uint signal[]; };
layout(std430, set = 0, binding = 1) readonly buffer Taps { uint taps[]; };
layout(std430, set = 0, binding = 2) readonly buffer Scales { uint scales[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint result[]; };
layout(push_constant) uniform Constants {
    uint salt;
};
layout(constant_id = 0) const uint TILE = 8;
layout(constant_id = 1) const uint LENGTH = 64;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint sum = 0;
    for (uint tile = 0; tile < LENGTH / TILE; tile++) {
        uint part = 0;
        for (uint j = 0; j < TILE; j++)
            part += signal[i + tile * TILE + j] * taps[tile * TILE + j];
        sum += part * scales[tile];
    }
    result[i] = result[i] * 5u + sum + salt;
}
