#version 450
// specialized.comp: the number of specialization values, then the values, as 64-bit words.
layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) writeonly buffer Out { uvec2 result[]; };
layout(constant_id = 0) const uint FIRST = 11;
layout(constant_id = 1) const uint SECOND = 22;
layout(constant_id = 2) const uint THIRD = 33;

void main()
{
    result[0] = uvec2(3u, 0u);
    result[1] = uvec2(FIRST, 0u);
    result[2] = uvec2(SECOND, 0u);
    result[3] = uvec2(THIRD, 0u);
}
