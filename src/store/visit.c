/*
 * visit.c: every record of the store, once.
 */
#include <math.h>
#include <string.h>

#include "store/internal.h"

/* ---- rows of one database ---------------------------------------------------------------------
 */

typedef int row_reader(struct vyre_store_db *db, sqlite3_stmt *statement,
                       const struct vyre_store_rows *rows);

static int each(struct vyre_store_db *db, const char *sql, row_reader *reader,
                const struct vyre_store_rows *rows)
{
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement, sql, "");
    if (code != SQLITE_OK)
        return code;
    int result = SQLITE_OK;
    while (result == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        result = reader(db, statement, rows);
    code = vyre_store_sql_end(statement, code);
    return result != SQLITE_OK ? result : code;
}

static int read_device(struct vyre_store_db *db, sqlite3_stmt *statement,
                       const struct vyre_store_rows *rows)
{
    (void)db;
    struct vyre_store_device_row row = {.last_seen = sqlite3_column_int64(statement, 5)};
    struct vyre_store_device *device = &row.device;
    const void *uuid = sqlite3_column_blob(statement, 4);
    if (!uuid || sqlite3_column_bytes(statement, 4) != (int)sizeof device->uuid)
        return SQLITE_OK;
    memcpy(device->uuid, uuid, sizeof device->uuid);
    bool whole = vyre_store_column_hash(statement, 0, &row.signature) &&
                 vyre_store_column_text(statement, 1, device->backend, sizeof device->backend) &&
                 vyre_store_column_text(statement, 2, device->name, sizeof device->name) &&
                 vyre_store_column_text(statement, 3, device->driver, sizeof device->driver);
    return whole ? rows->device(rows->user, &row) : SQLITE_OK;
}

static int read_calibration(struct vyre_store_db *db, sqlite3_stmt *statement,
                            const struct vyre_store_rows *rows)
{
    struct vyre_store_calibration_row row = {.calibration.taken_at =
                                                 sqlite3_column_int64(statement, 1)};
    bool found =
        vyre_store_column_hash(statement, 0, &row.device) &&
        vyre_store_column_text(statement, 2, row.calibration.tool, sizeof row.calibration.tool);
    int code = found ? vyre_store_get_costs(db, &row, &found) : SQLITE_OK;
    return code == SQLITE_OK && found ? rows->calibration(rows->user, &row) : code;
}

static int read_learning(struct vyre_store_db *db, sqlite3_stmt *statement,
                         const struct vyre_store_rows *rows)
{
    (void)db;
    struct vyre_store_learning_row row = {
        .learning = {.candidate = (uint32_t)sqlite3_column_int64(statement, 2),
                     .count = vyre_store_column_count(statement, 3),
                     .updated_at = sqlite3_column_int64(statement, 6)},
        .heat = {sqlite3_column_int64(statement, 7), vyre_store_column_count(statement, 8)},
    };
    bool whole = vyre_store_column_hash(statement, 0, &row.device) &&
                 vyre_store_column_hash(statement, 1, &row.learning.shape) &&
                 vyre_store_column_cost(statement, 4, &row.learning.mean_ns) &&
                 vyre_store_column_cost(statement, 5, &row.learning.deviation_ns);
    return whole ? rows->learning(rows->user, &row) : SQLITE_OK;
}

static int read_entry(struct vyre_store_db *db, sqlite3_stmt *statement,
                      const struct vyre_store_rows *rows)
{
    (void)db;
    struct vyre_store_entry_row row = {
        .entry = {.kind = (enum vyre_store_kind)sqlite3_column_int(statement, 0),
                  .cost_ns = sqlite3_column_double(statement, 3),
                  .updated_at = sqlite3_column_int64(statement, 4),
                  .bytes = sqlite3_column_blob(statement, 6),
                  .size_bytes = (size_t)sqlite3_column_bytes(statement, 6)},
        .heat = {sqlite3_column_int64(statement, 7), vyre_store_column_count(statement, 8)},
    };
    bool whole = vyre_store_column_hash(statement, 1, &row.entry.device) &&
                 vyre_store_column_hash(statement, 2, &row.entry.key) &&
                 vyre_store_column_hash(statement, 5, &row.checksum) &&
                 (row.entry.kind == VYRE_STORE_TUNING || row.entry.kind == VYRE_STORE_PIPELINE) &&
                 isfinite(row.entry.cost_ns);
    return whole ? rows->entry(rows->user, &row) : SQLITE_OK;
}

int vyre_store_each_row(struct vyre_store_db *db, const struct vyre_store_rows *rows)
{
    int code = SQLITE_OK;
    if (rows->device)
        code = each(db, "SELECT id, backend, name, driver, uuid, last_seen FROM device ORDER BY id",
                    read_device, rows);
    if (code == SQLITE_OK && rows->calibration)
        code = each(db, "SELECT device, taken_at, tool FROM calibration ORDER BY device",
                    read_calibration, rows);
    if (code == SQLITE_OK && rows->learning)
        code = each(db,
                    "SELECT device, shape, candidate, count, mean_ns, deviation_ns, updated_at,"
                    " last_used, use_count FROM learning ORDER BY device, shape, candidate",
                    read_learning, rows);
    if (code == SQLITE_OK && rows->entry)
        code = each(db,
                    "SELECT kind, device, key, cost_ns, updated_at, checksum, bytes, last_used,"
                    " use_count FROM entry ORDER BY device, kind, key",
                    read_entry, rows);
    return code;
}

/* ---- both databases ---------------------------------------------------------------------------
 */

/* A code that SQLite does not use: the visitor ends the visit. */
#define ENOUGH (-1)

struct visit {
    const struct vyre_store_visitor *visitor;
    struct vyre_store_db *newer; /* skip what it has too; NULL: nothing */
    bool newer_failed;           /* the code that ended it came from `newer` */
};

/* SQLITE_ROW: the row is in `newer`; SQLITE_OK: it is not. */
static int look_in_newer(struct visit *visit, int code, int64_t count)
{
    visit->newer_failed = code != SQLITE_OK;
    return code == SQLITE_OK && count > 0 ? SQLITE_ROW : code;
}

static int visit_device(void *user, const struct vyre_store_device_row *row)
{
    struct visit *visit = user;
    int64_t count = 0;
    int code = SQLITE_OK;
    if (visit->newer)
        code = vyre_store_sql_number(
            visit->newer, &count, "SELECT count(*) FROM device WHERE id = ?", "h", &row->signature);
    code = look_in_newer(visit, code, count);
    if (code != SQLITE_OK)
        return code == SQLITE_ROW ? SQLITE_OK : code;
    bool more =
        visit->visitor->device(visit->visitor->user, row->signature, &row->device, row->last_seen);
    return more ? SQLITE_OK : ENOUGH;
}

static int visit_calibration(void *user, const struct vyre_store_calibration_row *row)
{
    struct visit *visit = user;
    int64_t count = 0;
    int code = SQLITE_OK;
    if (visit->newer)
        code = vyre_store_sql_number(visit->newer, &count,
                                     "SELECT count(*) FROM calibration WHERE device = ?", "h",
                                     &row->device);
    code = look_in_newer(visit, code, count);
    if (code != SQLITE_OK)
        return code == SQLITE_ROW ? SQLITE_OK : code;
    bool more = visit->visitor->calibration(visit->visitor->user, row->device, &row->calibration);
    return more ? SQLITE_OK : ENOUGH;
}

static int visit_learning(void *user, const struct vyre_store_learning_row *row)
{
    struct visit *visit = user;
    int64_t count = 0;
    int code = SQLITE_OK;
    if (visit->newer)
        code = vyre_store_sql_number(visit->newer, &count,
                                     "SELECT count(*) FROM learning WHERE device = ? AND shape = ?"
                                     " AND candidate = ?",
                                     "hhi", &row->device, &row->learning.shape,
                                     (int64_t)row->learning.candidate);
    code = look_in_newer(visit, code, count);
    if (code != SQLITE_OK)
        return code == SQLITE_ROW ? SQLITE_OK : code;
    bool more =
        visit->visitor->learning(visit->visitor->user, row->device, &row->learning, &row->heat);
    return more ? SQLITE_OK : ENOUGH;
}

static int visit_entry(void *user, const struct vyre_store_entry_row *row)
{
    struct visit *visit = user;
    int64_t count = 0;
    int code = SQLITE_OK;
    if (visit->newer)
        code = vyre_store_sql_number(visit->newer, &count,
                                     "SELECT count(*) FROM entry WHERE device = ? AND kind = ?"
                                     " AND key = ?",
                                     "hih", &row->entry.device, (int64_t)row->entry.kind,
                                     &row->entry.key);
    code = look_in_newer(visit, code, count);
    if (code != SQLITE_OK)
        return code == SQLITE_ROW ? SQLITE_OK : code;
    bool sound = vyre_hash128_equal(vyre_store_seal(&row->entry), row->checksum);
    bool more = visit->visitor->entry(visit->visitor->user, &row->entry, sound, &row->heat);
    return more ? SQLITE_OK : ENOUGH;
}

static int visit_one(struct vyre_store_db *db, struct visit *visit)
{
    const struct vyre_store_visitor *visitor = visit->visitor;
    const struct vyre_store_rows rows = {
        .user = visit,
        .device = visitor->device ? visit_device : NULL,
        .calibration = visitor->calibration ? visit_calibration : NULL,
        .learning = visitor->learning ? visit_learning : NULL,
        .entry = visitor->entry ? visit_entry : NULL,
    };
    int code = vyre_store_sql_exec(db, "BEGIN");
    if (code == SQLITE_OK)
        code = vyre_store_each_row(db, &rows);
    if (!sqlite3_get_autocommit(db->handle))
        (void)!vyre_store_sql_exec(db, "ROLLBACK");
    return code;
}

/* One kind of record after another, each from the memory and from the disk. */
static int visit_kind(struct vyre_store *store, const struct vyre_store_visitor *visitor,
                      bool *out_disk_failed)
{
    struct visit of_memory = {.visitor = visitor};
    struct visit of_disk = {.visitor = visitor,
                            .newer = store->memory_used ? &store->memory : NULL};
    int code = store->memory_used ? visit_one(&store->memory, &of_memory) : SQLITE_OK;
    if (code == SQLITE_OK && store->disk.handle) {
        code = visit_one(&store->disk, &of_disk);
        *out_disk_failed = code != SQLITE_OK && code != ENOUGH && !of_disk.newer_failed;
    }
    return code;
}

enum vyre_status vyre_store_visit(struct vyre_store *store,
                                  const struct vyre_store_visitor *visitor, struct vyre_diag *diag)
{
    const struct vyre_store_visitor kinds[] = {
        {.user = visitor->user, .device = visitor->device},
        {.user = visitor->user, .calibration = visitor->calibration},
        {.user = visitor->user, .learning = visitor->learning},
        {.user = visitor->user, .entry = visitor->entry},
    };
    vyre_store_enter(store);
    int code = SQLITE_OK;
    bool disk_failed = false;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof kinds / sizeof kinds[0]; i++)
        code = visit_kind(store, &kinds[i], &disk_failed);
    if (disk_failed)
        (void)vyre_store_recover_locked(store, code);
    vyre_store_leave(store);
    return code == ENOUGH ? VYRE_OK : vyre_store_failed(code, diag);
}
