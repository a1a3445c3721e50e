#version 450
// gather.comp: reads where the indices say, 32 words a group of 8 by 4.
layout(local_size_x = 8, local_size_y = 4) in;

layout(std430, set = 0, binding = 0) readonly buffer Indices { uint indices[]; };
layout(std430, set = 0, binding = 2) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { uint target[]; };
layout(push_constant) uniform Constants {
    uint source_words;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint i = gl_LocalInvocationIndex;
    uint at = linear_group() * 32 + i;
    target[at] = source[indices[at] % source_words] ^ i;
}
