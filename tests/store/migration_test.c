/*
 * migration_test.c: a store of version 1 becomes one of version 2 and keeps what it holds.
 *
 * The fixture is the SQL that version 1 had, written out, so that a change of the library's own steps
 * cannot go unnoticed.
 */
#include "store/fixture.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

static const char version_1[] =
    "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
    "BEGIN;"
    "CREATE TABLE device(id BLOB PRIMARY KEY NOT NULL, backend TEXT NOT NULL, name TEXT NOT NULL,"
    " driver TEXT NOT NULL, uuid BLOB NOT NULL, last_seen INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE calibration(device BLOB PRIMARY KEY NOT NULL, taken_at INTEGER NOT NULL,"
    " tool TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE cost(device BLOB NOT NULL, name TEXT NOT NULL, min_ns REAL NOT NULL,"
    " median_ns REAL NOT NULL, spread_ns REAL NOT NULL, samples INTEGER NOT NULL,"
    " noisy INTEGER NOT NULL, PRIMARY KEY(device, name)) WITHOUT ROWID;"
    "CREATE TABLE learning(id INTEGER PRIMARY KEY, device BLOB NOT NULL, shape BLOB NOT NULL,"
    " candidate INTEGER NOT NULL, count INTEGER NOT NULL, mean_ns REAL NOT NULL,"
    " deviation_ns REAL NOT NULL, updated_at INTEGER NOT NULL, UNIQUE(device, shape, candidate));"
    "CREATE TABLE entry(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, device BLOB NOT NULL,"
    " key BLOB NOT NULL, cost_ns REAL NOT NULL, updated_at INTEGER NOT NULL,"
    " checksum BLOB NOT NULL, bytes BLOB NOT NULL, UNIQUE(device, kind, key));"
    "INSERT INTO calibration VALUES(zeroblob(16), 5000, 'vyre 0.0.9');"
    "INSERT INTO cost VALUES(zeroblob(16), 'submit', 1.5, 2, 0.5, 9, 1);"
    "INSERT INTO learning VALUES(1, zeroblob(16), zeroblob(16), 4, 20, 7.5, 0.5, 6000);"
    "INSERT INTO entry VALUES(1, 1, zeroblob(16), zeroblob(16), 3, 7000, x'%s', x'');"
    "PRAGMA application_id = 0x56797265; PRAGMA user_version = 1;"
    "COMMIT;";

/* Kind 1, no device, no key, a cost of 3, XXH3-128 of no bytes. */
static const unsigned char sealed[64] = {
    [7] = 1,     [40] = 0x40, [41] = 0x08, [48] = 0x99, [49] = 0xaa, [50] = 0x06, [51] = 0xd3,
    [52] = 0x01, [53] = 0x47, [54] = 0x98, [55] = 0xd8, [56] = 0x60, [57] = 0x01, [58] = 0xc3,
    [59] = 0x24, [60] = 0x46, [61] = 0x8d, [62] = 0x49, [63] = 0x7f};

static void make_version_1(struct fixture *fixture)
{
    sqlite3 *handle;
    char checksum[VYRE_HASH128_TEXT_BYTES], sql[sizeof version_1 + VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(vyre_hash128(sealed, sizeof sealed), checksum);
    const char *mark = strstr(version_1, "%s");
    assert_non_null(mark);
    snprintf(sql, sizeof sql, "%.*s%s%s", (int)(mark - version_1), version_1, checksum, mark + 2);
    assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

struct seen {
    struct vyre_store_heat learning, entry;
};

static bool on_learning(void *user, struct vyre_hash128 device,
                        const struct vyre_store_learning *learning,
                        const struct vyre_store_heat *heat)
{
    (void)device;
    (void)learning;
    ((struct seen *)user)->learning = *heat;
    return true;
}

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    (void)entry;
    (void)matches_checksum;
    ((struct seen *)user)->entry = *heat;
    return true;
}

static void require_migrated(struct fixture *fixture)
{
    struct vyre_store *store = fixture_open(fixture);
    const struct vyre_hash128 zero = {0, 0};
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.mode, VYRE_STORE_FILE);
    assert_int_equal(info.schema_version, 2);
    struct seen seen = {0};
    struct vyre_store_visitor visitor = {.user = &seen, .learning = on_learning, .entry = on_entry};
    assert_int_equal(vyre_store_visit(store, &visitor, NULL), VYRE_OK);
    assert_int_equal(seen.learning.last_used, 6000);
    assert_int_equal(seen.learning.use_count, 1);
    assert_int_equal(seen.entry.last_used, 7000);

    struct vyre_store_calibration calibration;
    assert_int_equal(vyre_store_get_calibration(store, zero, &calibration, NULL), VYRE_OK);
    assert_int_equal(calibration.taken_at, 5000);
    assert_true(calibration.costs[0].noisy && calibration.costs[0].min_ns == 1.5);
    struct vyre_store_learning learning;
    size_t count;
    assert_int_equal(vyre_store_get_learnings(store, zero, zero, &learning, 1, &count, NULL),
                     VYRE_OK);
    assert_true(learning.candidate == 4 && learning.count == 20 && learning.mean_ns == 7.5);
    struct vyre_store_entry entry;
    assert_int_equal(
        vyre_store_get_entry(store, VYRE_STORE_TUNING, zero, zero, NULL, 0, &entry, NULL), VYRE_OK);
    assert_true(entry.cost_ns == 3);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    assert_true(fixture_has(store, 1));
    vyre_store_close(&store);
    assert_int_equal(atomic_load(&fixture->log.count), 0);
    assert_int_equal(fixture_asides(fixture), 0);
}

static void version_1_keeps_its_records(void **state)
{
    struct fixture *fixture = *state;
    make_version_1(fixture);
    require_migrated(fixture);
}

/* The tables of a migrated store are those of a new one. */
static void migrated_tables_are_those_of_a_new_store(void **state)
{
    struct fixture *fixture = *state;
    char *tables[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        (void)fixture_files(fixture, "", true);
        if (i == 1)
            make_version_1(fixture);
        struct vyre_store *store = fixture_open(fixture);
        vyre_store_close(&store);
        sqlite3 *handle;
        sqlite3_stmt *statement;
        assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(handle,
                                            "SELECT group_concat(sql, ';') FROM"
                                            " (SELECT sql FROM sqlite_schema ORDER BY name)",
                                            -1, &statement, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        tables[i] = strdup((const char *)sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        sqlite3_close(handle);
    }
    assert_string_equal(tables[0], tables[1]);
    free(tables[0]);
    free(tables[1]);
}

static void two_processes_migrate_once(void **state)
{
    struct fixture *fixture = *state;
    for (int turn = 0; turn < 20; turn++) {
        (void)fixture_files(fixture, "", true);
        make_version_1(fixture);
        pid_t children[2];
        for (int i = 0; i < 2; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) {
                struct vyre_store *store = fixture_open(fixture);
                bool whole = fixture_mode(store) == VYRE_STORE_FILE;
                vyre_store_close(&store);
                _exit(whole && atomic_load(&fixture->log.count) == 0 ? 0 : 1);
            }
        }
        for (int i = 0; i < 2; i++) {
            int status;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        require_migrated(fixture);
    }
}

static void read_only_does_not_migrate(void **state)
{
    struct fixture *fixture = *state;
    make_version_1(fixture);
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.read_only = true;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_mode(store), VYRE_STORE_MEMORY);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_MEMORY_ONLY), 1);
    vyre_store_close(&store);
    fixture_forget_log(fixture);
    require_migrated(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(version_1_keeps_its_records),
        FIXTURE_CASE(migrated_tables_are_those_of_a_new_store),
        FIXTURE_CASE(two_processes_migrate_once),
        FIXTURE_CASE(read_only_does_not_migrate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
