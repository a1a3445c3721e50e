#version 450
// fold.comp: folds a frame into the trace of all frames; their order shows in it.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) buffer Trace { uint trace[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    trace[i] = trace[i] * 5u + source[i];
}
