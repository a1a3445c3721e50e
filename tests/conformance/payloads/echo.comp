#version 450
// echo.comp: the bits of each constant, widened without a sign. Scalars of 8 bytes are pairs of words
// here, low one first: that is their layout, and needs no 64-bit arithmetic.
layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) writeonly buffer Out { uvec2 result[]; };
layout(push_constant) uniform Constants {
    uint a;
    uvec2 b;
    int c;
    uvec2 d;
    float e;
    uvec2 f;
};

void main()
{
    result[0] = uvec2(a, 0u);
    result[1] = b;
    result[2] = uvec2(uint(c), 0u);
    result[3] = d;
    result[4] = uvec2(floatBitsToUint(e), 0u);
    result[5] = f;
}
