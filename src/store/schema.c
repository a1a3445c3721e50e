/*
 * schema.c: the tables of the store, and their migrations.
 */
#include "store/schema.h"

#include <stdio.h>

#include <vyre/store.h>

/* steps[n] turns version n into version n + 1. A released step never changes. */
static const char *const steps[] = {
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
    " checksum BLOB NOT NULL, bytes BLOB NOT NULL, UNIQUE(device, kind, key));",

    /* Heat: an old record that was never counted starts as used once, when it was written. */
    "ALTER TABLE learning ADD COLUMN last_used INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE learning ADD COLUMN use_count INTEGER NOT NULL DEFAULT 1;"
    "UPDATE learning SET last_used = updated_at;"
    "ALTER TABLE entry ADD COLUMN last_used INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE entry ADD COLUMN use_count INTEGER NOT NULL DEFAULT 1;"
    "UPDATE entry SET last_used = updated_at;",
};
_Static_assert(sizeof steps / sizeof steps[0] == VYRE_STORE_SCHEMA_VERSION,
               "one step for each version");

int vyre_store_schema_read(struct vyre_store_db *db, struct vyre_store_schema *out_schema)
{
    *out_schema = (struct vyre_store_schema){0};
    int code = vyre_store_sql_number(db, &out_schema->application_id, "PRAGMA application_id", "");
    if (code == SQLITE_OK)
        code = vyre_store_sql_number(db, &out_schema->version, "PRAGMA user_version", "");
    if (code == SQLITE_OK)
        code = vyre_store_sql_number(db, &out_schema->table_count,
                                     "SELECT count(*) FROM sqlite_schema", "");
    return code;
}

static int take_steps(struct vyre_store_db *db, void *argument)
{
    (void)argument;
    /* Another process may have taken the steps while this one waited for the lock. */
    int64_t version;
    int code = vyre_store_sql_number(db, &version, "PRAGMA user_version", "");
    if (version < 0)
        return SQLITE_CORRUPT;
    for (int64_t i = version; code == SQLITE_OK && i < VYRE_STORE_SCHEMA_VERSION; i++)
        code = vyre_store_sql_exec(db, steps[i]);
    if (code != SQLITE_OK || version >= VYRE_STORE_SCHEMA_VERSION)
        return code;
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             VYRE_STORE_APPLICATION_ID, VYRE_STORE_SCHEMA_VERSION);
    return vyre_store_sql_exec(db, marks);
}

int vyre_store_schema_migrate(struct vyre_store_db *db)
{
    return vyre_store_sql_transact(db, take_steps, NULL);
}

int vyre_store_schema_probe(struct vyre_store_db *db)
{
    static const char *const probes[] = {
        "SELECT id, backend, name, driver, uuid, last_seen FROM device LIMIT 0",
        "SELECT device, taken_at, tool FROM calibration LIMIT 0",
        "SELECT device, name, min_ns, median_ns, spread_ns, samples, noisy FROM cost LIMIT 0",
        "SELECT id, device, shape, candidate, count, mean_ns, deviation_ns, updated_at, last_used,"
        " use_count FROM learning LIMIT 0",
        "SELECT id, kind, device, key, cost_ns, updated_at, checksum, bytes, last_used, use_count"
        " FROM entry LIMIT 0",
    };
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof probes / sizeof probes[0]; i++)
        code = vyre_store_sql_exec(db, probes[i]);
    return code;
}
