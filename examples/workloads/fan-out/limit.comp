#version 450
// limit.comp: beyond the threshold, an eighth of the excess is left.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { int source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { int target[]; };
layout(push_constant) uniform Constants {
    int threshold;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int kept = clamp(source[i], -threshold, threshold);
    target[i] = kept + ((source[i] - kept) >> 3);
}
