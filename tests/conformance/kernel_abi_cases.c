/*
 * kernel_abi_cases.c: what a kernel sees: groups, constants, specialization, scratch, local memory,
 * tables, slots. Each in every mode that the device has.
 */
#include "conformance/conformance.h"

/* ---- Groups ----------------------------------------------------------------------------------- */

static void check_groups(struct fixture *f, const uint32_t groups[3], enum vyre_mode mode)
{
    size_t total = (size_t)groups[0] * groups[1] * groups[2];
    struct vyre_kernel *identify = make_kernel(f, f->device, KERNEL_IDENTIFY);
    struct vyre_buffer *visits = make_buffer(f, f->device, total * 4);
    struct vyre_buffer *ids = make_buffer(f, f->device, total * 24);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slots[] = {{.slot = 0, .range = whole(visits)},
                                        {.slot = 1, .range = whole(ids)}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = identify,
                                                       .groups = {groups[0], groups[1], groups[2]},
                                                       .bindings = slots,
                                                       .binding_count = 2});
    run_in(f, f->device, batch, mode);
    assert_all_words(f, visits, 1, total);

    uint32_t *expected = malloc(total * 24);
    assert_non_null(expected);
    uint32_t *at = expected;
    for (uint32_t z = 0; z < groups[2]; z++) {
        for (uint32_t y = 0; y < groups[1]; y++) {
            for (uint32_t x = 0; x < groups[0]; x++, at += 6)
                memcpy(at, (uint32_t[]){x, y, z, groups[0], groups[1], groups[2]}, 24);
        }
    }
    assert_words(f, ids, expected, total * 6);
    free(expected);
    vyre_batch_destroy(&batch);
    vyre_buffer_destroy(&visits);
    vyre_buffer_destroy(&ids);
    vyre_kernel_destroy(&identify);
}

static void dispatch_runs_each_group_once(struct fixture *f)
{
    static const uint32_t shapes[][3] = {
        {1, 1, 1},  {2, 1, 1}, {7, 1, 1},   {1000, 1, 1}, {1, 9, 1},    {1, 1, 5},  {3, 5, 1},
        {17, 1, 3}, {3, 4, 5}, {1, 13, 11}, {64, 8, 2},   {5000, 1, 1}, {2, 2, 700}};
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        for (size_t j = 0; j < COUNT_OF(shapes); j++)
            check_groups(f, shapes[j], modes[i]);
    }
}

static void dispatch_zero_groups_does_nothing(struct fixture *f)
{
    static const uint32_t shapes[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}};
    struct vyre_kernel *append = make_kernel(f, f->device, KERNEL_APPEND);
    struct vyre_buffer *log = make_buffer(f, f->device, 256);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slot = {.slot = 0, .range = whole(log)};
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    struct append_constants constants = append_constants_for(whole(log), 1);
    for (size_t i = 0; i < mode_count; i++) {
        for (size_t j = 0; j < COUNT_OF(shapes); j++) {
            vyre_batch_reset(batch);
            vyre_batch_dispatch(
                batch, &(struct vyre_dispatch){.kernel = append,
                                               .groups = {shapes[j][0], shapes[j][1], shapes[j][2]},
                                               .bindings = &slot,
                                               .binding_count = 1,
                                               .constants = &constants,
                                               .constants_size_bytes = sizeof constants});
            assert_int_equal(vyre_batch_command_count(batch), 1);
            run_in(f, f->device, batch, modes[i]);
        }
    }
    assert_all_words(f, log, 0, 64);
}

/* ---- Constants -------------------------------------------------------------------------------- */

static void constants_arrive_by_layout(struct fixture *f)
{
    struct vyre_kernel *echo = make_kernel(f, f->device, KERNEL_ECHO);
    struct vyre_buffer *out = make_buffer(f, f->device, ECHO_WORDS64 * 8);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slot = {.slot = 0, .range = whole(out)};
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        struct echo_constants constants = {.a = 0x89abcdef + (uint32_t)i,
                                           .b = UINT64_C(0xfedcba9876543210) + i,
                                           .c = -5 - (int32_t)i,
                                           .d = -1.5e300,
                                           .e = 0.15625f,
                                           .f = INT64_MIN + (int64_t)i};
        uint64_t expected[ECHO_WORDS64] = {constants.a, constants.b, (uint32_t)constants.c,
                                           0,           0,           (uint64_t)constants.f};
        uint32_t float_bits;
        memcpy(&expected[3], &constants.d, 8);
        memcpy(&float_bits, &constants.e, 4);
        expected[4] = float_bits;
        vyre_batch_reset(batch);
        vyre_batch_dispatch(batch,
                            &(struct vyre_dispatch){.kernel = echo,
                                                    .groups = {1, 1, 1},
                                                    .bindings = &slot,
                                                    .binding_count = 1,
                                                    .constants = &constants,
                                                    .constants_size_bytes = sizeof constants});
        memset(&constants, 0xff, sizeof constants); /* they were copied */
        run_in(f, f->device, batch, modes[i]);
        uint64_t held[ECHO_WORDS64] = {0};
        assert_ok(f, vyre_buffer_read(out, 0, held, sizeof held, &f->diag));
        assert_memory_equal(held, expected, sizeof held);
    }
}

/* ---- Specialization --------------------------------------------------------------------------- */

static void run_specialized(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *out,
                            const uint64_t *values, enum vyre_mode mode, const uint64_t expected[4])
{
    uint64_t copy[3], held[4] = {0};
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slot = {.slot = 0, .range = whole(out)};
    if (values)
        memcpy(copy, values, sizeof copy);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &slot,
                                                       .binding_count = 1,
                                                       .specialization = values ? copy : NULL,
                                                       .specialization_count = values ? 3 : 0});
    memset(copy, 0xff, sizeof copy); /* they were copied */
    run_in(f, f->device, batch, mode);
    assert_ok(f, vyre_buffer_read(out, 0, held, sizeof held, &f->diag));
    assert_memory_equal(held, expected, sizeof held);
    vyre_batch_destroy(&batch);
}

static void specialization_values_and_defaults_arrive(struct fixture *f)
{
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_SPECIALIZED);
    struct vyre_buffer *out = make_buffer(f, f->device, 32);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        run_specialized(f, kernel, out, NULL, modes[i], (uint64_t[]){3, 11, 22, 33});
        run_specialized(f, kernel, out, (uint64_t[]){1, 2, 4000000000u}, modes[i],
                        (uint64_t[]){3, 1, 2, 4000000000u});
        run_specialized(f, kernel, out, (uint64_t[]){0, 0, 0}, modes[i], (uint64_t[]){3, 0, 0, 0});
        run_specialized(f, kernel, out, NULL, modes[i], (uint64_t[]){3, 11, 22, 33});
    }
}

static void specialization_count_wrong_refused(struct fixture *f)
{
    uint64_t values[4] = {0};
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_SPECIALIZED);
    struct vyre_buffer *out = make_buffer(f, f->device, 32);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slot = {.slot = 0, .range = whole(out)};
    for (size_t count = 1; count <= 4; count++) {
        if (count == 3)
            continue;
        vyre_batch_reset(batch);
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = &slot,
                                                           .binding_count = 1,
                                                           .specialization = values,
                                                           .specialization_count = count});
        assert_building_error(f, batch, VYRE_DIAG_BATCH_SPECIALIZATION);
    }
}

/* ---- Host ABI --------------------------------------------------------------------------------- */

static void scratch_is_given_per_group(struct fixture *f)
{
    enum { GROUPS = 300 };
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_SCRATCH);
    struct vyre_buffer *out = make_buffer(f, f->device, GROUPS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slots[] = {{.slot = 0, .range = whole(out)}, {.slot = 1}};
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        vyre_batch_reset(batch);
        vyre_batch_fill(batch, whole(out), 0);
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {GROUPS, 1, 1},
                                                           .bindings = slots,
                                                           .binding_count = 2});
        run_in(f, f->device, batch, modes[i]);
        assert_all_words(f, out, 1, GROUPS);
    }
}

static void group_struct_is_filled(struct fixture *f)
{
    uint32_t value = 0xfeedface;
    size_t align = f->limits.range_alignment;
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_ABI);
    struct vyre_buffer *out = make_buffer(f, f->device, ABI_WORD_COUNT * 8);
    struct vyre_buffer *a = make_buffer(f, f->device, 4096);
    struct vyre_buffer *b = make_buffer(f, f->device, 4 * align + 400);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_slot_binding slots[] = {{.slot = 2, .range = range_of(b, 2 * align, 0)},
                                        {.slot = 0, .range = whole(out)},
                                        {.slot = 1, .range = range_of(a, align, 2048)}};
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {4, 3, 2},
                                                       .bindings = slots,
                                                       .binding_count = 3,
                                                       .constants = &value,
                                                       .constants_size_bytes = sizeof value});
    for (size_t i = 0; i < mode_count; i++) {
        uint64_t held[ABI_WORD_COUNT] = {0};
        run_in(f, f->device, batch, modes[i]);
        assert_ok(f, vyre_buffer_read(out, 0, held, sizeof held, &f->diag));
        assert_true(held[ABI_SIZE_BYTES] >= sizeof(struct vyre_host_group));
        assert_int_equal(held[ABI_BUFFER_COUNT], 3);
        assert_memory_equal(&held[ABI_GROUP_ID], ((uint64_t[]){3, 2, 1}), 24);
        assert_memory_equal(&held[ABI_GROUP_COUNT], ((uint64_t[]){4, 3, 2}), 24);
        assert_memory_equal(&held[ABI_LOCAL_SIZE], ((uint64_t[]){8, 4, 2}), 24);
        assert_int_equal(held[ABI_BUFFER_SIZES], ABI_WORD_COUNT * 8);
        assert_int_equal(held[ABI_BUFFER_SIZES + 1], 2048);
        assert_int_equal(held[ABI_BUFFER_SIZES + 2], 2 * align + 400);
        assert_int_equal(held[ABI_SPECIALIZATION_COUNT], 0);
        assert_int_equal(held[ABI_CONSTANTS_SKEW], 0);
        assert_int_equal(held[ABI_CONSTANT], value);
        assert_int_equal(held[ABI_SCRATCH_BYTES], 0);
    }
}

/* ---- Slots, local memory, tables -------------------------------------------------------------- */

static void local_memory_given_here_or_at_dispatch(struct fixture *f)
{
    enum { GROUPS = 40, WORDS = GROUPS * LOCAL_SIZE };
    struct vyre_binding_desc declared[3];
    uint32_t words[WORDS], expected[WORDS];
    struct kernel_plan plan;
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i * 3;
        expected[i] = (i / LOCAL_SIZE * LOCAL_SIZE + LOCAL_SIZE - 1 - i % LOCAL_SIZE) * 3;
    }
    struct vyre_buffer *in = make_words(f, f->device, words, WORDS);
    for (size_t i = 0; i < 2 * mode_count; i++) {
        struct vyre_kernel *kernel = NULL;
        struct vyre_buffer *out = make_buffer(f, f->device, sizeof words);
        struct vyre_batch *batch = make_batch(f, f->device);
        bool at_dispatch = i % 2;
        kernel_plan_init(&plan, KERNEL_REVERSE);
        memcpy(declared, plan.desc.bindings, sizeof declared);
        declared[2].element_count = at_dispatch ? 0 : LOCAL_SIZE;
        plan.desc.bindings = declared;
        assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &kernel, &f->diag));
        struct vyre_slot_binding slots[] = {
            {.slot = 0, .range = whole(in)},
            {.slot = 1, .range = whole(out)},
            {.slot = 2, .local_bytes = at_dispatch ? LOCAL_SIZE * 4 : 0}};
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {GROUPS, 1, 1},
                                                           .bindings = slots,
                                                           .binding_count = 3});
        run_in(f, f->device, batch, modes[i / 2]);
        assert_words(f, out, expected, WORDS);
    }
}

static void sparse_slots_ordered_by_slot(struct fixture *f)
{
    uint32_t a_words[LOCAL_SIZE], b_words[LOCAL_SIZE], expected[LOCAL_SIZE];
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_SPARSE);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < LOCAL_SIZE; i++) {
        a_words[i] = i;
        b_words[i] = 500 - i;
        expected[i] = 1000 * i + 500 - i;
    }
    struct vyre_buffer *a = make_words(f, f->device, a_words, LOCAL_SIZE);
    struct vyre_buffer *b = make_words(f, f->device, b_words, LOCAL_SIZE);
    struct vyre_buffer *out = make_buffer(f, f->device, sizeof expected);
    struct vyre_slot_binding slots[3] = {{.slot = 2, .range = whole(a)},
                                         {.slot = 5, .range = whole(b)},
                                         {.slot = 9, .range = whole(out)}};
    for (size_t i = 0; i < 3 * mode_count; i++) {
        struct vyre_slot_binding turned[3] = {slots[i % 3], slots[(i + 1) % 3], slots[(i + 2) % 3]};
        struct vyre_batch *batch = make_batch(f, f->device);
        vyre_batch_fill(batch, whole(out), 0);
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = turned,
                                                           .binding_count = 3});
        run_in(f, f->device, batch, modes[i / 3]);
        assert_words(f, out, expected, LOCAL_SIZE);
    }
}

enum { TABLE = 30, TABLE_WORDS = 100 };

static void table_is_read(struct fixture *f)
{
    struct vyre_buffer *members[TABLE];
    uint32_t words[TABLE_WORDS], expected[TABLE_WORDS] = {0};
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_TABLE_SUM);
    struct vyre_buffer *out = make_buffer(f, f->device, sizeof expected);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct table_constants constants = {TABLE, TABLE_WORDS};
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < TABLE; i++) {
        for (uint32_t j = 0; j < TABLE_WORDS; j++) {
            words[j] = i * 1000 + j;
            expected[j] += words[j];
        }
        members[i] = make_words(f, f->device, words, TABLE_WORDS);
    }
    struct vyre_buffer *given[TABLE];
    memcpy(given, members, sizeof given);
    struct vyre_slot_binding slots[] = {{.slot = 1, .range = whole(out)},
                                        {.slot = 0, .table = given, .table_count = TABLE}};
    vyre_batch_fill(batch, whole(out), 77);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {2, 1, 1},
                                                       .bindings = slots,
                                                       .binding_count = 2,
                                                       .constants = &constants,
                                                       .constants_size_bytes = sizeof constants});
    memset(given, 0, sizeof given); /* the table was copied */
    for (size_t i = 0; i < mode_count; i++) {
        run_in(f, f->device, batch, modes[i]);
        assert_words(f, out, expected, TABLE_WORDS);
    }
}

/* Written through the table, then read by a kernel that binds a member directly, and back. */
static void table_is_written_and_ordered(struct fixture *f)
{
    struct vyre_buffer *members[TABLE];
    struct vyre_kernel *table_add = make_kernel(f, f->device, KERNEL_TABLE_ADD);
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *mix = make_kernel(f, f->device, KERNEL_MIX);
    struct vyre_buffer *seen = make_buffer(f, f->device, TABLE_ADD_WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < TABLE; i++)
        members[i] = make_buffer(f, f->device, TABLE_ADD_WORDS * 4);
    struct vyre_slot_binding slot = {.slot = 0, .table = members, .table_count = TABLE};
    struct vyre_dispatch through_table = {
        .kernel = table_add, .groups = {TABLE, 1, 1}, .bindings = &slot, .binding_count = 1};
    vyre_batch_fill(batch, whole(members[7]), 100);
    vyre_batch_dispatch(batch, &through_table); /* 100 + 8 */
    add_add(batch, add, whole(members[7]), 1000, TABLE_ADD_WORDS);
    vyre_batch_dispatch(batch, &through_table); /* 1108 + 8 */
    vyre_batch_fill(batch, whole(seen), 0);
    add_mix(batch, mix, whole(members[7]), whole(seen), 1, TABLE_ADD_WORDS);
    for (uint32_t i = 0; i < mode_count; i++) {
        run_in(f, f->device, batch, modes[i]);
        for (uint32_t j = 0; j < TABLE; j++) {
            uint32_t added = 2 * (j + 1);
            assert_all_words(f, members[j], j == 7 ? 1116 : (i + 1) * added, TABLE_ADD_WORDS);
        }
        for (uint32_t j = 0; j < TABLE_ADD_WORDS; j++)
            assert_int_equal(read_word(f, seen, j), 1116 + j);
    }
}

static const struct conformance_case cases[] = {
    {"dispatch_runs_each_group_once", dispatch_runs_each_group_once, 0},
    {"dispatch_zero_groups_does_nothing", dispatch_zero_groups_does_nothing, 0},
    {"constants_arrive_by_layout", constants_arrive_by_layout, 0},
    {"specialization_values_and_defaults_arrive", specialization_values_and_defaults_arrive,
     NEEDS(SPECIALIZE)},
    {"specialization_count_wrong_refused", specialization_count_wrong_refused, NEEDS(SPECIALIZE)},
    {"scratch_is_given_per_group", scratch_is_given_per_group, NEEDS_HOST_KERNELS},
    {"group_struct_is_filled", group_struct_is_filled, NEEDS_HOST_KERNELS},
    {"local_memory_given_here_or_at_dispatch", local_memory_given_here_or_at_dispatch, 0},
    {"sparse_slots_ordered_by_slot", sparse_slots_ordered_by_slot, 0},
    {"table_is_read", table_is_read, NEEDS(BINDLESS)},
    {"table_is_written_and_ordered", table_is_written_and_ordered, NEEDS(BINDLESS)},
};

const struct conformance_group kernel_abi_cases = {"kernel-abi", cases, COUNT_OF(cases)};
