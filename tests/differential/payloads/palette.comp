#version 450
// palette.comp: 64 words a group, each with one of 16 colours.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Colours { uint colours[]; };
layout(std430, set = 0, binding = 2) buffer Words { uint words[]; };
layout(push_constant) uniform Constants {
    uint rotation;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint at = linear_group() * 64 + gl_LocalInvocationID.x;
    words[at] = words[at] * 5u + colours[(words[at] + rotation) % 16u];
}
