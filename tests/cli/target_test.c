/*
 * target_test.c: which device --device names: by number, name, UUID and kind. The devices are those of
 * the sim, listed with other kinds.
 */
#include "run/target.h"

#include <string.h>

#include "support/sim/sim_backend.h"
#include "support/test.h"

enum { DEVICES = 4 };

static const struct {
    enum vyre_device_kind kind;
    const char *name;
    uint8_t first, last; /* bytes of the UUID; 0: it has none */
} listed[DEVICES] = {
    {VYRE_DEVICE_KIND_CPU, "Alpha", 0, 0},
    {VYRE_DEVICE_KIND_INTEGRATED, "Beta discrete", 0x01, 0xef},
    {VYRE_DEVICE_KIND_DISCRETE, "Gamma", 0xab, 0x10},
    {VYRE_DEVICE_KIND_SOFTWARE, "Delta 2", 0xab, 0x11},
};

struct wrapped {
    struct vyre_sim *sim;
    struct vyre_backend_ops ops;
    struct vyre_instance *instance;
};

static enum vyre_status enumerate(void *backend, struct vyre_device_info *out_infos,
                                  size_t capacity, size_t *out_count, struct vyre_diag *diag)
{
    (void)backend;
    (void)diag;
    for (size_t i = 0; i < DEVICES && i < capacity; i++) {
        out_infos[i] = (struct vyre_device_info){.kind = listed[i].kind};
        memcpy(out_infos[i].name, listed[i].name, strlen(listed[i].name) + 1);
        out_infos[i].uuid[0] = listed[i].first;
        out_infos[i].uuid[VYRE_UUID_BYTES - 1] = listed[i].last;
    }
    *out_count = DEVICES;
    return VYRE_OK;
}

static int set_up(void **state)
{
    static struct wrapped wrapped;
    struct vyre_diag diag;
    wrapped.sim = vyre_sim_create(&(struct vyre_sim_desc){.device_count = DEVICES});
    assert_non_null(wrapped.sim);
    wrapped.ops = *vyre_sim_ops(wrapped.sim);
    wrapped.ops.enumerate = enumerate;
    assert_int_equal(vyre_instance_create(NULL, &wrapped.instance, &diag), VYRE_OK);
    assert_int_equal(vyre_instance_register_backend(wrapped.instance, &wrapped.ops, &diag),
                     VYRE_OK);
    *state = &wrapped;
    return 0;
}

static int tear_down(void **state)
{
    struct wrapped *wrapped = *state;
    vyre_instance_destroy(&wrapped->instance);
    vyre_sim_destroy(&wrapped->sim);
    return 0;
}

/* The index of the device that the text names; -1: none, with the right diagnostic and exit code. */
static int index_of(void **state, const char *text)
{
    struct wrapped *wrapped = *state;
    const struct cli_options options = {.backend = "sim", .device = text};
    struct vyre_device *device;
    struct vyre_diag diag;
    if (cli_device_open(wrapped->instance, &options, &device, &diag) != VYRE_OK) {
        assert_null(device);
        assert_int_equal(diag.id, VYRE_DIAG_DEVICE_UNKNOWN);
        assert_int_equal(cli_exit_of_setup(&diag), CLI_EXIT_ABSENT);
        assert_true(strlen(diag.fix) > 0);
        return -1;
    }
    struct vyre_device_info info;
    vyre_device_get_info(device, &info);
    vyre_device_close(&device);
    return (int)info.index;
}

static void a_number_counts_the_backends_devices(void **state)
{
    assert_int_equal(index_of(state, NULL), 0);
    assert_int_equal(index_of(state, "0"), 0);
    assert_int_equal(index_of(state, "3"), 3);
    assert_int_equal(index_of(state, "4"), -1);
    assert_int_equal(index_of(state, "999999999"), -1);
}

static void a_name_is_found_by_any_part_of_it(void **state)
{
    assert_int_equal(index_of(state, "gam"), 2);
    assert_int_equal(index_of(state, "DELTA 2"), 3);
    assert_int_equal(index_of(state, "a 2"), 3);
    assert_int_equal(index_of(state, "omega"), -1);
}

/* Also where a name has the word in it. */
static void a_kind_is_found_by_its_word(void **state)
{
    assert_int_equal(index_of(state, "cpu"), 0);
    assert_int_equal(index_of(state, "integrated"), 1);
    assert_int_equal(index_of(state, "discrete"), 2);
    assert_int_equal(index_of(state, "Software"), 3);
    assert_int_equal(index_of(state, "simulated"), -1); /* no kind to ask for, and no name */
}

static void a_uuid_is_found_with_dashes_or_without(void **state)
{
    assert_int_equal(index_of(state, "ab000000-0000-0000-0000-000000000010"), 2);
    assert_int_equal(index_of(state, "AB000000-0000-0000-0000-000000000011"), 3);
    assert_int_equal(index_of(state, "010000000000000000000000000000ef"), 1);
    assert_int_equal(index_of(state, "010000000000000000000000000000EF"), 1);
}

static void what_is_nearly_a_uuid_is_none(void **state)
{
    static const char *const texts[] = {
        "ab000000-0000-0000-0000-000000000012",  /* no device's */
        "ab000000-0000-0000-0000-00000000001",   /* too short */
        "ab000000-0000-0000-0000-0000000000100", /* too long */
        "ab00000-00000-0000-0000-000000000010",  /* dashes elsewhere */
        "ab000000-0000-0000-0000-00000000001g",  "ab000000-0000-0000-0000-00000000001-",
        "00000000-0000-0000-0000-000000000000", /* what devices without one have */
        "00000000000000000000000000000000",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(index_of(state, texts[i]), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_counts_the_backends_devices),
        cmocka_unit_test(a_name_is_found_by_any_part_of_it),
        cmocka_unit_test(a_kind_is_found_by_its_word),
        cmocka_unit_test(a_uuid_is_found_with_dashes_or_without),
        cmocka_unit_test(what_is_nearly_a_uuid_is_none),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
