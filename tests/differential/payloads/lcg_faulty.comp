#version 450
// lcg_faulty.comp: lcg with a mistake in the first word of a group.
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
    words[at] = gl_LocalInvocationID.x == 0u ? value ^ 0x100u : value;
}
