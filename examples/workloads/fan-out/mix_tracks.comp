#version 450
// mix_tracks.comp: folds the sum of all tracks into what was mixed before, so that every run counts.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { int source[]; };
layout(std430, set = 0, binding = 1) buffer Mixed { uint mixed[]; };
layout(push_constant) uniform Constants {
    uint tracks;
    uint samples;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int sum = 0;
    for (uint t = 0; t < tracks; t++)
        sum += source[t * samples + i];
    mixed[i] = mixed[i] * 3u + uint(sum);
}
