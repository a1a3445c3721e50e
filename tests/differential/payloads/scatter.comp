#version 450
// scatter.comp: transposes: the 16 words of a group end up between those of all others.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 0) readonly buffer In { uint source[]; };
layout(std430, set = 0, binding = 7) writeonly buffer Out { uint target[]; };
layout(push_constant) uniform Constants {
    uint offset;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z;
    uint index = linear_group();
    uint i = gl_LocalInvocationID.x;
    target[i * groups + index] = source[index * 16 + i] + offset;
}
