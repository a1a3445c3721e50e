#version 450
// table_sum.comp: out[i] = the sum over the table of member[i], for the first `count` words.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Member { uint words[]; };
layout(std430, set = 0, binding = 0) readonly buffer Table { Member members[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint result[]; };
layout(push_constant) uniform Constants {
    uint table_count;
    uint count;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    uint sum = 0;
    for (uint j = 0; j < table_count; j++)
        sum += members[j].words[i];
    result[i] = sum;
}
