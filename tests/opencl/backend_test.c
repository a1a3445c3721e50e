/*
 * backend_test.c: what the OpenCL backend says of kernels, and how it fails.
 *
 *   backend_test DEVICE      a part of the device's name
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "support/test.h"

static const char *device_name;

static const char scale_source[] = "__kernel __attribute__((reqd_work_group_size(16, 1, 1)))\n"
                                   "void scale(__global const uint *from, __global uint *to,\n"
                                   "           __local uint *room, uint factor, ulong offset)\n"
                                   "{\n"
                                   "    uint i = get_global_id(0);\n"
                                   "    room[get_local_id(0)] = from[i] * factor;\n"
                                   "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                   "    to[i] = room[get_local_id(0)] + (uint)offset;\n"
                                   "}\n";

struct fixture {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_diag diag;
};

static void open_with(struct fixture *f, struct vyre_device_desc desc)
{
    memset(f, 0, sizeof *f);
    desc.backend = "opencl";
    desc.name = device_name;
    assert_int_equal(vyre_instance_create(NULL, &f->instance, &f->diag), VYRE_OK);
    enum vyre_status status = vyre_device_open(f->instance, &desc, &f->device, &f->diag);
    if (status != VYRE_OK)
        fail_msg("cannot open: %s", f->diag.message);
}

static void close_all(struct fixture *f)
{
    vyre_device_close(&f->device);
    vyre_instance_destroy(&f->instance);
}

static enum vyre_status create(struct fixture *f, const char *source, const char *entry,
                               struct vyre_kernel_desc desc, struct vyre_kernel **out_kernel)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = entry,
                                         .bytes = source,
                                         .size_bytes = strlen(source)};
    desc.payloads = &payload;
    desc.payload_count = 1;
    desc.label = "tested";
    return vyre_kernel_create(f->device, &desc, out_kernel, &f->diag);
}

static void run(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *from,
                struct vyre_buffer *to, enum vyre_mode mode)
{
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    const struct vyre_slot_binding bindings[] = {{.slot = 0, .range = {from, 0, 0}},
                                                 {.slot = 1, .range = {to, 0, 0}},
                                                 {.slot = 2, .local_bytes = 64}};
    const struct {
        uint32_t factor;
        uint64_t offset;
    } constants = {3, 5};
    assert_int_equal(vyre_batch_create(f->device, NULL, &batch, &f->diag), VYRE_OK);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {2, 1, 1},
                                                       .bindings = bindings,
                                                       .binding_count = 3,
                                                       .constants = &constants,
                                                       .constants_size_bytes = sizeof constants});
    enum vyre_status status =
        vyre_batch_submit(batch, &(struct vyre_submit_options){.mode = mode}, &ticket, &f->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    if (status != VYRE_OK)
        fail_msg("%s", f->diag.message);
    vyre_batch_destroy(&batch);
}

static void kernel_undeclared_is_reflected_and_runs(void **state)
{
    struct fixture f;
    struct vyre_kernel *kernel;
    struct vyre_kernel_interface interface;
    struct vyre_ability persistent;
    uint32_t words[32];
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    assert_int_equal(create(&f, scale_source, "scale", (struct vyre_kernel_desc){0}, &kernel),
                     VYRE_OK);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.binding_count, 3);
    assert_int_equal(interface.bindings[0].access, VYRE_ACCESS_READ);
    assert_int_equal(interface.bindings[1].access, VYRE_ACCESS_READWRITE);
    assert_int_equal(interface.bindings[2].role, VYRE_ROLE_SHARED);
    assert_int_equal(interface.constant_count, 2);
    assert_int_equal(interface.constants[0], VYRE_SCALAR_U32);
    assert_int_equal(interface.constants[1], VYRE_SCALAR_U64);
    assert_int_equal(interface.constants_size_bytes, 16);
    assert_int_equal(interface.local_size[0], 16);
    struct vyre_buffer *from, *to;
    struct vyre_buffer_desc desc = {.size_bytes = sizeof words};
    assert_int_equal(vyre_buffer_create(f.device, &desc, &from, &f.diag), VYRE_OK);
    for (uint32_t i = 0; i < 32; i++)
        words[i] = i;
    assert_int_equal(vyre_buffer_write(from, 0, words, sizeof words, &f.diag), VYRE_OK);
    vyre_device_get_ability(f.device, VYRE_ABILITY_PERSISTENT, &persistent);
    for (int mode = VYRE_MODE_AUTO; mode < VYRE_MODE_COUNT; mode++) {
        if (mode == VYRE_MODE_PERSISTENT && persistent.value == 0)
            continue;
        assert_int_equal(vyre_buffer_create(f.device, &desc, &to, &f.diag), VYRE_OK);
        run(&f, kernel, from, to, (enum vyre_mode)mode);
        assert_int_equal(vyre_buffer_read(to, 0, words, sizeof words, &f.diag), VYRE_OK);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(words[i], 3 * i + 5);
        vyre_buffer_destroy(&to);
    }
    close_all(&f);
}

/* What a launch has of dimensions, sizes and ids, in one word of each group; local memory by its size. */
static const char dimensions_source[] =
    "__kernel void dimensions(__global uint *to, __local uint *room, uint words)\n"
    "{\n"
    "    size_t g = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) *\n"
    "               get_group_id(2));\n"
    "    for (uint i = 0; i < words; i++)\n"
    "        room[i] = i + (uint)g;\n"
    "    uint sum = 0;\n"
    "    for (uint i = words; i-- > 0;)\n"
    "        sum = sum * 31u + room[i];\n"
    "    to[g] = sum + (uint)(get_global_size(0) * 10000 + get_global_size(1) * 100 +\n"
    "            get_global_size(2)) + 7u * (uint)(get_global_id(1) + get_global_id(2)) +\n"
    "            (uint)(get_local_size(1) + get_local_size(2));\n"
    "}\n";
static const char asked_source[] =
    "__kernel void asked(__global uint *to) { to[get_group_id(0)] = get_work_dim(); }\n";

static void launch(struct fixture *f, struct vyre_kernel *kernel, const uint32_t groups[3],
                   struct vyre_buffer *to, uint32_t words, enum vyre_mode mode)
{
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    const struct vyre_slot_binding slots[] = {{.slot = 0, .range = {.buffer = to}},
                                              {.slot = 1, .local_bytes = words * 4}};
    assert_int_equal(vyre_batch_create(f->device, NULL, &batch, &f->diag), VYRE_OK);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {groups[0], groups[1], groups[2]},
                                                       .bindings = slots,
                                                       .binding_count = words ? 2 : 1,
                                                       .constants = &words,
                                                       .constants_size_bytes = words ? 4 : 0});
    enum vyre_status status =
        vyre_batch_submit(batch, &(struct vyre_submit_options){.mode = mode}, &ticket, &f->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    if (status != VYRE_OK)
        fail_msg("%s", f->diag.message);
    vyre_batch_destroy(&batch);
}

static uint32_t expected_word(const uint32_t groups[3], uint32_t group, uint32_t words)
{
    uint32_t sum = 0;
    for (uint32_t i = words; i-- > 0;)
        sum = sum * 31u + i + group;
    uint32_t y = group / groups[0] % groups[1];
    uint32_t z = group / groups[0] / groups[1];
    return sum + groups[0] * 10000 + groups[1] * 100 + groups[2] + 7 * (y + z) + 2;
}

/* Launches of one, two and three dimensions, with local memory of other sizes each, in every mode. */
static void launch_of_any_shape_sees_the_same(void **state)
{
    static const uint32_t shapes[][3] = {{1, 1, 1}, {6, 1, 1}, {3, 2, 1}, {1, 3, 1},
                                         {2, 1, 3}, {1, 1, 5}, {2, 3, 2}};
    const struct vyre_kernel_desc one = {.local_size = {1, 1, 1}};
    struct fixture f;
    struct vyre_kernel *kernel, *asked;
    struct vyre_buffer *to;
    struct vyre_ability persistent;
    uint32_t words[16];
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    assert_int_equal(create(&f, dimensions_source, "dimensions", one, &kernel), VYRE_OK);
    assert_int_equal(create(&f, asked_source, "asked", one, &asked), VYRE_OK);
    assert_int_equal(vyre_buffer_create(f.device,
                                        &(struct vyre_buffer_desc){.size_bytes = sizeof words}, &to,
                                        &f.diag),
                     VYRE_OK);
    vyre_device_get_ability(f.device, VYRE_ABILITY_PERSISTENT, &persistent);
    for (int mode = VYRE_MODE_AUTO; mode < VYRE_MODE_COUNT; mode++) {
        if (mode == VYRE_MODE_PERSISTENT && persistent.value == 0)
            continue;
        for (uint32_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            const uint32_t *shape = shapes[s];
            uint32_t room = 1 + s % 3 * 8; /* each size is a dispatcher of its own */
            launch(&f, kernel, shape, to, room, (enum vyre_mode)mode);
            assert_int_equal(vyre_buffer_read(to, 0, words, sizeof words, &f.diag), VYRE_OK);
            for (uint32_t g = 0; g < shape[0] * shape[1] * shape[2]; g++)
                assert_int_equal(words[g], expected_word(shape, g, room));
        }
        launch(&f, asked, (uint32_t[]){2, 1, 1}, to, 0, (enum vyre_mode)mode);
        assert_int_equal(vyre_buffer_read(to, 0, words, sizeof words, &f.diag), VYRE_OK);
        assert_int_equal(words[1], 3); /* in every mode, whatever the groups are */
    }
    close_all(&f);
}

static void kernel_build_error_names_the_line(void **state)
{
    struct fixture f;
    struct vyre_kernel *kernel;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    assert_int_equal(create(&f, "__kernel void f(__global uint *a)\n{\n    a[0] = nowhere;\n}\n",
                            "f", (struct vyre_kernel_desc){0}, &kernel),
                     VYRE_BUILD_FAILED);
    assert_null(kernel);
    assert_int_equal(f.diag.id, VYRE_DIAG_OPENCL_BUILD);
    assert_non_null(strstr(f.diag.message, "line 3"));
    assert_non_null(strstr(f.diag.message, "a[0] = nowhere;"));
    assert_int_not_equal(f.diag.native_code, 0);
    close_all(&f);
}

static void refuse(struct fixture *f, const char *source, const char *entry,
                   struct vyre_kernel_desc desc, enum vyre_diag_id id)
{
    struct vyre_kernel *kernel;
    vyre_diag_reset(&f->diag);
    assert_int_not_equal(create(f, source, entry, desc, &kernel), VYRE_OK);
    assert_int_equal(f->diag.id, id);
    assert_null(kernel);
}

static void kernel_that_disagrees_is_refused(void **state)
{
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    const struct vyre_binding_desc read_only[] = {{.slot = 0, .access = VYRE_ACCESS_READ},
                                                  {.slot = 1, .access = VYRE_ACCESS_READ},
                                                  {.slot = 2, .role = VYRE_ROLE_SHARED}};
    const struct vyre_binding_desc four[] = {
        read_only[0], read_only[1], read_only[2], {.slot = 9, .access = VYRE_ACCESS_READ}};
    const enum vyre_scalar floats[] = {VYRE_SCALAR_F32, VYRE_SCALAR_U64};
    const enum vyre_scalar three[] = {VYRE_SCALAR_U32, VYRE_SCALAR_U64, VYRE_SCALAR_U32};
    refuse(&f, scale_source, "no_such", (struct vyre_kernel_desc){0}, VYRE_DIAG_OPENCL_ENTRY);
    refuse(&f, scale_source, "scale",
           (struct vyre_kernel_desc){.bindings = read_only, .binding_count = 3},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    refuse(&f, scale_source, "scale",
           (struct vyre_kernel_desc){.bindings = read_only, .binding_count = 1},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    /* One too many or too few has a name, although the accesses would not go together either. */
    assert_contains(f.diag.fix, "(to)");
    refuse(&f, scale_source, "scale",
           (struct vyre_kernel_desc){.bindings = four, .binding_count = 4},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    assert_contains(f.diag.fix, "slot 9");
    refuse(&f, scale_source, "scale",
           (struct vyre_kernel_desc){.constants = floats, .constant_count = 2},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    refuse(&f, scale_source, "scale",
           (struct vyre_kernel_desc){.constants = three, .constant_count = 3},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    assert_contains(f.diag.fix, "constant 2");
    refuse(&f, scale_source, "scale",
           (struct vyre_kernel_desc){.constants = three, .constant_count = 1},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    assert_contains(f.diag.fix, "(offset)");
    refuse(&f, scale_source, "scale", (struct vyre_kernel_desc){.local_size = {8, 1, 1}},
           VYRE_DIAG_OPENCL_ARGUMENTS);
    refuse(&f, "__kernel void f(__global uint *a, float4 v) { a[0] = (uint)v.x; }", "f",
           (struct vyre_kernel_desc){0}, VYRE_DIAG_OPENCL_ARGUMENTS);
    close_all(&f);
}

/* Constants have 4 or 8 bytes: an argument of another size has a name and a fix, and not at submit. */
static void argument_of_another_size_is_refused_at_creation(void **state)
{
    static const struct {
        const char *type;
        enum vyre_scalar declared;
        const char *fix; /* names this; NULL: taken */
    } cases[] = {
        {"char", VYRE_SCALAR_I32, "int"},      {"uchar", VYRE_SCALAR_U32, "uint"},
        {"short", VYRE_SCALAR_I32, "int"},     {"unsigned short", VYRE_SCALAR_U32, "uint"},
        {"short", VYRE_SCALAR_I64, "int"},     {"uint4", VYRE_SCALAR_U32, "buffer"},
        {"float3", VYRE_SCALAR_F64, "buffer"}, {"uchar2", VYRE_SCALAR_U32, "buffer"},
        {"uint", VYRE_SCALAR_I32, "u32"},      {"float", VYRE_SCALAR_F64, "f32"},
        {"uchar4", VYRE_SCALAR_U32, NULL},     {"float2", VYRE_SCALAR_U64, NULL},
        {"whole", VYRE_SCALAR_I32, NULL},
    };
    struct vyre_kernel *kernel;
    struct fixture f;
    char source[256];
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vyre_kernel_desc desc = {.constants = &cases[i].declared, .constant_count = 1};
        snprintf(source, sizeof source,
                 "typedef int whole;\n"
                 "__kernel void f(__global uint *a, %s amount) { a[0] = ((uint *)&amount)[0]; }",
                 cases[i].type);
        if (!cases[i].fix) {
            assert_int_equal(create(&f, source, "f", desc, &kernel), VYRE_OK);
            continue;
        }
        for (int declared = 1; declared >= 0; declared--) {
            if (!declared && strchr("uf", cases[i].fix[0]) && strlen(cases[i].fix) == 3)
                break; /* would be reflected */
            if (!declared)
                desc = (struct vyre_kernel_desc){0};
            refuse(&f, source, "f", desc, VYRE_DIAG_OPENCL_ARGUMENTS);
            assert_non_null(strstr(f.diag.message, "amount"));
            assert_non_null(strstr(f.diag.fix, cases[i].fix));
        }
    }
    refuse(&f,
           "typedef int whole; __kernel void f(__global uint *a, whole amount) { a[0] = amount; }",
           "f", (struct vyre_kernel_desc){0}, VYRE_DIAG_OPENCL_ARGUMENTS);
    assert_non_null(strstr(f.diag.fix, "constants"));
    close_all(&f);
}

/* More specializations than a kernel keeps, twice round. */
static void kernel_many_variants_all_run(void **state)
{
    static const char source[] = "__kernel void f(__global ulong *out) { out[0] = VALUE; }";
    static const char *const names[] = {"VALUE"};
    const uint64_t fallback = 1;
    struct fixture f;
    struct vyre_kernel *kernel;
    struct vyre_buffer *out;
    struct vyre_batch *batch;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    struct vyre_kernel_desc desc = {.specialization_defaults = &fallback,
                                    .specialization_count = 1,
                                    .specialization_names = names};
    assert_int_equal(create(&f, source, "f", desc, &kernel), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(f.device, &(struct vyre_buffer_desc){.size_bytes = 8}, &out, &f.diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(f.device, NULL, &batch, &f.diag), VYRE_OK);
    for (uint64_t i = 0; i < 36; i++) {
        uint64_t value = (i % 18) << (i % 18 * 2);
        uint64_t got = ~value;
        struct vyre_ticket ticket;
        const struct vyre_slot_binding binding = {.slot = 0, .range = {out, 0, 0}};
        vyre_batch_reset(batch);
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = &binding,
                                                           .binding_count = 1,
                                                           .specialization = &value,
                                                           .specialization_count = 1});
        assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &f.diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(f.device, ticket, VYRE_FOREVER, &f.diag), VYRE_OK);
        assert_int_equal(vyre_buffer_read(out, 0, &got, sizeof got, &f.diag), VYRE_OK);
        assert_int_equal(got, value);
    }
    close_all(&f);
}

/* ---- Recordings ------------------------------------------------------------------------------- */

/* One kernel on one buffer, time after time with another constant: each launch has its own. */
static void replay_each_launch_keeps_its_constant(void **state)
{
    static const char source[] = "__kernel void f(__global uint *a, uint c)\n"
                                 "{ a[get_global_id(0)] = a[get_global_id(0)] * 3 + c; }\n";
    struct fixture f;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    assert_int_equal(create(&f, source, "f", (struct vyre_kernel_desc){0}, &kernel), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(f.device, &(struct vyre_buffer_desc){.size_bytes = 4}, &buffer, &f.diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(f.device, NULL, &batch, &f.diag), VYRE_OK);
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    uint32_t expected = 0, value = 0;
    struct vyre_ability arms;
    vyre_device_get_ability(f.device, VYRE_ABILITY_ARMS, &arms);
    const uint32_t variants[] = {0, VYRE_VARIANT_DRIVER, arms.value ? VYRE_VARIANT_SERIAL : 0};
    for (uint32_t round = 0; round < 6; round++) {
        vyre_batch_reset(batch);
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t constant = i * i + round;
            vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                               .groups = {1, 1, 1},
                                                               .bindings = &binding,
                                                               .binding_count = 1,
                                                               .constants = &constant,
                                                               .constants_size_bytes = 4});
            expected = expected * 3 + constant;
        }
        struct vyre_submit_options options = {.mode = VYRE_MODE_REPLAY,
                                              .variant = variants[round % 3]};
        assert_int_equal(vyre_batch_submit(batch, &options, NULL, &f.diag), VYRE_OK);
        assert_int_equal(vyre_device_wait_idle(f.device, VYRE_FOREVER, &f.diag), VYRE_OK);
        assert_int_equal(vyre_buffer_read(buffer, 0, &value, sizeof value, &f.diag), VYRE_OK);
        assert_int_equal(value, expected);
    }
    close_all(&f);
}

/* ---- Times ------------------------------------------------------------------------------------ */

/* With a profiling queue the times are the device's, placed on the host's clock. */
static void device_times_lie_between_submit_and_wait(void **state)
{
    static const char source[] =
        "__kernel void f(__global uint *a)\n"
        "{ uint x = a[get_global_id(0)]; for (uint i = 0; i < 200000; i++) x = x * 3 + i;\n"
        "  a[get_global_id(0)] = x; }\n";
    struct fixture f;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    struct vyre_ability timestamps;
    (void)state;
    open_with(&f, (struct vyre_device_desc){.device_times = true});
    vyre_device_get_ability(f.device, VYRE_ABILITY_TIMESTAMPS, &timestamps);
    assert_int_not_equal(timestamps.value, 0);
    assert_int_equal(create(&f, source, "f", (struct vyre_kernel_desc){0}, &kernel), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(f.device, &(struct vyre_buffer_desc){.size_bytes = 4}, &buffer, &f.diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(f.device, NULL, &batch, &f.diag), VYRE_OK);
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    for (int i = 0; i < 3; i++)
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = &binding,
                                                           .binding_count = 1});
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
    const uint64_t tolerance_ns = 1000000;
    for (size_t i = 0; i < 6; i++) {
        struct vyre_ticket ticket;
        struct vyre_batch_result result;
        struct vyre_submit_options options = {.mode = modes[i % 2], .timed = true};
        uint64_t start_ns = vyre_clock_ns();
        assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &f.diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(f.device, ticket, VYRE_FOREVER, &f.diag), VYRE_OK);
        uint64_t end_ns = vyre_clock_ns();
        assert_int_equal(vyre_ticket_result(f.device, ticket, &result, &f.diag), VYRE_OK);
        assert_true(result.device_ns > 0);
        assert_true(result.device_begin_ns + tolerance_ns >= start_ns);
        assert_true(result.device_begin_ns + result.device_ns <= end_ns + tolerance_ns);
    }
    close_all(&f);
}

/* ---- Kernels that never end, in a child: nothing can stop them --------------------------------- */

static void never_end(enum vyre_mode mode)
{
    static const char source[] = "__kernel void f(volatile __global uint *a)\n"
                                 "{ while (a[0] == 0) a[1] += 1; }\n";
    struct fixture f;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    /* Unproven, so that submit returns and the wait is what finds out. The timeout is far above the
       first wait's: a machine that stalls for a second changes nothing. */
    open_with(&f, (struct vyre_device_desc){.hang_timeout_ns = 2000000000, .no_proof = true});
    assert_int_equal(create(&f, source, "f", (struct vyre_kernel_desc){0}, &kernel), VYRE_OK);
    assert_int_equal(
        vyre_buffer_create(f.device, &(struct vyre_buffer_desc){.size_bytes = 8}, &buffer, &f.diag),
        VYRE_OK);
    assert_int_equal(vyre_batch_create(f.device, NULL, &batch, &f.diag), VYRE_OK);
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1});
    struct vyre_submit_options options = {.mode = mode};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &f.diag), VYRE_OK);
    assert_int_equal(vyre_ticket_wait(f.device, ticket, 1000000, &f.diag), VYRE_TIMEOUT);
    assert_int_equal(vyre_ticket_wait(f.device, ticket, VYRE_FOREVER, &f.diag), VYRE_DEVICE_LOST);
    assert_int_equal(f.diag.id, VYRE_DIAG_DEVICE_HANG);
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &f.diag), VYRE_DEVICE_LOST);
    vyre_device_close(&f.device);
    assert_null(f.device);
    _exit(0);
}

static void expect_loss(enum vyre_mode mode)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(300); /* a wait or a close that blocks ends the child */
        never_end(mode);
        _exit(1);
    }
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    assert_int_equal(WEXITSTATUS(state), 0);
}

static void endless_kernel_loses_the_device(void **state)
{
    (void)state;
    if (strstr(device_name, "basic"))
        skip(); /* its enqueue does not return: nothing of ours runs */
    expect_loss(VYRE_MODE_PLAIN);
    expect_loss(VYRE_MODE_REPLAY);
    expect_loss(VYRE_MODE_PERSISTENT);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        /* First: a child of a process with drivers' threads could not use them. */
        cmocka_unit_test(endless_kernel_loses_the_device),
        cmocka_unit_test(kernel_undeclared_is_reflected_and_runs),
        cmocka_unit_test(launch_of_any_shape_sees_the_same),
        cmocka_unit_test(kernel_build_error_names_the_line),
        cmocka_unit_test(kernel_that_disagrees_is_refused),
        cmocka_unit_test(argument_of_another_size_is_refused_at_creation),
        cmocka_unit_test(kernel_many_variants_all_run),
        cmocka_unit_test(replay_each_launch_keeps_its_constant),
        cmocka_unit_test(device_times_lie_between_submit_and_wait),
    };
    device_name = count > 1 ? arguments[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
