#version 450
// reduce.comp: adds 64 words a group up in local memory, as a tree.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer In { uint source[]; };
shared uint sums[64]; // slot 1
layout(std430, set = 0, binding = 2) writeonly buffer Out { uint target[]; };
layout(push_constant) uniform Constants {
    uint factor;
    uvec2 offset; // 64 bits, the low word first
};

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint index = linear_group();
    uint i = gl_LocalInvocationID.x;
    sums[i] = source[index * 64 + i] * factor;
    barrier();
    for (uint width = 32; width != 0; width /= 2) {
        if (i < width)
            sums[i] += sums[i + width];
        barrier();
    }
    if (i == 0u)
        target[index] = sums[0] + offset.x + offset.y;
}
