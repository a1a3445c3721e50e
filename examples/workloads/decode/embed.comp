#version 450
// embed.comp: the embedding of the token at a position; the table is uniform in [0, 1).
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Tokens { uint tokens[]; };
layout(std430, set = 0, binding = 1) readonly buffer Embedding { float embedding[]; };
layout(std430, set = 0, binding = 2) writeonly buffer X { float x[]; };
layout(push_constant) uniform Constants {
    uint position;
    uint dim;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < dim)
        x[i] = (embedding[tokens[position] * dim + i] - 0.5) * 2.0;
}
