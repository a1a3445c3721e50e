#version 450
// reverse.comp: turns the 64 words of a group round, by way of local memory.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer In { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint target[]; };
shared uint turned[64]; // slot 2

void main()
{
    uint i = gl_LocalInvocationID.x;
    turned[63u - i] = source[gl_GlobalInvocationID.x];
    barrier();
    target[gl_GlobalInvocationID.x] = turned[i];
}
