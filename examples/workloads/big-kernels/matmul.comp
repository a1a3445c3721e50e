#version 450
// matmul.comp: c = a b, of n x n words; one element to an invocation.
layout(local_size_x = 16, local_size_y = 16) in;

layout(std430, set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer C { uint c[]; };
layout(push_constant) uniform Constants {
    uint n;
};

void main()
{
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    uint sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
