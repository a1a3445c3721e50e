#version 450
// add.comp: out = left + 3 * right + bias, 16 words a group.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 1) readonly buffer Left { uint left[]; };
layout(std430, set = 0, binding = 4) readonly buffer Right { uint right[]; };
layout(std430, set = 0, binding = 9) writeonly buffer Out { uint result[]; };
layout(push_constant) uniform Constants {
    int bias;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint at = linear_group() * 16 + gl_LocalInvocationID.x;
    result[at] = left[at] + 3u * right[at] + uint(bias);
}
