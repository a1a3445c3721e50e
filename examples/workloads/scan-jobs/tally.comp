#version 450
// tally.comp: per signature: hits over all runs, hits of this run, first hit + 1; then the runs.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 0) readonly buffer Masks { uint masks[]; };
layout(std430, set = 0, binding = 1) buffer Results { uint results[]; };
layout(push_constant) uniform Constants {
    uint length;
};

void main()
{
    uint s = gl_LocalInvocationID.x;
    uint hits = 0;
    uint first = 0;
    for (uint i = 0; i < length; i++) {
        if ((masks[i] >> s & 1u) != 0u) {
            if (hits == 0u)
                first = i + 1;
            hits++;
        }
    }
    results[s] += hits;
    results[16 + s] = hits;
    results[32 + s] = first;
    if (s == 0u)
        results[48] += 1u;
}
