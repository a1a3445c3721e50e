#version 450
// sort.comp: sorts 32 words a group. Every invocation finds the place of its word.
layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 5) buffer Words { uint words[]; };
shared uint before[32];

uint linear_group()
{
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

void main()
{
    uint first = linear_group() * 32;
    uint i = gl_LocalInvocationID.x;
    uint word = words[first + i];
    before[i] = word;
    barrier();
    uint place = 0;
    for (uint j = 0; j < 32; j++)
        place += before[j] < word || (before[j] == word && j < i) ? 1u : 0u;
    words[first + place] = word;
}
