/*
 * keys_test.c: which recording a batch gets, when a recording goes, which variant and mode a batch
 * runs in, and what a kernel takes when only its payload says so.
 */
#include <string.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 256 };

static struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

static struct vyre_device_counters counters_of(struct fixture *fixture)
{
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture->device, &counters);
    return counters;
}

/* Submits in replay, in a variant, and waits. */
static void replay(struct fixture *fixture, struct vyre_batch *batch, uint32_t variant)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_REPLAY, .variant = variant};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    assert_int_equal(fixture_result(fixture, ticket).variant, variant);
    assert_string_equal(vyre_sim_violation(fixture->sim), "");
}

/* ---- Recording keys --------------------------------------------------------------------------- */

static void baked_constants_are_part_of_the_key(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.bakes = VYRE_BAKES_CONSTANTS}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_mix(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), whole(buffer), 0);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 0);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 4; i++) {
            vyre_batch_set_constants(batch, i % 2, &i, sizeof i);
            replay(&fixture, batch, 0);
        }
    }
    /* Of the values that the two commands take in turn, later rounds repeat four pairs. */
    assert_in_range(counters_of(&fixture).recordings_made, 4, 6);
    assert_int_equal(
        counters_of(&fixture).recordings_made + counters_of(&fixture).recordings_reused, 12);
    fixture_close(&fixture);
}

static void baked_download_destinations_are_part_of_the_key(void **state)
{
    (void)state;
    struct fixture fixture;
    unsigned char here[BYTES], there[BYTES];
    fixture_open(&fixture, &(struct vyre_sim_desc){.bakes = VYRE_BAKES_DOWNLOADS}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batches[2] = {fixture_batch(&fixture), fixture_batch(&fixture)};
    vyre_batch_download(batches[0], whole(buffer), here);
    vyre_batch_download(batches[1], whole(buffer), there);
    for (int i = 0; i < 6; i++)
        replay(&fixture, batches[i % 2], 0);
    assert_int_equal(counters_of(&fixture).recordings_made, 2);
    fixture_close(&fixture);
}

static void variants_have_recordings_of_their_own(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.variants = VYRE_VARIANT_MASK,
                                         .driver_bakes = VYRE_BAKES_CONSTANTS},
                 NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    for (uint32_t i = 0; i < 4; i++) {
        vyre_batch_set_constants(batch, 0, &i, sizeof i);
        replay(&fixture, batch, 0);
        replay(&fixture, batch, VYRE_VARIANT_SERIAL);
        replay(&fixture, batch, VYRE_VARIANT_DRIVER);
    }
    /* One each for the first two, one per constant for the last. */
    assert_int_equal(counters_of(&fixture).recordings_made, 6);
    fixture_close(&fixture);
}

static void a_variant_that_is_not_offered_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_ticket ticket;
    fixture_open(&fixture, &(struct vyre_sim_desc){.variants = VYRE_VARIANT_SERIAL}, NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    const struct vyre_submit_options driver = {.mode = VYRE_MODE_REPLAY,
                                               .variant = VYRE_VARIANT_DRIVER};
    const struct vyre_submit_options automatic = {.variant = VYRE_VARIANT_SERIAL};
    assert_int_equal(vyre_batch_submit(batch, &driver, &ticket, &fixture.diag), VYRE_UNSUPPORTED);
    assert_int_equal(fixture.diag.id, VYRE_DIAG_SUBMIT_MODE);
    assert_int_equal(ticket.sequence, 0);
    assert_int_equal(vyre_batch_submit(batch, &automatic, &ticket, &fixture.diag), VYRE_INVALID);
    assert_int_equal(
        vyre_batch_check_mode(batch, VYRE_MODE_REPLAY, VYRE_VARIANT_DRIVER, &fixture.diag),
        VYRE_UNSUPPORTED);
    assert_int_equal(
        vyre_batch_check_mode(batch, VYRE_MODE_REPLAY, VYRE_VARIANT_SERIAL, &fixture.diag),
        VYRE_OK);
    fixture_close(&fixture);
}

/* ---- Recordings go with what they use --------------------------------------------------------- */

static void a_destroyed_buffer_takes_its_recordings_along(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[8];
    struct vyre_buffer *buffers[8];
    struct vyre_buffer *shared;
    fixture_open(&fixture, NULL, NULL);
    shared = fixture_buffer(&fixture, BYTES);
    for (uint32_t i = 0; i < 8; i++) {
        buffers[i] = fixture_buffer(&fixture, BYTES);
        batches[i] = fixture_batch(&fixture);
        fixture_mix(&fixture, batches[i], whole(shared), whole(buffers[i]), i);
        replay(&fixture, batches[i], 0);
    }
    size_t before = vyre_sim_objects(fixture.sim);
    vyre_buffer_destroy(&buffers[3]);
    assert_int_equal(counters_of(&fixture).recordings_kept, 7);
    assert_int_equal(vyre_sim_objects(fixture.sim), before - 2); /* the buffer and its recording */
    vyre_buffer_destroy(&shared);
    assert_int_equal(counters_of(&fixture).recordings_kept, 0);
    assert_int_equal(counters_of(&fixture).recording_bytes, 0);
    fixture_close(&fixture);
}

static void a_recording_in_flight_outlives_its_buffer(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(buffer), 1);
    (void)fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
    size_t before = vyre_sim_objects(fixture.sim);
    vyre_buffer_destroy(&buffer);
    assert_int_equal(counters_of(&fixture).recordings_kept, 0);
    assert_int_equal(vyre_sim_objects(fixture.sim),
                     before); /* the sim reports those that go too soon */
    assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    /* The next submit takes both away, the recording first. */
    struct vyre_batch *other = fixture_batch(&fixture);
    fixture_set(&fixture, other, whole(fixture_buffer(&fixture, BYTES)), 1);
    (void)fixture_submit(&fixture, other, VYRE_MODE_PLAIN);
    assert_string_equal(vyre_sim_violation(fixture.sim), "");
    assert_int_equal(vyre_sim_run_all(fixture.sim), 1);
    fixture_close(&fixture);
}

/* ---- Modes that some batches do not fit ------------------------------------------------------- */

/* With a hint: without one a shape that comes for the first time stays plain. */
static struct vyre_batch_result submit_hinted(struct fixture *fixture, struct vyre_batch *batch)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.repeat_hint = 2};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    return fixture_result(fixture, ticket);
}

static void an_unfit_batch_falls_back_and_says_so(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.submit_command_ns = 100000; /* so that persistent pays at once and replay does not */
    costs.record_command_ns = UINT64_C(1000000000);
    costs.persistent_setup_ns = 1;
    fixture_open(
        &fixture,
        &(struct vyre_sim_desc){.costs = &costs, .unfit_label = fixture_kernels[KERNEL_MIX].label},
        NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *fit = fixture_batch(&fixture);
    struct vyre_batch *unfit = fixture_batch(&fixture);
    for (uint32_t i = 0; i < 4; i++) {
        fixture_set(&fixture, fit, whole(buffer), i);
        fixture_mix(&fixture, unfit, whole(fixture_buffer(&fixture, BYTES)), whole(buffer), i);
    }
    assert_int_equal(vyre_batch_check_mode(fit, VYRE_MODE_PERSISTENT, 0, &fixture.diag), VYRE_OK);
    assert_int_equal(vyre_batch_check_mode(unfit, VYRE_MODE_PERSISTENT, 0, &fixture.diag),
                     VYRE_UNSUPPORTED);
    assert_non_null(strstr(fixture.diag.message, "resident"));
    struct vyre_batch_result result = submit_hinted(&fixture, fit);
    assert_int_equal(result.mode, VYRE_MODE_PERSISTENT);
    result = submit_hinted(&fixture, unfit);
    assert_int_equal(result.mode, VYRE_MODE_PLAIN);
    assert_int_equal(result.wanted, VYRE_MODE_PERSISTENT);
    assert_int_equal(result.wanted_out, VYRE_WHY_UNFIT);
    fixture_close(&fixture);
}

/* ---- Reflection ------------------------------------------------------------------------------- */

static void nothing(const struct vyre_host_group *group)
{
    (void)group;
}

static void what_is_not_declared_is_reflected(void **state)
{
    (void)state;
    struct vyre_kernel *kernel;
    static const struct vyre_kernel_interface reflected = {
        .has_bindings = true,
        .has_constants = true,
        .has_local_size = true,
        .has_specialization = true,
        .binding_count = 2,
        .bindings = {{.slot = 7, .access = VYRE_ACCESS_READ},
                     {.slot = 2, .access = VYRE_ACCESS_WRITE}},
        .constant_count = 2,
        .constants = {VYRE_SCALAR_U32, VYRE_SCALAR_U64},
        .constants_size_bytes = 16,
        .local_size = {8, 4, 1},
        .specialization_count = 1,
        .specialization_ids = {5},
        .specialization_defaults = {42},
    };
    struct vyre_kernel_interface interface;
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = nothing};
    const struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1};
    struct vyre_sim *sim = vyre_sim_create(&(struct vyre_sim_desc){.reflected = &reflected});
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_diag diag;
    assert_int_equal(vyre_instance_create(NULL, &instance, &diag), VYRE_OK);
    assert_int_equal(vyre_instance_register_backend(instance, vyre_sim_ops(sim), &diag), VYRE_OK);
    assert_int_equal(
        vyre_device_open(instance, &(struct vyre_device_desc){.backend = "sim"}, &device, &diag),
        VYRE_OK);
    assert_int_equal(vyre_kernel_create(device, &desc, &kernel, &diag), VYRE_OK);
    assert_int_equal(vyre_kernel_constants_size(kernel), 16);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.binding_count, 2);
    assert_int_equal(interface.local_size[0], 8);
    assert_int_equal(interface.local_size[1], 4);
    assert_int_equal(interface.specialization_ids[0], 5);
    assert_int_equal(interface.specialization_defaults[0], 42);
    assert_int_equal(interface.constants[1], VYRE_SCALAR_U64);
    /* What is declared must agree; an access may be wider, never narrower. */
    static const struct vyre_binding_desc wider[] = {{.slot = 2, .access = VYRE_ACCESS_READWRITE},
                                                     {.slot = 7, .access = VYRE_ACCESS_READ}};
    static const struct vyre_binding_desc narrower[] = {{.slot = 2, .access = VYRE_ACCESS_READ},
                                                        {.slot = 7, .access = VYRE_ACCESS_READ}};
    struct vyre_kernel_desc declared = desc;
    declared.binding_count = 2;
    declared.bindings = wider;
    assert_int_equal(vyre_kernel_create(device, &declared, &kernel, &diag), VYRE_OK);
    declared.bindings = narrower;
    assert_int_equal(vyre_kernel_create(device, &declared, &kernel, &diag), VYRE_INVALID);
    assert_null(kernel);
    vyre_device_close(&device);
    vyre_instance_destroy(&instance);
    vyre_sim_destroy(&sim);
}

/* The kernel's only buffer gets how many specialization values it sees, and the first one. */
static void tell_specialization(const struct vyre_host_group *group)
{
    uint64_t *out = group->buffers[0].data;
    out[0] = group->specialization_count;
    out[1] = group->specialization_count ? group->specialization[0] : 0;
}

/* Replays a dispatch; `value` may be NULL. */
static void assert_seen(struct fixture *fixture, struct vyre_kernel *kernel,
                        struct vyre_buffer *buffer, const uint64_t *value, uint64_t count,
                        uint64_t seen)
{
    uint64_t out[2] = {UINT64_MAX, UINT64_MAX};
    struct vyre_batch *batch = fixture_batch(fixture);
    const struct vyre_slot_binding binding = {.slot = 0, .range = whole(buffer)};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .specialization = value,
                                                       .specialization_count = value ? 1 : 0});
    vyre_batch_download(batch, whole(buffer), out);
    replay(fixture, batch, 0);
    assert_int_equal(out[0], count);
    assert_int_equal(out[1], seen);
}

/* Constants of one id with several defaults: a value that stands for all of them is none of them. */
static void mixed_defaults_are_no_value(void **state)
{
    (void)state;
    static const struct vyre_kernel_interface reflected = {
        .has_bindings = true,
        .has_specialization = true,
        .binding_count = 1,
        .bindings = {{.slot = 0, .access = VYRE_ACCESS_READWRITE}},
        .specialization_count = 1,
        .specialization_ids = {5},
        .specialization_defaults = {42},
        .specialization_mixed = 1,
    };
    static const uint64_t listed = 42, declared_default = 43;
    static const uint32_t id = 5;
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST,
                                         .function = tell_specialization};
    struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1};
    struct vyre_kernel_interface interface;
    struct vyre_kernel *kernel;
    struct fixture fixture = {
        .sim = vyre_sim_create(&(struct vyre_sim_desc){.reflected = &reflected})};
    assert_int_equal(vyre_instance_create(NULL, &fixture.instance, &fixture.diag), VYRE_OK);
    assert_int_equal(
        vyre_instance_register_backend(fixture.instance, vyre_sim_ops(fixture.sim), &fixture.diag),
        VYRE_OK);
    assert_int_equal(vyre_device_open(fixture.instance,
                                      &(struct vyre_device_desc){.backend = "sim"}, &fixture.device,
                                      &fixture.diag),
                     VYRE_OK);
    assert_int_equal(vyre_kernel_create(fixture.device, &desc, &kernel, &fixture.diag), VYRE_OK);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.specialization_count, 1);
    assert_int_equal(interface.specialization_mixed, 1);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, 2 * sizeof(uint64_t));
    assert_seen(&fixture, kernel, buffer, NULL, 0, 0);
    assert_seen(&fixture, kernel, buffer, &listed, 1, 42);
    assert_int_equal(counters_of(&fixture).recordings_made, 2);

    /* A declared default is a value. */
    desc.specialization_count = 1;
    desc.specialization_defaults = &declared_default;
    desc.specialization_ids = &id;
    assert_int_equal(vyre_kernel_create(fixture.device, &desc, &kernel, &fixture.diag), VYRE_OK);
    vyre_kernel_get_interface(kernel, &interface);
    assert_int_equal(interface.specialization_mixed, 0);
    assert_seen(&fixture, kernel, buffer, NULL, 1, 43);
    assert_seen(&fixture, kernel, buffer, &listed, 1, 42);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baked_constants_are_part_of_the_key),
        cmocka_unit_test(baked_download_destinations_are_part_of_the_key),
        cmocka_unit_test(variants_have_recordings_of_their_own),
        cmocka_unit_test(a_variant_that_is_not_offered_is_refused),
        cmocka_unit_test(a_destroyed_buffer_takes_its_recordings_along),
        cmocka_unit_test(a_recording_in_flight_outlives_its_buffer),
        cmocka_unit_test(an_unfit_batch_falls_back_and_says_so),
        cmocka_unit_test(what_is_not_declared_is_reflected),
        cmocka_unit_test(mixed_defaults_are_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
