#version 450
// table_sum.comp: a hash over the table's members, 16 words a group.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16) in;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Member { uint data[]; };
layout(std430, set = 0, binding = 0) readonly buffer Table { Member members[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint target[]; };
layout(push_constant) uniform Constants {
    uint entries;
    uint words;
    uint salt;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint i = linear_group() * 16 + gl_LocalInvocationID.x;
    uint sum = salt;
    for (uint entry = 0; entry < entries; entry++)
        sum = sum * 31u + members[entry].data[(i + entry) % words];
    target[i] = sum;
}
