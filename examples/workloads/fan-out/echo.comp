#version 450
// echo.comp: adds the block to itself, later and softer.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { int source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { int target[]; };
layout(push_constant) uniform Constants {
    uint delay;
    int feedback;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int late = i >= delay ? source[i - delay] : 0;
    target[i] = source[i] + ((late * feedback) >> 8);
}
