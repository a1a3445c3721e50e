#version 450
// lowpass.comp: 8 binomial taps over the samples before; silence before the block.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { int source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { int target[]; };

const int taps[8] = int[](1, 7, 21, 35, 35, 21, 7, 1);

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int sum = 0;
    for (uint k = 0; k < 8; k++) {
        if (k <= i)
            sum += source[i - k] * taps[k];
    }
    target[i] = sum >> 7;
}
