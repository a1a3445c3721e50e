#version 450
// The kernel of both sides of bench_vulkan.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint a[]; };
layout(push_constant) uniform Constants { uint c; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    a[i] = a[i] * 1664525u + c;
}
