#version 450
// attend.comp: the weighted sum of the cached values; one head to a group.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 0) readonly buffer Weights { float weights[]; };
layout(std430, set = 0, binding = 1) readonly buffer Values { float values[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Attended { float attended[]; };
layout(push_constant) uniform Constants {
    uint position;
    uint dim;
    uint context;
};

void main()
{
    uint head = gl_WorkGroupID.x;
    uint i = gl_GlobalInvocationID.x;
    precise float sum = 0.0;
    for (uint t = 0; t <= position; t++)
        sum = sum + weights[head * context + t] * values[t * dim + i];
    attended[i] = sum;
}
