#version 450
// silu_gate.comp: silu(gate) * up
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Gate { float gate[]; };
layout(std430, set = 0, binding = 1) readonly buffer Up { float up[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Activated { float activated[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    precise float divisor = 1.0 + exp(-gate[i]);
    activated[i] = gate[i] / divisor * up[i];
}
