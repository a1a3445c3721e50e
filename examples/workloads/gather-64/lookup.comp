#version 450
// lookup.comp: sums of rows that lie in 64 shards; the table holds the shards' addresses.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Shard { uint words[]; };
layout(std430, set = 0, binding = 0) readonly buffer Table { Shard shards[]; };
layout(std430, set = 0, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, set = 0, binding = 2) buffer Sums { uint sums[]; };
layout(push_constant) uniform Constants {
    uint first;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint at = (first + i / 16) * 8;
    uint sum = 0;
    for (uint k = 0; k < 8; k++) {
        uint id = ids[at + k];
        sum += shards[id & 63u].words[(id >> 6 & 63u) * 16 + i % 16];
    }
    sums[i] = sums[i] * 3u + sum;
}
