#version 450
// append.comp: log[++log[0]] = value, unless the log is full. One group of one.
layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Log { uint entries[]; };
layout(push_constant) uniform Constants {
    uint value;
    uint words;
};

void main()
{
    uint used = entries[0] + 1u;
    if (used < words) {
        entries[0] = used;
        entries[used] = value;
    }
}
