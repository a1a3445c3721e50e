/*
 * dispatcher_builds_test.c: when a resident dispatcher is built, and when it is refused: by the compiler, by
 * its first launch, or by kernels of which only the driver's compiler sees what is wrong with them.
 *
 *   dispatcher_builds_test DEVICE
 */
#include "opencl/driver_hooks.h"

/* Refused for what it is, at once when it is tried again. */
static void expect_kept_refusal(struct fixture *f, int64_t native_code)
{
    assert_diag(hooks_run(f, VYRE_MODE_PERSISTENT), f->diag, VYRE_DIAG_SUBMIT_MODE);
    assert_int_equal(f->diag.native_code, native_code);
    uint32_t builds = hooks.builds;
    assert_diag(hooks_run(f, VYRE_MODE_PERSISTENT), f->diag, VYRE_DIAG_SUBMIT_MODE);
    assert_int_equal(f->diag.native_code, native_code);
    assert_int_equal(hooks.builds, builds);
}

static void neighbour_that_does_not_compile_is_no_reason_to_refuse(void **state)
{
    static const char source[] =
        "#define SHARED __local\n"
        "__kernel void good(__global uint *o) { o[get_global_id(0)] = 7; }\n"
        "__kernel void bad(__global uint *o) { SHARED uint t[8]; t[get_local_id(0)] = 1;\n"
        "    o[get_global_id(0)] = t[get_local_id(0)]; }\n";
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *good = hooks_kernel(&f, source, "good");
    struct vyre_kernel *bad = hooks_kernel(&f, source, "bad");
    hooks_dispatch(&f, good, buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    hooks_dispatch(&f, bad, buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    hooks_dispatch(&f, good, buffer);
    if (hooks_run(&f, VYRE_MODE_PERSISTENT) != VYRE_OK)
        fail_msg("%s", f.diag.message);
    hooks_expect_word(&f, buffer, 7);
    hooks_dispatch(&f, bad, buffer);
    assert_diag(hooks_run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
    fixture_close(&f);
}

static void ignore(void *user, const struct vyre_event *event)
{
    (void)user;
    (void)event;
}

/* Explanations, checks and an observed plain batch compile and launch nothing; warm-up does, once. */
static void asking_builds_nothing(void **state)
{
    const struct vyre_observer observer = {sizeof observer, NULL, ignore};
    struct vyre_explanation said;
    struct vyre_device_counters counters;
    struct fixture f;
    (void)state;
    hooks_open_observed(&f, (struct vyre_device_desc){0}, &observer);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    hooks_dispatch(&f, hooks_kernel(&f, hooks_two_source, "one"), buffer);
    uint32_t builds = hooks.builds;
    uint32_t launches = hooks.launches;
    assert_int_equal(vyre_batch_explain(f.batch, 1000, &said, &f.diag), VYRE_OK);
    assert_diag(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), f.diag,
                VYRE_DIAG_SUBMIT_UNBUILT);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    assert_int_equal(hooks.builds, builds);
    assert_int_equal(hooks.launches, launches);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vyre_batch_warm_up(f.batch, VYRE_MODE_PERSISTENT, &f.diag), VYRE_OK);
        assert_int_equal(hooks.builds, builds + 1);
        assert_int_equal(hooks.launches, launches + 1);
        assert_int_equal(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), VYRE_OK);
    }
    assert_int_equal(hooks_run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    assert_int_equal(hooks.builds, builds + 1);
    vyre_device_get_counters(f.device, &counters);
    assert_int_equal(counters.builds_made, 1);
    hooks_expect_word(&f, buffer, 1);
    fixture_close(&f);
}

/* What auto leaves to other modes runs where it is required, and says why it is left. */
static void batches_that_suit_no_dispatcher_are_poor(void **state)
{
    struct vyre_explanation said;
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 8192);
    struct vyre_kernel *one = hooks_kernel(&f, hooks_two_source, "one");
    struct vyre_kernel *other = fixture_kernel(&f, hooks_two_source, "one",
                                               (struct vyre_kernel_desc){.local_size = {16, 1, 1}});
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    const struct vyre_dispatch many = {
        .kernel = one, .groups = {4096, 1, 1}, .bindings = &binding, .binding_count = 1};
    vyre_batch_dispatch(f.batch, &many);
    assert_int_equal(vyre_batch_explain(f.batch, 1000000, &said, &f.diag), VYRE_OK);
    assert_int_equal(said.unfit_reason[0], '\0'); /* many groups are a matter of cost */
    vyre_batch_reset(f.batch);
    vyre_batch_dispatch(
        f.batch, &(struct vyre_dispatch){
                     .kernel = one, .groups = {1, 1, 1}, .bindings = &binding, .binding_count = 1});
    vyre_batch_dispatch(f.batch, &(struct vyre_dispatch){.kernel = other,
                                                         .groups = {1, 1, 1},
                                                         .bindings = &binding,
                                                         .binding_count = 1});
    uint32_t builds = hooks.builds;
    assert_int_equal(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), VYRE_OK);
    assert_int_equal(vyre_batch_explain(f.batch, 1000000, &said, &f.diag), VYRE_OK);
    assert_true(said.unfit_reason[0] != '\0');
    for (uint32_t i = 0; i < said.next.candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &said.next.candidates[i];
        if (candidate->mode == VYRE_MODE_PERSISTENT)
            assert_int_equal(candidate->why, VYRE_WHY_POOR_FIT);
    }
    assert_int_equal(hooks.builds, builds);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    hooks_expect_word(&f, buffer, 1);
    fixture_close(&f);
}

/* The kernel of a build that is under way may go. */
static void kernel_destroyed_while_its_dispatcher_is_built(void **state)
{
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *one = hooks_kernel(&f, hooks_two_source, "one");
    hooks_dispatch(&f, one, buffer);
    const struct vyre_submit_options options = {.repeat_hint = 1000000000};
    uint32_t builds = hooks.builds;
    for (int i = 0; i < 2000 && hooks.builds == builds; i++) {
        struct vyre_ticket ticket;
        assert_int_equal(vyre_batch_submit(f.batch, &options, &ticket, &f.diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(f.device, ticket, VYRE_FOREVER, &f.diag), VYRE_OK);
    }
    assert_true(hooks.builds > builds);
    vyre_kernel_destroy(&one);
    fixture_close(&f);
}

static void launch_that_fails_with_neighbours_is_tried_without(void **state)
{
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *one = hooks_kernel(&f, hooks_two_source, "one");
    struct vyre_kernel *two = hooks_kernel(&f, hooks_two_source, "two");
    hooks_dispatch(&f, two, buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    hooks_dispatch(&f, one, buffer);
    hooks.failing_launches = 1;
    if (hooks_run(&f, VYRE_MODE_PERSISTENT) != VYRE_OK)
        fail_msg("%s", f.diag.message);
    hooks_expect_word(&f, buffer, 1);
    fixture_close(&f);
}

static void launch_that_fails_is_a_kept_refusal_with_its_code(void **state)
{
    struct fixture f;
    (void)state;
    for (int late = 0; late < 2; late++) {
        hooks_open(&f, (struct vyre_device_desc){0});
        struct vyre_buffer *buffer = fixture_buffer(&f, 256);
        hooks_dispatch(&f, hooks_kernel(&f, hooks_two_source, "one"), buffer);
        hooks.failing_launches = late ? 0 : UINT32_MAX;
        hooks.events_fail = late;
        expect_kept_refusal(&f, CL_OUT_OF_RESOURCES);
        hooks.events_fail = false;
        hooks.failing_launches = 0;
        assert_int_equal(hooks_run(&f, VYRE_MODE_AUTO), VYRE_OK); /* and the device goes on */
        hooks_expect_word(&f, buffer, 1);
        hooks_dispatch(&f, hooks_kernel(&f, hooks_two_source, "two"), buffer);
        assert_int_equal(hooks_run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
        hooks_expect_word(&f, buffer, 2);
        fixture_close(&f);
    }
}

/* All local memory of the device: there is none left for the dispatcher's own variables. */
static void local_memory_without_room_for_the_dispatcher_is_refused(void **state)
{
    struct fixture f;
    struct vyre_device_limits limits;
    char source[512];
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    vyre_device_get_limits(f.device, &limits);
    snprintf(source, sizeof source,
             "__kernel void big(__global uint *o) { __local uint t[%u / 4];\n"
             "    uint i = get_local_id(0); t[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
             "    o[i] = t[7 - i]; }\n",
             limits.local_bytes);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    hooks_dispatch(&f, hooks_kernel(&f, source, "big"), buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    hooks_expect_word(&f, buffer, 7);
    expect_kept_refusal(&f, CL_OUT_OF_RESOURCES);
    assert_contains(f.diag.message, "local memory");
    fixture_close(&f);
}

/* What a macro hides from the reader of the source does not compile. */
static void second_meanings_behind_macros_are_refused(void **state)
{
    static const char *const sources[] = {
        "#define DECLARE(type, name) type name = 3\n"
        "__kernel void k(__global uint *o) { __local uint t[4]; t[get_local_id(0) & 3] = 1;\n"
        "    { DECLARE(uint, t); o[get_global_id(0)] = t; } }\n",
        "#define LOOP(name) for (uint i = 0, name = 0; name < 4; name++)\n"
        "__kernel void k(__global uint *o) { __local uint t[4]; t[get_local_id(0) & 3] = 1;\n"
        "    uint sum = 0; LOOP(t) sum += t; o[get_global_id(0)] = sum / 2; }\n",
    };
    struct fixture f;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        hooks_open(&f, (struct vyre_device_desc){0});
        struct vyre_buffer *buffer = fixture_buffer(&f, 256);
        hooks_dispatch(&f, hooks_kernel(&f, sources[i], "k"), buffer);
        if (hooks_run(&f, VYRE_MODE_PLAIN) != VYRE_OK)
            fail_msg("%s", f.diag.message);
        hooks_expect_word(&f, buffer, 3);
        assert_diag(hooks_run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
        fixture_close(&f);
    }
}

/* A type of the program's own: PoCL takes any size for it, other drivers do not. */
static void argument_that_the_driver_finds_too_small_is_refused_at_creation(void **state)
{
    static const char source[] =
        "typedef short tiny;\n"
        "__kernel void k(__global uint *o, tiny amount) { o[0] = amount; }";
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_I32};
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = "k",
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc desc = {.label = "k",
                                          .payloads = &payload,
                                          .payload_count = 1,
                                          .constants = constants,
                                          .constant_count = 1};
    struct vyre_kernel *kernel;
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    hooks.scalar_bytes = 2;
    assert_diag(vyre_kernel_create(f.device, &desc, &kernel, &f.diag), f.diag,
                VYRE_DIAG_OPENCL_ARGUMENTS);
    assert_contains(f.diag.message, "amount");
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HOOKS_CASE(neighbour_that_does_not_compile_is_no_reason_to_refuse),
        HOOKS_CASE(asking_builds_nothing),
        HOOKS_CASE(batches_that_suit_no_dispatcher_are_poor),
        HOOKS_CASE(kernel_destroyed_while_its_dispatcher_is_built),
        HOOKS_CASE(launch_that_fails_with_neighbours_is_tried_without),
        HOOKS_CASE(launch_that_fails_is_a_kept_refusal_with_its_code),
        HOOKS_CASE(local_memory_without_room_for_the_dispatcher_is_refused),
        HOOKS_CASE(second_meanings_behind_macros_are_refused),
        HOOKS_CASE(argument_that_the_driver_finds_too_small_is_refused_at_creation),
    };
    return hooks_start(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
