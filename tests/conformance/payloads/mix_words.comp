#version 450
// mix_words.comp: to[i] = to[i] * factor + from[i] + i for the first `count` words.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint to[]; };
layout(push_constant) uniform Constants {
    uint factor;
    uint count;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < count)
        to[i] = to[i] * factor + from[i] + i;
}
