#version 450
// table_write.comp: group g writes the (g / entries)-th run of member g % entries, if that run exists.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16) in;

layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Member { uint data[]; };
layout(std430, set = 0, binding = 0) readonly buffer Table { Member members[]; };
layout(std430, set = 0, binding = 1) readonly buffer In { uint source[]; };
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
    uint index = linear_group();
    uint first = index / entries * 16;
    if (first + 16u > words)
        return;
    Member member = members[index % entries];
    member.data[first + gl_LocalInvocationID.x] = source[index * 16 + gl_LocalInvocationID.x] ^ salt;
}
