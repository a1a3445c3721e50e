/*
 * instance_cases.c: instances, backends, and finding and opening devices.
 */
#include "conformance/conformance.h"

#include <ctype.h>
#include <sched.h>

/* ---- Listing ---------------------------------------------------------------------------------- */

static void devices_small_capacity_still_counts(struct fixture *f)
{
    struct vyre_device_info infos[2];
    memset(infos, 0x5a, sizeof infos);
    size_t count = vyre_instance_devices(f->instance, NULL, 0);
    assert_true(count > 0);
    assert_int_equal(vyre_instance_devices(f->instance, infos, 1), count);
    assert_int_equal(((unsigned char *)&infos[1])[0], 0x5a); /* not touched */
}

static void devices_each_can_be_opened(struct fixture *f)
{
    struct vyre_device_info infos[16], opened;
    size_t count = vyre_instance_devices(f->instance, infos, COUNT_OF(infos));
    uint32_t found = 0;
    for (size_t i = 0; i < count && i < COUNT_OF(infos); i++) {
        if (strcmp(infos[i].backend, f->subject->backend) != 0)
            continue;
        assert_int_equal(infos[i].index, found++);
        assert_int_not_equal(infos[i].kind, VYRE_DEVICE_KIND_ANY);
        assert_string_not_equal(infos[i].name, "");
        struct vyre_device *device = /* "" is a part of every name */
            open_device(f, &(struct vyre_device_desc){.name = "", .index = infos[i].index});
        vyre_device_get_info(device, &opened);
        assert_string_equal(opened.backend, infos[i].backend);
        assert_string_equal(opened.name, infos[i].name);
        assert_string_equal(opened.driver, infos[i].driver);
        assert_int_equal(opened.index, infos[i].index);
        assert_int_equal(opened.kind, infos[i].kind);
        close_device(f, &device);
    }
    assert_true(found > 0);
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static void refuse_open(struct fixture *f, const struct vyre_device_desc *desc,
                        enum vyre_diag_id id)
{
    struct vyre_device *device = (struct vyre_device *)f; /* must be zeroed */
    assert_refused(f, vyre_device_open(f->instance, desc, &device, &f->diag), id);
    assert_null(device);
}

static void open_unknown_backend_refused(struct fixture *f)
{
    refuse_open(f, &(struct vyre_device_desc){.backend = "no-such-backend"},
                VYRE_DIAG_BACKEND_UNKNOWN);
}

static void open_unmatched_device_refused(struct fixture *f)
{
    const char *backend = f->subject->backend;
    struct vyre_device_info info;
    vyre_device_get_info(f->device, &info);
    enum vyre_device_kind other =
        info.kind == VYRE_DEVICE_KIND_CPU ? VYRE_DEVICE_KIND_DISCRETE : VYRE_DEVICE_KIND_CPU;
    refuse_open(f, &(struct vyre_device_desc){.backend = backend, .name = "no-such-device"},
                VYRE_DIAG_DEVICE_UNKNOWN);
    refuse_open(f, &(struct vyre_device_desc){.backend = backend, .index = 1000},
                VYRE_DIAG_DEVICE_UNKNOWN);
    refuse_open(f, &(struct vyre_device_desc){.backend = backend, .name = info.name, .kind = other},
                VYRE_DIAG_DEVICE_UNKNOWN);
}

static void open_by_kind_and_part_of_name_finds_it(struct fixture *f)
{
    struct vyre_device_info info, opened;
    char part[VYRE_NAME_BYTES];
    vyre_device_get_info(f->device, &info);
    snprintf(part, sizeof part, "%s", info.name + (strlen(info.name) > 2));
    for (char *c = part; *c; c++)
        *c = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c)
                                               : toupper((unsigned char)*c));
    struct vyre_device *device =
        open_device(f, &(struct vyre_device_desc){.name = part, .kind = info.kind});
    vyre_device_get_info(device, &opened);
    assert_string_equal(opened.name, info.name);
}

static void open_any_backend_opens_something(struct fixture *f)
{
    struct vyre_device_info info;
    struct vyre_device *device = NULL;
    assert_ok(f, vyre_device_open(f->instance, NULL, &device, &f->diag));
    vyre_device_get_info(device, &info);
    assert_string_not_equal(info.name, "");
    vyre_device_close(&device);
    assert_null(device);
}

static void open_in_flight_limit_out_of_range_refused(struct fixture *f)
{
    struct vyre_device_desc desc = {.backend = f->subject->backend,
                                    .name = f->subject->device_name,
                                    .index = f->subject->device_index,
                                    .in_flight_limit = 65537};
    refuse_open(f, &desc, VYRE_DIAG_ARGUMENT_RANGE);
    assert_int_equal(vyre_device_open(f->instance, &desc, &f->devices[0], NULL), VYRE_INVALID);
}

static void close_null_ignored(struct fixture *f)
{
    struct vyre_device *device = NULL;
    struct vyre_instance *instance = NULL;
    (void)f;
    vyre_device_close(NULL);
    vyre_device_close(&device);
    vyre_instance_destroy(NULL);
    vyre_instance_destroy(&instance);
}

/* ---- What a device says of itself ------------------------------------------------------------- */

static void get_desc_shows_what_zeros_became(struct fixture *f)
{
    struct vyre_device_desc desc;
    struct vyre_device_info info;
    vyre_device_get_desc(f->device, &desc);
    vyre_device_get_info(f->device, &info);
    assert_string_equal(desc.backend, f->subject->backend);
    assert_string_equal(desc.label, info.name);
    assert_int_equal(desc.in_flight_limit, 256);
    assert_false(desc.busy_when_full);
    assert_int_equal(desc.recording_limit, 128);
    assert_int_equal(desc.recording_bytes, 64u << 20);
    assert_int_equal(desc.batch_bytes_limit, 256u << 20);
    assert_int_equal(desc.hang_timeout_ns, UINT64_C(10000000000));
    assert_int_equal(desc.persistent_idle_ns, 2000000);
    assert_int_equal(desc.persistent_lease_ns, 1000000000);
    if (strcmp(desc.backend, "cpu") == 0) {
        cpu_set_t set; /* the cores that this process may use */
        assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
        assert_int_equal(desc.cpu_workers, CPU_COUNT(&set) > 2 ? CPU_COUNT(&set) - 1 : 1);
    }
}

static void get_desc_keeps_what_was_given(struct fixture *f)
{
    char label[] = "the third device";
    struct vyre_device_desc given = {.label = label,
                                     .in_flight_limit = 7,
                                     .busy_when_full = true,
                                     .recording_limit = 3,
                                     .recording_bytes = 12345,
                                     .batch_bytes_limit = 54321,
                                     .hang_timeout_ns = 7000000000,
                                     .persistent_idle_ns = 3000000,
                                     .persistent_lease_ns = 400000000,
                                     .cpu_workers = 2,
                                     .cpu_no_inline = true};
    struct vyre_device_desc desc;
    struct vyre_device *device = open_device(f, &given);
    memset(label, 'x', sizeof label - 1); /* it was copied */
    vyre_device_get_desc(device, &desc);
    assert_string_equal(desc.label, "the third device");
    assert_int_equal(desc.in_flight_limit, 7);
    assert_true(desc.busy_when_full);
    assert_int_equal(desc.recording_limit, 3);
    assert_int_equal(desc.recording_bytes, 12345);
    assert_int_equal(desc.batch_bytes_limit, 54321);
    assert_int_equal(desc.hang_timeout_ns, UINT64_C(7000000000));
    assert_int_equal(desc.persistent_idle_ns, 3000000);
    assert_int_equal(desc.persistent_lease_ns, 400000000);
    assert_int_equal(desc.cpu_workers, 2);
    assert_true(desc.cpu_no_inline);
}

static void get_limits_are_usable(struct fixture *f)
{
    const struct vyre_device_limits *limits = &f->limits;
    assert_true(limits->buffer_size_bytes >= 1u << 20);
    assert_true(limits->memory_bytes >= limits->buffer_size_bytes);
    assert_true(limits->range_alignment > 0);
    assert_int_equal(limits->range_alignment & (limits->range_alignment - 1), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(limits->group_count[i] >= 65535);
    assert_true(limits->group_invocations >= LOCAL_SIZE);
    assert_true(limits->bindings >= 4);
    assert_true(limits->local_bytes >= LOCAL_SIZE * 4);
    assert_int_equal(limits->constants_bytes, 128);
    if (device_has(f->device, VYRE_ABILITY_BINDLESS))
        assert_true(limits->table_entries >= 24);
}

static void get_ability_absent_has_reason(struct fixture *f)
{
    for (int i = 0; i < VYRE_ABILITY_COUNT; i++) {
        struct vyre_ability ability;
        vyre_device_get_ability(f->device, (enum vyre_ability_id)i, &ability);
        if (ability.value)
            assert_string_equal(ability.reason, "");
        else
            assert_string_not_equal(ability.reason, "");
    }
}

static void names_are_stable(struct fixture *f)
{
    (void)f;
    assert_string_equal(vyre_mode_name(VYRE_MODE_AUTO), "auto");
    assert_string_equal(vyre_mode_name(VYRE_MODE_PLAIN), "plain");
    assert_string_equal(vyre_mode_name(VYRE_MODE_REPLAY), "replay");
    assert_string_equal(vyre_mode_name(VYRE_MODE_PERSISTENT), "persistent");
    assert_string_equal(vyre_mode_name((enum vyre_mode)99), "unknown");
    assert_string_equal(vyre_ability_name(VYRE_ABILITY_HOST_VISIBLE), "host-visible");
    assert_string_equal(vyre_device_kind_name(VYRE_DEVICE_KIND_CPU), "cpu");
    assert_string_not_equal(vyre_why_name(VYRE_WHY_REQUIRED), "");
    assert_string_not_equal(vyre_target_name(VYRE_TARGET_HOST), "");
}

static const struct conformance_case cases[] = {
    {"devices_small_capacity_still_counts", devices_small_capacity_still_counts, 0},
    {"devices_each_can_be_opened", devices_each_can_be_opened, 0},
    {"open_unknown_backend_refused", open_unknown_backend_refused, 0},
    {"open_unmatched_device_refused", open_unmatched_device_refused, 0},
    {"open_by_kind_and_part_of_name_finds_it", open_by_kind_and_part_of_name_finds_it, 0},
    {"open_any_backend_opens_something", open_any_backend_opens_something, 0},
    {"open_in_flight_limit_out_of_range_refused", open_in_flight_limit_out_of_range_refused, 0},
    {"close_null_ignored", close_null_ignored, 0},
    {"get_desc_shows_what_zeros_became", get_desc_shows_what_zeros_became, 0},
    {"get_desc_keeps_what_was_given", get_desc_keeps_what_was_given, 0},
    {"get_limits_are_usable", get_limits_are_usable, 0},
    {"get_ability_absent_has_reason", get_ability_absent_has_reason, 0},
    {"names_are_stable", names_are_stable, 0},
};

const struct conformance_group instance_cases = {"instance", cases, COUNT_OF(cases)};
