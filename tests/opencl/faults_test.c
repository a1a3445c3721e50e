/*
 * faults_test.c: the backend on a driver that fails on request: a diagnostic, no hang, no crash.
 * Run with OCL_ICD_VENDORS pointing at the fake driver alone (fake_icd.c says what its words do).
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "support/test.h"

static const char source[] = "__kernel void k(__global uint *a, uint c)\n{\n    a[0] = c;\n}\n";

struct fixture {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    struct vyre_diag diag;
    atomic_uint errors_logged;
};

static void set_words(const char *words)
{
    assert_int_equal(setenv("FAKE_ICD", words, 1), 0);
}

static void on_log(void *user, enum vyre_log_level level, const char *text)
{
    struct fixture *f = user;
    assert_non_null(text);
    if (level == VYRE_LOG_ERROR)
        atomic_fetch_add(&f->errors_logged, 1);
}

static enum vyre_status open_device(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(
        vyre_instance_create(&(struct vyre_instance_desc){.log = on_log, .log_user = f},
                             &f->instance, &f->diag),
        VYRE_OK);
    return vyre_device_open(
        f->instance,
        &(struct vyre_device_desc){.backend = "opencl", .hang_timeout_ns = 60000000000}, &f->device,
        &f->diag);
}

static enum vyre_status create_kernel(struct fixture *f)
{
    const uint32_t local[3] = {1, 1, 1};
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = "k",
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1, .label = "k"};
    memcpy(desc.local_size, local, sizeof local);
    return vyre_kernel_create(f->device, &desc, &f->kernel, &f->diag);
}

static enum vyre_status create_buffer(struct fixture *f)
{
    return vyre_buffer_create(f->device, &(struct vyre_buffer_desc){.size_bytes = 64}, &f->buffer,
                              &f->diag);
}

static void add_launch(struct fixture *f)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {f->buffer, 0, 0}};
    const uint32_t constant = 1;
    vyre_batch_dispatch(f->batch, &(struct vyre_dispatch){.kernel = f->kernel,
                                                          .groups = {1, 1, 1},
                                                          .bindings = &binding,
                                                          .binding_count = 1,
                                                          .constants = &constant,
                                                          .constants_size_bytes = 4});
}

/* All that is needed for work, by a driver that behaves. */
static void prepare(struct fixture *f)
{
    set_words("ok");
    assert_int_equal(open_device(f), VYRE_OK);
    if (create_kernel(f) != VYRE_OK)
        fail_msg("%s", f->diag.message);
    assert_int_equal(create_buffer(f), VYRE_OK);
    assert_int_equal(vyre_batch_create(f->device, NULL, &f->batch, &f->diag), VYRE_OK);
}

static void close_all(struct fixture *f)
{
    set_words("ok");
    vyre_device_close(&f->device);
    vyre_instance_destroy(&f->instance);
}

/* What a failed batch wrote is not defined until it is written again. */
static void define_buffer(struct fixture *f)
{
    static const unsigned char zeros[64];
    set_words("ok");
    assert_int_equal(vyre_buffer_write(f->buffer, 0, zeros, sizeof zeros, &f->diag), VYRE_OK);
}

/* Submits and waits: the first status that is not VYRE_OK. */
static enum vyre_status run(struct fixture *f, enum vyre_mode mode)
{
    struct vyre_ticket ticket;
    struct vyre_submit_options options = {.mode = mode};
    enum vyre_status status = vyre_batch_submit(f->batch, &options, &ticket, &f->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    return status;
}

static void open_driver_that_refuses_fails(void **state)
{
    static const char *const words[] = {"context-fails", "queue-fails"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct fixture f;
        set_words(words[i]);
        assert_int_not_equal(open_device(&f), VYRE_OK);
        assert_null(f.device);
        assert_int_not_equal(f.diag.id, VYRE_DIAG_NONE);
        assert_int_not_equal(f.diag.native_code, 0);
        close_all(&f);
    }
}

static void kernel_build_failure_names_the_line(void **state)
{
    struct fixture f;
    (void)state;
    set_words("build-fails");
    assert_int_equal(open_device(&f), VYRE_OK);
    assert_int_equal(create_kernel(&f), VYRE_BUILD_FAILED);
    assert_null(f.kernel);
    assert_int_equal(f.diag.id, VYRE_DIAG_OPENCL_BUILD);
    assert_non_null(strstr(f.diag.message, "line 3"));
    close_all(&f);
}

static void create_driver_that_refuses_fails(void **state)
{
    static const char *const words[] = {"program-fails", "kernel-fails"};
    struct fixture f;
    (void)state;
    set_words("ok");
    assert_int_equal(open_device(&f), VYRE_OK);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        set_words(words[i]);
        assert_int_not_equal(create_kernel(&f), VYRE_OK);
        assert_null(f.kernel);
        assert_int_not_equal(f.diag.id, VYRE_DIAG_NONE);
    }
    set_words("buffer-fails");
    assert_int_equal(create_buffer(&f), VYRE_OUT_OF_MEMORY);
    assert_int_equal(f.diag.id, VYRE_DIAG_OPENCL_MEMORY);
    assert_null(f.buffer);
    close_all(&f);
}

/* Answers of impossible sizes: whatever comes of them, it comes to an end. */
static void queries_that_lie_end_in_a_status(void **state)
{
    static const char *const words[] = {
        "size-zero,on-device",  "size-huge,on-device",    "size-grows,on-device",
        "size-odd,on-device",   "unterminated,on-device", "size-zero,on-kernel",
        "size-huge,on-kernel",  "size-grows,on-kernel",   "size-odd,on-kernel",
        "info-fails,on-kernel", "unterminated,on-kernel", "size-huge,build-fails,on-program",
        "size-zero,on-program", "size-grows,on-program",  "size-zero,build-fails,on-program",
        "info-fails,on-device", "info-fails,on-program",  "size-grows,build-fails,on-program",
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct fixture f;
        set_words(words[i]);
        enum vyre_status status = open_device(&f);
        if (status == VYRE_OK)
            status = create_kernel(&f);
        if (status == VYRE_OK)
            status = create_buffer(&f);
        if (status != VYRE_OK)
            assert_int_not_equal(f.diag.id, VYRE_DIAG_NONE);
        close_all(&f);
    }
}

static void submit_driver_out_of_resources_fails(void **state)
{
    static const char *const words[] = {"enqueue-fails", "launch-fails", "argument-fails"};
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY, VYRE_MODE_AUTO};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            struct fixture f;
            prepare(&f);
            add_launch(&f);
            set_words(words[i]);
            assert_int_not_equal(run(&f, modes[m]), VYRE_OK);
            assert_int_not_equal(f.diag.id, VYRE_DIAG_NONE);
            set_words("ok");
            assert_int_equal(run(&f, modes[m]), VYRE_OK); /* and the device goes on */
            close_all(&f);
        }
    }
}

/* Some of a batch was queued before the driver refused: it counts as submitted, and fails. */
static void submit_refused_halfway_ends_in_failure(void **state)
{
    struct fixture f;
    (void)state;
    prepare(&f);
    vyre_batch_fill(f.batch, (struct vyre_range){.buffer = f.buffer}, 7);
    add_launch(&f);
    set_words("launch-fails");
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OUT_OF_MEMORY);
    set_words("ok");
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    close_all(&f);
}

static void launch_that_ends_in_an_error_fails(void **state)
{
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
    struct fixture f;
    (void)state;
    prepare(&f);
    add_launch(&f);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        set_words("event-fails");
        assert_int_equal(run(&f, modes[m]), VYRE_OUT_OF_MEMORY);
        define_buffer(&f);
        assert_int_equal(run(&f, modes[m]), VYRE_OK);
    }
    close_all(&f);
}

/* The driver does not say how far a command is: the batch fails, and no wait is endless. */
static void event_that_cannot_be_asked_fails(void **state)
{
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
    struct fixture f;
    (void)state;
    prepare(&f);
    add_launch(&f);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        set_words("info-fails,on-event");
        assert_int_equal(run(&f, modes[m]), VYRE_OUT_OF_MEMORY);
        assert_int_not_equal(f.diag.id, VYRE_DIAG_NONE);
        define_buffer(&f);
        assert_int_equal(run(&f, modes[m]), VYRE_OK);
    }
    close_all(&f);
}

/* Finishing is not what the backend goes by: the events are. */
static void finish_that_fails_does_not_hang(void **state)
{
    struct fixture f;
    (void)state;
    prepare(&f);
    add_launch(&f);
    set_words("finish-fails");
    (void)run(&f, VYRE_MODE_PLAIN);
    assert_int_equal(vyre_device_wait_idle(f.device, 1000000000, &f.diag), VYRE_OK);
    vyre_device_close(&f.device);
    close_all(&f);
}

static void context_error_is_logged_and_fails_what_is_in_flight(void **state)
{
    struct fixture f;
    (void)state;
    prepare(&f);
    add_launch(&f);
    set_words("context-error");
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_DRIVER);
    assert_int_not_equal(atomic_load(&f.errors_logged), 0);
    define_buffer(&f);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_driver_that_refuses_fails),
        cmocka_unit_test(kernel_build_failure_names_the_line),
        cmocka_unit_test(create_driver_that_refuses_fails),
        cmocka_unit_test(queries_that_lie_end_in_a_status),
        cmocka_unit_test(submit_driver_out_of_resources_fails),
        cmocka_unit_test(submit_refused_halfway_ends_in_failure),
        cmocka_unit_test(launch_that_ends_in_an_error_fails),
        cmocka_unit_test(event_that_cannot_be_asked_fails),
        cmocka_unit_test(finish_that_fails_does_not_hang),
        cmocka_unit_test(context_error_is_logged_and_fails_what_is_in_flight),
    };
    (void)alarm(600); /* a hang ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
