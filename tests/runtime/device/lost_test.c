/*
 * lost_test.c: lost devices: every pending ticket ends promptly, every callback is called once, and the
 * device can be opened again.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 256, PENDING = 5 };

static struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

/* A batch that fills a buffer of its own. */
static struct vyre_batch *fill_batch(struct fixture *fixture, uint32_t word)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_fill(batch, whole(fixture_buffer(fixture, BYTES)), word);
    return batch;
}

struct called {
    atomic_size_t count;
    _Atomic int status;
};

static void remember(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct called *called = user;
    (void)ticket;
    atomic_store(&called->status, (int)result->status);
    atomic_fetch_add(&called->count, 1);
}

static void assert_lost(struct fixture *fixture, struct vyre_ticket ticket)
{
    struct vyre_batch_result result;
    assert_diag(fixture_wait(fixture, ticket), fixture->diag, VYRE_DIAG_DEVICE_LOST);
    assert_int_equal(vyre_ticket_poll(fixture->device, ticket, NULL), VYRE_DEVICE_LOST);
    assert_int_equal(vyre_ticket_result(fixture->device, ticket, &result, NULL), VYRE_DEVICE_LOST);
}

/* Nothing new starts on a lost device, and nothing blocks. */
static void assert_dead(struct fixture *fixture, struct vyre_batch *batch)
{
    struct vyre_ticket ticket = {1, 1};
    assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, &fixture->diag), VYRE_DEVICE_LOST);
    assert_int_equal(ticket.sequence, 0);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, NULL), VYRE_DEVICE_LOST);
    struct vyre_buffer *buffer = (void *)fixture;
    assert_int_equal(vyre_buffer_create(fixture->device,
                                        &(struct vyre_buffer_desc){.size_bytes = BYTES}, &buffer,
                                        NULL),
                     VYRE_DEVICE_LOST);
    assert_null(buffer);
    assert_int_equal(vyre_device_wait_idle(fixture->device, VYRE_FOREVER, NULL), VYRE_DEVICE_LOST);
}

/* Opens the device again and runs work on it. */
static void assert_reopens(struct fixture *fixture)
{
    uint32_t word = 0;
    fixture_close_device(fixture);
    fixture_open_device(fixture);
    struct vyre_buffer *buffer = fixture_buffer(fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_fill(batch, whole(buffer), 77);
    vyre_batch_download(batch, (struct vyre_range){buffer, 0, 4}, &word);
    struct vyre_ticket ticket = fixture_submit(fixture, batch, VYRE_MODE_AUTO);
    vyre_sim_run_all(fixture->sim);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    assert_int_equal(word, 77);
}

static void lost_pending_tickets_end_and_callbacks_run_once(void **state)
{
    (void)state;
    struct fixture fixture;
    struct called called[PENDING] = {{0}};
    struct vyre_ticket tickets[PENDING];
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_batch *batch = fill_batch(&fixture, 1);
    for (int i = 0; i < PENDING; i++) {
        const struct vyre_submit_options options = {.on_complete = remember, .user = &called[i]};
        assert_int_equal(vyre_batch_submit(batch, &options, &tickets[i], NULL), VYRE_OK);
    }
    assert_int_equal(vyre_sim_step(fixture.sim, 2), 2);
    vyre_sim_lose_now(fixture.sim);
    for (int i = 0; i < PENDING; i++) {
        assert_int_equal(atomic_load(&called[i].count), 1);
        assert_int_equal(atomic_load(&called[i].status), i < 2 ? VYRE_OK : VYRE_DEVICE_LOST);
        if (i < 2)
            assert_int_equal(fixture_wait(&fixture, tickets[i]), VYRE_OK);
        else
            assert_lost(&fixture, tickets[i]);
    }
    assert_dead(&fixture, batch);
    assert_reopens(&fixture);
    assert_int_equal(vyre_ticket_wait(fixture.device, tickets[4], 0, &fixture.diag), VYRE_INVALID);
    for (int i = 0; i < PENDING; i++)
        assert_int_equal(atomic_load(&called[i].count), 1);
    fixture_close(&fixture);
}

static void lost_while_running_every_completion(void **state)
{
    (void)state;
    static const enum vyre_sim_completion completions[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_LAZY, VYRE_SIM_COMPLETE_THREAD};
    for (size_t c = 0; c < COUNT_OF(completions); c++) {
        struct fixture fixture;
        struct vyre_ticket tickets[PENDING] = {{0}};
        fixture_open(&fixture, &(struct vyre_sim_desc){.completion = completions[c]}, NULL);
        struct vyre_batch *batch = fill_batch(&fixture, 1);
        vyre_sim_lose_at(fixture.sim, 3);
        int accepted = 0;
        while (accepted < PENDING &&
               vyre_batch_submit(batch, NULL, &tickets[accepted], NULL) == VYRE_OK)
            accepted++;
        assert_in_range(accepted, 3, PENDING);
        for (int i = 0; i < accepted; i++) {
            if (i < 2)
                assert_int_equal(fixture_wait(&fixture, tickets[i]), VYRE_OK);
            else
                assert_lost(&fixture, tickets[i]);
        }
        assert_dead(&fixture, batch);
        assert_reopens(&fixture);
        fixture_close(&fixture);
    }
}

static void lost_after_virtual_time(void **state)
{
    (void)state;
    const struct vyre_sim_costs costs = {.submit_ns = 1000};
    struct fixture fixture;
    struct vyre_ticket ticket;
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = fill_batch(&fixture, 1);
    vyre_sim_lose_after(fixture.sim, vyre_sim_now_ns(fixture.sim) + 3500);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                         VYRE_OK);
    assert_int_equal(vyre_batch_submit(batch, NULL, &ticket, NULL), VYRE_OK);
    assert_lost(&fixture, ticket);
    vyre_sim_lose_after(fixture.sim, UINT64_MAX);
    assert_reopens(&fixture);
    fixture_close(&fixture);
}

/* The backend finds out inside submit and may say so by its status only. */
static void submit_returns_lost_pending_tickets_end(void **state)
{
    (void)state;
    struct fixture fixture;
    struct called called[PENDING] = {{0}};
    struct vyre_ticket tickets[PENDING];
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_batch *batch = fill_batch(&fixture, 1);
    for (int i = 0; i < PENDING; i++) {
        const struct vyre_submit_options options = {.on_complete = remember, .user = &called[i]};
        assert_int_equal(vyre_batch_submit(batch, &options, &tickets[i], NULL), VYRE_OK);
    }
    vyre_sim_fail(fixture.sim, VYRE_SIM_SUBMIT, 1, VYRE_DEVICE_LOST, 5);
    assert_diag(vyre_batch_submit(batch, NULL, NULL, &fixture.diag), fixture.diag,
                VYRE_DIAG_DEVICE_LOST);
    for (int i = 0; i < PENDING; i++) {
        assert_lost(&fixture, tickets[i]);
        assert_int_equal(atomic_load(&called[i].count), 1);
        assert_int_equal(atomic_load(&called[i].status), VYRE_DEVICE_LOST);
    }
    assert_dead(&fixture, batch);
    assert_reopens(&fixture);
    fixture_close(&fixture);
}

static void create_returns_lost_pending_tickets_end(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL}, NULL);
    struct vyre_batch *batch = fill_batch(&fixture, 1);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    struct vyre_buffer *buffer;
    vyre_sim_fail(fixture.sim, VYRE_SIM_BUFFER_CREATE, 1, VYRE_DEVICE_LOST, 5);
    assert_int_equal(vyre_buffer_create(fixture.device,
                                        &(struct vyre_buffer_desc){.size_bytes = BYTES}, &buffer,
                                        NULL),
                     VYRE_DEVICE_LOST);
    assert_lost(&fixture, ticket);
    assert_reopens(&fixture);
    fixture_close(&fixture);
}

/* ---- Hangs ------------------------------------------------------------------------------------ */

static void wait_hang_times_out_and_goes_on(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_batch *batch = fill_batch(&fixture, 1);
    vyre_sim_hang_at(fixture.sim, 1);
    struct vyre_ticket hung = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    struct vyre_ticket behind = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_diag(vyre_ticket_wait(fixture.device, hung, 2000000, &fixture.diag), fixture.diag,
                VYRE_DIAG_TICKET_TIMEOUT);
    assert_diag(vyre_ticket_poll(fixture.device, behind, &fixture.diag), fixture.diag,
                VYRE_DIAG_TICKET_PENDING);
    assert_int_equal(vyre_device_wait_idle(fixture.device, 1000, NULL), VYRE_TIMEOUT);
    vyre_sim_unhang(fixture.sim);
    assert_int_equal(fixture_wait(&fixture, hung), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, behind), VYRE_OK);
    fixture_close(&fixture);
}

static void wait_hang_past_its_time_loses_the_device(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.hang_is_lost = true},
                 &(struct vyre_device_desc){.hang_timeout_ns = 5000000000});
    struct vyre_batch *batch = fill_batch(&fixture, 1);
    vyre_sim_hang_at(fixture.sim, 1);
    struct vyre_ticket hung = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    struct vyre_ticket behind = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_int_equal(vyre_ticket_wait(fixture.device, hung, 1000000, NULL), VYRE_TIMEOUT);
    assert_diag(fixture_wait(&fixture, hung), fixture.diag, VYRE_DIAG_DEVICE_HANG);
    assert_int_equal(fixture_wait(&fixture, behind), VYRE_DEVICE_LOST);
    assert_reopens(&fixture);
    fixture_close(&fixture);
}

/* An allocator that can take back all that it gave. */
enum { BLOCKS_MAX = 4096 };

struct block_list {
    void *blocks[BLOCKS_MAX];
    size_t count; /* freed ones are NULL */
    size_t live;
};

static void *take_block(void *user, size_t size_bytes, size_t alignment)
{
    struct block_list *list = user;
    if (list->count == BLOCKS_MAX)
        return NULL;
    if (alignment < 16)
        alignment = 16;
    void *block = aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
    list->blocks[list->count++] = block;
    list->live++;
    return block;
}

static void give_block_back(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    struct block_list *list = user;
    (void)size_bytes;
    (void)alignment;
    for (size_t i = 0; i < list->count; i++) {
        if (list->blocks[i] != memory)
            continue;
        list->blocks[i] = NULL;
        list->live--;
        free(memory);
        return;
    }
}

/* The kernel that hangs comes back after the device was closed: what it touches must be there. */
static void close_lost_device_still_running_leaves_its_memory_alone(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    struct block_list *list = calloc(1, sizeof *list);
    assert_non_null(list);
    fixture.sim =
        vyre_sim_create(&(struct vyre_sim_desc){.hang_is_lost = true, .stuck_after_hang = true});
    fixture.device_desc.backend = "sim";
    const struct vyre_instance_desc desc = {
        .allocator = {.user = list, .allocate = take_block, .deallocate = give_block_back}};
    assert_int_equal(vyre_instance_create(&desc, &fixture.instance, NULL), VYRE_OK);
    assert_int_equal(
        vyre_instance_register_backend(fixture.instance, vyre_sim_ops(fixture.sim), NULL), VYRE_OK);
    fixture_open_device(&fixture);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(buffer), 1);
    vyre_sim_hang_at(fixture.sim, 1);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_DEVICE_LOST);
    vyre_buffer_destroy(&buffer);
    vyre_batch_destroy(&batch);
    vyre_kernel_destroy(&fixture.kernels[KERNEL_SET]);
    vyre_device_close(&fixture.device);
    assert_null(fixture.device);
    assert_int_equal(vyre_sim_run_stuck(fixture.sim), 1);
    assert_string_equal(vyre_sim_violation(fixture.sim), "");

    fixture_open_device(&fixture); /* the abandoned one is not in the way */
    vyre_device_close(&fixture.device);
    vyre_instance_destroy(&fixture.instance);
    assert_string_equal(vyre_sim_violation(fixture.sim), "");
    vyre_sim_destroy(&fixture.sim);
    assert_true(list->live > 0);
    for (size_t i = 0; i < list->count; i++)
        free(list->blocks[i]);
    free(list);
}

/* ---- Other threads ---------------------------------------------------------------------------- */

struct waiter {
    struct fixture *fixture;
    struct vyre_ticket ticket;
    struct vyre_batch *batch;
    enum vyre_status status;
    pthread_t thread;
};

static void *wait_forever(void *self)
{
    struct waiter *waiter = self;
    waiter->status = vyre_ticket_wait(waiter->fixture->device, waiter->ticket, VYRE_FOREVER, NULL);
    return NULL;
}

static void *submit_blocked(void *self)
{
    struct waiter *waiter = self;
    waiter->status = vyre_batch_submit(waiter->batch, NULL, NULL, NULL);
    return NULL;
}

static void let_others_run(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void lost_wakes_waiters_and_blocked_submits(void **state)
{
    (void)state;
    struct fixture fixture;
    struct waiter waiters[4];
    fixture_open(&fixture, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL},
                 &(struct vyre_device_desc){.in_flight_limit = 2});
    struct vyre_ticket ticket = fixture_submit(&fixture, fill_batch(&fixture, 1), VYRE_MODE_PLAIN);
    (void)fixture_submit(&fixture, fill_batch(&fixture, 2), VYRE_MODE_PLAIN);
    for (int i = 0; i < 4; i++) {
        waiters[i] = (struct waiter){
            .fixture = &fixture, .ticket = ticket, .batch = fill_batch(&fixture, 3)};
        assert_int_equal(pthread_create(&waiters[i].thread, NULL,
                                        i < 2 ? wait_forever : submit_blocked, &waiters[i]),
                         0);
    }
    let_others_run();
    vyre_sim_lose_now(fixture.sim);
    for (int i = 0; i < 4; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].status, VYRE_DEVICE_LOST);
    }
    assert_reopens(&fixture);
    fixture_close(&fixture);
}

enum { THREADS = 3, SUBMITS = 60 };

struct storm {
    struct fixture *fixture;
    struct vyre_batch *batch;
    struct called called[SUBMITS];
    struct vyre_ticket tickets[SUBMITS];
    int accepted;
    int bad_waits;
    pthread_t thread;
};

static void *submit_storm(void *self)
{
    struct storm *storm = self;
    while (storm->accepted < SUBMITS) {
        const struct vyre_submit_options options = {.on_complete =
                                                        storm->accepted % 2 ? remember : NULL,
                                                    .user = &storm->called[storm->accepted]};
        if (vyre_batch_submit(storm->batch, &options, &storm->tickets[storm->accepted], NULL) !=
            VYRE_OK)
            break;
        storm->accepted++;
    }
    for (int i = 0; i < storm->accepted; i++) {
        enum vyre_status status =
            vyre_ticket_wait(storm->fixture->device, storm->tickets[i], VYRE_FOREVER, NULL);
        storm->bad_waits += status != VYRE_OK && status != VYRE_DEVICE_LOST;
    }
    return NULL;
}

/* Several threads submit while the device goes: each accepted batch ends once. */
static void lost_in_a_storm_everybody_is_called_once(void **state)
{
    (void)state;
    static const enum vyre_sim_completion completions[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_LAZY, VYRE_SIM_COMPLETE_THREAD};
    for (unsigned round = 0; round < 30; round++) {
        struct fixture fixture;
        struct storm *storms = calloc(THREADS, sizeof *storms);
        assert_non_null(storms);
        fixture_open(
            &fixture,
            &(struct vyre_sim_desc){.completion = completions[round % COUNT_OF(completions)]},
            &(struct vyre_device_desc){.in_flight_limit = 8});
        vyre_sim_lose_at(fixture.sim, 1 + round * 5);
        for (int i = 0; i < THREADS; i++) {
            storms[i].fixture = &fixture;
            storms[i].batch = fill_batch(&fixture, 1);
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&storms[i].thread, NULL, submit_storm, &storms[i]), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(storms[i].thread, NULL);
        fixture_close_device(&fixture); /* all calls are over then */
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(storms[i].bad_waits, 0);
            for (int k = 0; k < SUBMITS; k++) {
                size_t expected = k % 2 == 1 && k < storms[i].accepted;
                assert_int_equal(atomic_load(&storms[i].called[k].count), expected);
            }
        }
        fixture_close(&fixture);
        free(storms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_pending_tickets_end_and_callbacks_run_once),
        cmocka_unit_test(lost_while_running_every_completion),
        cmocka_unit_test(lost_after_virtual_time),
        cmocka_unit_test(submit_returns_lost_pending_tickets_end),
        cmocka_unit_test(create_returns_lost_pending_tickets_end),
        cmocka_unit_test(wait_hang_times_out_and_goes_on),
        cmocka_unit_test(wait_hang_past_its_time_loses_the_device),
        cmocka_unit_test(close_lost_device_still_running_leaves_its_memory_alone),
        cmocka_unit_test(lost_wakes_waiters_and_blocked_submits),
        cmocka_unit_test(lost_in_a_storm_everybody_is_called_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
