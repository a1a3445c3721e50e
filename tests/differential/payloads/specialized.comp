#version 450
// specialized.comp: one of three ways to change 16 words a group.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 6) buffer Words { uint words[]; };
layout(push_constant) uniform Constants {
    uint salt;
};
layout(constant_id = 0) const uint WAY = 1;
layout(constant_id = 1) const uint AMOUNT = 12345;

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint at = linear_group() * 16 + gl_LocalInvocationID.x;
    uint word = words[at];
    if (WAY % 3u == 0u)
        word += AMOUNT ^ salt;
    else if (WAY % 3u == 1u)
        word = word * (AMOUNT | 1u) - salt;
    else
        word ^= (word >> (AMOUNT % 31u + 1u)) + salt;
    words[at] = word;
}
