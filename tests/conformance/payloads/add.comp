#version 450
// add.comp: data[i] += value for the first `count` words.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Constants {
    uint value;
    uint count;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < count)
        data[i] += value;
}
