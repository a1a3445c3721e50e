#version 450
// match.comp: which of 16 signatures start at each byte of a text, as a mask. A signature takes 16
// bytes and ends at its first newline.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Text { uint text[]; };
layout(std430, set = 0, binding = 1) readonly buffer Signatures { uint signatures[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Masks { uint masks[]; };
layout(push_constant) uniform Constants {
    uint length;
};

uint text_byte(uint i)
{
    return text[i / 4] >> (i % 4 * 8) & 255u;
}

uint signature_byte(uint i)
{
    return signatures[i / 4] >> (i % 4 * 8) & 255u;
}

void main()
{
    uint at = gl_GlobalInvocationID.x;
    if (at >= length)
        return;
    uint mask = 0;
    for (uint s = 0; s < 16; s++) {
        bool found = true;
        for (uint i = 0; i < 16; i++) {
            uint wanted = signature_byte(s * 16 + i);
            if (wanted == 10u)
                break;
            if (at + i >= length || text_byte(at + i) != wanted) {
                found = false;
                break;
            }
        }
        mask |= found ? 1u << s : 0u;
    }
    masks[at] = mask;
}
