#version 450
/* One step of a diffusion on a ring: each cell moves towards the mean of its neighbours. */
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { float from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { float to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, n = gl_NumWorkGroups.x * 64;
    to[i] = 0.25 * from[(i + n - 1) % n] + 0.5 * from[i] + 0.25 * from[(i + 1) % n];
}
