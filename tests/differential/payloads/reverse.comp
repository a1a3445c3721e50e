#version 450
// reverse.comp: turns 32 words a group round, in place: each invocation reads, all wait, then they write.
layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 3) buffer Words { uint words[]; };

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint first = linear_group() * 32;
    uint i = gl_LocalInvocationID.x;
    uint value = words[first + i];
    memoryBarrierBuffer();
    barrier();
    words[first + 31u - i] = value;
}
