/*
 * embed.c: an engine that runs its frames through Vyre. It simulates a pond: in each frame drops fall,
 * the waves move on by one step, and a filter makes an image from the slopes before that step.
 *
 *   frame 0   fill drops[0], submit pond[0]: drops[0], waves[0] -> waves[1]   waves[0] -> image
 *   frame 1   fill drops[1], submit pond[1]: drops[1], waves[1] -> waves[0]   waves[1] -> image
 *   frame 2   wait for frame 0, fill drops[0], submit pond[0]: ...
 *
 * The batches are built once. After that only constants and the bytes of the drops change, so auto can
 * reuse what it recorded. Two frames are in flight: the memory of a frame is touched again only when its
 * ticket is complete. Every 50th image is fetched and compared with that of a plain loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vyre/vyre.h>

enum { WIDTH = 128, HEIGHT = 72, CELLS = WIDTH * HEIGHT, DROPS = 16 };
enum { FRAMES = 603, IN_FLIGHT = 2, FETCH_EVERY = 50 };
enum { UPLOAD, MOVE, FILTER }; /* the commands of a frame, in order */

#define TIMEOUT_NS UINT64_C(5000000000)

/* What the game decides for a frame. */
struct input {
    int32_t damping, exposure;
    struct drop {
        uint32_t x, y;
        int32_t strength;
    } drops[DROPS];
};

static void decide(uint32_t frame, struct input *out_input)
{
    uint32_t random = frame * 2654435761u + 1;
    out_input->damping = 16 + (int32_t)(frame % 64);
    out_input->exposure = 64 + (int32_t)(frame % 100);
    for (int i = 0; i < DROPS; i++) {
        random = random * 1664525u + 1013904223u;
        out_input->drops[i] =
            (struct drop){1 + (random >> 8) % (WIDTH - 2), 1 + (random >> 16) % (HEIGHT - 2),
                          (int32_t)(random >> 24) * 16};
    }
}

static uint8_t shade(int32_t slope, int32_t exposure)
{
    int32_t light = 128 + slope * exposure / 256;
    return (uint8_t)(light < 0 ? 0 : light > 255 ? 255 : light);
}

/* ---- Kernels: a work-group is one row --------------------------------------------------------- */

/* The wave equation in integers. `next` holds the step before `now`; the shore stays at 0. */
static void move(const struct vyre_host_group *g)
{
    const struct drop *drops = g->buffers[0].data;
    const int32_t *now = g->buffers[1].data, damping = *(const int32_t *)g->constants;
    int32_t *next = g->buffers[2].data;
    uint32_t y = g->group_id[0] + 1;
    for (uint32_t i = y * WIDTH + 1; i < y * WIDTH + WIDTH - 1; i++) {
        next[i] = (now[i - 1] + now[i + 1] + now[i - WIDTH] + now[i + WIDTH]) / 2 - next[i];
        next[i] -= next[i] / damping;
    }
    for (int i = 0; i < DROPS; i++)
        next[y * WIDTH + drops[i].x] += drops[i].y == y ? drops[i].strength : 0;
}

static void filter(const struct vyre_host_group *g)
{
    const int32_t *waves = g->buffers[0].data, exposure = *(const int32_t *)g->constants;
    uint8_t *image = g->buffers[1].data;
    uint32_t row = (g->group_id[0] + 1) * WIDTH;
    for (uint32_t i = row + 1; i < row + WIDTH - 1; i++)
        image[i] = shade(waves[i + 1] - waves[i - 1], exposure);
}

/* ---- The engine ------------------------------------------------------------------------------- */

struct engine {
    struct vyre_audit *audit;
    struct vyre_instance *instance;
    struct vyre_device *device; /* owns all that follows */
    struct vyre_kernel *move, *filter;
    struct vyre_buffer *drops[IN_FLIGHT], *waves[2], *image;
    struct vyre_batch *pond[IN_FLIGHT], *fetch;
    struct vyre_ticket in_flight[IN_FLIGHT], fetched;
    struct input input[IN_FLIGHT]; /* Borrowed by the frame in flight */
    uint8_t host_image[CELLS];
    uint32_t by_mode[VYRE_MODE_COUNT], compared, timed;
    uint64_t device_ns[FRAMES];
    struct vyre_diag why;
};

/* Says why a call failed and what to do about it. */
static bool ok(const struct engine *e, enum vyre_status status)
{
    char text[sizeof e->why];
    if (status == VYRE_OK)
        return true;
    vyre_diag_format(&e->why, text, sizeof text);
    fprintf(stderr, "embed: %s\n", text);
    return false;
}

static bool make_kernel(struct engine *e, const char *label, vyre_host_function *function,
                        const struct vyre_binding_desc *bindings, size_t count,
                        struct vyre_kernel **out_kernel)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = function};
    const enum vyre_scalar constants[] = {VYRE_SCALAR_I32};
    const struct vyre_kernel_desc desc = {
        .label = label,
        .payloads = &payload,
        .payload_count = 1,
        .local_size = {WIDTH, 1, 1},
        .bindings = bindings,
        .binding_count = count,
        .constants = constants,
        .constant_count = 1,
    };
    return ok(e, vyre_kernel_create(e->device, &desc, out_kernel, &e->why));
}

static bool make_buffer(struct engine *e, size_t size_bytes, struct vyre_buffer **out_buffer)
{
    const struct vyre_buffer_desc desc = {.size_bytes = size_bytes};
    return ok(e, vyre_buffer_create(e->device, &desc, out_buffer, &e->why));
}

static bool set_up(struct engine *e)
{
    const struct vyre_binding_desc moves[] = {{.slot = 0, .role = VYRE_ROLE_INPUT},
                                              {.slot = 1, .role = VYRE_ROLE_INPUT},
                                              {.slot = 2, .role = VYRE_ROLE_INPUT_OUTPUT}};
    const struct vyre_binding_desc filters[] = {{.slot = 0, .role = VYRE_ROLE_INPUT},
                                                {.slot = 1, .role = VYRE_ROLE_OUTPUT}};
    /* The kernels are host functions only. With payloads for GPUs as well, any device would do. */
    const struct vyre_device_desc cpu = {.backend = "cpu"};
    if (!ok(e, vyre_audit_create(NULL, &e->audit, &e->why)))
        return false;
    const struct vyre_instance_desc desc = {.audit = e->audit};
    return ok(e, vyre_instance_create(&desc, &e->instance, &e->why)) &&
           ok(e, vyre_device_open(e->instance, &cpu, &e->device, &e->why)) &&
           make_kernel(e, "move", move, moves, 3, &e->move) &&
           make_kernel(e, "filter", filter, filters, 2, &e->filter) &&
           make_buffer(e, sizeof e->input[0].drops, &e->drops[0]) &&
           make_buffer(e, sizeof e->input[0].drops, &e->drops[1]) &&
           make_buffer(e, CELLS * sizeof(int32_t), &e->waves[0]) &&
           make_buffer(e, CELLS * sizeof(int32_t), &e->waves[1]) &&
           make_buffer(e, sizeof e->host_image, &e->image) &&
           ok(e, vyre_batch_create(e->device, NULL, &e->pond[0], &e->why)) &&
           ok(e, vyre_batch_create(e->device, NULL, &e->pond[1], &e->why)) &&
           ok(e, vyre_batch_create(e->device, NULL, &e->fetch, &e->why));
}

/* No barriers: Vyre sees from the ranges that the filter need not wait for the others. */
static bool build(struct engine *e)
{
    const int32_t later = 1; /* each frame sets its own */
    for (int i = 0; i < IN_FLIGHT; i++) {
        const struct vyre_slot_binding moved[] = {
            {.slot = 0, .range = {.buffer = e->drops[i]}},
            {.slot = 1, .range = {.buffer = e->waves[i]}},
            {.slot = 2, .range = {.buffer = e->waves[1 - i]}},
        };
        const struct vyre_slot_binding filtered[] = {
            {.slot = 0, .range = {.buffer = e->waves[i]}},
            {.slot = 1, .range = {.buffer = e->image}},
        };
        struct vyre_dispatch dispatch = {
            .kernel = e->move,
            .groups = {HEIGHT - 2, 1, 1},
            .bindings = moved,
            .binding_count = 3,
            .constants = &later,
            .constants_size_bytes = sizeof later,
        };
        vyre_batch_upload_borrowed(e->pond[i], moved[0].range, e->input[i].drops);
        vyre_batch_dispatch(e->pond[i], &dispatch);
        dispatch.kernel = e->filter;
        dispatch.bindings = filtered;
        dispatch.binding_count = 2;
        vyre_batch_dispatch(e->pond[i], &dispatch);
        if (!ok(e, vyre_batch_status(e->pond[i], &e->why))) /* the first error while building */
            return false;
    }
    vyre_batch_download(e->fetch, (struct vyre_range){.buffer = e->image}, e->host_image);
    return ok(e, vyre_batch_status(e->fetch, &e->why));
}

/* Waits for the frame that used the slot before, if any, and keeps its result. */
static bool finish(struct engine *e, uint32_t slot)
{
    struct vyre_batch_result result;
    if (e->in_flight[slot].sequence == 0)
        return true;
    if (!ok(e, vyre_ticket_wait(e->device, e->in_flight[slot], TIMEOUT_NS, &e->why)) ||
        !ok(e, vyre_ticket_result(e->device, e->in_flight[slot], &result, &e->why)))
        return false;
    e->by_mode[result.mode]++;
    if (result.device_ns > 0)
        e->device_ns[e->timed++] = result.device_ns;
    return true;
}

static bool submit(struct engine *e, uint32_t frame)
{
    const struct vyre_submit_options automatic = {.repeat_hint = FRAMES / IN_FLIGHT, .timed = true};
    uint32_t slot = frame % IN_FLIGHT;
    struct input *input = &e->input[slot];
    decide(frame, input);
    vyre_batch_set_constants(e->pond[slot], MOVE, &input->damping, sizeof input->damping);
    vyre_batch_set_constants(e->pond[slot], FILTER, &input->exposure, sizeof input->exposure);
    if (!ok(e, vyre_batch_submit(e->pond[slot], &automatic, &e->in_flight[slot], &e->why)))
        return false;
    /* The download follows this frame in submit order, so it gets this image. No wait is needed. */
    return frame == 0 || frame % FETCH_EVERY != 0 ||
           ok(e, vyre_batch_submit(e->fetch, NULL, &e->fetched, &e->why));
}

/* ---- The same in a plain loop ----------------------------------------------------------------- */

struct plain {
    uint32_t frame; /* the next one */
    int32_t waves[2][HEIGHT][WIDTH];
    uint8_t image[HEIGHT][WIDTH];
};

static void plain_frame(struct plain *p)
{
    int32_t(*now)[WIDTH] = p->waves[p->frame % 2], (*next)[WIDTH] = p->waves[1 - p->frame % 2];
    struct input input;
    decide(p->frame++, &input);
    for (int y = 1; y < HEIGHT - 1; y++) {
        for (int x = 1; x < WIDTH - 1; x++) {
            int32_t around = now[y][x - 1] + now[y][x + 1] + now[y - 1][x] + now[y + 1][x];
            int32_t wave = around / 2 - next[y][x];
            next[y][x] = wave - wave / input.damping;
            p->image[y][x] = shade(now[y][x + 1] - now[y][x - 1], input.exposure);
        }
    }
    for (int i = 0; i < DROPS; i++)
        next[input.drops[i].y][input.drops[i].x] += input.drops[i].strength;
}

static bool compare(struct engine *e, struct plain *p, uint32_t frame)
{
    if (!ok(e, vyre_ticket_wait(e->device, e->fetched, TIMEOUT_NS, &e->why)))
        return false;
    while (p->frame <= frame)
        plain_frame(p);
    e->compared++;
    if (memcmp(e->host_image, p->image, sizeof e->host_image) == 0)
        return true;
    fprintf(stderr, "embed: frame %u differs from the plain loop\n", (unsigned)frame);
    return false;
}

/* ---- The loop --------------------------------------------------------------------------------- */

static bool run(struct engine *e, struct plain *p)
{
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        if (!finish(e, frame % IN_FLIGHT) || !submit(e, frame))
            return false;
        /* An image is checked two frames later, when its frame is complete anyway. */
        if (frame > IN_FLIGHT && (frame - IN_FLIGHT) % FETCH_EVERY == 0 &&
            !compare(e, p, frame - IN_FLIGHT))
            return false;
    }
    return finish(e, FRAMES % IN_FLIGHT) && finish(e, (FRAMES + 1) % IN_FLIGHT);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print(void *user, const char *bytes, size_t size_bytes)
{
    fwrite(bytes, 1, size_bytes, user);
}

static void summarize(struct engine *e)
{
    struct vyre_audit_event newest[2];
    struct vyre_audit_snapshot snapshot;
    printf("%d frames, %u images equal to those of the plain loop\nmodes:", FRAMES,
           (unsigned)e->compared);
    for (unsigned mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
        printf(" %s %u", vyre_mode_name((enum vyre_mode)mode), (unsigned)e->by_mode[mode]);
    qsort(e->device_ns, e->timed, sizeof e->device_ns[0], by_value);
    printf("\nmedian device time of a frame: %.1f us\n\nwhat auto decided:\n",
           (double)e->device_ns[e->timed / 2] / 1e3);
    vyre_audit_snapshot(e->audit, newest, 2, &snapshot);
    vyre_audit_render_text(&snapshot, newest, print, stdout);
}

int main(void)
{
    static struct engine engine; /* zeroed, and too large for a small stack */
    static struct plain plain;
    bool good = set_up(&engine) && build(&engine) && run(&engine, &plain);
    if (good)
        summarize(&engine);
    vyre_device_close(&engine.device); /* waits for work in flight, then frees what it owns */
    vyre_instance_destroy(&engine.instance);
    vyre_audit_destroy(&engine.audit);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
