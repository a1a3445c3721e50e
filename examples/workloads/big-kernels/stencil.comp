#version 450
// stencil.comp: 4 times a cell plus its four neighbours, on a torus.
layout(local_size_x = 64, local_size_y = 4) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { uint target[]; };
layout(push_constant) uniform Constants {
    uint width;
    uint height;
};

void main()
{
    uint x = gl_GlobalInvocationID.x;
    uint y = gl_GlobalInvocationID.y;
    uint left = x == 0u ? width - 1 : x - 1;
    uint right = x + 1 == width ? 0u : x + 1;
    uint above = (y == 0u ? height - 1 : y - 1) * width;
    uint below = (y + 1 == height ? 0u : y + 1) * width;
    uint here = y * width;
    target[here + x] = 4u * source[here + x] + source[above + x] + source[below + x] +
                       source[here + left] + source[here + right];
}
