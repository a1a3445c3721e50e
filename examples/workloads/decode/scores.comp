#version 450
// scores.comp: one head to a group, one position of the cache to an invocation.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Q { float q[]; };
layout(std430, set = 0, binding = 1) readonly buffer Keys { float keys[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Scores { float scores[]; };
layout(push_constant) uniform Constants {
    uint position;
    uint dim;
    uint head_dim;
    float scale;
};

void main()
{
    uint head = gl_WorkGroupID.x;
    uint t = gl_LocalInvocationID.x;
    precise float sum = 0.0;
    if (t <= position) {
        for (uint j = 0; j < head_dim; j++)
            sum = sum + q[head * head_dim + j] * keys[t * dim + head * head_dim + j];
    }
    scores[gl_GlobalInvocationID.x] = sum * scale;
}
