#version 450
// box.comp: mean of 3 x 3 pixels, edges repeated; four pixels to an invocation.
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { uint target[]; };
layout(push_constant) uniform Constants {
    uint width;
    uint height;
};

int pixel(int x, int y)
{
    uint at = uint(clamp(y, 0, int(height) - 1)) * width + uint(clamp(x, 0, int(width) - 1));
    return int(source[at / 4] >> (at % 4 * 8) & 255u);
}

void main()
{
    uint word = gl_GlobalInvocationID.x;
    int x = int(word * 4 % width);
    int y = int(word * 4 / width);
    uint packed = 0;
    for (int i = 0; i < 4; i++) {
        int sum = 0;
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++)
                sum += pixel(x + i + dx, y + dy);
        }
        packed |= uint((sum * 57) >> 9) << (i * 8);
    }
    target[word] = packed;
}
