/*
 * learning.c: what candidates cost for shapes of work.
 */
#include <math.h>
#include <string.h>

#include "store/internal.h"

static bool is_valid(const struct vyre_store_learning *learning)
{
    return isfinite(learning->mean_ns) && learning->mean_ns >= 0 &&
           isfinite(learning->deviation_ns) && learning->deviation_ns >= 0 &&
           learning->count <= INT64_MAX && learning->updated_at >= 0;
}

int vyre_store_put_learning_row(struct vyre_store_db *db, const struct vyre_store_learning_row *row)
{
    const struct vyre_store_learning *learning = &row->learning;
    return vyre_store_sql_run(
        db,
        "INSERT INTO learning(device, shape, candidate, count, mean_ns, deviation_ns, updated_at,"
        " last_used, use_count) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
        " ON CONFLICT(device, shape, candidate) DO UPDATE SET count = excluded.count,"
        " mean_ns = excluded.mean_ns, deviation_ns = excluded.deviation_ns,"
        " updated_at = excluded.updated_at, last_used = max(last_used, excluded.last_used),"
        " use_count = use_count + excluded.use_count",
        "hhiirriii", &row->device, &learning->shape, (int64_t)learning->candidate,
        (int64_t)learning->count, learning->mean_ns, learning->deviation_ns, learning->updated_at,
        row->heat.last_used, (int64_t)row->heat.use_count);
}

int vyre_store_bound_learnings(struct vyre_store_db *db, struct vyre_hash128 device)
{
    int64_t count;
    int code = vyre_store_sql_number(db, &count, "SELECT count(*) FROM learning WHERE device = ?",
                                     "h", &device);
    if (code != SQLITE_OK || count <= (int64_t)db->learnings_limit)
        return code;
    return vyre_store_sql_run(
        db,
        "DELETE FROM learning WHERE id IN (SELECT id FROM learning WHERE device = ?1"
        " ORDER BY use_count / (1.0 + max(0, ?2 - last_used) / 86400.0), last_used, id LIMIT ?3)",
        "hii", &device, vyre_store_now(), count - (int64_t)db->learnings_limit);
}

/* ---- putting ----------------------------------------------------------------------------------
 */

struct learning_list {
    struct vyre_hash128 device;
    const struct vyre_store_learning *learnings;
    size_t count;
};

static int put_learnings(struct vyre_store_db *db, void *argument)
{
    const struct learning_list *list = argument;
    int64_t now = vyre_store_now();
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < list->count; i++) {
        struct vyre_store_learning_row row = {
            .device = list->device, .learning = list->learnings[i], .heat.use_count = 1};
        if (row.learning.updated_at == 0)
            row.learning.updated_at = now;
        row.heat.last_used = row.learning.updated_at;
        if (i % 16 == 0)
            code = vyre_store_make_room(db, 16 * sizeof row);
        if (code == SQLITE_OK)
            code = vyre_store_put_learning_row(db, &row);
    }
    return code == SQLITE_OK ? vyre_store_bound_learnings(db, list->device) : code;
}

enum vyre_status vyre_store_put_learnings(struct vyre_store *store, struct vyre_hash128 device,
                                          const struct vyre_store_learning *learnings, size_t count,
                                          struct vyre_diag *diag)
{
    if (count > store->desc.learnings_limit)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_SIZE, NULL, 0,
                             "%zu learnings at once, a device has at most %u", count,
                             store->desc.learnings_limit);
    for (size_t i = 0; i < count; i++) {
        if (!is_valid(&learnings[i]))
            return vyre_diag_set(diag, VYRE_DIAG_STORE_VALUE, NULL, 0,
                                 "a value of learning %zu is negative or not finite", i);
    }
    struct learning_list list = {device, learnings, count};
    return count == 0 ? VYRE_OK : vyre_store_write(store, put_learnings, &list, diag);
}

/* ---- getting ----------------------------------------------------------------------------------
 */

struct learning_lookup {
    struct vyre_hash128 device;
    struct vyre_hash128 shape;
    struct vyre_store_learning *out;
    size_t capacity;
    size_t count;
    bool found; /* stays false: the disk may have candidates that the memory lacks */
};

/* Keeps the list in order. Entries already there came from the memory and are newer. */
static void insert(struct learning_lookup *lookup, const struct vyre_store_learning *learning)
{
    size_t at = 0;
    while (at < lookup->count && lookup->out[at].candidate < learning->candidate)
        at++;
    if (at == lookup->capacity ||
        (at < lookup->count && lookup->out[at].candidate == learning->candidate))
        return;
    size_t kept = lookup->count < lookup->capacity ? lookup->count : lookup->capacity - 1;
    memmove(&lookup->out[at + 1], &lookup->out[at], (kept - at) * sizeof *learning);
    lookup->out[at] = *learning;
    lookup->count = kept + 1;
}

static int find_learnings(struct vyre_store_db *db, void *argument)
{
    struct learning_lookup *lookup = argument;
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement,
                                    "SELECT candidate, count, mean_ns, deviation_ns, updated_at"
                                    " FROM learning WHERE device = ? AND shape = ?"
                                    " ORDER BY candidate",
                                    "hh", &lookup->device, &lookup->shape);
    if (code != SQLITE_OK)
        return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t candidate = sqlite3_column_int64(statement, 0);
        struct vyre_store_learning learning = {
            .shape = lookup->shape,
            .candidate = (uint32_t)candidate,
            .count = vyre_store_column_count(statement, 1),
            .mean_ns = sqlite3_column_double(statement, 2),
            .deviation_ns = sqlite3_column_double(statement, 3),
            .updated_at = sqlite3_column_int64(statement, 4),
        };
        if (candidate >= 0 && candidate <= UINT32_MAX && is_valid(&learning))
            insert(lookup, &learning);
    }
    return vyre_store_sql_end(statement, code);
}

enum vyre_status vyre_store_get_learnings(struct vyre_store *store, struct vyre_hash128 device,
                                          struct vyre_hash128 shape,
                                          struct vyre_store_learning *out_learnings,
                                          size_t capacity, size_t *out_count,
                                          struct vyre_diag *diag)
{
    *out_count = 0;
    if (capacity == 0)
        return vyre_diag_set(diag, VYRE_DIAG_CAPACITY, NULL, 0, "there is room for no learning");
    struct learning_lookup lookup = {
        .device = device, .shape = shape, .out = out_learnings, .capacity = capacity};
    enum vyre_status status = vyre_store_read(store, find_learnings, &lookup, &lookup.found, diag);
    if (status != VYRE_OK)
        return status;
    if (lookup.count == 0)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_NOT_FOUND, NULL, 0,
                             "nothing was learned of this shape");
    *out_count = lookup.count;
    vyre_store_enter(store);
    vyre_store_touch_locked(store, 0, device, shape);
    vyre_store_leave(store);
    return VYRE_OK;
}
