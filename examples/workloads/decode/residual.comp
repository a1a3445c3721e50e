#version 450
// residual.comp: x += y
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Y { float y[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    x[i] = x[i] + y[i];
}
