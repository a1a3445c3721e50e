#version 450
// lcg.comp: steps of a linear congruential generator on 16 words a group.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
layout(push_constant) uniform Constants {
    uint increment;
    uint rounds;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint at = linear_group() * 16 + gl_LocalInvocationID.x;
    uint value = words[at];
    for (uint step_number = 0; step_number <= rounds; step_number++)
        value = value * 1664525u + increment;
    words[at] = value;
}
