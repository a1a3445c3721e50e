#version 450
// argmax.comp: the next token is the most likely one, the first of equals.
layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Logits { float logits[]; };
layout(std430, set = 0, binding = 1) buffer Tokens { uint tokens[]; };
layout(push_constant) uniform Constants {
    uint position;
    uint count;
};

void main()
{
    uint best = 0;
    for (uint i = 1; i < count; i++) {
        if (logits[i] > logits[best])
            best = i;
    }
    tokens[position + 1] = best;
}
