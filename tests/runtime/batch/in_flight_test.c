/*
 * in_flight_test.c: work that is submitted and not complete: its limit, its callbacks, and that
 * nothing done meanwhile changes it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 256 };

static struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

static const struct vyre_sim_desc manual = {.completion = VYRE_SIM_COMPLETE_MANUAL};
static const struct vyre_sim_desc lazy = {.completion = VYRE_SIM_COMPLETE_LAZY};

static void let_others_run(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* ---- The limit -------------------------------------------------------------------------------- */

static void submit_past_the_limit_busy_when_asked(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &manual,
                 &(struct vyre_device_desc){.in_flight_limit = 3, .busy_when_full = true});
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    for (int round = 0; round < 3; round++) {
        for (int i = round ? 2 : 0; i < 3; i++)
            (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
        struct vyre_ticket ticket = {1, 1};
        assert_diag(vyre_batch_submit(batch, NULL, &ticket, &fixture.diag), fixture.diag,
                    VYRE_DIAG_SUBMIT_FULL);
        assert_int_equal(ticket.device, 0);
        assert_int_equal(ticket.sequence, 0);
        assert_int_equal(vyre_sim_in_flight(fixture.sim), 3);
        assert_int_equal(vyre_sim_step(fixture.sim, 1), 1);
    }
    vyre_sim_run_all(fixture.sim);
    fixture_close(&fixture);
}

struct blocked {
    struct vyre_batch *batch;
    atomic_int done;
    enum vyre_status status;
};

static void *submit_blocked(void *self)
{
    struct blocked *blocked = self;
    blocked->status = vyre_batch_submit(blocked->batch, NULL, NULL, NULL);
    atomic_store(&blocked->done, 1);
    return NULL;
}

static void submit_past_the_limit_blocks_until_one_completes(void **state)
{
    (void)state;
    struct fixture fixture;
    pthread_t thread;
    fixture_open(&fixture, &manual, &(struct vyre_device_desc){.in_flight_limit = 2});
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    struct vyre_ticket first = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    struct blocked blocked = {.batch = batch};
    assert_int_equal(pthread_create(&thread, NULL, submit_blocked, &blocked), 0);
    let_others_run();
    assert_int_equal(atomic_load(&blocked.done), 0);
    assert_int_equal(vyre_sim_in_flight(fixture.sim), 2);
    assert_int_equal(vyre_ticket_poll(fixture.device, first, NULL), VYRE_BUSY); /* not held up */
    assert_int_equal(vyre_sim_step(fixture.sim, 1), 1);
    pthread_join(thread, NULL);
    assert_int_equal(blocked.status, VYRE_OK);
    assert_int_equal(vyre_sim_in_flight(fixture.sim), 2);
    vyre_sim_run_all(fixture.sim);
    fixture_close(&fixture);
}

/* Where no other thread drives the device, a blocked submit does. */
static void submit_past_the_limit_runs_what_is_in_the_way(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word;
    fixture_open(&fixture, &lazy, &(struct vyre_device_desc){.in_flight_limit = 4});
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *zeros = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_mix(&fixture, batch, whole(zeros), whole(buffer), 1);
    uint32_t expected = 0;
    for (int i = 0; i < 50; i++) {
        (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
        assert_in_range(vyre_sim_in_flight(fixture.sim), 1, 4);
        expected = expected * 31 + 100;
    }
    assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
    assert_int_equal(word, expected);
    fixture_close(&fixture);
}

/* ---- Threads ---------------------------------------------------------------------------------- */

enum { WORKERS = 3, WORKER_SUBMITS = 300 };

struct worker {
    struct fixture *fixture;
    struct vyre_batch *batch;
    pthread_t thread;
    uint32_t word; /* written by the batch's download */
    uint32_t expected;
    int failures;
};

/* Mixes into its own buffer, in all modes, with other constants each time. */
static void *work(void *self)
{
    struct worker *worker = self;
    for (uint32_t i = 0; i < WORKER_SUBMITS; i++) {
        const struct vyre_submit_options options = {.mode = (enum vyre_mode)(i % VYRE_MODE_COUNT),
                                                    .timed = i % 3 == 0};
        struct vyre_ticket ticket;
        vyre_batch_set_constants(worker->batch, 0, &i, sizeof i);
        worker->failures += vyre_batch_submit(worker->batch, &options, &ticket, NULL) != VYRE_OK;
        worker->expected = worker->expected * 31 + i + 99;
        if (i % 16 != 0)
            continue;
        struct vyre_device *device = worker->fixture->device;
        worker->failures += vyre_ticket_wait(device, ticket, VYRE_FOREVER, NULL) != VYRE_OK;
        worker->failures += worker->word != worker->expected;
    }
    return NULL;
}

static void submit_from_threads_each_sees_its_serial_run(void **state)
{
    (void)state;
    static const enum vyre_sim_completion completions[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_LAZY, VYRE_SIM_COMPLETE_THREAD};
    for (size_t c = 0; c < COUNT_OF(completions); c++) {
        struct fixture fixture;
        struct worker workers[WORKERS] = {{0}};
        fixture_open(&fixture,
                     &(struct vyre_sim_desc){.completion = completions[c], .compute_queues = 2},
                     &(struct vyre_device_desc){.in_flight_limit = 5});
        struct vyre_buffer *zeros = fixture_buffer(&fixture, BYTES);
        for (int i = 0; i < WORKERS; i++) {
            struct vyre_buffer *own = fixture_buffer(&fixture, BYTES);
            workers[i].fixture = &fixture;
            workers[i].batch = fixture_batch(&fixture);
            fixture_mix(&fixture, workers[i].batch, whole(zeros), whole(own), 0);
            vyre_batch_download(workers[i].batch, (struct vyre_range){own, 0, 4}, &workers[i].word);
        }
        for (int i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        for (int i = 0; i < WORKERS; i++)
            pthread_join(workers[i].thread, NULL);
        assert_int_equal(vyre_device_wait_idle(fixture.device, VYRE_FOREVER, NULL), VYRE_OK);
        for (int i = 0; i < WORKERS; i++) {
            assert_int_equal(workers[i].failures, 0);
            assert_int_equal(workers[i].word, workers[i].expected);
        }
        struct vyre_device_counters counters;
        vyre_device_get_counters(fixture.device, &counters);
        assert_int_equal(counters.submitted, WORKERS * WORKER_SUBMITS);
        assert_int_equal(counters.completed, WORKERS * WORKER_SUBMITS);
        fixture_close(&fixture);
    }
}

/* ---- Asking ----------------------------------------------------------------------------------- */

static void poll_pending_is_busy_and_runs_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    fixture_open(&fixture, &lazy, NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    for (int i = 0; i < 3; i++)
        assert_diag(vyre_ticket_poll(fixture.device, ticket, &fixture.diag), fixture.diag,
                    VYRE_DIAG_TICKET_PENDING);
    assert_diag(vyre_ticket_result(fixture.device, ticket, &result, &fixture.diag), fixture.diag,
                VYRE_DIAG_TICKET_PENDING);
    assert_int_equal(vyre_sim_in_flight(fixture.sim), 1);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    assert_int_equal(vyre_ticket_poll(fixture.device, ticket, NULL), VYRE_OK);
    fixture_close(&fixture);
}

static void wait_pending_times_out(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &manual, NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    struct vyre_ticket first = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    struct vyre_ticket second = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_diag(vyre_ticket_wait(fixture.device, first, 1000000, &fixture.diag), fixture.diag,
                VYRE_DIAG_TICKET_TIMEOUT);
    assert_int_equal(vyre_ticket_wait(fixture.device, first, 0, NULL), VYRE_TIMEOUT);
    vyre_sim_step(fixture.sim, 1);
    assert_int_equal(vyre_ticket_wait(fixture.device, first, 0, NULL), VYRE_OK);
    assert_int_equal(vyre_ticket_wait(fixture.device, second, 0, NULL), VYRE_TIMEOUT);
    vyre_sim_run_all(fixture.sim);
    fixture_close(&fixture);
}

static void result_old_ticket_is_forgotten_at_last(void **state)
{
    (void)state;
    enum { LIMIT = 16 };
    struct fixture fixture;
    struct vyre_batch_result result;
    fixture_open(&fixture, NULL, &(struct vyre_device_desc){.in_flight_limit = LIMIT});
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    struct vyre_ticket first = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    for (int i = 1; i < LIMIT; i++)
        (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_int_equal(vyre_ticket_result(fixture.device, first, &result, NULL), VYRE_OK);
    for (int i = 0; i < 100000; i++)
        (void)fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_diag(vyre_ticket_result(fixture.device, first, &result, &fixture.diag), fixture.diag,
                VYRE_DIAG_TICKET_FORGOTTEN);
    assert_int_equal(fixture_wait(&fixture, first), VYRE_OK);
    fixture_close(&fixture);
}

/* ---- Meanwhile -------------------------------------------------------------------------------- */

static void change_batch_in_flight_changes_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    unsigned char bytes[BYTES];
    unsigned char seen[6][4];
    fixture_open(&fixture, &manual, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    for (int i = 0; i < 6; i++) {
        /* Reset, then built further, in turns. */
        if (i % 2 == 0)
            vyre_batch_reset(batch);
        memset(bytes, i + 1, sizeof bytes);
        vyre_batch_upload(batch, whole(buffer), bytes);
        memset(bytes, 0xff, sizeof bytes);
        vyre_batch_download(batch, (struct vyre_range){buffer, 8, 4}, seen[i]);
        (void)fixture_submit(&fixture, batch, i % 3 ? VYRE_MODE_PLAIN : VYRE_MODE_REPLAY);
    }
    vyre_batch_reset(batch);
    vyre_batch_destroy(&batch);
    assert_int_equal(vyre_sim_run_all(fixture.sim), 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(seen[i][0], i + 1);
    fixture_close(&fixture);
}

static void set_constants_in_flight_changes_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t expected = 0;
    uint32_t word;
    fixture_open(&fixture, &manual, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_mix(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), whole(buffer), 0);
    vyre_batch_download(batch, (struct vyre_range){buffer, 0, 4}, &word);
    for (uint32_t i = 0; i < 8; i++) {
        vyre_batch_set_constants(batch, 0, &i, sizeof i);
        (void)fixture_submit(&fixture, batch, i % 2 ? VYRE_MODE_PLAIN : VYRE_MODE_REPLAY);
        expected = expected * 31 + i + 99;
    }
    assert_int_equal(vyre_sim_run_all(fixture.sim), 8);
    assert_int_equal(word, expected);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 1);
    fixture_close(&fixture);
}

/* The sim reports a buffer or a kernel that goes while work uses it. */
static void destroy_in_flight_waits_for_the_work(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word = 0;
    fixture_open(&fixture, &manual, NULL);
    size_t objects = vyre_sim_objects(fixture.sim);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(buffer), 5);
    vyre_batch_download(batch, (struct vyre_range){buffer, 0, 4}, &word);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    vyre_buffer_destroy(&buffer);
    vyre_kernel_destroy(&fixture.kernels[KERNEL_SET]);
    assert_int_equal(vyre_sim_objects(fixture.sim), objects + 1);
    assert_diag(vyre_batch_submit(batch, NULL, NULL, &fixture.diag), fixture.diag,
                VYRE_DIAG_BATCH_STALE);
    vyre_batch_destroy(&batch);
    vyre_sim_run_all(fixture.sim);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    assert_int_equal(word, UINT32_C(2654435761) ^ 5);
    buffer = fixture_buffer(&fixture, BYTES); /* a moment at which the dead are freed */
    assert_int_equal(vyre_sim_objects(fixture.sim), objects);
    fixture_close(&fixture);
}

/* ---- Callbacks -------------------------------------------------------------------------------- */

enum { CALLS_MAX = 64 };

struct calls {
    struct fixture *fixture;
    struct vyre_batch *again; /* submitted by the callback until it was called often enough */
    pthread_t submitter;
    atomic_size_t count;
    atomic_int on_submitter;
    uint64_t sequences[CALLS_MAX];
};

static void on_call(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct calls *calls = user;
    size_t count = atomic_load(&calls->count);
    if (pthread_equal(pthread_self(), calls->submitter))
        atomic_store(&calls->on_submitter, 1);
    calls->sequences[count] = result->status == VYRE_OK ? ticket.sequence : 0;
    if (calls->again && count < 20) {
        const struct vyre_submit_options options = {.on_complete = on_call, .user = calls};
        (void)!vyre_batch_submit(calls->again, &options, NULL, NULL);
    }
    atomic_store(&calls->count, count + 1);
}

static void on_complete_runs_once_in_order_elsewhere(void **state)
{
    (void)state;
    static const enum vyre_sim_completion completions[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_LAZY, VYRE_SIM_COMPLETE_THREAD};
    for (size_t c = 0; c < COUNT_OF(completions); c++) {
        struct fixture fixture;
        struct calls calls = {.submitter = pthread_self()};
        fixture_open(&fixture, &(struct vyre_sim_desc){.completion = completions[c]}, NULL);
        struct vyre_batch *batch = fixture_batch(&fixture);
        fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
        struct vyre_ticket ticket = {0};
        for (int i = 0; i < 20; i++) {
            /* Every other one is timed: submit and completion both write the result. */
            const struct vyre_submit_options options = {
                .on_complete = on_call, .user = &calls, .timed = i % 2};
            assert_int_equal(vyre_batch_submit(batch, &options, &ticket, NULL), VYRE_OK);
        }
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        fixture_close_device(&fixture); /* the last call may still be running until then */
        assert_int_equal(atomic_load(&calls.count), 20);
        assert_int_equal(atomic_load(&calls.on_submitter), 0);
        for (size_t i = 0; i < 20; i++)
            assert_int_equal(calls.sequences[i], i + 1);
        fixture_close(&fixture);
    }
}

static void on_complete_may_submit(void **state)
{
    (void)state;
    static const enum vyre_sim_completion completions[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_THREAD, VYRE_SIM_COMPLETE_MANUAL};
    for (size_t c = 0; c < COUNT_OF(completions); c++) {
        struct fixture fixture;
        fixture_open(&fixture, &(struct vyre_sim_desc){.completion = completions[c]}, NULL);
        struct vyre_batch *batch = fixture_batch(&fixture);
        fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
        struct calls calls = {.submitter = pthread_self(), .again = batch};
        const struct vyre_submit_options options = {.on_complete = on_call, .user = &calls};
        assert_int_equal(vyre_batch_submit(batch, &options, NULL, NULL), VYRE_OK);
        while (atomic_load(&calls.count) < 21) {
            if (completions[c] == VYRE_SIM_COMPLETE_MANUAL)
                vyre_sim_step(fixture.sim, 1);
            else
                let_others_run();
        }
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_past_the_limit_busy_when_asked),
        cmocka_unit_test(submit_past_the_limit_blocks_until_one_completes),
        cmocka_unit_test(submit_past_the_limit_runs_what_is_in_the_way),
        cmocka_unit_test(submit_from_threads_each_sees_its_serial_run),
        cmocka_unit_test(poll_pending_is_busy_and_runs_nothing),
        cmocka_unit_test(wait_pending_times_out),
        cmocka_unit_test(result_old_ticket_is_forgotten_at_last),
        cmocka_unit_test(change_batch_in_flight_changes_nothing),
        cmocka_unit_test(set_constants_in_flight_changes_nothing),
        cmocka_unit_test(destroy_in_flight_waits_for_the_work),
        cmocka_unit_test(on_complete_runs_once_in_order_elsewhere),
        cmocka_unit_test(on_complete_may_submit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
