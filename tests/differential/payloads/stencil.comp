#version 450
// stencil.comp: a word and its neighbours, wrapping at the ends of the input; 64 words a group.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer In { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint target[]; };
layout(push_constant) uniform Constants {
    uint in_words;
    uint weight;
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint i = linear_group() * 64 + gl_LocalInvocationID.x;
    uint before = source[(i + in_words - 1u) % in_words];
    uint after = source[(i + 1u) % in_words];
    target[i] = before + weight * source[i % in_words] + 7u * after;
}
