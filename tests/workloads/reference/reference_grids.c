/*
 * reference_grids.c: fan-out, stream-upload and big-kernels, exactly.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- fan-out ----------------------------------------------------------------------------------- */

#define TRACKS  16
#define SAMPLES 1024
#define BLOCKS  2000

/* Division that rounds down, whatever the signs; the kernels shift. */
static int32_t floor_divide(int32_t a, int32_t b)
{
    return a / b - (a % b < 0);
}

/* What one track gives for its source. */
static void run_track(int32_t track, const uint32_t *source, int32_t *out_samples)
{
    static const int32_t binomials[8] = {1, 7, 21, 35, 35, 21, 7, 1};
    int32_t louder[SAMPLES], smoother[SAMPLES];
    int32_t delay = 17 + 23 * track, feedback = 64 + 8 * track, threshold = 8000 + 1000 * track;
    for (int32_t i = 0; i < SAMPLES; i++) {
        int32_t sample = (int32_t)(source[i] / 65536) - 32768;
        louder[i] = floor_divide(sample * (128 + 16 * track), 256);
    }
    for (int32_t i = 0; i < SAMPLES; i++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < 8; k++)
            sum += i - k < 0 ? 0 : louder[i - k] * binomials[k];
        smoother[i] = floor_divide(sum, 128);
    }
    for (int32_t i = 0; i < SAMPLES; i++) {
        int32_t echo = i < delay ? 0 : floor_divide(smoother[i - delay] * feedback, 256);
        int32_t value = smoother[i] + echo;
        if (value > threshold)
            value = threshold + floor_divide(value - threshold, 8);
        else if (value < -threshold)
            value = -threshold + floor_divide(value + threshold, 8);
        out_samples[i] = value;
    }
}

static void compare_tracks(struct check *check, const int32_t *expected)
{
    size_t count = (size_t)TRACKS * SAMPLES;
    const int32_t *got = reference_output(check, "pong", WORKLOAD_I32, count);
    for (size_t i = 0; got && i < count; i++) {
        if (got[i] != expected[i]) {
            reference_fail(check, "pong[%zu] is %d, not %d", i, (int)got[i], (int)expected[i]);
            return;
        }
    }
    check->compared += got != NULL;
}

void reference_fan_out(struct check *check)
{
    uint32_t *source = reference_memory((size_t)TRACKS * SAMPLES, sizeof *source);
    int32_t *tracks = reference_memory((size_t)TRACKS * SAMPLES, sizeof *tracks);
    uint32_t mixed[SAMPLES] = {0};
    reference_random_bytes(11, source, (size_t)TRACKS * SAMPLES * sizeof *source);
    for (int32_t t = 0; t < TRACKS; t++)
        run_track(t, source + t * SAMPLES, tracks + t * SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        int32_t sum = 0;
        for (size_t t = 0; t < TRACKS; t++)
            sum += tracks[t * SAMPLES + i];
        for (int block = 0; block < BLOCKS; block++)
            mixed[i] = mixed[i] * 3 + (uint32_t)sum;
    }
    reference_compare_u32(check, "mixed", mixed, SAMPLES);
    compare_tracks(check, tracks);
    free(source);
    free(tracks);
}

/* ---- stream-upload ----------------------------------------------------------------------------- */

#define SIDE    256
#define FRAMES  8
#define BATCHES 50

struct frame {
    uint8_t pixels[SIDE * SIDE];
};

static int at(const struct frame *frame, int x, int y)
{
    x = x < 0 ? 0 : x >= SIDE ? SIDE - 1 : x;
    y = y < 0 ? 0 : y >= SIDE ? SIDE - 1 : y;
    return frame->pixels[y * SIDE + x];
}

/* The edges of a frame that was smoothed first. */
static void find_edges(const struct frame *frame, struct frame *out_edges)
{
    struct frame *smooth = reference_memory(1, sizeof *smooth);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            int sum = 0;
            for (int i = 0; i < 9; i++)
                sum += at(frame, x + i % 3 - 1, y + i / 3 - 1);
            smooth->pixels[y * SIDE + x] = (uint8_t)(sum * 57 / 512);
        }
    }
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            int dx = 0, dy = 0;
            for (int i = -1; i <= 1; i++) {
                int weight = i == 0 ? 2 : 1;
                dx += weight * (at(smooth, x + 1, y + i) - at(smooth, x - 1, y + i));
                dy += weight * (at(smooth, x + i, y + 1) - at(smooth, x + i, y - 1));
            }
            int strength = abs(dx) + abs(dy);
            out_edges->pixels[y * SIDE + x] = (uint8_t)(strength > 255 ? 255 : strength);
        }
    }
    free(smooth);
}

/* A batch filters the last frame of the batch before, then its own except the last. */
void reference_stream_upload(struct check *check)
{
    struct frame *edges = reference_memory(FRAMES, sizeof *edges);
    struct frame *frame = reference_memory(1, sizeof *frame);
    uint32_t *trace = reference_memory(SIDE * SIDE / 4, sizeof *trace);
    for (uint64_t i = 0; i < FRAMES; i++) {
        reference_random_bytes(100 + i, frame, sizeof *frame);
        find_edges(frame, &edges[i]);
    }
    for (size_t i = 0; i < (size_t)FRAMES * BATCHES; i++) {
        const uint8_t *pixels = edges[(i + FRAMES - 1) % FRAMES].pixels;
        for (size_t word = 0; word < SIDE * SIDE / 4; word++) {
            const uint8_t *p = pixels + word * 4;
            trace[word] = trace[word] * 5 + ((uint32_t)p[0] | (uint32_t)p[1] << 8 |
                                             (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        }
    }
    reference_compare_u32(check, "trace", trace, SIDE * SIDE / 4);
    reference_compare_u8(check, "edges-a", edges[FRAMES - 2].pixels, SIDE * SIDE);
    reference_compare_u8(check, "edges-b", edges[FRAMES - 3].pixels, SIDE * SIDE);
    free(edges);
    free(frame);
    free(trace);
}

/* ---- big-kernels ------------------------------------------------------------------------------- */

#define N         256
#define GRID_SIDE 1024
#define STEPS     20

static void multiply(uint32_t (*a)[N], uint32_t (*b)[N], uint32_t (*out_c)[N])
{
    memset(out_c, 0, sizeof *out_c * N);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < N; k++) {
            for (size_t j = 0; j < N; j++)
                out_c[i][j] += a[i][k] * b[k][j];
        }
    }
}

static void spread(uint32_t (*from)[GRID_SIDE], uint32_t (*out_to)[GRID_SIDE])
{
    for (size_t y = 0; y < GRID_SIDE; y++) {
        for (size_t x = 0; x < GRID_SIDE; x++) {
            uint32_t sum = from[y][x] * 4;
            sum += from[(y + 1) % GRID_SIDE][x] + from[(y + GRID_SIDE - 1) % GRID_SIDE][x];
            sum += from[y][(x + 1) % GRID_SIDE] + from[y][(x + GRID_SIDE - 1) % GRID_SIDE];
            out_to[y][x] = sum;
        }
    }
}

void reference_big_kernels(struct check *check)
{
    uint32_t(*a)[N] = reference_memory(N, sizeof *a);
    uint32_t(*b)[N] = reference_memory(N, sizeof *b);
    uint32_t(*c)[N] = reference_memory(N, sizeof *c);
    uint32_t(*grid)[GRID_SIDE] = reference_memory(GRID_SIDE, sizeof *grid);
    uint32_t(*other)[GRID_SIDE] = reference_memory(GRID_SIDE, sizeof *other);
    reference_random_bytes(41, a, sizeof *a * N);
    reference_random_bytes(42, b, sizeof *b * N);
    reference_random_bytes(43, grid, sizeof *grid * GRID_SIDE);
    for (int step = 0; step < STEPS; step++) {
        multiply(a, b, c);
        multiply(c, b, a);
        spread(grid, other);
        spread(other, grid);
    }
    reference_compare_u32(check, "a", a[0], N * N);
    reference_compare_u32(check, "c", c[0], N * N);
    reference_compare_u32(check, "grid-0", grid[0], GRID_SIDE * GRID_SIDE);
    free(a);
    free(b);
    free(c);
    free(grid);
    free(other);
}
