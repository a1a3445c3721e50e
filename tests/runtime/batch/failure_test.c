/*
 * failure_test.c: batches that fail: what their tickets say, which others fail with them, what heals.
 */
#include "runtime/sim_fixture.h"

enum { BYTES = 256 };

static struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

/* A batch that writes `range` and fails while it runs. */
static struct vyre_ticket submit_failing(struct fixture *fixture, struct vyre_range range,
                                         enum vyre_status status, int64_t native_code)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_set(fixture, batch, range, 1);
    vyre_sim_fail_running(fixture->sim, 1, status, native_code);
    struct vyre_ticket ticket = fixture_submit(fixture, batch, VYRE_MODE_PLAIN);
    vyre_batch_destroy(&batch);
    return ticket;
}

static struct vyre_ticket submit_mix(struct fixture *fixture, struct vyre_range in,
                                     struct vyre_range out)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_mix(fixture, batch, in, out, 1);
    struct vyre_ticket ticket = fixture_submit(fixture, batch, VYRE_MODE_PLAIN);
    vyre_batch_destroy(&batch);
    return ticket;
}

static struct vyre_ticket submit_fill(struct fixture *fixture, struct vyre_range range)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_fill(batch, range, 7);
    struct vyre_ticket ticket = fixture_submit(fixture, batch, VYRE_MODE_PLAIN);
    vyre_batch_destroy(&batch);
    return ticket;
}

static void assert_poisoned(struct fixture *fixture, struct vyre_ticket ticket,
                            enum vyre_status status)
{
    assert_int_equal(fixture_wait(fixture, ticket), status);
    assert_string_equal(vyre_diag_id_name(fixture->diag.id), "submit-poisoned");
    assert_int_equal(fixture->diag.status, status);
    assert_int_equal(fixture_result(fixture, ticket).status, status);
}

/* ---- While running ---------------------------------------------------------------------------- */

static void wait_failed_batch_reports_status_and_native_code(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_ticket ticket = submit_failing(&fixture, whole(buffer), VYRE_DRIVER, -36);
    assert_diag(fixture_wait(&fixture, ticket), fixture.diag, VYRE_DIAG_TICKET_FAILED);
    assert_int_equal(fixture.diag.native_code, -36);
    assert_int_equal(fixture_result(&fixture, ticket).status, VYRE_DRIVER);
    assert_int_equal(vyre_ticket_poll(fixture.device, ticket, NULL), VYRE_DRIVER);
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture.device, &counters);
    assert_int_equal(counters.failed, 1);
    fixture_close(&fixture);
}

static void wait_dependent_batches_fail_independent_go_on(void **state)
{
    (void)state;
    static const enum vyre_sim_completion completions[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_LAZY, VYRE_SIM_COMPLETE_THREAD};
    for (size_t i = 0; i < COUNT_OF(completions); i++) {
        struct fixture fixture;
        fixture_open(&fixture, &(struct vyre_sim_desc){.completion = completions[i]}, NULL);
        struct vyre_buffer *bad = fixture_buffer(&fixture, BYTES);
        struct vyre_buffer *infected = fixture_buffer(&fixture, BYTES);
        struct vyre_buffer *good = fixture_buffer(&fixture, BYTES);
        struct vyre_buffer *other = fixture_buffer(&fixture, BYTES);
        struct vyre_ticket failed = submit_failing(&fixture, whole(bad), VYRE_DRIVER, 1);
        struct vyre_ticket reader = submit_mix(&fixture, whole(bad), whole(infected));
        struct vyre_ticket second = submit_mix(&fixture, whole(infected), whole(good));
        struct vyre_ticket free_one = submit_fill(&fixture, whole(other));
        assert_int_equal(fixture_wait(&fixture, failed), VYRE_DRIVER);
        assert_poisoned(&fixture, reader, VYRE_DRIVER);
        assert_poisoned(&fixture, second, VYRE_DRIVER);
        assert_int_equal(fixture_wait(&fixture, free_one), VYRE_OK);
        uint32_t word = 0;
        assert_int_equal(fixture_download(&fixture, other, &word), VYRE_OK);
        assert_int_equal(word, 7);
        fixture_close(&fixture);
    }
}

/* All submitted before anything runs: the outcome is that of the serial run. */
static void wait_failed_later_dependents_in_flight_fail(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_buffer *bad = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *other = fixture_buffer(&fixture, BYTES);
    struct vyre_ticket before = submit_mix(&fixture, whole(bad), whole(out));
    struct vyre_ticket failed = submit_failing(&fixture, whole(bad), VYRE_OUT_OF_MEMORY, 0);
    struct vyre_ticket after = submit_mix(&fixture, whole(bad), whole(out));
    struct vyre_ticket healing = submit_fill(&fixture, whole(bad));
    struct vyre_ticket healed = submit_mix(&fixture, whole(bad), whole(other));
    vyre_sim_run_all(fixture.sim);
    assert_int_equal(fixture_wait(&fixture, before), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, failed), VYRE_OUT_OF_MEMORY);
    assert_poisoned(&fixture, after, VYRE_OUT_OF_MEMORY);
    assert_int_equal(fixture_wait(&fixture, healing), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, healed), VYRE_OK);
    fixture_close(&fixture);
}

static void wait_reads_other_bytes_of_the_buffer_succeed(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *bad = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    struct vyre_ticket failed =
        submit_failing(&fixture, (struct vyre_range){bad, 64, 64}, VYRE_DRIVER, 1);
    assert_int_equal(fixture_wait(&fixture, failed), VYRE_DRIVER);
    struct vyre_ticket below =
        submit_mix(&fixture, (struct vyre_range){bad, 0, 64}, (struct vyre_range){out, 0, 64});
    struct vyre_ticket above =
        submit_mix(&fixture, (struct vyre_range){bad, 128, 128}, (struct vyre_range){out, 64, 64});
    struct vyre_ticket edge =
        submit_mix(&fixture, (struct vyre_range){bad, 124, 8}, (struct vyre_range){out, 128, 64});
    assert_int_equal(fixture_wait(&fixture, below), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, above), VYRE_OK);
    assert_poisoned(&fixture, edge, VYRE_DRIVER);
    fixture_close(&fixture);
}

static void rewrite_part_heals_that_part(void **state)
{
    (void)state;
    struct fixture fixture;
    unsigned char bytes[BYTES] = {0};
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *bad = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    struct vyre_ticket failed = submit_failing(&fixture, whole(bad), VYRE_DRIVER, 1);
    assert_int_equal(fixture_wait(&fixture, failed), VYRE_DRIVER);

    /* The middle by upload; both sides stay as they are. */
    struct vyre_batch *batch = fixture_batch(&fixture);
    vyre_batch_upload(batch, (struct vyre_range){bad, 64, 128}, bytes);
    assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                     VYRE_OK);
    struct vyre_ticket middle = submit_mix(&fixture, (struct vyre_range){bad, 64, 128}, whole(out));
    assert_int_equal(fixture_wait(&fixture, middle), VYRE_OK);
    struct vyre_ticket left =
        submit_mix(&fixture, (struct vyre_range){bad, 60, 8}, (struct vyre_range){out, 0, 4});
    assert_poisoned(&fixture, left, VYRE_DRIVER);
    struct vyre_ticket right =
        submit_mix(&fixture, (struct vyre_range){bad, 192, 4}, (struct vyre_range){out, 4, 4});
    assert_poisoned(&fixture, right, VYRE_DRIVER);

    /* The rest by a fill and a copy in the batch that reads it. */
    vyre_batch_reset(batch);
    vyre_batch_fill(batch, (struct vyre_range){bad, 0, 64}, 3);
    vyre_batch_copy(batch, (struct vyre_range){bad, 0, 64}, (struct vyre_range){bad, 192, 64});
    fixture_mix(&fixture, batch, whole(bad), (struct vyre_range){out, 8, 64}, 1);
    assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                     VYRE_OK);
    fixture_close(&fixture);
}

/* Write and read are batches of one command, whether the backend has a short cut or not. */
static void buffer_write_heals_and_read_fails(void **state)
{
    (void)state;
    for (int no_direct = 0; no_direct < 2; no_direct++) {
        struct fixture fixture;
        unsigned char bytes[BYTES];
        fixture_open(&fixture, &(struct vyre_sim_desc){.no_direct_access = no_direct}, NULL);
        struct vyre_buffer *bad = fixture_buffer(&fixture, BYTES);
        struct vyre_ticket failed = submit_failing(&fixture, whole(bad), VYRE_DRIVER, 1);
        assert_int_equal(fixture_wait(&fixture, failed), VYRE_DRIVER);
        assert_int_equal(vyre_buffer_read(bad, 0, bytes, sizeof bytes, &fixture.diag), VYRE_DRIVER);
        assert_string_equal(vyre_diag_id_name(fixture.diag.id), "submit-poisoned");
        memset(bytes, 9, sizeof bytes);
        assert_int_equal(vyre_buffer_write(bad, 0, bytes, sizeof bytes, &fixture.diag), VYRE_OK);
        memset(bytes, 0, sizeof bytes);
        assert_int_equal(vyre_buffer_read(bad, 0, bytes, sizeof bytes, &fixture.diag), VYRE_OK);
        assert_int_equal(bytes[BYTES - 1], 9);
        struct vyre_ticket reader =
            submit_mix(&fixture, whole(bad), whole(fixture_buffer(&fixture, BYTES)));
        assert_int_equal(fixture_wait(&fixture, reader), VYRE_OK);
        fixture_close(&fixture);
    }
}

static void buffer_created_anew_is_sound(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word = 1;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *bad = fixture_buffer(&fixture, BYTES);
    struct vyre_ticket failed = submit_failing(&fixture, whole(bad), VYRE_DRIVER, 1);
    assert_int_equal(fixture_wait(&fixture, failed), VYRE_DRIVER);
    vyre_buffer_destroy(&bad);
    struct vyre_buffer *anew = fixture_buffer(&fixture, BYTES);
    assert_int_equal(fixture_download(&fixture, anew, &word), VYRE_OK);
    assert_int_equal(word, 0);
    fixture_close(&fixture);
}

/* More failed ranges than are kept one by one. */
enum { MANY = 200 };

static void fail_many(struct fixture *fixture, struct vyre_buffer *buffers[MANY])
{
    for (int i = 0; i < MANY; i++) {
        buffers[i] = fixture_buffer(fixture, BYTES);
        struct vyre_ticket failed = submit_failing(fixture, whole(buffers[i]), VYRE_DRIVER, i);
        assert_int_equal(fixture_wait(fixture, failed), VYRE_DRIVER);
    }
}

static void wait_many_failed_ranges_no_dependent_passes(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_buffer *buffers[MANY];
    uint32_t word;
    fixture_open(&fixture, NULL, NULL);
    fail_many(&fixture, buffers);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(fixture_download(&fixture, buffers[i], &word), VYRE_DRIVER);
    fixture_close_device(&fixture);
    fixture_open_device(&fixture);
    assert_int_equal(fixture_download(&fixture, fixture_buffer(&fixture, BYTES), &word), VYRE_OK);
    fixture_close(&fixture);
}

/* The fix that the diagnostic names must help, however much failed. */
static void rewrite_many_failed_ranges_heals(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_buffer *buffers[MANY];
    uint32_t word;
    fixture_open(&fixture, NULL, NULL);
    fail_many(&fixture, buffers);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(fixture_wait(&fixture, submit_fill(&fixture, whole(buffers[i]))), VYRE_OK);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(fixture_download(&fixture, buffers[i], &word), VYRE_OK);
        assert_int_equal(word, 7);
    }
    fixture_close(&fixture);
}

/* ---- Calls that fail -------------------------------------------------------------------------- */

static void submit_refused_queues_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word = 0;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    vyre_batch_fill(batch, whole(buffer), 5);
    vyre_sim_fail(fixture.sim, VYRE_SIM_SUBMIT, 1, VYRE_DRIVER, 12);
    struct vyre_ticket ticket = {7, 7};
    assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &fixture.diag), VYRE_DRIVER);
    assert_int_equal(fixture.diag.native_code, 12);
    assert_int_equal(ticket.device, 0);
    assert_int_equal(ticket.sequence, 0);
    assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
    assert_int_equal(word, 0);
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture.device, &counters);
    assert_int_equal(counters.submitted, 1); /* the download */
    assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                     VYRE_OK);
    assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
    assert_int_equal(word, 5);
    fixture_close(&fixture);
}

/* The first submit of the batch is in flight when the second is refused: it must stay untouched. */
static void submit_refused_again_leaves_batch_in_flight_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    unsigned char bytes[BYTES];
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    memset(bytes, 4, sizeof bytes);
    vyre_batch_upload(batch, whole(buffer), bytes);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    vyre_sim_fail(fixture.sim, VYRE_SIM_SUBMIT, 1, VYRE_DRIVER, 12);
    assert_int_equal(vyre_batch_submit(batch, NULL, NULL, NULL), VYRE_DRIVER);
    vyre_batch_reset(batch);
    memset(bytes, 9, sizeof bytes);
    vyre_batch_upload(batch, whole(buffer), bytes);
    vyre_sim_run_all(fixture.sim);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    assert_int_equal(vyre_buffer_read(buffer, 0, bytes, sizeof bytes, NULL), VYRE_OK);
    assert_int_equal(bytes[0], 4);
    fixture_close(&fixture);
}

static void create_refused_returns_status_and_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    size_t objects = vyre_sim_objects(fixture.sim);
    struct vyre_buffer *buffer = (void *)&fixture;
    const struct vyre_buffer_desc buffer_desc = {.size_bytes = BYTES};
    vyre_sim_fail(fixture.sim, VYRE_SIM_BUFFER_CREATE, 2, VYRE_OUT_OF_MEMORY, -4);
    assert_int_equal(vyre_buffer_create(fixture.device, &buffer_desc, &buffer, NULL), VYRE_OK);
    assert_int_equal(vyre_buffer_create(fixture.device, &buffer_desc, &buffer, &fixture.diag),
                     VYRE_OUT_OF_MEMORY);
    assert_int_equal(fixture.diag.native_code, -4);
    assert_null(buffer);

    struct vyre_kernel *kernel = (void *)&fixture;
    const struct fixture_kernel_facts *facts = &fixture_kernels[KERNEL_SET];
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = facts->function};
    const struct vyre_binding_desc binding = {.slot = 2, .role = VYRE_ROLE_OUTPUT};
    const struct vyre_kernel_desc desc = {
        .payloads = &payload, .payload_count = 1, .bindings = &binding, .binding_count = 1};
    vyre_sim_fail(fixture.sim, VYRE_SIM_KERNEL_CREATE, 1, VYRE_BUILD_FAILED, -11);
    assert_int_equal(vyre_kernel_create(fixture.device, &desc, &kernel, &fixture.diag),
                     VYRE_BUILD_FAILED);
    assert_int_equal(fixture.diag.native_code, -11);
    assert_null(kernel);
    assert_int_equal(vyre_sim_objects(fixture.sim), objects + 1);
    assert_int_equal(vyre_kernel_create(fixture.device, &desc, &kernel, NULL), VYRE_OK);
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture.device, &counters);
    assert_int_equal(counters.memory_bytes, BYTES);
    fixture_close(&fixture);
}

static void open_refused_returns_status_and_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    fixture_close_device(&fixture);
    vyre_sim_fail(fixture.sim, VYRE_SIM_DEVICE_OPEN, 1, VYRE_DRIVER, -1);
    struct vyre_device *device = (void *)&fixture;
    assert_int_equal(
        vyre_device_open(fixture.instance, &fixture.device_desc, &device, &fixture.diag),
        VYRE_DRIVER);
    assert_null(device);
    assert_int_equal(fixture.diag.native_code, -1);
    fixture_open_device(&fixture);
    fixture_close(&fixture);
}

struct called {
    size_t count;
    enum vyre_status status;
};

static void remember(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct called *called = user;
    (void)ticket;
    called->count++;
    called->status = result->status;
}

static void on_complete_failed_batch_gets_its_status(void **state)
{
    (void)state;
    struct fixture fixture;
    struct called called[2] = {{0}};
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_mix(&fixture, batch, whole(buffer), whole(fixture_buffer(&fixture, BYTES)), 1);
    fixture_mix(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), whole(buffer), 1);
    vyre_sim_fail_running(fixture.sim, 1, VYRE_DRIVER, 3);
    for (int i = 0; i < 2; i++) {
        const struct vyre_submit_options options = {.on_complete = remember, .user = &called[i]};
        assert_int_equal(vyre_batch_submit(batch, &options, NULL, NULL), VYRE_OK);
    }
    assert_int_equal(vyre_sim_run_all(fixture.sim), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(called[i].count, 1);
        assert_int_equal(called[i].status, VYRE_DRIVER);
    }
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_failed_batch_reports_status_and_native_code),
        cmocka_unit_test(wait_dependent_batches_fail_independent_go_on),
        cmocka_unit_test(wait_failed_later_dependents_in_flight_fail),
        cmocka_unit_test(wait_reads_other_bytes_of_the_buffer_succeed),
        cmocka_unit_test(rewrite_part_heals_that_part),
        cmocka_unit_test(buffer_write_heals_and_read_fails),
        cmocka_unit_test(buffer_created_anew_is_sound),
        cmocka_unit_test(wait_many_failed_ranges_no_dependent_passes),
        cmocka_unit_test(rewrite_many_failed_ranges_heals),
        cmocka_unit_test(on_complete_failed_batch_gets_its_status),
        cmocka_unit_test(submit_refused_queues_nothing),
        cmocka_unit_test(submit_refused_again_leaves_batch_in_flight_alone),
        cmocka_unit_test(create_refused_returns_status_and_nothing),
        cmocka_unit_test(open_refused_returns_status_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
