/*
 * kill_test.c: a writer is killed 200 times at random moments. What the store had confirmed is
 * there afterwards, nothing was set aside, and at most the one record in flight is missing.
 */
#include "store/fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS       200
#define SLEEP_NS    15000000
#define TURN_LENGTH UINT64_C(1000000)
#define SIZE_LIMIT  (UINT64_C(1) << 32) /* nothing is to be evicted, however fast the machine is */

/* What the writer reports, in memory that outlives it. */
struct shared {
    _Atomic uint64_t stored; /* records of this turn whose put returned */
    _Atomic int ready;
};

/* The order of records is that of their numbers; some turns close and open the store as they go. */
static void write_until_killed(struct fixture *fixture, struct shared *shared, uint64_t turn)
{
    struct vyre_store_desc desc = {
        .path = fixture->path, .busy_timeout_ms = 300000, .size_limit_bytes = SIZE_LIMIT};
    struct vyre_store *store = NULL;
    for (uint64_t i = 0;; i++) {
        if (!store && vyre_store_open(&desc, &store, NULL) != VYRE_OK)
            _exit(3);
        if (fixture_put(store, turn * TURN_LENGTH + i) != VYRE_OK)
            _exit(4);
        atomic_store(&shared->stored, i + 1);
        atomic_store(&shared->ready, 1);
        if (turn % 4 == 0 && i % 8 == 7)
            vyre_store_close(&store);
    }
}

static void kill_after(pid_t child, uint64_t turn)
{
    /* A quarter of the turns dies while the store is being opened. */
    struct timespec pause = {.tv_nsec = (long)(fixture_hash(turn).hi % SLEEP_NS)};
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static uint64_t check_turn(struct fixture *fixture, uint64_t turn, uint64_t stored)
{
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_mode(store), VYRE_STORE_FILE);
    for (uint64_t i = 0; i < stored; i++)
        assert_true(fixture_has(store, turn * TURN_LENGTH + i));
    /* The one that was being put may be there, too; nothing behind it. */
    uint64_t in_flight = fixture_has(store, turn * TURN_LENGTH + stored);
    assert_false(fixture_has(store, turn * TURN_LENGTH + stored + 1));
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 0);
    assert_int_equal(atomic_load(&fixture->log.count), 0);
    return stored + in_flight;
}

static void killed_writer_loses_at_most_the_last_record(void **state)
{
    struct fixture *fixture = *state;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    uint64_t records = 0, wrote = 0;
    for (uint64_t turn = 0; turn < KILLS; turn++) {
        atomic_store(&shared->stored, 0);
        atomic_store(&shared->ready, 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_until_killed(fixture, shared, turn);
        for (int i = 0; turn % 4 != 3 && i < 120000 && !atomic_load(&shared->ready); i++)
            usleep(500);
        kill_after(child, turn);
        uint64_t stored = atomic_load(&shared->stored);
        records += check_turn(fixture, turn, stored);
        wrote += stored > 0;
    }
    print_message("%d kills, %d of them during writes, %d records\n", KILLS, (int)wrote,
                  (int)records);
    assert_true(wrote >= KILLS / 2);

    struct vyre_store *store = fixture_open(fixture);
    struct vyre_store_info info;
    struct vyre_store_check check;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.tuning_count + info.pipeline_count, records);
    assert_int_equal(vyre_store_check(store, NULL, NULL, &check, NULL), VYRE_OK);
    assert_int_equal(check.entry_count, records);
    assert_int_equal(check.damaged_count + check.problem_count, 0);
    vyre_store_close(&store);
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_CASE(killed_writer_loses_at_most_the_last_record)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
