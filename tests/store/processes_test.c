/*
 * processes_test.c: several processes with one store.
 */
#include "store/fixture.h"

#include <sqlite3.h>
#include <sys/wait.h>

#define PROCESSES 2
#define RECORDS   500

static void wait_for(const pid_t *children, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* From the first moment: both find no file. Some records are learnings, in lists. */
static int write_all(struct fixture *fixture, unsigned process)
{
    struct vyre_store *store = fixture_open(fixture);
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t number = process * 10000 + i;
        struct vyre_store_learning learnings[2] = {
            {.shape = fixture_hash(number), .candidate = 0, .mean_ns = 1},
            {.shape = fixture_hash(number), .candidate = process, .mean_ns = 2}};
        if (fixture_put(store, number) != VYRE_OK ||
            vyre_store_put_learnings(store, fixture_hash(0), learnings, 2, NULL) != VYRE_OK)
            return 1;
        if (!fixture_has(store, number))
            return 2;
    }
    vyre_store_close(&store);
    return fixture_logged(fixture, VYRE_DIAG_STORE_SET_ASIDE) == 0 &&
                   fixture_logged(fixture, VYRE_DIAG_STORE_MEMORY_ONLY) == 0
               ? 0
               : 3;
}

static void two_writers_lose_nothing(void **state)
{
    struct fixture *fixture = *state;
    pid_t children[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(write_all(fixture, i + 1));
    }
    wait_for(children, PROCESSES);
    struct vyre_store *store = fixture_open(fixture);
    for (unsigned process = 1; process <= PROCESSES; process++) {
        for (uint64_t i = 0; i < RECORDS; i++) {
            struct vyre_store_learning found[2];
            size_t count;
            uint64_t number = process * 10000 + i;
            assert_true(fixture_has(store, number));
            assert_int_equal(vyre_store_get_learnings(store, fixture_hash(0), fixture_hash(number),
                                                      found, 2, &count, NULL),
                             VYRE_OK);
            assert_int_equal(count, 2);
            assert_int_equal(found[1].candidate, process);
        }
    }
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.tuning_count + info.pipeline_count, PROCESSES * RECORDS);
    assert_int_equal(info.learning_count, PROCESSES * RECORDS * 2);
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 0);
}

/* Another process holds the lock for longer than the store waits. */
static void held_lock_keeps_records_until_it_is_free(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.busy_timeout_ms = 1;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_put(store, 0), VYRE_OK);
    sqlite3 *holder;
    assert_int_equal(sqlite3_open(fixture->path, &holder), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (uint64_t i = 1; i <= 20; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    struct vyre_diag diag;
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.waiting_count, 20);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_BUSY), 1);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
    for (uint64_t i = 0; i <= 20; i++)
        assert_true(fixture_has(store, i));
    assert_int_equal(vyre_store_flush(store, &diag), VYRE_BUSY);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_BUSY);
    const struct vyre_store_prune_desc all = {.all = true};
    assert_int_equal(vyre_store_prune(store, &all, NULL, NULL), VYRE_BUSY);
    for (uint64_t i = 21; i <= 30; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);

    assert_int_equal(sqlite3_exec(holder, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);
    assert_int_equal(fixture_put(store, 31), VYRE_OK);
    vyre_store_get_info(store, &info);
    assert_int_equal(info.waiting_count, 0);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    for (uint64_t i = 21; i <= 31; i++)
        assert_true(fixture_has(store, i));
    vyre_store_close(&store);
}

/* What waits in memory does not undo what another process has written since. */
static void waiting_records_leave_newer_ones_alone(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *late, *other;
    desc.busy_timeout_ms = 1;
    desc.learnings_limit = 10;
    assert_int_equal(vyre_store_open(&desc, &late, NULL), VYRE_OK);
    assert_int_equal(vyre_store_open(&desc, &other, NULL), VYRE_OK);
    const struct vyre_store_device device = {.backend = "cpu", .name = "x", .driver = "1"};
    struct vyre_hash128 signature;
    assert_int_equal(vyre_store_put_device(late, &device, &signature, NULL), VYRE_OK);
    struct vyre_store_learning learnings[10];
    memset(learnings, 0, sizeof learnings);
    for (size_t i = 0; i < 10; i++) {
        learnings[i].shape.lo = i + 1;
        learnings[i].mean_ns = 1;
        learnings[i].updated_at = 1000;
    }
    assert_int_equal(vyre_store_put_learnings(other, signature, learnings, 10, NULL), VYRE_OK);

    sqlite3 *holder;
    assert_int_equal(sqlite3_open(fixture->path, &holder), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct vyre_store_calibration calibration = {.taken_at = 100, .tool = "old", .cost_count = 1};
    snprintf(calibration.costs[0].name, sizeof calibration.costs[0].name, "plain");
    struct vyre_store_entry entry = {.kind = VYRE_STORE_TUNING,
                                     .device = signature,
                                     .key = {1, 2},
                                     .bytes = "old",
                                     .size_bytes = 3,
                                     .updated_at = 100};
    assert_int_equal(vyre_store_put_calibration(late, signature, &calibration, NULL), VYRE_OK);
    assert_int_equal(vyre_store_put_entry(late, &entry, NULL), VYRE_OK);
    for (size_t i = 0; i < 10; i++)
        learnings[i].shape.lo += 1000;
    assert_int_equal(vyre_store_put_learnings(late, signature, learnings, 10, NULL), VYRE_OK);
    assert_int_equal(sqlite3_exec(holder, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);

    calibration.taken_at = 200;
    snprintf(calibration.tool, sizeof calibration.tool, "new");
    entry.bytes = "new";
    entry.updated_at = 200;
    assert_int_equal(vyre_store_put_calibration(other, signature, &calibration, NULL), VYRE_OK);
    assert_int_equal(vyre_store_put_entry(other, &entry, NULL), VYRE_OK);
    assert_int_equal(vyre_store_flush(late, NULL), VYRE_OK);

    char bytes[8] = "";
    struct vyre_store_entry found;
    struct vyre_store_calibration kept;
    struct vyre_store_info info;
    assert_int_equal(vyre_store_get_calibration(other, signature, &kept, NULL), VYRE_OK);
    assert_string_equal(kept.tool, "new");
    assert_int_equal(vyre_store_get_entry(other, VYRE_STORE_TUNING, signature, entry.key, bytes,
                                          sizeof bytes, &found, NULL),
                     VYRE_OK);
    assert_memory_equal(bytes, "new", 3);
    vyre_store_get_info(other, &info);
    assert_int_equal(info.learning_count, 10);
    vyre_store_close(&late);
    vyre_store_close(&other);
}

/* The file is locked when the store is opened, too. */
static void lock_held_at_open_keeps_records_until_it_is_free(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_put(store, 0), VYRE_OK);
    vyre_store_close(&store);
    sqlite3 *holder;
    assert_int_equal(sqlite3_open(fixture->path, &holder), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(holder, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
        SQLITE_OK);
    struct vyre_store_desc desc = fixture_desc(fixture);
    desc.busy_timeout_ms = 1;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.reason.id, VYRE_DIAG_STORE_BUSY);
    assert_int_equal(info.schema_version, 0);
    const struct vyre_store_prune_desc all = {.all = true};
    assert_int_equal(vyre_store_prune(store, &all, NULL, NULL), VYRE_BUSY);
    for (uint64_t i = 1; i <= 20; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    for (uint64_t i = 1; i <= 20; i++)
        assert_true(fixture_has(store, i));
    assert_int_equal(vyre_store_flush(store, NULL), VYRE_BUSY);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_BUSY), 1);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);
    assert_int_equal(vyre_store_flush(store, NULL), VYRE_OK);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    for (uint64_t i = 0; i <= 20; i++)
        assert_true(fixture_has(store, i));
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 0);
}

/* What a reader that comes too late sees: no empty store, but one that it could not open. */
static void lock_held_at_open_is_reported_to_a_reader(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_put(store, 0), VYRE_OK);
    vyre_store_close(&store);
    sqlite3 *holder;
    assert_int_equal(sqlite3_open(fixture->path, &holder), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder,
                                  "PRAGMA locking_mode = EXCLUSIVE; DELETE FROM calibration", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    struct vyre_store_desc desc = fixture_desc(fixture);
    desc.read_only = true;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.mode, VYRE_STORE_MEMORY);
    assert_int_equal(info.reason.id, VYRE_DIAG_STORE_BUSY);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_BUSY), 1);
    vyre_store_close(&store);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);
}

/* Several processes find the same broken file; one sets it aside, and none loses what it puts. */
static void broken_file_is_set_aside_once(void **state)
{
    struct fixture *fixture = *state;
    FILE *file = fopen(fixture->path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fputs("not a database ", file);
    fclose(file);
    pid_t children[4];
    for (unsigned i = 0; i < 4; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            struct vyre_store *store = fixture_open(fixture);
            bool stored = fixture_put(store, i) == VYRE_OK;
            vyre_store_close(&store);
            _exit(stored ? 0 : 1);
        }
    }
    wait_for(children, 4);
    assert_int_equal(fixture_asides(fixture), 1);
    struct vyre_store *store = fixture_open(fixture);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(fixture_has(store, i));
    vyre_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(two_writers_lose_nothing),
        FIXTURE_CASE(held_lock_keeps_records_until_it_is_free),
        FIXTURE_CASE(waiting_records_leave_newer_ones_alone),
        FIXTURE_CASE(lock_held_at_open_keeps_records_until_it_is_free),
        FIXTURE_CASE(lock_held_at_open_is_reported_to_a_reader),
        FIXTURE_CASE(broken_file_is_set_aside_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
