#version 450
// sparse.comp: out[i] = 1000 * a[i] + b[i].
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 2) readonly buffer A { uint a[]; };
layout(std430, set = 0, binding = 5) readonly buffer B { uint b[]; };
layout(std430, set = 0, binding = 9) writeonly buffer Out { uint result[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    result[i] = 1000u * a[i] + b[i];
}
