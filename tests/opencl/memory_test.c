/*
 * memory_test.c: memory of a device: tables of buffers, what is counted, and what must outlive a driver that
 * does not end its work.
 *
 *   memory_test DEVICE
 */
#include "opencl/driver_hooks.h"

#define TABLES        5
#define TABLE_ENTRIES 65536

/* ---- Tables ----------------------------------------------------------------------------------- */

static const char tables_source[] =
    "__kernel void pick(__global const ulong *a, __global const ulong *b, __global const ulong "
    "*c,\n"
    "                   __global const ulong *d, __global const ulong *e, __global uint *out,\n"
    "                   uint last)\n"
    "{\n"
    "    __global const ulong *tables[5] = {a, b, c, d, e};\n"
    "    uint i = get_local_id(0);\n"
    "    if (i < 5)\n"
    "        out[i] = *(__global const uint *)tables[i][0] * 100 +\n"
    "                 *(__global const uint *)tables[i][last];\n"
    "}\n";

static struct vyre_kernel *create_table_kernel(struct fixture *f)
{
    struct vyre_binding_desc bindings[TABLES + 1];
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_U32};
    for (uint32_t i = 0; i <= TABLES; i++)
        bindings[i] = (struct vyre_binding_desc){
            .slot = i,
            .access = i < TABLES ? VYRE_ACCESS_READ : VYRE_ACCESS_WRITE,
            .table = i < TABLES,
        };
    return fixture_kernel(f, tables_source, "pick",
                          (struct vyre_kernel_desc){.local_size = {8, 1, 1},
                                                    .bindings = bindings,
                                                    .binding_count = TABLES + 1,
                                                    .constants = constants,
                                                    .constant_count = 1});
}

/* Every table names one buffer, whose word is its number. */
static void dispatch_tables(struct fixture *f, struct vyre_kernel *kernel,
                            struct vyre_buffer *const *members, struct vyre_buffer *out,
                            uint32_t entries)
{
    static struct vyre_buffer *tables[TABLES][TABLE_ENTRIES];
    struct vyre_slot_binding bindings[TABLES + 1] = {
        [TABLES] = {.slot = TABLES, .range = {out, 0, 0}}};
    const uint32_t last = entries - 1;
    for (uint32_t i = 0; i < TABLES; i++) {
        for (uint32_t j = 0; j < entries; j++)
            tables[i][j] = members[i];
        bindings[i] =
            (struct vyre_slot_binding){.slot = i, .table = tables[i], .table_count = entries};
    }
    vyre_batch_dispatch(f->batch, &(struct vyre_dispatch){.kernel = kernel,
                                                          .groups = {1, 1, 1},
                                                          .bindings = bindings,
                                                          .binding_count = TABLES + 1,
                                                          .constants = &last,
                                                          .constants_size_bytes = 4});
}

/* More than the ring of tables holds, behind a few that are in it, then again as many as fit. */
static void tables_of_one_dispatch_do_not_take_each_others_place(void **state)
{
    static const uint32_t entries[] = {100, TABLE_ENTRIES, 40000, 3, 50000};
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_PERSISTENT, VYRE_MODE_REPLAY};
    struct fixture f;
    struct vyre_buffer *members[TABLES];
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        hooks_open(&f, (struct vyre_device_desc){0});
        struct vyre_kernel *kernel = create_table_kernel(&f);
        struct vyre_buffer *out = fixture_buffer(&f, 256);
        for (uint32_t i = 0; i < TABLES; i++) {
            uint32_t word = i + 1;
            members[i] = fixture_buffer(&f, 256);
            assert_int_equal(vyre_buffer_write(members[i], 0, &word, 4, &f.diag), VYRE_OK);
        }
        for (size_t e = 0; e < COUNT_OF(entries); e++) {
            uint32_t words[TABLES] = {0};
            vyre_batch_reset(f.batch);
            dispatch_tables(&f, kernel, members, out, entries[e]);
            dispatch_tables(&f, kernel, members, out, entries[e]);
            if (hooks_run(&f, modes[m]) != VYRE_OK)
                fail_msg("%s", f.diag.message);
            assert_int_equal(vyre_buffer_read(out, 0, words, sizeof words, &f.diag), VYRE_OK);
            for (uint32_t i = 0; i < TABLES; i++)
                assert_int_equal(words[i], (i + 1) * 101);
        }
        fixture_close(&f);
    }
}

/* ---- Memory and ends -------------------------------------------------------------------------- */

static void probe_that_does_not_end_keeps_its_memory(void **state)
{
    struct fixture f;
    struct vyre_ability persistent;
    (void)state;
    hooks.events_run = true;
    hooks_open(&f, (struct vyre_device_desc){0});
    hooks.events_run = false;
    assert_int_equal(hooks.shared_frees, 0);
    vyre_device_get_ability(f.device, VYRE_ABILITY_PERSISTENT, &persistent);
    assert_int_equal(persistent.value, 0);
    assert_string_not_equal(persistent.reason, "");
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    hooks_dispatch(&f, hooks_kernel(&f, hooks_two_source, "one"), buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    hooks_expect_word(&f, buffer, 1);
    vyre_device_close(&f.device);
    const struct vyre_device_desc desc = {.backend = HOOKED_NAME, .name = hooks_device_name};
    assert_int_equal(vyre_device_open(f.instance, &desc, &f.device, &f.diag), VYRE_OK);
    vyre_device_get_ability(f.device, VYRE_ABILITY_PERSISTENT, &persistent);
    assert_int_not_equal(persistent.value, 0); /* what was not found out is asked again */
    fixture_close(&f);
}

static void memory_given_back_is_no_longer_counted(void **state)
{
    struct fixture f;
    struct vyre_device_memory before, with, after;
    (void)state;
    for (int i = 0; i < 2; i++) {
        hooked_no_svm = i;
        hooks_open(&f, (struct vyre_device_desc){0});
        vyre_device_get_memory(f.device, &before);
        struct vyre_buffer *buffer = fixture_buffer(&f, 4096);
        vyre_device_get_memory(f.device, &with);
        assert_int_equal(with.allocation_count, before.allocation_count + 1);
        vyre_buffer_destroy(&buffer);
        vyre_device_get_memory(f.device, &after);
        assert_int_equal(after.reserved_bytes, before.reserved_bytes);
        assert_int_equal(after.allocation_count, before.allocation_count);
        fixture_close(&f);
    }
}

/* A hung device is left alone; what its driver says later must not find an instance that is gone. */
static void abandoned_device_does_not_log_to_an_instance_that_is_gone(void **state)
{
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){.hang_timeout_ns = 200000000});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    hooks_dispatch(&f, hooks_kernel(&f, hooks_two_source, "one"), buffer);
    hooks.notify("heard", NULL, 0, hooks.notify_user);
    assert_int_equal(hooks.messages, 1);
    hooks.events_run = true;
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_DEVICE_LOST);
    fixture_close(&f);
    hooks.notify("too late", NULL, 0, hooks.notify_user);
    assert_int_equal(hooks.messages, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HOOKS_CASE(tables_of_one_dispatch_do_not_take_each_others_place),
        HOOKS_CASE(probe_that_does_not_end_keeps_its_memory),
        HOOKS_CASE(memory_given_back_is_no_longer_counted),
        HOOKS_CASE(abandoned_device_does_not_log_to_an_instance_that_is_gone),
    };
    return hooks_start(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
