/*
 * visit_test.c: reading the whole store when one of its two databases fails.
 */
#include "store/fixture.h"

#include <sqlite3.h>

#include "store/internal.h"

static void execute(sqlite3 *handle, const char *sql)
{
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
}

static bool count_learning(void *user, struct vyre_hash128 device,
                           const struct vyre_store_learning *learning,
                           const struct vyre_store_heat *heat)
{
    (void)device;
    (void)learning;
    (void)heat;
    ++*(unsigned *)user;
    return true;
}

/* A store with one learning in the file and another that waits in memory. */
static struct vyre_store *open_divided(struct fixture *fixture)
{
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.busy_timeout_ms = 1;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    struct vyre_store_learning learning = {.shape = fixture_hash(1), .mean_ns = 1};
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(0), &learning, 1, NULL), VYRE_OK);
    sqlite3 *holder;
    assert_int_equal(sqlite3_open(fixture->path, &holder), SQLITE_OK);
    execute(holder, "BEGIN IMMEDIATE");
    learning.shape = fixture_hash(2);
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(0), &learning, 1, NULL), VYRE_OK);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);
    return store;
}

static void visit_of_two_databases_sees_both(void **state)
{
    struct vyre_store *store = open_divided(*state);
    unsigned count = 0;
    const struct vyre_store_visitor visitor = {.user = &count, .learning = count_learning};
    assert_int_equal(vyre_store_visit(store, &visitor, NULL), VYRE_OK);
    assert_int_equal(count, 2);
    vyre_store_close(&store);
}

/* The temporary table is gone once the file is opened anew. */
static void failure_of_the_memory_leaves_the_file_alone(void **state)
{
    struct vyre_store *store = open_divided(*state);
    execute(store->disk.handle, "CREATE TEMP TABLE mark (x)");
    execute(store->memory.handle, "DROP TABLE learning");
    unsigned count = 0;
    const struct vyre_store_visitor visitor = {.user = &count, .learning = count_learning};
    struct vyre_diag diag;
    assert_int_not_equal(vyre_store_visit(store, &visitor, &diag), VYRE_OK);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_FAILED);
    execute(store->disk.handle, "SELECT * FROM mark");
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(*state), 0);
}

static void failure_of_the_file_opens_it_anew(void **state)
{
    struct vyre_store *store = open_divided(*state);
    execute(store->disk.handle, "CREATE TEMP TABLE mark (x)");
    execute(store->disk.handle, "DROP TABLE learning");
    unsigned count = 0;
    const struct vyre_store_visitor visitor = {.user = &count, .learning = count_learning};
    assert_int_not_equal(vyre_store_visit(store, &visitor, NULL), VYRE_OK);
    assert_int_equal(sqlite3_exec(store->disk.handle, "SELECT * FROM mark", NULL, NULL, NULL),
                     SQLITE_ERROR);
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(*state), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(visit_of_two_databases_sees_both),
        FIXTURE_CASE(failure_of_the_memory_leaves_the_file_alone),
        FIXTURE_CASE(failure_of_the_file_opens_it_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
