/*
 * registration_test.c: backends that are not built in: which tables an instance takes, and what it
 * makes of backends that cannot work.
 */
#include "runtime/sim_fixture.h"

struct setting {
    struct vyre_sim *sim;
    struct vyre_instance *instance;
    struct vyre_diag diag;
};

static void open_setting(struct setting *setting, const struct vyre_sim_desc *desc)
{
    *setting = (struct setting){.sim = vyre_sim_create(desc)};
    assert_non_null(setting->sim);
    assert_int_equal(vyre_instance_create(NULL, &setting->instance, &setting->diag), VYRE_OK);
}

static void close_setting(struct setting *setting)
{
    vyre_instance_destroy(&setting->instance);
    vyre_sim_destroy(&setting->sim);
}

static size_t backend_count(struct setting *setting)
{
    return vyre_instance_backends(setting->instance, NULL, 0);
}

static void register_other_abi_fails(void **state)
{
    (void)state;
    struct setting setting;
    open_setting(&setting, NULL);
    struct vyre_backend_ops ops = *vyre_sim_ops(setting.sim);
    size_t count = backend_count(&setting);
    ops.abi_version = VYRE_BACKEND_ABI_VERSION + 1;
    assert_diag(vyre_instance_register_backend(setting.instance, &ops, &setting.diag), setting.diag,
                VYRE_DIAG_BACKEND_ABI);
    ops.abi_version = VYRE_BACKEND_ABI_VERSION;
    ops.size_bytes = sizeof ops - sizeof(void *);
    assert_diag(vyre_instance_register_backend(setting.instance, &ops, &setting.diag), setting.diag,
                VYRE_DIAG_BACKEND_ABI);
    ops.size_bytes = 0;
    assert_diag(vyre_instance_register_backend(setting.instance, &ops, &setting.diag), setting.diag,
                VYRE_DIAG_BACKEND_ABI);
    assert_diag(vyre_instance_register_backend(setting.instance, NULL, &setting.diag), setting.diag,
                VYRE_DIAG_ARGUMENT_NULL);
    assert_int_equal(backend_count(&setting), count);
    ops.size_bytes = sizeof ops + 64; /* of a later header: grown at its end */
    assert_int_equal(vyre_instance_register_backend(setting.instance, &ops, NULL), VYRE_OK);
    assert_int_equal(backend_count(&setting), count + 1);
    close_setting(&setting);
}

static void register_required_entry_missing_fails(void **state)
{
    (void)state;
    static const size_t required[] = {
        offsetof(struct vyre_backend_ops, name),
        offsetof(struct vyre_backend_ops, enumerate),
        offsetof(struct vyre_backend_ops, device_open),
        offsetof(struct vyre_backend_ops, device_close),
        offsetof(struct vyre_backend_ops, buffer_create),
        offsetof(struct vyre_backend_ops, buffer_destroy),
        offsetof(struct vyre_backend_ops, kernel_create),
        offsetof(struct vyre_backend_ops, kernel_destroy),
        offsetof(struct vyre_backend_ops, record), /* without the other one of the pair */
        offsetof(struct vyre_backend_ops, recording_destroy),
        offsetof(struct vyre_backend_ops, submit),
        offsetof(struct vyre_backend_ops, wait),
    };
    struct setting setting;
    open_setting(&setting, NULL);
    for (size_t i = 0; i < COUNT_OF(required); i++) {
        struct vyre_backend_ops ops = *vyre_sim_ops(setting.sim);
        memset((char *)&ops + required[i], 0, sizeof(void *));
        assert_diag(vyre_instance_register_backend(setting.instance, &ops, &setting.diag),
                    setting.diag, VYRE_DIAG_BACKEND_ABI);
    }
    close_setting(&setting);
}

static void register_optional_entries_missing_works(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(
        &fixture,
        &(struct vyre_sim_desc){
            .no_record = true, .no_warm_up = true, .no_quiesce = true, .no_direct_access = true},
        NULL);
    uint32_t word = 3;
    struct vyre_buffer *buffer = fixture_buffer(&fixture, 64);
    struct vyre_batch *batch = fixture_batch(&fixture);
    assert_int_equal(vyre_buffer_write(buffer, 60, &word, 4, &fixture.diag), VYRE_OK);
    word = 0;
    assert_int_equal(vyre_buffer_read(buffer, 60, &word, 4, &fixture.diag), VYRE_OK);
    assert_int_equal(word, 3);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag), VYRE_OK);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, &fixture.diag), VYRE_UNSUPPORTED);
    fixture_close(&fixture);
}

static void register_name_taken_fails(void **state)
{
    (void)state;
    struct setting setting;
    open_setting(&setting, NULL);
    size_t count = backend_count(&setting);
    const struct vyre_backend_ops *ops = vyre_sim_ops(setting.sim);
    assert_int_equal(vyre_instance_register_backend(setting.instance, ops, NULL), VYRE_OK);
    assert_diag(vyre_instance_register_backend(setting.instance, ops, &setting.diag), setting.diag,
                VYRE_DIAG_BACKEND_NAME_TAKEN);
    struct vyre_backend_info infos[VYRE_BACKENDS_MAX];
    (void)vyre_instance_backends(setting.instance, infos, VYRE_BACKENDS_MAX);
    if (count > 0) { /* the name of a built-in one */
        struct vyre_backend_ops copy = *ops;
        copy.name = infos[0].name;
        assert_diag(vyre_instance_register_backend(setting.instance, &copy, &setting.diag),
                    setting.diag, VYRE_DIAG_BACKEND_NAME_TAKEN);
    }
    assert_int_equal(backend_count(&setting), count + 1);
    close_setting(&setting);
}

static void register_too_many_fails(void **state)
{
    (void)state;
    struct setting setting;
    struct vyre_backend_ops ops[VYRE_BACKENDS_MAX + 1];
    char names[VYRE_BACKENDS_MAX + 1][24];
    open_setting(&setting, NULL);
    size_t count = backend_count(&setting);
    for (size_t i = 0; i < VYRE_BACKENDS_MAX + 1 - count; i++) {
        ops[i] = *vyre_sim_ops(setting.sim);
        snprintf(names[i], sizeof names[i], "sim%zu", i);
        ops[i].name = names[i];
        enum vyre_status status =
            vyre_instance_register_backend(setting.instance, &ops[i], &setting.diag);
        if (i < VYRE_BACKENDS_MAX - count)
            assert_int_equal(status, VYRE_OK);
        else
            assert_diag(status, setting.diag, VYRE_DIAG_BACKEND_LIMIT);
    }
    assert_int_equal(backend_count(&setting), VYRE_BACKENDS_MAX);
    close_setting(&setting);
}

/* ---- Backends that cannot work ---------------------------------------------------------------- */

static enum vyre_status create_absent(void *user, const struct vyre_allocator *allocator,
                                      void **out_backend, struct vyre_diag *diag)
{
    (void)user;
    (void)allocator;
    *out_backend = NULL;
    return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, "sim", -9, "no loader");
}

static enum vyre_status create_no_memory(void *user, const struct vyre_allocator *allocator,
                                         void **out_backend, struct vyre_diag *diag)
{
    (void)user;
    (void)allocator;
    *out_backend = NULL;
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, "sim", 0, "no memory");
}

static void register_absent_backend_is_listed_with_its_reason(void **state)
{
    (void)state;
    struct setting setting;
    open_setting(&setting, NULL);
    struct vyre_backend_ops ops = *vyre_sim_ops(setting.sim);
    ops.create = create_absent;
    assert_int_equal(vyre_instance_register_backend(setting.instance, &ops, &setting.diag),
                     VYRE_OK);
    struct vyre_backend_info infos[VYRE_BACKENDS_MAX];
    size_t count = vyre_instance_backends(setting.instance, infos, VYRE_BACKENDS_MAX);
    const struct vyre_backend_info *info = &infos[count - 1];
    assert_string_equal(info->name, "sim");
    assert_int_equal(info->device_count, 0);
    assert_int_equal(info->reason.id, VYRE_DIAG_BACKEND_ABSENT);
    assert_contains(info->reason.message, "no loader");
    struct vyre_device *device;
    assert_diag(vyre_device_open(setting.instance, &(struct vyre_device_desc){.backend = "sim"},
                                 &device, &setting.diag),
                setting.diag, VYRE_DIAG_BACKEND_ABSENT);
    assert_contains(setting.diag.message, "no loader");
    close_setting(&setting);
}

/* A backend that generates code must be one whose code can be proven: otherwise no device opens. */
static void open_unprovable_generated_code_fails(void **state)
{
    (void)state;
    static const size_t needed[] = {
        offsetof(struct vyre_backend_ops, generated),
        offsetof(struct vyre_backend_ops, buffer_read),
        offsetof(struct vyre_backend_ops, buffer_write),
    };
    const struct vyre_device_desc desc = {.backend = "sim"};
    for (uint32_t modes = 0; modes < 2; modes++) {
        for (size_t i = 0; i < COUNT_OF(needed); i++) {
            struct setting setting;
            struct vyre_device *device;
            open_setting(&setting,
                         &(struct vyre_sim_desc){.generated_modes = modes << VYRE_MODE_PERSISTENT});
            struct vyre_backend_ops ops = *vyre_sim_ops(setting.sim);
            memset((char *)&ops + needed[i], 0, sizeof(void *));
            assert_int_equal(vyre_instance_register_backend(setting.instance, &ops, NULL), VYRE_OK);
            enum vyre_status status =
                vyre_device_open(setting.instance, &desc, &device, &setting.diag);
            if (modes == 0) {
                assert_int_equal(status, VYRE_OK);
                vyre_device_close(&device);
            } else {
                assert_diag(status, setting.diag, VYRE_DIAG_BACKEND_ABI);
                assert_contains(setting.diag.message, "generates code");
                assert_null(device);
            }
            close_setting(&setting);
        }
    }
}

/* ... and one whose modes need builds must have all three steps. */
static void open_builds_without_their_steps_fails(void **state)
{
    (void)state;
    static const size_t needed[] = {
        offsetof(struct vyre_backend_ops, build_begin),
        offsetof(struct vyre_backend_ops, build_run),
        offsetof(struct vyre_backend_ops, build_end),
    };
    const struct vyre_device_desc desc = {.backend = "sim"};
    for (size_t i = 0; i < COUNT_OF(needed); i++) {
        struct setting setting;
        struct vyre_device *device;
        open_setting(&setting, &(struct vyre_sim_desc){.builds = true});
        struct vyre_backend_ops ops = *vyre_sim_ops(setting.sim);
        memset((char *)&ops + needed[i], 0, sizeof(void *));
        assert_int_equal(vyre_instance_register_backend(setting.instance, &ops, NULL), VYRE_OK);
        assert_diag(vyre_device_open(setting.instance, &desc, &device, &setting.diag), setting.diag,
                    VYRE_DIAG_BACKEND_ABI);
        assert_contains(setting.diag.message, "builds");
        assert_null(device);
        close_setting(&setting);
    }
}

static void register_out_of_memory_is_reported(void **state)
{
    (void)state;
    struct setting setting;
    open_setting(&setting, NULL);
    size_t count = backend_count(&setting);
    struct vyre_backend_ops ops = *vyre_sim_ops(setting.sim);
    ops.create = create_no_memory;
    assert_diag(vyre_instance_register_backend(setting.instance, &ops, &setting.diag), setting.diag,
                VYRE_DIAG_OUT_OF_MEMORY);
    assert_int_equal(backend_count(&setting), count);
    close_setting(&setting);
}

/* ---- Devices ---------------------------------------------------------------------------------- */

static void open_chooses_among_the_backends_devices(void **state)
{
    (void)state;
    struct setting setting;
    open_setting(&setting, &(struct vyre_sim_desc){.device_count = 3});
    size_t others = vyre_instance_devices(setting.instance, NULL, 0);
    assert_int_equal(
        vyre_instance_register_backend(setting.instance, vyre_sim_ops(setting.sim), NULL), VYRE_OK);
    struct vyre_device_info infos[64];
    assert_int_equal(vyre_instance_devices(setting.instance, infos, 64), others + 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(infos[others + i].backend, "sim");
        assert_int_equal(infos[others + i].index, i);
    }
    struct vyre_device *devices[2];
    struct vyre_device_info info;
    const struct vyre_device_desc by_index = {.backend = "sim", .index = 2};
    const struct vyre_device_desc by_name = {.kind = VYRE_DEVICE_KIND_SIMULATED,
                                             .name = "DEVICE 1"};
    assert_int_equal(vyre_device_open(setting.instance, &by_index, &devices[0], NULL), VYRE_OK);
    assert_int_equal(vyre_device_open(setting.instance, &by_name, &devices[1], NULL), VYRE_OK);
    vyre_device_get_info(devices[0], &info);
    assert_int_equal(info.index, 2);
    vyre_device_get_info(devices[1], &info);
    assert_int_equal(info.index, 1);
    assert_string_equal(info.name, "simulated device 1");

    struct vyre_device *none = (void *)&setting;
    assert_diag(vyre_device_open(setting.instance,
                                 &(struct vyre_device_desc){.backend = "sim", .index = 3}, &none,
                                 &setting.diag),
                setting.diag, VYRE_DIAG_DEVICE_UNKNOWN);
    assert_null(none);
    assert_diag(vyre_device_open(setting.instance, &(struct vyre_device_desc){.backend = "nosim"},
                                 &none, &setting.diag),
                setting.diag, VYRE_DIAG_BACKEND_UNKNOWN);
    vyre_device_close(&devices[0]);
    vyre_device_close(&devices[1]);
    assert_string_equal(vyre_sim_violation(setting.sim), "");
    close_setting(&setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(register_other_abi_fails),
        cmocka_unit_test(register_required_entry_missing_fails),
        cmocka_unit_test(register_optional_entries_missing_works),
        cmocka_unit_test(register_name_taken_fails),
        cmocka_unit_test(register_too_many_fails),
        cmocka_unit_test(register_absent_backend_is_listed_with_its_reason),
        cmocka_unit_test(open_unprovable_generated_code_fails),
        cmocka_unit_test(open_builds_without_their_steps_fails),
        cmocka_unit_test(register_out_of_memory_is_reported),
        cmocka_unit_test(open_chooses_among_the_backends_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
