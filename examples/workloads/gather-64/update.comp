#version 450
// update.comp: one shard to a group; every word becomes 5 * word + addend.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Shard { uint data[]; };
layout(std430, set = 0, binding = 0) readonly buffer Table { Shard shards[]; };
layout(push_constant) uniform Constants {
    uint words;
    uint addend;
};

void main()
{
    Shard shard = shards[gl_WorkGroupID.x];
    for (uint i = gl_LocalInvocationID.x; i < words; i += gl_WorkGroupSize.x)
        shard.data[i] = shard.data[i] * 5u + addend;
}
