/*
 * heat.c: how large the store is, which records are cold, and which are removed to make room.
 *
 * Heat is uses divided by days since the last use, plus one: a record used often stays for a while,
 * and even the hottest cools. Learnings and entries are removed before calibrations, which are
 * expensive to measure and small.
 */
#include "store/internal.h"

#define COLD_AT_ONCE 256

/* The size of a learning with its row and index, and of an entry without its bytes. */
#define ROW_BYTES 200

/*
 * Room is made for more than one record at a time, because finding the coldest reads all of them.
 */
#define SPARE_SHARE 8

/* Pages of indices that a record may need besides its own. */
#define SLACK_BYTES 16384

int vyre_store_size(struct vyre_store_db *db, bool with_free, uint64_t *out_bytes)
{
    int64_t pages, page_bytes, free_pages = 0;
    int code = vyre_store_sql_number(db, &pages, "PRAGMA page_count", "");
    if (code == SQLITE_OK)
        code = vyre_store_sql_number(db, &page_bytes, "PRAGMA page_size", "");
    if (code == SQLITE_OK && !with_free)
        code = vyre_store_sql_number(db, &free_pages, "PRAGMA freelist_count", "");
    *out_bytes = code == SQLITE_OK && pages > free_pages
                     ? (uint64_t)(pages - free_pages) * (uint64_t)page_bytes
                     : 0;
    return code;
}

/* ---- the coldest ------------------------------------------------------------------------------
 */

struct cold_row {
    bool is_entry;
    int64_t id;
    uint64_t bytes;
};

static int find_coldest(struct vyre_store_db *db, struct cold_row *rows, size_t *out_count)
{
    *out_count = 0;
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(
        db, &statement,
        "SELECT is_entry, id, bytes FROM"
        " (SELECT 0 AS is_entry, id, 0 AS bytes, use_count, last_used FROM learning UNION ALL"
        "  SELECT 1, id, length(bytes), use_count, last_used FROM entry)"
        " ORDER BY use_count / (1.0 + max(0, ?1 - last_used) / 86400.0), last_used, id LIMIT ?2",
        "ii", vyre_store_now(), (int64_t)COLD_AT_ONCE);
    if (code != SQLITE_OK)
        return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && *out_count < COLD_AT_ONCE) {
        rows[*out_count].is_entry = sqlite3_column_int(statement, 0) != 0;
        rows[*out_count].id = sqlite3_column_int64(statement, 1);
        rows[*out_count].bytes = vyre_store_column_count(statement, 2) + ROW_BYTES;
        (*out_count)++;
    }
    return vyre_store_sql_end(statement, code);
}

/* Removes some of the coldest records, in total at least `bytes` if there are that many. */
static int remove_coldest(struct vyre_store_db *db, uint64_t bytes, uint64_t *out_removed)
{
    struct cold_row rows[COLD_AT_ONCE];
    size_t count;
    *out_removed = 0;
    int code = find_coldest(db, rows, &count);
    uint64_t freed = 0;
    for (size_t i = 0; code == SQLITE_OK && i < count && freed < bytes; i++) {
        code = vyre_store_sql_run(db,
                                  rows[i].is_entry ? "DELETE FROM entry WHERE id = ?"
                                                   : "DELETE FROM learning WHERE id = ?",
                                  "i", rows[i].id);
        freed += rows[i].bytes;
        (*out_removed)++;
    }
    return code;
}

static int remove_oldest_calibration(struct vyre_store_db *db, uint64_t *out_removed)
{
    *out_removed = 0;
    int code = vyre_store_sql_exec(
        db, "DELETE FROM cost WHERE device = (SELECT device FROM calibration ORDER BY taken_at,"
            " device LIMIT 1);"
            "DELETE FROM calibration WHERE device = (SELECT device FROM calibration"
            " ORDER BY taken_at, device LIMIT 1)");
    if (code == SQLITE_OK)
        *out_removed = (uint64_t)sqlite3_changes(db->handle);
    return code;
}

int vyre_store_cool(struct vyre_store_db *db, uint64_t target_bytes, uint64_t *out_removed)
{
    *out_removed = 0;
    for (;;) {
        uint64_t used, removed;
        int code = vyre_store_size(db, false, &used);
        if (code != SQLITE_OK || used <= target_bytes)
            return code;
        code = remove_coldest(db, used - target_bytes, &removed);
        if (code == SQLITE_OK && removed == 0)
            code = remove_oldest_calibration(db, &removed);
        *out_removed += removed;
        if (code != SQLITE_OK || removed == 0)
            return code;
    }
}

int vyre_store_make_room(struct vyre_store_db *db, size_t bytes)
{
    uint64_t used, total, removed = 0;
    uint64_t need = bytes + bytes / 64 + SLACK_BYTES;
    int code = vyre_store_size(db, true, &total);
    if (code != SQLITE_OK || total + need <= db->limit_bytes)
        return code;
    code = vyre_store_size(db, false, &used);
    if (code == SQLITE_OK && used + need > db->limit_bytes) {
        uint64_t spare = need + db->limit_bytes / SPARE_SHARE;
        code = vyre_store_cool(db, spare < db->limit_bytes ? db->limit_bytes - spare : 0, &removed);
        db->evicted = db->evicted || removed > 0;
    }
    if (code == SQLITE_OK && total > db->limit_bytes)
        code = vyre_store_sql_exec(db, "PRAGMA incremental_vacuum");
    return code;
}

/* ---- uses -------------------------------------------------------------------------------------
 */

void vyre_store_touch_locked(struct vyre_store *store, int64_t kind, struct vyre_hash128 device,
                             struct vyre_hash128 key)
{
    if (store->desc.read_only)
        return;
    size_t i = 0;
    for (; i < store->touch_count; i++) {
        const struct vyre_store_touch *touch = &store->touches[i];
        if (touch->kind == kind && vyre_hash128_equal(touch->key, key) &&
            vyre_hash128_equal(touch->device, device))
            break;
    }
    if (i == VYRE_STORE_TOUCHES_MAX)
        return; /* heat is an estimate anyway */
    if (i == store->touch_count)
        store->touches[store->touch_count++] =
            (struct vyre_store_touch){.kind = kind, .device = device, .key = key};
    store->touches[i].used_at = vyre_store_now();
    store->touches[i].count++;
}

int vyre_store_write_touches(struct vyre_store_db *db, const struct vyre_store_touch *touches,
                             size_t count)
{
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) {
        const struct vyre_store_touch *touch = &touches[i];
        if (touch->kind == 0)
            code = vyre_store_sql_run(
                db,
                "UPDATE learning SET last_used = max(last_used, ?1), use_count = use_count + ?2"
                " WHERE device = ?3 AND shape = ?4",
                "iihh", touch->used_at, touch->count, &touch->device, &touch->key);
        else
            code = vyre_store_sql_run(
                db,
                "UPDATE entry SET last_used = max(last_used, ?1), use_count = use_count + ?2"
                " WHERE device = ?3 AND key = ?4 AND kind = ?5",
                "iihhi", touch->used_at, touch->count, &touch->device, &touch->key, touch->kind);
    }
    return code;
}
