/*
 * prune.c: removing records on purpose.
 */
#include "store/internal.h"

struct prune {
    const struct vyre_store_prune_desc *desc;
    uint64_t removed;
    const struct vyre_store_db *ran_on; /* the last one it ran on */
};

/* One statement per table. ?1 the time, ?2 the device, ?3 whether any device will do. */
static const char *const statements[] = {
    "DELETE FROM entry WHERE last_used < ?1 AND (?3 OR device = ?2)",
    "DELETE FROM learning WHERE last_used < ?1 AND (?3 OR device = ?2)",
    "DELETE FROM calibration WHERE taken_at < ?1 AND (?3 OR device = ?2)",
    "DELETE FROM cost WHERE device NOT IN (SELECT device FROM calibration)",
    ("DELETE FROM device WHERE last_seen < ?1 AND (?3 OR id = ?2)"
     " AND id NOT IN (SELECT device FROM entry) AND id NOT IN (SELECT device FROM learning)"
     " AND id NOT IN (SELECT device FROM calibration)"),
};
#define COST_STATEMENT 3 /* costs are parts of calibrations and are not counted */

static int prune_rows(struct vyre_store_db *db, struct prune *prune)
{
    const struct vyre_store_prune_desc *desc = prune->desc;
    bool any_device = desc->device.lo == 0 && desc->device.hi == 0;
    if (!desc->all && desc->unused_since == 0 && any_device)
        return SQLITE_OK;
    int64_t before = desc->unused_since != 0 ? desc->unused_since : INT64_MAX;
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof statements / sizeof statements[0]; i++) {
        if (i == COST_STATEMENT) {
            code = vyre_store_sql_exec(db, statements[i]);
            continue;
        }
        code = vyre_store_sql_run(db, statements[i], "ihi", before, &desc->device,
                                  (int64_t)any_device);
        if (code == SQLITE_OK)
            prune->removed += (uint64_t)sqlite3_changes(db->handle);
    }
    return code;
}

static int prune_all(struct vyre_store_db *db, void *argument)
{
    struct prune *prune = argument;
    prune->removed = 0;
    prune->ran_on = db;
    uint64_t cooled = 0;
    int code = prune_rows(db, prune);
    if (code == SQLITE_OK && prune->desc->size_bytes > 0)
        code = vyre_store_cool(db, prune->desc->size_bytes, &cooled);
    prune->removed += cooled;
    return code == SQLITE_OK ? vyre_store_sql_exec(db, "PRAGMA incremental_vacuum") : code;
}

enum vyre_status vyre_store_prune(struct vyre_store *store,
                                  const struct vyre_store_prune_desc *desc, uint64_t *out_removed,
                                  struct vyre_diag *diag)
{
    if (out_removed)
        *out_removed = 0;
    struct prune prune = {.desc = desc};
    /* Records waiting in memory are written to the disk first, or pruned in memory. */
    enum vyre_status status = vyre_store_write(store, prune_all, &prune, diag);
    vyre_store_enter(store);
    if (status == VYRE_OK && store->state == VYRE_STORE_DISK_OPEN && !store->disk_read_only)
        (void)!vyre_store_sql_exec(&store->disk, "PRAGMA wal_checkpoint(TRUNCATE)");
    /* Also if it was locked from the start and is not open at all. */
    bool busy = store->desc.path && prune.ran_on != &store->disk;
    bool refused = store->state == VYRE_STORE_DISK_GONE || store->desc.read_only;
    struct vyre_diag reason = store->reason;
    vyre_store_leave(store);
    if (status == VYRE_OK && refused && store->desc.path) {
        if (reason.id == VYRE_DIAG_NONE)
            return vyre_diag_set(diag, VYRE_DIAG_STORE_MEMORY_ONLY, NULL, 0,
                                 "the store is open for reading only");
        if (diag)
            *diag = reason;
        return reason.status;
    }
    if (status == VYRE_OK && busy)
        return vyre_store_failed(SQLITE_BUSY, diag);
    if (status == VYRE_OK && out_removed)
        *out_removed = prune.removed;
    return status;
}
