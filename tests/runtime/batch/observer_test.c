/*
 * observer_test.c: an instance's observer gets every batch once, in order, with its decision,
 * and all that happens around it; also what was destroyed meanwhile.
 */
#include "runtime/cpu_fixture.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Events come under the device's lock, and these tests use one thread. */
struct seen {
    uint32_t by_type[VYRE_EVENT_TYPE_COUNT];
    uint64_t last_sequence;
    bool out_of_order;
    uint32_t with_candidates;
    uint32_t by_mode[VYRE_MODE_COUNT];
    uint32_t required, not_required;
    uint32_t resident_out; /* candidates in persistent mode that could not run */
    uint32_t made, evicted;
    uint32_t lease_begins, lease_ends;
    uint64_t lease_end_ns;
    enum vyre_residency_end lease_why;
    uint64_t last_complete_ns;
    struct vyre_device_counters closed;
    char batch_label[64], kernel_label[64];
    uint32_t dispatches, uploads;
    uint64_t copied_bytes;
    enum vyre_status status;
};

static void take_batch(struct seen *seen, const struct vyre_event_batch_completed *batch)
{
    const struct vyre_decision_record *decision = batch->decision;
    seen->out_of_order |= batch->sequence <= seen->last_sequence;
    seen->last_sequence = batch->sequence;
    seen->with_candidates += decision->candidate_count > 1;
    seen->by_mode[decision->mode]++;
    seen->required += decision->why == VYRE_WHY_REQUIRED;
    for (uint32_t i = 0; i < decision->candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &decision->candidates[i];
        seen->not_required += candidate->why == VYRE_WHY_NOT_REQUIRED;
        seen->resident_out +=
            candidate->mode == VYRE_MODE_PERSISTENT && candidate->state == VYRE_CANDIDATE_OUT;
    }
    seen->last_complete_ns = batch->complete_ns;
    seen->dispatches = batch->commands[VYRE_COMMAND_DISPATCH];
    seen->uploads = batch->commands[VYRE_COMMAND_UPLOAD];
    seen->copied_bytes = batch->copied_bytes;
    seen->status = batch->status;
    snprintf(seen->batch_label, sizeof seen->batch_label, "%s", batch->label ? batch->label : "");
    snprintf(seen->kernel_label, sizeof seen->kernel_label, "%s",
             batch->kernel_count && batch->kernels[0].label ? batch->kernels[0].label : "");
    assert_true(batch->submit_begin_ns > 0);
    assert_true(batch->complete_ns >= batch->submit_begin_ns);
    assert_int_equal(decision->host_ns, batch->submit_ns);
}

static void take(void *user, const struct vyre_event *event)
{
    struct seen *seen = user;
    seen->by_type[event->type]++;
    if (event->type == VYRE_EVENT_BATCH_COMPLETED)
        take_batch(seen, event->as.batch_completed);
    if (event->type == VYRE_EVENT_RECORDING) {
        seen->made += event->as.recording->change == VYRE_RECORDING_MADE;
        seen->evicted += event->as.recording->change == VYRE_RECORDING_EVICTED;
    }
    if (event->type == VYRE_EVENT_LEASE && event->as.lease->end_ns == 0)
        seen->lease_begins++;
    if (event->type == VYRE_EVENT_LEASE && event->as.lease->end_ns != 0) {
        seen->lease_ends++;
        seen->lease_end_ns = event->as.lease->end_ns;
        seen->lease_why = (enum vyre_residency_end)event->as.lease->why;
        assert_int_equal(event->as.lease->is_derived, 0);
        assert_true(event->as.lease->end_ns >= event->as.lease->begin_ns);
    }
    if (event->type == VYRE_EVENT_DEVICE_CLOSED)
        seen->closed = *event->as.device_closed->counters;
}

static void open_observed(struct fixture *fixture, struct seen *seen,
                          const struct vyre_device_desc *given)
{
    memset(seen, 0, sizeof *seen);
    const struct vyre_observer observer = {sizeof observer, seen, take};
    fixture_open_observed(fixture, given ? given : &(struct vyre_device_desc){0}, &observer);
}

static void add_one(const struct vyre_host_group *group)
{
    ((uint32_t *)group->buffers[0].data)[group->group_id[0]]++;
}

static struct vyre_batch *labelled(struct vyre_device *device, const char *label)
{
    struct vyre_batch *batch = NULL;
    struct vyre_diag diag = {0};
    assert_ok(vyre_batch_create(device, &(struct vyre_batch_desc){label}, &batch, &diag), &diag);
    return batch;
}

static void wait_idle(struct fixture *fixture)
{
    struct vyre_diag diag = {0};
    assert_ok(vyre_device_wait_idle(fixture->device, VYRE_FOREVER, &diag), &diag);
}

static void every_batch_is_reported_once_and_in_order(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof all_modes / sizeof all_modes[0]; m++) {
        struct fixture fixture;
        struct seen seen;
        open_observed(&fixture, &seen, NULL);
        assert_int_equal(seen.by_type[VYRE_EVENT_DEVICE_OPENED], 1);
        struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
        struct vyre_buffer *buffer = buffer_of_groups(fixture.device, 4);
        struct vyre_batch *batch = labelled(fixture.device, "step");
        unsigned char bytes[64] = {0};
        vyre_batch_upload(batch, (struct vyre_range){buffer, 0, sizeof bytes}, bytes);
        for (int i = 0; i < 3; i++)
            add_in_place(batch, kernel, 4, buffer, NULL, 0);
        for (int i = 0; i < 700; i++)
            (void)submit_in(batch, all_modes[m]);
        wait_idle(&fixture);
        assert_int_equal(seen.by_type[VYRE_EVENT_BATCH_COMPLETED], 700);
        assert_int_equal(seen.last_sequence, 700);
        assert_false(seen.out_of_order);
        assert_int_equal(seen.by_type[VYRE_EVENT_KERNEL_CREATED], 1);
        assert_string_equal(seen.batch_label, "step");
        assert_string_equal(seen.kernel_label, "add");
        assert_int_equal(seen.dispatches, 3);
        assert_int_equal(seen.uploads, 1);
        assert_int_equal(seen.copied_bytes, sizeof bytes);
        assert_true(seen.with_candidates > 0);
        assert_int_equal(seen.resident_out, 0); /* the CPU's worker takes any batch */
        if (all_modes[m] != VYRE_MODE_AUTO) {
            assert_int_equal(seen.by_mode[all_modes[m]], 700);
            assert_int_equal(seen.required, 700);
            assert_true(seen.not_required > 0);
        } else {
            assert_int_equal(seen.required, 0);
        }
        assert_int_equal(seen.made, all_modes[m] == VYRE_MODE_REPLAY ? 1 : seen.made);
        fixture_close(&fixture);
        assert_int_equal(seen.by_type[VYRE_EVENT_DEVICE_CLOSED], 1);
        assert_int_equal(seen.closed.submitted, 700);
        assert_int_equal(seen.closed.completed, 700);
        assert_int_equal(seen.lease_begins, seen.lease_ends);
        assert_true(all_modes[m] != VYRE_MODE_PERSISTENT || seen.lease_begins > 0);
    }
}

static void what_was_destroyed_before_its_batch_is_reported_keeps_its_labels(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, NULL);
    for (int i = 0; i < 50; i++) {
        char label[32];
        snprintf(label, sizeof label, "number %d", i);
        struct vyre_kernel *kernel = kernel_in_place(fixture.device, label, add_one, 0);
        struct vyre_buffer *buffer = buffer_of_groups(fixture.device, 4);
        struct vyre_batch *batch = labelled(fixture.device, label);
        add_in_place(batch, kernel, 4, buffer, NULL, 0);
        (void)submit_in(batch, VYRE_MODE_REPLAY);
        vyre_batch_destroy(&batch);
        vyre_kernel_destroy(&kernel);
        vyre_buffer_destroy(&buffer);
        wait_idle(&fixture);
        assert_string_equal(seen.batch_label, label);
        assert_string_equal(seen.kernel_label, label);
    }
    assert_int_equal(seen.made, 50);
    assert_int_equal(seen.evicted, 50); /* they go with their objects */
    fixture_close(&fixture);
    assert_int_equal(seen.by_type[VYRE_EVENT_BATCH_COMPLETED], 50);
}

static void close_reports_the_last_batches(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen, &(struct vyre_device_desc){.no_decisions = true});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
    struct vyre_batch *batch = labelled(fixture.device, NULL);
    add_in_place(batch, kernel, 4, buffer_of_groups(fixture.device, 4), NULL, 0);
    for (int i = 0; i < 9; i++)
        (void)submit_in(batch, VYRE_MODE_AUTO);
    fixture_close(&fixture);
    assert_int_equal(seen.by_type[VYRE_EVENT_BATCH_COMPLETED], 9);
    assert_string_equal(seen.batch_label, "");
}

static void a_calibration_is_one_event(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    struct vyre_diag diag = {0};
    struct vyre_calibration calibration;
    open_observed(&fixture, &seen, NULL);
    const struct vyre_calibration_options options = {.time_ns = 20000000};
    assert_ok(vyre_device_calibrate(fixture.device, &options, &calibration, &diag), &diag);
    fixture_close(&fixture);
    assert_int_equal(seen.by_type[VYRE_EVENT_CALIBRATED], 1);
    assert_int_equal(seen.by_type[VYRE_EVENT_BATCH_COMPLETED], 0);
    assert_int_equal(seen.by_type[VYRE_EVENT_KERNEL_CREATED], 0);
    assert_int_equal(seen.by_type[VYRE_EVENT_RECORDING], 0);
    assert_int_equal(seen.by_type[VYRE_EVENT_LEASE], 0);
    assert_true(seen.closed.submitted > 0);
}

/* Looks until the observer got so many ends; wait_idle reports what is new. */
static void await_lease_ends(struct fixture *fixture, const struct seen *seen, uint32_t count)
{
    while (seen->lease_ends < count) {
        sleep_us(200);
        wait_idle(fixture);
    }
}

static void leases_are_reported_as_the_backend_reports_them(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen,
                  &(struct vyre_device_desc){.persistent_idle_ns = UINT64_C(5000000)});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
    struct vyre_batch *batch = labelled(fixture.device, "step");
    add_in_place(batch, kernel, 4, buffer_of_groups(fixture.device, 4), NULL, 0);
    (void)submit_in(batch, VYRE_MODE_PERSISTENT);
    assert_int_equal(seen.lease_begins, 1);
    wait_idle(&fixture);
    await_lease_ends(&fixture, &seen, 1);
    assert_int_equal(seen.lease_begins, 1);
    assert_int_equal(seen.lease_ends, 1);
    assert_int_equal(seen.lease_why, VYRE_RESIDENCY_IDLE);
    assert_true(seen.lease_end_ns >= seen.last_complete_ns);
    (void)submit_in(batch, VYRE_MODE_PERSISTENT);
    assert_int_equal(seen.lease_begins, 2);
    (void)submit_in(batch, VYRE_MODE_PLAIN); /* does not make workers leave */
    wait_idle(&fixture);
    fixture_close(&fixture);
    assert_int_equal(seen.lease_begins, 2);
    assert_int_equal(seen.lease_ends, 2);
}

static void close_ends_the_lease(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen,
                  &(struct vyre_device_desc){.persistent_idle_ns = UINT64_C(3600000000000),
                                             .persistent_lease_ns = UINT64_C(7200000000000)});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
    struct vyre_batch *batch = labelled(fixture.device, "step");
    add_in_place(batch, kernel, 4, buffer_of_groups(fixture.device, 4), NULL, 0);
    (void)submit_in(batch, VYRE_MODE_PERSISTENT);
    wait_idle(&fixture);
    assert_int_equal(seen.lease_ends, 0);
    fixture_close(&fixture);
    assert_int_equal(seen.lease_begins, 1);
    assert_int_equal(seen.lease_ends, 1);
    assert_int_equal(seen.lease_why, VYRE_RESIDENCY_STOPPED);
}

/* A lease that is shorter than the idle time ends first. */
static void a_lease_that_is_over_says_so(void **state)
{
    (void)state;
    struct fixture fixture;
    struct seen seen;
    open_observed(&fixture, &seen,
                  &(struct vyre_device_desc){.persistent_idle_ns = UINT64_C(3600000000000),
                                             .persistent_lease_ns = UINT64_C(2000000)});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
    struct vyre_batch *batch = labelled(fixture.device, "step");
    add_in_place(batch, kernel, 4, buffer_of_groups(fixture.device, 4), NULL, 0);
    (void)submit_in(batch, VYRE_MODE_PERSISTENT);
    wait_idle(&fixture);
    await_lease_ends(&fixture, &seen, 1);
    assert_int_equal(seen.lease_why, VYRE_RESIDENCY_LEASE);
    fixture_close(&fixture);
}

static void metrics_say_what_the_device_counted(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_device_desc){.label = "first"});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
    struct vyre_batch *batch = labelled(fixture.device, "step");
    add_in_place(batch, kernel, 4, buffer_of_groups(fixture.device, 4), NULL, 0);
    for (int i = 0; i < 5; i++)
        (void)submit_in(batch, VYRE_MODE_PLAIN);
    wait_idle(&fixture);
    struct vyre_metrics metrics;
    vyre_device_get_metrics(fixture.device, &metrics);
    assert_string_equal(metrics.label, "first");
    assert_string_equal(metrics.info.backend, "cpu");
    assert_int_equal(metrics.counters.by_mode[VYRE_MODE_PLAIN], 5);
    assert_int_equal(metrics.decisions.decided, 5);
    char text[16384];
    assert_true(vyre_metrics_text(&metrics, 1, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "mode=\"plain\"} 5\n"));
    fixture_close(&fixture);
}

/* ---- Several threads -------------------------------------------------------------------------- */

enum { THREADS = 4, SUBMITS = 200 };

struct submitter {
    struct vyre_device *device;
    struct vyre_batch *batch;
    struct vyre_recorder *recorder;
    enum vyre_mode mode;
};

static void *submit_often(void *user)
{
    struct submitter *submitter = user;
    const struct vyre_submit_options options = {.mode = submitter->mode};
    for (int i = 0; i < SUBMITS; i++) {
        struct vyre_diag diag = {0};
        struct vyre_metrics metrics;
        struct vyre_recorder_counters counters;
        struct vyre_ticket ticket;
        if (vyre_batch_submit(submitter->batch, &options, &ticket, &diag) != VYRE_OK)
            return user;
        if (i % 16 == 0 &&
            vyre_ticket_wait(submitter->device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
            return user;
        vyre_device_get_metrics(submitter->device, &metrics);
        vyre_recorder_get_counters(submitter->recorder, &counters);
    }
    return NULL;
}

static void threads_that_submit_are_recorded_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/vyre-observer-test.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    struct vyre_diag diag = {0};
    struct vyre_recorder *recorder = NULL;
    assert_ok(vyre_recorder_open(path, NULL, &recorder, &diag), &diag);
    const struct vyre_observer observer = vyre_recorder_observer(recorder);
    struct fixture fixture;
    fixture_open_observed(&fixture, &(struct vyre_device_desc){.in_flight_limit = 8}, &observer);
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "add", add_one, 0);
    struct submitter submitters[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        struct vyre_batch *batch = labelled(fixture.device, "step");
        add_in_place(batch, kernel, 4, buffer_of_groups(fixture.device, 4), NULL, 0);
        submitters[i] = (struct submitter){fixture.device, batch, recorder, all_modes[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &submitters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    wait_idle(&fixture);
    struct vyre_recorder_counters counters;
    vyre_recorder_get_counters(recorder, &counters);
    assert_int_equal(counters.batches_seen, THREADS * SUBMITS);
    assert_int_equal(counters.batches_kept, THREADS * SUBMITS);
    fixture_close(&fixture);
    assert_ok(vyre_recorder_close(&recorder, &diag), &diag);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_batch_is_reported_once_and_in_order),
        cmocka_unit_test(what_was_destroyed_before_its_batch_is_reported_keeps_its_labels),
        cmocka_unit_test(close_reports_the_last_batches),
        cmocka_unit_test(a_calibration_is_one_event),
        cmocka_unit_test(leases_are_reported_as_the_backend_reports_them),
        cmocka_unit_test(close_ends_the_lease),
        cmocka_unit_test(a_lease_that_is_over_says_so),
        cmocka_unit_test(metrics_say_what_the_device_counted),
        cmocka_unit_test(threads_that_submit_are_recorded_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
