/*
 * residents_test.c: which dispatchers are kept, found again and made again, on a real device.
 *
 *   residents_test DEVICE [CASE]     a part of the device's name; it must have persistent mode
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "opencl/hooked_fixture.h"
#include "support/deadline.h"
#include "support/test.h"

#include "backend/opencl/ring_host.h"

#define ROUNDS        3
#define LIMIT_SECONDS 300 /* against a hang */

static const char *device_name;
static pthread_t test_thread;
static _Atomic uint32_t builds;

/* A launch of a dispatcher by another thread is held until the test lets it go. */
enum { HOLD_NOTHING, HOLD_NEXT, HOLDS };
static _Atomic int hold;
static _Atomic bool held_too_long;

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user)
{
    builds++;
    return hooked_real.clBuildProgram(program, count, devices, options, notify, user);
}

static cl_int CL_API_CALL enqueue_launch(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *out_event)
{
    char name[64] = "";
    (void)hooked_real.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
    if (strcmp(name, "vyre_resident") == 0 && !pthread_equal(pthread_self(), test_thread)) {
        const struct timespec moment = {.tv_nsec = 1000000};
        const struct deadline limit = deadline_in(LIMIT_SECONDS);
        if (hold == HOLD_NEXT)
            hold = HOLDS;
        while (hold == HOLDS && !deadline_is_past(limit))
            nanosleep(&moment, NULL);
        held_too_long = held_too_long || hold == HOLDS;
    }
    return hooked_real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                              wait_count, waits, out_event);
}

static void install(struct vyre_cl_api *api)
{
    api->clEnqueueNDRangeKernel = enqueue_launch;
    api->clBuildProgram = build;
}

/* ---- Specialization --------------------------------------------------------------------------- */

static struct vyre_kernel *create_adder(struct fixture *f)
{
    static const char *const names[] = {"VALUE"};
    static const uint64_t fallback = 1;
    return fixture_kernel(f, "__kernel void add(__global uint *out) { out[0] += VALUE; }\n", "add",
                          (struct vyre_kernel_desc){.specialization_names = names,
                                                    .specialization_defaults = &fallback,
                                                    .specialization_count = 1});
}

static void add_value(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                      uint64_t value)
{
    fixture_dispatch(f, kernel, buffer,
                     (struct vyre_dispatch){.specialization = &value, .specialization_count = 1});
}

/* A kernel keeps fewer variants than there are values; each value keeps its dispatcher all the same. */
static void values_beyond_the_kept_variants_stay_resident(void **state)
{
    enum { VALUES = VYRE_CL_VARIANTS_MAX + 2 };
    struct fixture f;
    (void)state;
    for (int together = 0; together < 2; together++) {
        uint32_t want = 0;
        uint32_t after_first = 0;
        fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
        struct vyre_kernel *kernel = create_adder(&f);
        struct vyre_buffer *buffer = fixture_buffer(&f, 64);
        for (int round = 0; round < ROUNDS; round++) {
            vyre_batch_reset(f.batch);
            for (uint32_t i = 0; i < VALUES; i++) {
                add_value(&f, kernel, buffer, i + 2);
                want += i + 2;
                if (together && i + 1 < VALUES)
                    continue;
                fixture_must_run(&f, VYRE_MODE_PERSISTENT);
                vyre_batch_reset(f.batch);
            }
            assert_int_equal(fixture_word(&f, buffer), want);
            after_first = round == 0 ? builds : after_first;
        }
        assert_int_equal(builds, after_first);
        fixture_close(&f);
    }
}

/* ---- Limits ----------------------------------------------------------------------------------- */

/* Kernels of one program share a dispatcher; those of different programs need one each. */
static void add_programs(struct fixture *f, struct vyre_buffer *buffer, uint32_t first,
                         uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        char source[128];
        snprintf(source, sizeof source, "__kernel void k(__global uint *o) { o[0] += %u; }\n", i);
        fixture_dispatch(f, fixture_kernel(f, source, "k", (struct vyre_kernel_desc){0}), buffer,
                         (struct vyre_dispatch){0});
    }
}

static void batch_of_more_dispatchers_than_are_kept_is_refused(void **state)
{
    enum { MOST = VYRE_CL_RESIDENTS_MAX - 1 };
    const struct vyre_submit_options options = {.repeat_hint = 1000000};
    struct fixture f;
    struct vyre_ticket ticket;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
    struct vyre_buffer *buffer = fixture_buffer(&f, 64);
    /* One that stays resident, and then as many others as are kept beside it. */
    add_programs(&f, buffer, 1000, 1);
    fixture_must_run(&f, VYRE_MODE_PERSISTENT);
    vyre_batch_reset(f.batch);
    add_programs(&f, buffer, 1, MOST);
    uint32_t most_builds = builds + MOST;
    for (int i = 0; i < ROUNDS; i++)
        fixture_must_run(&f, VYRE_MODE_PERSISTENT);
    assert_int_equal(builds, most_builds);
    assert_int_equal(fixture_word(&f, buffer), 1000 + ROUNDS * MOST * (MOST + 1) / 2);
    add_programs(&f, buffer, 2000, 1);
    most_builds = builds;
    assert_diag(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), f.diag,
                VYRE_DIAG_SUBMIT_MODE);
    assert_diag(fixture_run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
    for (int i = 0; i < 200; i++) { /* auto leaves it to other modes */
        assert_int_equal(vyre_batch_submit(f.batch, &options, &ticket, &f.diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(f.device, ticket, VYRE_FOREVER, &f.diag), VYRE_OK);
    }
    assert_int_equal(builds, most_builds);
    fixture_close(&f);
}

/* Many dispatches of few kernels are no matter. */
static void batch_of_many_dispatches_of_one_program_is_not_refused(void **state)
{
    static const char source[] = "__kernel void a(__global uint *o) { o[0] += 1; }\n"
                                 "__kernel void b(__global uint *o) { o[0] += 2; }\n";
    struct fixture f;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
    struct vyre_buffer *buffer = fixture_buffer(&f, 64);
    struct vyre_kernel *adder = create_adder(&f);
    struct vyre_kernel *a = fixture_kernel(&f, source, "a", (struct vyre_kernel_desc){0});
    struct vyre_kernel *b = fixture_kernel(&f, source, "b", (struct vyre_kernel_desc){0});
    for (uint32_t i = 0; i < 100; i++) {
        fixture_dispatch(&f, i % 2 ? a : b, buffer, (struct vyre_dispatch){0});
        add_value(&f, adder, buffer, i % 3 + 1);
    }
    fixture_must_run(&f, VYRE_MODE_PERSISTENT);
    assert_int_equal(fixture_word(&f, buffer), 150 + 199);
    fixture_close(&f);
}

/* Dispatchers that come and go do not put out what is known of kernels that cannot have one. */
static void refusal_outlives_many_dispatchers(void **state)
{
    static const char refused[] =
        "#define SHARED __local\n"
        "__kernel void bad(__global uint *o) { SHARED uint t[8]; t[0] = 1; o[0] = t[0]; }\n";
    struct fixture f;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){.no_proof = true}, install);
    struct vyre_buffer *buffer = fixture_buffer(&f, 64);
    struct vyre_kernel *bad = fixture_kernel(&f, refused, "bad", (struct vyre_kernel_desc){0});
    struct vyre_kernel *adder = create_adder(&f);
    fixture_dispatch(&f, bad, buffer, (struct vyre_dispatch){0});
    assert_diag(fixture_run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
    for (uint32_t i = 0; i < VYRE_CL_RESIDENTS_MAX + 2; i++) {
        vyre_batch_reset(f.batch);
        add_value(&f, adder, buffer, i + 2);
        fixture_must_run(&f, VYRE_MODE_PERSISTENT);
    }
    vyre_batch_reset(f.batch);
    fixture_dispatch(&f, bad, buffer, (struct vyre_dispatch){0});
    uint32_t before = builds;
    assert_diag(fixture_run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
    assert_int_equal(builds, before);
    fixture_close(&f);
}

/* ---- Builds beside other work ----------------------------------------------------------------- */

static void run_auto(struct fixture *f)
{
    const struct vyre_submit_options options = {.repeat_hint = 1000000000};
    struct vyre_ticket ticket;
    assert_int_equal(vyre_batch_submit(f->batch, &options, &ticket, &f->diag), VYRE_OK);
    assert_int_equal(vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag), VYRE_OK);
}

/* The driver compiles the most of it when it is first launched: others submit meanwhile. */
static void first_launch_of_a_dispatcher_holds_up_nobody(void **state)
{
    struct fixture f;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
    struct vyre_buffer *buffer = fixture_buffer(&f, 64);
    add_programs(&f, buffer, 1, 1);
    hold = HOLD_NEXT;
    const struct deadline limit = deadline_in(LIMIT_SECONDS);
    while (hold != HOLDS && !deadline_is_past(limit))
        run_auto(&f);
    assert_int_equal(hold, HOLDS);
    for (int i = 0; i < 10; i++)
        run_auto(&f);
    hold = HOLD_NOTHING;
    assert_false(held_too_long);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_beyond_the_kept_variants_stay_resident),
        cmocka_unit_test(batch_of_more_dispatchers_than_are_kept_is_refused),
        cmocka_unit_test(batch_of_many_dispatches_of_one_program_is_not_refused),
        cmocka_unit_test(refusal_outlives_many_dispatchers),
        cmocka_unit_test(first_launch_of_a_dispatcher_holds_up_nobody),
    };
    if (argc != 2 && argc != 3)
        return 2;
    device_name = argv[1];
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    test_thread = pthread_self();
    (void)alarm(1200); /* a hang ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
