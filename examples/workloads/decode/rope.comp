#version 450
// rope.comp: turns the pairs (i, i + half) of each head by position / 2^i radians. The sine is written
// out because Vulkan promises only 11 bits of the built-in one.
layout(local_size_x = 8) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { float source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Rotated { float rotated[]; };
layout(push_constant) uniform Constants {
    uint position;
    uint first;
};

float sine_of_turns(float turns)
{
    precise float r = turns - floor(turns + 0.5);
    if (r > 0.25)
        r = 0.5 - r;
    if (r < -0.25)
        r = -0.5 - r;
    precise float a = r * 6.2831853;
    precise float q = a * a;
    precise float p = q * -2.5052108e-8 + 2.7557319e-6;
    p = q * p - 1.9841270e-4;
    p = q * p + 8.3333333e-3;
    p = q * p - 1.6666667e-1;
    p = q * p + 1.0;
    return a * p;
}

void main()
{
    uint half_dim = gl_WorkGroupSize.x;
    uint i = gl_LocalInvocationID.x;
    uint low = gl_WorkGroupID.x * 2 * half_dim + i;
    uint high = low + half_dim;
    precise float turns = float(position) / float(1u << i) * 0.15915494;
    precise float c = sine_of_turns(turns + 0.25);
    precise float s = sine_of_turns(turns);
    precise float a = source[low] * c - source[high] * s;
    precise float b = source[low] * s + source[high] * c;
    rotated[first + low] = a;
    rotated[first + high] = b;
}
