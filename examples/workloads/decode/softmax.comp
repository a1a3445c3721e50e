#version 450
// softmax.comp: over the positions seen so far; 0 for those to come. One head to a group.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Scores { float scores[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Weights { float weights[]; };
layout(push_constant) uniform Constants {
    uint position;
};

void main()
{
    uint base = gl_WorkGroupID.x * gl_WorkGroupSize.x;
    uint t = gl_LocalInvocationID.x;
    float largest = scores[base];
    for (uint j = 1; j <= position; j++)
        largest = max(largest, scores[base + j]);
    precise float sum = 0.0;
    for (uint j = 0; j <= position; j++)
        sum = sum + exp(scores[base + j] - largest);
    weights[base + t] = t <= position ? exp(scores[base + t] - largest) / sum : 0.0;
}
