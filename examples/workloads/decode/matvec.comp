#version 450
// matvec.comp: one row to an invocation, in four running sums. Weights are uniform in [0, 1).
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 1) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Constants {
    uint columns;
    uint first;
    float scale;
};

void main()
{
    uint row = gl_GlobalInvocationID.x;
    uint quads = columns / 4;
    precise vec4 sum = vec4(0.0);
    for (uint j = 0; j < quads; j++)
        sum = sum + (weights[row * quads + j] - 0.5) * x[j];
    precise float total = (sum.x + sum.y) + (sum.z + sum.w);
    y[first + row] = total * scale;
}
