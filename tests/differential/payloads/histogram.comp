#version 450
// histogram.comp: each group counts its own 32 words into its own 16 bins, with local atomics.
layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) readonly buffer In { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Bins { uint bins[]; };
layout(push_constant) uniform Constants {
    uint shift;
};
shared uint counts[16];

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint index = linear_group();
    uint i = gl_LocalInvocationID.x;
    if (i < 16u)
        counts[i] = 0u;
    barrier();
    atomicAdd(counts[(source[index * 32 + i] >> (shift % 28u)) & 15u], 1u);
    barrier();
    if (i < 16u)
        bins[index * 16 + i] = counts[i];
}
