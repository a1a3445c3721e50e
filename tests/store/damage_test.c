/*
 * damage_test.c: files that are no stores, or not any more. They are set aside, reported once, and a new
 * store works; whatever the file was, the entries that come out are those that went in.
 */
#include "store/fixture.h"

#include <fcntl.h>
#include <sqlite3.h>

#define RECORDS 60

/* Sanitizers make a case several times slower: they take every sixth of those that are many. */
#ifdef VYRE_TEST_SANITIZED
#define STEP 6
#else
#define STEP 1
#endif

static void fill(struct fixture *fixture)
{
    struct vyre_store *store = fixture_open(fixture);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    vyre_store_close(&store);
}

static void start_over(struct fixture *fixture)
{
    (void)fixture_files(fixture, "", true);
    fixture_forget_log(fixture);
}

/* Opens what is there; it must work, and lose no record that it took. */
static void require_new_store(struct fixture *fixture, enum vyre_diag_id id)
{
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_mode(store), VYRE_STORE_FILE);
    assert_int_equal(fixture_logged(fixture, id), 1);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_false(fixture_has(store, i));
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 1);

    fixture_forget_log(fixture);
    store = fixture_open(fixture);
    assert_true(fixture_has(store, 1));
    assert_int_equal(atomic_load(&fixture->log.count), 0);
    vyre_store_close(&store);
}

static void run_sql(struct fixture *fixture, const char *sql)
{
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static void truncated_file_is_set_aside(void **state)
{
    struct fixture *fixture = *state;
    fill(fixture);
    off_t whole = fixture_size(fixture->path);
    assert_true(whole > 100000);
    off_t sizes[64] = {2, 15, 16, 99, 100, 511, 512, 1024, 4095, 4096, 4097, 8192, whole - 1};
    size_t count = 13;
    for (; count < 40; count++)
        sizes[count] = (off_t)(fixture_hash(count).lo % (uint64_t)(whole - 3)) + 2;
    for (; count < 64; count++)
        sizes[count] = whole / 4096 * (off_t)(count - 39) / 26 * 4096;
    for (size_t i = 0; i < count; i += STEP) {
        start_over(fixture);
        fill(fixture);
        assert_int_equal(fixture_size(fixture->path), whole);
        assert_true(sizes[i] > 0 && sizes[i] < whole);
        assert_int_equal(truncate(fixture->path, sizes[i]), 0);
        require_new_store(fixture, VYRE_DIAG_STORE_SET_ASIDE);
    }
}

/* SQLite takes a file of one byte for an empty one. */
static void empty_file_becomes_a_store(void **state)
{
    struct fixture *fixture = *state;
    for (off_t size = 0; size <= 1; size++) {
        start_over(fixture);
        int descriptor = open(fixture->path, O_CREAT | O_WRONLY, 0600);
        assert_true(descriptor >= 0);
        assert_int_equal(ftruncate(descriptor, size), 0);
        close(descriptor);
        fill(fixture);
        struct vyre_store *store = fixture_open(fixture);
        assert_true(fixture_has(store, 1));
        vyre_store_close(&store);
        assert_int_equal(atomic_load(&fixture->log.count), 0);
        assert_int_equal(fixture_asides(fixture), 0);
    }
}

static void write_garbage(const char *path, off_t offset, size_t size, uint64_t seed)
{
    int descriptor = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(descriptor >= 0);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = fixture_hash(seed + at).lo;
        assert_int_equal(pwrite(descriptor, &word, sizeof word, offset + (off_t)at), sizeof word);
    }
    close(descriptor);
}

static void garbage_is_set_aside(void **state)
{
    struct fixture *fixture = *state;
    const size_t sizes[] = {8, 104, 512, 4096, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        start_over(fixture);
        write_garbage(fixture->path, 0, sizes[i], i);
        require_new_store(fixture, VYRE_DIAG_STORE_SET_ASIDE);
    }
}

static void garbage_beside_a_log_is_set_aside_with_it(void **state)
{
    struct fixture *fixture = *state;
    char wal[128];
    snprintf(wal, sizeof wal, "%s-wal", fixture->path);
    write_garbage(fixture->path, 0, 8192, 1);
    write_garbage(wal, 0, 8192, 2);
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_SET_ASIDE), 1);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    assert_true(fixture_has(store, 1));
    vyre_store_close(&store);
}

/* Pages overwritten inside: found when the page is met, at the latest. Never a wrong byte. */
static void overwritten_page_gives_no_wrong_bytes(void **state)
{
    struct fixture *fixture = *state;
    fill(fixture);
    off_t pages = fixture_size(fixture->path) / 4096;
    unsigned replaced = 0, missing = 0;
    for (off_t page = 0; page < pages; page += STEP) {
        start_over(fixture);
        fill(fixture);
        write_garbage(fixture->path, page * 4096, 4096, (uint64_t)page);
        struct vyre_store *store = fixture_open(fixture);
        for (uint64_t i = 0; i < RECORDS; i++)
            missing += !fixture_has(store, i);
        for (uint64_t i = 100; i < 100 + RECORDS; i++)
            assert_int_equal(fixture_put(store, i), VYRE_OK);
        /* A page that is met late takes the file with it: what was put into it goes. */
        uint64_t kept = 0;
        for (uint64_t i = 100; i < 100 + RECORDS; i++)
            kept += fixture_has(store, i);
        assert_int_equal(fixture_mode(store), VYRE_STORE_FILE);
        assert_true(kept == RECORDS || fixture_asides(fixture) > 0);
        vyre_store_close(&store);
        replaced += fixture_asides(fixture) > 0;
    }
    print_message("%d pages: %u files set aside, %u entries not found\n", (int)pages, replaced,
                  missing);
    assert_true(replaced > 0 && missing > 0);
}

static void future_version_is_set_aside(void **state)
{
    struct fixture *fixture = *state;
    fill(fixture);
    run_sql(fixture, "PRAGMA user_version = 3; ALTER TABLE entry RENAME COLUMN bytes TO data");
    require_new_store(fixture, VYRE_DIAG_STORE_VERSION);
}

static void wrong_tables_are_set_aside(void **state)
{
    struct fixture *fixture = *state;
    fill(fixture);
    run_sql(fixture, "ALTER TABLE entry RENAME COLUMN checksum TO sum");
    require_new_store(fixture, VYRE_DIAG_STORE_SET_ASIDE);
}

static void foreign_database_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    run_sql(fixture, "CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')");
    off_t size = fixture_size(fixture->path);
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_mode(store), VYRE_STORE_MEMORY);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_FOREIGN), 1);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    assert_true(fixture_has(store, 1));
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 0);
    assert_int_equal(fixture_size(fixture->path), size);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
}

static void read_only_leaves_a_broken_file_alone(void **state)
{
    struct fixture *fixture = *state;
    write_garbage(fixture->path, 0, 4096, 1);
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.read_only = true;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_mode(store), VYRE_STORE_MEMORY);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_DAMAGED), 1);
    vyre_store_close(&store);
    assert_int_equal(fixture_files(fixture, "", false), 1);
}

static void three_files_are_kept(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t i = 0; i < 7; i++) {
        write_garbage(fixture->path, 0, 4096, i);
        struct vyre_store *store = fixture_open(fixture);
        vyre_store_close(&store);
        assert_int_equal(fixture_asides(fixture), i < 3 ? i + 1 : 3);
    }
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_SET_ASIDE), 7);
}

static void checksum_mismatch_removes_the_entry(void **state)
{
    struct fixture *fixture = *state;
    fill(fixture);
    run_sql(fixture, "UPDATE entry SET bytes = zeroblob(length(bytes)) WHERE cost_ns = 5;"
                     "UPDATE entry SET bytes = 17 WHERE cost_ns = 6");
    struct vyre_store *store = fixture_open(fixture);
    struct vyre_store_check check;
    assert_int_equal(vyre_store_check(store, NULL, NULL, &check, NULL), VYRE_OK);
    assert_int_equal(check.damaged_count, 2);
    assert_int_equal(check.entry_count, RECORDS);
    unsigned char bytes[8192];
    struct vyre_store_entry entry;
    struct vyre_diag diag;
    assert_int_equal(vyre_store_get_entry(store, VYRE_STORE_PIPELINE, fixture_hash(0),
                                          fixture_hash(5), bytes, sizeof bytes, &entry, &diag),
                     VYRE_NOT_FOUND);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_CHECKSUM);
    assert_int_equal(entry.size_bytes, 0);
    assert_int_equal(vyre_store_get_entry(store, VYRE_STORE_PIPELINE, fixture_hash(0),
                                          fixture_hash(5), bytes, sizeof bytes, &entry, &diag),
                     VYRE_NOT_FOUND);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_NOT_FOUND);
    assert_false(fixture_has(store, 6));
    assert_true(fixture_has(store, 7));
    assert_int_equal(vyre_store_check(store, NULL, NULL, &check, NULL), VYRE_OK);
    assert_int_equal(check.damaged_count, 0);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_CHECKSUM), 2);
    vyre_store_close(&store);
}

static void removed_file_is_begun_again(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    (void)fixture_files(fixture, "", true);
    assert_int_equal(fixture_put(store, 2), VYRE_OK);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    assert_true(fixture_has(store, 2));
    assert_false(fixture_has(store, 1));
    vyre_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(truncated_file_is_set_aside),
        FIXTURE_CASE(empty_file_becomes_a_store),
        FIXTURE_CASE(garbage_is_set_aside),
        FIXTURE_CASE(garbage_beside_a_log_is_set_aside_with_it),
        FIXTURE_CASE(overwritten_page_gives_no_wrong_bytes),
        FIXTURE_CASE(future_version_is_set_aside),
        FIXTURE_CASE(wrong_tables_are_set_aside),
        FIXTURE_CASE(foreign_database_is_left_alone),
        FIXTURE_CASE(read_only_leaves_a_broken_file_alone),
        FIXTURE_CASE(three_files_are_kept),
        FIXTURE_CASE(checksum_mismatch_removes_the_entry),
        FIXTURE_CASE(removed_file_is_begun_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
