/*
 * specialization_test.c: constants of a shader that share one constant_id, as local_size_x_id and an
 * ordinary constant do in many shaders: a value sets all of them, without one each keeps its default.
 */
#include <stdio.h>
#include <string.h>

#include <vyre/vyre.h>

#include "support/test.h"

enum { GROUPS = 3, OWN_N = 32 };

/* What a kernel of these tests writes. */
enum { OUT_N, OUT_SIZE, OUT_INVOCATIONS, OUT_SHARED, OUT_WORDS };

#define HEAD                                                              \
    "#version 450\n"                                                      \
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable\n" \
    "layout(std430, binding = 0) buffer Out { uint data[]; };\n"

/* The local size by default 1, N by default 32; N also sizes the work-group's memory. */
static const char two_defaults[] = HEAD "layout(local_size_x_id = 0) in;\n"
                                        "layout(constant_id = 0) const uint N = 32;\n"
                                        "shared uint words[N];\n"
                                        "void main() {\n"
                                        "    data[0] = N;\n"
                                        "    data[1] = gl_WorkGroupSize.x;\n"
                                        "    atomicAdd(data[2], 1u);\n"
                                        "    words[N - 1u - gl_LocalInvocationIndex] = N + 5u;\n"
                                        "    barrier();\n"
                                        "    if (gl_LocalInvocationIndex == 0u)\n"
                                        "        data[3] = words[N - 1u];\n"
                                        "}\n";

struct world {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_buffer *buffer;
    struct vyre_diag diag;
    uint32_t out[OUT_WORDS]; /* of the last run */
};

static void enter(struct world *world)
{
    const struct vyre_device_desc desc = {.backend = "vulkan"};
    const struct vyre_buffer_desc buffer = {.size_bytes = sizeof world->out};
    *world = (struct world){0};
    assert_int_equal(vyre_instance_create(NULL, &world->instance, NULL), VYRE_OK);
    assert_int_equal(vyre_device_open(world->instance, &desc, &world->device, NULL), VYRE_OK);
    assert_int_equal(vyre_buffer_create(world->device, &buffer, &world->buffer, NULL), VYRE_OK);
}

static void leave(struct world *world)
{
    vyre_device_close(&world->device);
    vyre_instance_destroy(&world->instance);
}

static struct vyre_kernel *make(struct world *world, const char *source,
                                const struct vyre_kernel_desc *declared)
{
    struct vyre_kernel_desc desc = declared ? *declared : (struct vyre_kernel_desc){0};
    struct vyre_kernel *kernel;
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = source, .size_bytes = strlen(source)};
    desc.payloads = &payload;
    desc.payload_count = 1;
    if (vyre_kernel_create(world->device, &desc, &kernel, &world->diag) != VYRE_OK)
        assert_null(kernel);
    return kernel;
}

/* Clears, dispatches and reads back. The values are as many as the kernel takes, or NULL. */
static enum vyre_status run(struct world *world, struct vyre_kernel *kernel, const uint64_t *values,
                            enum vyre_mode mode)
{
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    struct vyre_kernel_interface interface;
    const struct vyre_range range = {.buffer = world->buffer};
    const struct vyre_slot_binding binding = {.slot = 0, .range = range};
    const struct vyre_submit_options options = {.mode = mode};
    vyre_kernel_get_interface(kernel, &interface);
    memset(world->out, 0xff, sizeof world->out);
    assert_int_equal(vyre_batch_create(world->device, NULL, &batch, NULL), VYRE_OK);
    vyre_batch_fill(batch, range, 0);
    vyre_batch_dispatch(batch,
                        &(struct vyre_dispatch){.kernel = kernel,
                                                .groups = {GROUPS, 1, 1},
                                                .bindings = &binding,
                                                .binding_count = 1,
                                                .specialization = values,
                                                .specialization_count =
                                                    values ? interface.specialization_count : 0});
    vyre_batch_download(batch, range, world->out);
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &world->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(world->device, ticket, VYRE_FOREVER, &world->diag);
    vyre_batch_destroy(&batch);
    return status;
}

static void assert_run(struct world *world, struct vyre_kernel *kernel, const uint64_t *value,
                       uint32_t n, uint32_t size)
{
    const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        if (run(world, kernel, value, modes[i]) != VYRE_OK)
            fail_msg("%s", world->diag.message);
        assert_int_equal(world->out[OUT_N], n);
        assert_int_equal(world->out[OUT_SIZE], size);
        assert_int_equal(world->out[OUT_INVOCATIONS], GROUPS * size);
        assert_int_equal(world->out[OUT_SHARED], n + 5);
    }
}

/* ---- Values and defaults ---------------------------------------------------------------------- */

static void defaults_stay_apart_and_a_value_sets_all(void **state)
{
    (void)state;
    struct world world;
    struct vyre_kernel_interface interface;
    enter(&world);
    struct vyre_kernel *kernel = make(&world, two_defaults, NULL);
    if (!kernel)
        fail_msg("%s", world.diag.message);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.specialization_count, 1);
    assert_int_equal(interface.specialization_ids[0], 0);
    assert_int_equal(interface.specialization_mixed, 1);
    assert_int_equal(interface.local_size[0], 1);
    /* Twice round: pipelines and recordings of both kinds are found again. */
    for (int round = 0; round < 2; round++) {
        assert_run(&world, kernel, NULL, OWN_N, 1);
        assert_run(&world, kernel, &(uint64_t){8}, 8, 8);
        /* The default of one of them, given: no default of the other any more. */
        assert_run(&world, kernel, &(uint64_t){OWN_N}, OWN_N, OWN_N);
        assert_run(&world, kernel, &(uint64_t){1}, 1, 1);
    }
    leave(&world);
}

static void a_declared_default_is_a_value(void **state)
{
    (void)state;
    static const uint64_t sixteen = 16;
    struct world world;
    struct vyre_kernel_interface interface;
    enter(&world);
    struct vyre_kernel_desc declared = {.specialization_defaults = &sixteen,
                                        .specialization_count = 1};
    struct vyre_kernel *kernel = make(&world, two_defaults, &declared);
    assert_non_null(kernel);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.specialization_mixed, 0);
    assert_int_equal(interface.local_size[0], 16);
    assert_run(&world, kernel, NULL, 16, 16);
    assert_run(&world, kernel, &(uint64_t){4}, 4, 4);

    /* A declared local size is that of the declared default. */
    declared.local_size[0] = 16;
    kernel = make(&world, two_defaults, &declared);
    assert_non_null(kernel);
    assert_run(&world, kernel, NULL, 16, 16);
    declared.local_size[0] = 1;
    assert_null(make(&world, two_defaults, &declared));
    assert_int_equal(world.diag.id, VYRE_DIAG_INTERFACE_LOCAL_SIZE);
    leave(&world);
}

static void limits_are_those_of_the_value(void **state)
{
    (void)state;
    struct world world;
    struct vyre_device_limits limits;
    enter(&world);
    struct vyre_kernel *kernel = make(&world, two_defaults, NULL);
    assert_non_null(kernel);
    vyre_device_get_limits(world.device, &limits);
    assert_diag(run(&world, kernel, &(uint64_t){0}, VYRE_MODE_PLAIN), world.diag,
                VYRE_DIAG_SPIRV_LOCAL_SIZE);
    assert_diag(run(&world, kernel, &(uint64_t){limits.group_invocations + 1}, VYRE_MODE_PLAIN),
                world.diag, VYRE_DIAG_KERNEL_LOCAL_SIZE);
    assert_run(&world, kernel, NULL, OWN_N, 1);
    leave(&world);
}

/* Memory that fits with the listed default, and not with that of its own constant, is refused. */
static void memory_by_default_is_that_of_its_own_constant(void **state)
{
    (void)state;
    struct world world;
    struct vyre_device_limits limits;
    struct vyre_kernel_interface interface;
    char source[1024];
    enter(&world);
    vyre_device_get_limits(world.device, &limits);
    snprintf(source, sizeof source,
             HEAD "layout(local_size_x_id = 0) in;\n"
                  "layout(constant_id = 0) const uint N = %llu;\n"
                  "shared uint words[N];\n"
                  "void main() {\n"
                  "    data[1] = gl_WorkGroupSize.x; /* so that its constant comes first */\n"
                  "    words[N - 1u] = N;\n"
                  "    data[0] = words[N - 1u];\n"
                  "}\n",
             (unsigned long long)limits.local_bytes / 4 + 1);
    struct vyre_kernel *kernel = make(&world, source, NULL);
    assert_non_null(kernel);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.specialization_defaults[0], 1);
    assert_diag(run(&world, kernel, NULL, VYRE_MODE_PLAIN), world.diag,
                VYRE_DIAG_KERNEL_LOCAL_BYTES);
    assert_int_equal(run(&world, kernel, &(uint64_t){2}, VYRE_MODE_PLAIN), VYRE_OK);
    assert_int_equal(world.out[OUT_N], 2);
    leave(&world);
}

/* ---- Types ------------------------------------------------------------------------------------ */

static void one_value_is_the_bits_of_every_type(void **state)
{
    static const struct {
        const char *constant, *word;
        uint32_t by_default, by_value; /* the value is 2 */
    } cases[] = {
        {"int N = -7", "uint(N)", (uint32_t)-7, 2},
        {"float N = 1.5", "floatBitsToUint(N)", 0x3fc00000, 2},
        {"bool N = false", "uint(N)", 0, 1},
    };
    (void)state;
    struct world world;
    enter(&world);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char source[1024];
        snprintf(source, sizeof source,
                 HEAD "layout(local_size_x_id = 9) in;\n"
                      "layout(constant_id = 9) const %s;\n"
                      "void main() { data[0] = %s; data[1] = gl_WorkGroupSize.x; }\n",
                 cases[i].constant, cases[i].word);
        struct vyre_kernel *kernel = make(&world, source, NULL);
        if (!kernel)
            fail_msg("%s", world.diag.message);
        assert_int_equal(run(&world, kernel, NULL, VYRE_MODE_PLAIN), VYRE_OK);
        assert_int_equal(world.out[OUT_N], cases[i].by_default);
        assert_int_equal(world.out[OUT_SIZE], 1);
        assert_int_equal(run(&world, kernel, &(uint64_t){2}, VYRE_MODE_PLAIN), VYRE_OK);
        assert_int_equal(world.out[OUT_N], cases[i].by_value);
        assert_int_equal(world.out[OUT_SIZE], 2);
    }
    leave(&world);
}

/* 4 and 8 bytes: no value fits both, and only a value is refused. */
static void constants_of_two_sizes_keep_their_defaults(void **state)
{
    static const char source[] = HEAD "layout(local_size_x_id = 2) in;\n"
                                      "layout(constant_id = 2) const uint64_t N = 7ul;\n"
                                      "layout(constant_id = 4) const uint M = 1;\n"
                                      "void main() {\n"
                                      "    data[0] = uint(N) + M;\n"
                                      "    data[1] = gl_WorkGroupSize.x;\n"
                                      "}\n";
    static const uint32_t ids[] = {4, 2};
    static const uint64_t values[] = {5, 6};
    (void)state;
    struct world world;
    struct vyre_kernel_interface interface;
    enter(&world);
    struct vyre_kernel *kernel = make(&world, source, NULL);
    if (!kernel)
        fail_msg("%s", world.diag.message);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.specialization_count, 1);
    assert_int_equal(interface.specialization_ids[0], 4);
    assert_int_equal(run(&world, kernel, NULL, VYRE_MODE_PLAIN), VYRE_OK);
    assert_int_equal(world.out[OUT_N], 8);
    assert_int_equal(run(&world, kernel, values, VYRE_MODE_PLAIN), VYRE_OK);
    assert_int_equal(world.out[OUT_N], 12);
    assert_int_equal(world.out[OUT_SIZE], 1);
    assert_null(make(&world, source,
                     &(struct vyre_kernel_desc){.specialization_defaults = values,
                                                .specialization_count = 2,
                                                .specialization_ids = ids}));
    assert_int_equal(world.diag.id, VYRE_DIAG_SPIRV_SPECIALIZATION);
    leave(&world);
}

static void two_values_for_one_id_are_refused(void **state)
{
    static const uint32_t ids[] = {0, 0};
    static const uint64_t values[] = {5, 6};
    (void)state;
    struct world world;
    enter(&world);
    assert_null(make(&world, two_defaults,
                     &(struct vyre_kernel_desc){.specialization_defaults = values,
                                                .specialization_count = 2,
                                                .specialization_ids = ids}));
    assert_int_equal(world.diag.id, VYRE_DIAG_SPIRV_SPECIALIZATION);
    leave(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stay_apart_and_a_value_sets_all),
        cmocka_unit_test(a_declared_default_is_a_value),
        cmocka_unit_test(limits_are_those_of_the_value),
        cmocka_unit_test(memory_by_default_is_that_of_its_own_constant),
        cmocka_unit_test(one_value_is_the_bits_of_every_type),
        cmocka_unit_test(constants_of_two_sizes_keep_their_defaults),
        cmocka_unit_test(two_values_for_one_id_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
