// CL1.2
// stream-upload.cl: two filters over 8-bit frames, four pixels to a work-item, and a trace of them.

// The frame's edge is repeated outwards.
static int pixel(__global const uchar *source, int x, int y, uint width, uint height)
{
    return source[(uint)clamp(y, 0, (int)height - 1) * width + (uint)clamp(x, 0, (int)width - 1)];
}

// Mean of 3 x 3 pixels.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void box(__global const uchar *source, __global uchar *target, uint width, uint height)
{
    uint at = get_global_id(0) * 4;
    int x = at % width;
    int y = at / width;
    for (int i = 0; i < 4; i++) {
        int sum = 0;
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++)
                sum += pixel(source, x + i + dx, y + dy, width, height);
        }
        target[at + i] = (uchar)((sum * 57) >> 9);
    }
}

// |dx| + |dy| of 3 x 3 pixels, at most 255.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void sobel(__global const uchar *source, __global uchar *target, uint width, uint height)
{
    uint at = get_global_id(0) * 4;
    int y = at / width;
    for (int i = 0; i < 4; i++) {
        int x = (int)(at % width) + i;
        int left_above = pixel(source, x - 1, y - 1, width, height);
        int above = pixel(source, x, y - 1, width, height);
        int right_above = pixel(source, x + 1, y - 1, width, height);
        int left = pixel(source, x - 1, y, width, height);
        int right = pixel(source, x + 1, y, width, height);
        int left_below = pixel(source, x - 1, y + 1, width, height);
        int below = pixel(source, x, y + 1, width, height);
        int right_below = pixel(source, x + 1, y + 1, width, height);
        int dx = right_above + 2 * right + right_below - left_above - 2 * left - left_below;
        int dy = left_below + 2 * below + right_below - left_above - 2 * above - right_above;
        target[at + i] = (uchar)min(abs(dx) + abs(dy), 255u);
    }
}

// Folds a frame into the trace of all frames; their order shows in it.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void fold(__global const uint *source, __global uint *trace)
{
    uint i = get_global_id(0);
    trace[i] = trace[i] * 5u + source[i];
}
