#version 450
// table_add.comp: one member of the table to a group: its first 16 words grow by the group's number + 1.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Member { uint words[]; };
layout(std430, set = 0, binding = 0) readonly buffer Table { Member members[]; };

void main()
{
    Member member = members[gl_WorkGroupID.x];
    for (uint i = 0; i < 16; i++)
        member.words[i] += gl_WorkGroupID.x + 1u;
}
