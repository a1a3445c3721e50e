#version 450
// gain.comp: a 16-bit sample from the upper half of a word, times gain / 256.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { int target[]; };
layout(push_constant) uniform Constants {
    int gain;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int sample_ = int(source[i] >> 16) - 32768;
    target[i] = (sample_ * gain) >> 8;
}
