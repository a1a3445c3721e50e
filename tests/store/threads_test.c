/*
 * threads_test.c: many threads with one store, and with several stores of one file.
 */
#include "store/fixture.h"

#include <pthread.h>

#define THREADS 4
#define RECORDS 150

struct worker {
    struct vyre_store *store; /* NULL: opens its own */
    struct fixture *fixture;
    uint64_t base;
    bool failed;
};

static bool put_and_look(struct vyre_store *store, uint64_t number)
{
    struct vyre_store_learning learning = {.shape = fixture_hash(number), .mean_ns = 1}, found;
    struct vyre_store_info info;
    size_t count;
    bool done = fixture_put(store, number) == VYRE_OK && fixture_has(store, number) &&
                vyre_store_put_learnings(store, fixture_hash(0), &learning, 1, NULL) == VYRE_OK &&
                vyre_store_get_learnings(store, fixture_hash(0), learning.shape, &found, 1, &count,
                                         NULL) == VYRE_OK;
    if (number % 32 == 0)
        vyre_store_get_info(store, &info);
    if (number % 32 == 16)
        done = done && vyre_store_flush(store, NULL) == VYRE_OK;
    return done;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct vyre_store_desc desc = fixture_desc(worker->fixture);
    struct vyre_store *own = NULL;
    desc.busy_timeout_ms = 300000;
    if (!worker->store && vyre_store_open(&desc, &own, NULL) != VYRE_OK)
        worker->failed = true;
    for (uint64_t i = 0; i < RECORDS && !worker->failed; i++)
        worker->failed = !put_and_look(own ? own : worker->store, worker->base + i);
    vyre_store_close(&own);
    return NULL;
}

static void run_workers(struct fixture *fixture, struct vyre_store *store)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){store, fixture, i * 100000, false};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(workers[i].failed);
    }
}

static void require_all(struct fixture *fixture)
{
    struct vyre_store *store = fixture_open(fixture);
    for (uint64_t i = 0; i < THREADS; i++) {
        for (uint64_t j = 0; j < RECORDS; j++)
            assert_true(fixture_has(store, i * 100000 + j));
    }
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 0);
    assert_int_equal(atomic_load(&fixture->log.count), 0);
}

static void threads_share_a_store(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    run_workers(fixture, store);
    vyre_store_close(&store);
    require_all(fixture);
}

static void threads_share_a_file(void **state)
{
    struct fixture *fixture = *state;
    run_workers(fixture, NULL);
    require_all(fixture);
}

static void threads_share_the_memory(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store;
    assert_int_equal(vyre_store_open(NULL, &store, NULL), VYRE_OK);
    run_workers(fixture, store);
    vyre_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(threads_share_a_store),
        FIXTURE_CASE(threads_share_a_file),
        FIXTURE_CASE(threads_share_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
