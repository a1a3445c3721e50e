/*
 * limits_test.c: kernels at and past what the device takes of a kind: they run right, or they are refused
 * with the reason, and the driver never sees them.
 */
#include <stdio.h>
#include <string.h>

#include <vyre/vyre.h>

#include "support/test.h"

enum { UNIFORMS_SURE = 12, UNIFORMS_TRIED = 31, SOURCE_BYTES = 8192 };

struct world {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_device_limits limits;
    struct vyre_buffer *buffer;
    struct vyre_diag diag;
};

static void enter(struct world *world)
{
    const struct vyre_device_desc desc = {.backend = "vulkan"};
    const struct vyre_buffer_desc buffer = {.size_bytes = 256};
    assert_int_equal(vyre_instance_create(NULL, &world->instance, NULL), VYRE_OK);
    assert_int_equal(vyre_device_open(world->instance, &desc, &world->device, NULL), VYRE_OK);
    assert_int_equal(vyre_buffer_create(world->device, &buffer, &world->buffer, NULL), VYRE_OK);
    vyre_device_get_limits(world->device, &world->limits);
    vyre_diag_reset(&world->diag);
}

static void leave(struct world *world)
{
    vyre_device_close(&world->device);
    vyre_instance_destroy(&world->instance);
}

static enum vyre_status make(struct world *world, const char *source,
                             struct vyre_kernel **out_kernel)
{
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = source, .size_bytes = strlen(source)};
    const struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1};
    return vyre_kernel_create(world->device, &desc, out_kernel, &world->diag);
}

/* One group; the status of the submit, or of its end. */
static enum vyre_status run(struct world *world, const struct vyre_dispatch *dispatch)
{
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN};
    assert_int_equal(vyre_batch_create(world->device, NULL, &batch, NULL), VYRE_OK);
    vyre_batch_dispatch(batch, dispatch);
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &world->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(world->device, ticket, VYRE_FOREVER, &world->diag);
    vyre_batch_destroy(&batch);
    return status;
}

static uint32_t first_word(struct world *world)
{
    uint32_t word = 0;
    assert_int_equal(vyre_buffer_read(world->buffer, 0, &word, sizeof word, NULL), VYRE_OK);
    return word;
}

/* ---- Bindings --------------------------------------------------------------------------------- */

/* Slot 0 gets the sum of what the uniform slots 1 to `count` hold. */
static void write_uniform_sum(char *out_source, uint32_t count)
{
    int used = snprintf(out_source, SOURCE_BYTES,
                        "#version 450\nlayout(local_size_x = 1) in;\n"
                        "layout(std430, binding = 0) buffer Out { uint sum; };\n");
    for (uint32_t i = 1; i <= count; i++)
        used += snprintf(out_source + used, SOURCE_BYTES - (size_t)used,
                         "layout(std140, binding = %u) uniform U%u { uint u%u; };\n", i, i, i);
    used += snprintf(out_source + used, SOURCE_BYTES - (size_t)used, "void main() { sum = 0u");
    for (uint32_t i = 1; i <= count; i++)
        used += snprintf(out_source + used, SOURCE_BYTES - (size_t)used, " + u%u", i);
    snprintf(out_source + used, SOURCE_BYTES - (size_t)used, "; }\n");
}

/* Whether so many uniform buffers are taken. */
static bool sum_uniforms(struct world *world, uint32_t count)
{
    char source[SOURCE_BYTES];
    struct vyre_kernel *kernel;
    struct vyre_buffer *seven;
    const uint32_t word = 7;
    struct vyre_slot_binding bindings[UNIFORMS_TRIED + 1] = {{.range = {.buffer = world->buffer}}};
    write_uniform_sum(source, count);
    enum vyre_status status = make(world, source, &kernel);
    if (status != VYRE_OK) {
        assert_diag(status, world->diag, VYRE_DIAG_KERNEL_BINDINGS);
        return false;
    }
    assert_int_equal(vyre_buffer_create(world->device, &(struct vyre_buffer_desc){.size_bytes = 16},
                                        &seven, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_buffer_write(seven, 0, &word, sizeof word, NULL), VYRE_OK);
    for (uint32_t i = 1; i <= count; i++)
        bindings[i] = (struct vyre_slot_binding){.slot = i, .range = {.buffer = seven}};
    assert_int_equal(run(world, &(struct vyre_dispatch){.kernel = kernel,
                                                        .groups = {1, 1, 1},
                                                        .bindings = bindings,
                                                        .binding_count = count + 1}),
                     VYRE_OK);
    assert_int_equal(first_word(world), 7 * count);
    vyre_kernel_destroy(&kernel);
    vyre_buffer_destroy(&seven);
    return true;
}

static void uniforms_past_the_limit_are_refused(void **state)
{
    (void)state;
    struct world world;
    enter(&world);
    uint32_t taken = 0;
    for (uint32_t count = 1; count <= UNIFORMS_TRIED; count++) {
        if (sum_uniforms(&world, count)) {
            assert_int_equal(taken, count - 1); /* no gaps */
            taken = count;
        }
    }
    print_message("%u uniform buffers of a kernel\n", taken);
    assert_true(taken >= UNIFORMS_SURE);
    assert_true(taken < UNIFORMS_TRIED); /* or the test has not met the limit of the driver */
    leave(&world);
}

/* ---- Local size and memory -------------------------------------------------------------------- */

static enum vyre_status run_specialized(struct world *world, struct vyre_kernel *kernel,
                                        uint64_t value)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = world->buffer}};
    return run(world, &(struct vyre_dispatch){.kernel = kernel,
                                              .groups = {1, 1, 1},
                                              .bindings = &binding,
                                              .binding_count = 1,
                                              .specialization = &value,
                                              .specialization_count = 1});
}

static void local_size_specialized_to_zero_is_refused(void **state)
{
    static const char source[] = "#version 450\n"
                                 "layout(local_size_x_id = 0) in;\n"
                                 "layout(std430, binding = 0) buffer Out { uint count; };\n"
                                 "void main() { atomicAdd(count, 1u); }\n";
    (void)state;
    struct world world;
    struct vyre_kernel *kernel;
    enter(&world);
    assert_int_equal(make(&world, source, &kernel), VYRE_OK);
    assert_int_equal(run_specialized(&world, kernel, 8), VYRE_OK);
    assert_int_equal(first_word(&world), 8);
    assert_diag(run_specialized(&world, kernel, 0), world.diag, VYRE_DIAG_SPIRV_LOCAL_SIZE);
    assert_diag(run_specialized(&world, kernel, 1u << 20), world.diag, VYRE_DIAG_KERNEL_LOCAL_SIZE);
    assert_int_equal(run_specialized(&world, kernel, 4), VYRE_OK);
    assert_int_equal(first_word(&world), 12);
    leave(&world);
}

/* A kernel with `words` words of shared memory in an array and a struct. */
static enum vyre_status make_shared(struct world *world, uint64_t words,
                                    struct vyre_kernel **out_kernel)
{
    char source[SOURCE_BYTES];
    snprintf(source, sizeof source,
             "#version 450\n"
             "layout(local_size_x = 1) in;\n"
             "layout(std430, binding = 0) buffer Out { uint result; };\n"
             "struct Two { uint a; float b; };\n"
             "shared Two two[3];\n"
             "shared uint words[%llu];\n"
             "void main() {\n"
             "    two[1].a = 3u; two[2].b = 2.0;\n"
             "    words[%llu] = 5u;\n"
             "    result = words[%llu] + two[1].a;\n"
             "}\n",
             (unsigned long long)words - 6, (unsigned long long)words - 7,
             (unsigned long long)words - 7);
    return make(world, source, out_kernel);
}

static void shared_memory_past_the_limit_is_refused(void **state)
{
    (void)state;
    struct world world;
    struct vyre_kernel *kernel;
    enter(&world);
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = world.buffer}};
    assert_true(world.limits.local_bytes > 0);
    assert_int_equal(make_shared(&world, world.limits.local_bytes / 4, &kernel), VYRE_OK);
    assert_int_equal(run(&world, &(struct vyre_dispatch){.kernel = kernel,
                                                         .groups = {1, 1, 1},
                                                         .bindings = &binding,
                                                         .binding_count = 1}),
                     VYRE_OK);
    assert_int_equal(first_word(&world), 8);
    assert_diag(make_shared(&world, world.limits.local_bytes / 4 + 1, &kernel), world.diag,
                VYRE_DIAG_KERNEL_LOCAL_BYTES);
    leave(&world);
}

static void shared_memory_specialized_past_the_limit_is_refused(void **state)
{
    static const char source[] = "#version 450\n"
                                 "layout(local_size_x = 1) in;\n"
                                 "layout(constant_id = 0) const uint N = 1u;\n"
                                 "layout(std430, binding = 0) buffer Out { uint result; };\n"
                                 "shared uvec4 words[N];\n"
                                 "void main() { words[N - 1u].y = N; result = words[N - 1u].y; }\n";
    (void)state;
    struct world world;
    struct vyre_kernel *kernel;
    enter(&world);
    const uint64_t most = world.limits.local_bytes / 16;
    assert_int_equal(make(&world, source, &kernel), VYRE_OK);
    assert_int_equal(run_specialized(&world, kernel, most), VYRE_OK);
    assert_int_equal(first_word(&world), most);
    assert_diag(run_specialized(&world, kernel, most + 1), world.diag,
                VYRE_DIAG_KERNEL_LOCAL_BYTES);
    leave(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniforms_past_the_limit_are_refused),
        cmocka_unit_test(local_size_specialized_to_zero_is_refused),
        cmocka_unit_test(shared_memory_past_the_limit_is_refused),
        cmocka_unit_test(shared_memory_specialized_past_the_limit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
