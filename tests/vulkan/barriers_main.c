/*
 * barriers_main.c: one batch in which each command needs a barrier, run once: for mutants.sh, which takes
 * single barriers away. Exits with 0 when the bytes are right, and prints how many barriers there were.
 *
 *   barrier   0 shows its times    1 begins the batch    2 .. 6 before the commands except the first
 *             7 shows the download
 */
#include <stdio.h>
#include <stdlib.h>

#include "vulkan/subject.h"

enum { WORDS = 1024 };

static uint32_t down[WORDS];

static const char source[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };\n"
    "layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };\n"
    "void main() { to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x] * 3u + 1u; }\n";

static struct vyre_kernel *make_kernel(struct subject *s)
{
    struct vyre_kernel *kernel;
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = source, .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1};
    assert_int_equal(vyre_kernel_create(s->device, &desc, &kernel, &s->diag), VYRE_OK);
    return kernel;
}

static void dispatch(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range from,
                     struct vyre_range to)
{
    const struct vyre_slot_binding bindings[] = {{.slot = 0, .range = from},
                                                 {.slot = 1, .range = to}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {WORDS / 64, 1, 1},
                                                       .bindings = bindings,
                                                       .binding_count = 2});
}

static void build(struct subject *s, struct vyre_batch *batch)
{
    const struct vyre_range a = {.buffer = subject_buffer(s, "a", sizeof down)};
    const struct vyre_range b = {.buffer = subject_buffer(s, "b", sizeof down)};
    const struct vyre_range c = {.buffer = subject_buffer(s, "c", sizeof down)};
    struct vyre_kernel *kernel = make_kernel(s);
    vyre_batch_fill(batch, a, 5);        /* transfer */
    dispatch(batch, kernel, a, b);       /* compute */
    dispatch(batch, kernel, b, a);       /* compute */
    vyre_batch_copy(batch, a, c);        /* transfer */
    dispatch(batch, kernel, c, b);       /* compute */
    vyre_batch_download(batch, b, down); /* transfer */
}

static void batch_of_six(void **state)
{
    (void)state;
    struct subject s;
    int (*barriers)(void);
    subject_open(&s);
    subject_find(VYRE_TEST_WATCH_LAYER, "vyre_watch_barriers", &barriers);
    struct vyre_batch *batch = subject_batch(&s, NULL);
    build(&s, batch);
    int before = barriers();
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_PLAIN));
    printf("barriers %d to %d\n", before, barriers() - 1);
    uint32_t wanted = subject_result(5, (struct subject_constants){1, 3});
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(down[i], wanted);
    subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batch_of_six)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
