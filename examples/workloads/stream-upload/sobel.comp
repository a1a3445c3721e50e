#version 450
// sobel.comp: |dx| + |dy| of 3 x 3 pixels, at most 255; four pixels to an invocation.
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
    int y = int(word * 4 / width);
    uint packed = 0;
    for (int i = 0; i < 4; i++) {
        int x = int(word * 4 % width) + i;
        int dx = pixel(x + 1, y - 1) + 2 * pixel(x + 1, y) + pixel(x + 1, y + 1) -
                 pixel(x - 1, y - 1) - 2 * pixel(x - 1, y) - pixel(x - 1, y + 1);
        int dy = pixel(x - 1, y + 1) + 2 * pixel(x, y + 1) + pixel(x + 1, y + 1) -
                 pixel(x - 1, y - 1) - 2 * pixel(x, y - 1) - pixel(x + 1, y - 1);
        packed |= uint(min(abs(dx) + abs(dy), 255)) << (i * 8);
    }
    target[word] = packed;
}
