#version 450
// rmsnorm.comp: x over its root mean square, times a gain. Every invocation adds up all
// squares: at this size cheaper than a barrier, and in one order everywhere.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Normed { float normed[]; };
layout(push_constant) uniform Constants {
    uint dim;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= dim)
        return;
    precise float sum = 0.0;
    for (uint j = 0; j < dim; j++)
        sum = sum + x[j] * x[j];
    precise float mean = sum / float(dim);
    precise float inverse = 1.0 / sqrt(mean + 1e-5);
    normed[i] = x[i] * inverse * gain[i];
}
