#version 450
// wide.comp: writes its 32 constants, as many as there may be.
layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) writeonly buffer Out { uint result[]; };
layout(push_constant) uniform Constants {
    uint constants[32];
};

void main()
{
    for (uint i = 0; i < 32; i++)
        result[i] = constants[i];
}
