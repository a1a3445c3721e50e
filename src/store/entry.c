/*
 * entry.c: bytes under a key: tuning records and pipelines, each with a checksum.
 */
#include <math.h>
#include <string.h>

#include "store/internal.h"

static size_t largest(enum vyre_store_kind kind)
{
    switch (kind) {
    case VYRE_STORE_TUNING:
        return VYRE_STORE_TUNING_BYTES_MAX;
    case VYRE_STORE_PIPELINE:
        return VYRE_STORE_PIPELINE_BYTES_MAX;
    }
    return 0;
}

static unsigned char *write_number(unsigned char *out, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (56 - 8 * i));
    return out + 8;
}

static unsigned char *write_hash(unsigned char *out, struct vyre_hash128 hash)
{
    return write_number(write_number(out, hash.hi), hash.lo);
}

struct vyre_hash128 vyre_store_seal(const struct vyre_store_entry *entry)
{
    unsigned char sealed[64];
    uint64_t cost_bits;
    memcpy(&cost_bits, &entry->cost_ns, sizeof cost_bits);
    unsigned char *out = write_number(sealed, (uint64_t)entry->kind);
    out = write_hash(out, entry->device);
    out = write_hash(out, entry->key);
    out = write_number(out, cost_bits);
    (void)write_hash(out, vyre_hash128(entry->bytes, entry->size_bytes));
    return vyre_hash128(sealed, sizeof sealed);
}

int vyre_store_put_entry_row(struct vyre_store_db *db, const struct vyre_store_entry_row *row)
{
    const struct vyre_store_entry *entry = &row->entry;
    int code = vyre_store_make_room(db, entry->size_bytes);
    if (code != SQLITE_OK)
        return code;
    return vyre_store_sql_run(
        db,
        "INSERT INTO entry(kind, device, key, cost_ns, updated_at, checksum, bytes, last_used,"
        " use_count) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
        " ON CONFLICT(device, kind, key) DO UPDATE SET cost_ns = excluded.cost_ns,"
        " updated_at = excluded.updated_at, checksum = excluded.checksum, bytes = excluded.bytes,"
        " last_used = max(last_used, excluded.last_used),"
        " use_count = use_count + excluded.use_count",
        "ihhrihbii", (int64_t)entry->kind, &entry->device, &entry->key, entry->cost_ns,
        entry->updated_at, &row->checksum, entry->bytes, entry->size_bytes, row->heat.last_used,
        (int64_t)row->heat.use_count);
}

static int put_entry(struct vyre_store_db *db, void *argument)
{
    return vyre_store_put_entry_row(db, argument);
}

enum vyre_status vyre_store_put_entry(struct vyre_store *store,
                                      const struct vyre_store_entry *entry, struct vyre_diag *diag)
{
    size_t max = largest(entry->kind);
    if (max == 0)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_VALUE, NULL, 0, "there is no kind %d of entry",
                             (int)entry->kind);
    if (entry->size_bytes > 0 && !entry->bytes)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_NULL, NULL, 0, "the bytes are NULL");
    if (!isfinite(entry->cost_ns) || entry->updated_at < 0)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_VALUE, NULL, 0,
                             "the cost is not finite, or the time before 1970");
    uint64_t limit = store->desc.size_limit_bytes;
    if (store->desc.memory_limit_bytes < limit)
        limit = store->desc.memory_limit_bytes;
    if (entry->size_bytes > max || entry->size_bytes > limit / 2)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_SIZE, NULL, 0,
                             "%zu bytes; at most %zu, and half of the limit of %llu",
                             entry->size_bytes, max, (unsigned long long)limit);
    struct vyre_store_entry_row row = {
        .entry = *entry,
        .checksum = vyre_store_seal(entry),
        .heat.use_count = 1,
    };
    if (row.entry.updated_at == 0)
        row.entry.updated_at = vyre_store_now();
    row.heat.last_used = row.entry.updated_at;
    return vyre_store_write(store, put_entry, &row, diag);
}

/* ---- getting ----------------------------------------------------------------------------------
 */

struct entry_lookup {
    struct vyre_store_entry_row row;
    void *out;
    size_t capacity;
    bool found;
    bool damaged;
};

static int find_entry(struct vyre_store_db *db, void *argument)
{
    struct entry_lookup *lookup = argument;
    struct vyre_store_entry *entry = &lookup->row.entry;
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement,
                                    "SELECT cost_ns, updated_at, checksum, bytes FROM entry"
                                    " WHERE device = ? AND kind = ? AND key = ?",
                                    "hih", &entry->device, (int64_t)entry->kind, &entry->key);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(statement, 3);
        size_t size = (size_t)sqlite3_column_bytes(statement, 3);
        bool has_checksum = vyre_store_column_hash(statement, 2, &lookup->row.checksum);
        entry->cost_ns = sqlite3_column_double(statement, 0);
        entry->updated_at = sqlite3_column_int64(statement, 1);
        entry->bytes = bytes;
        entry->size_bytes = size;
        lookup->found = true;
        lookup->damaged = !has_checksum || !isfinite(entry->cost_ns) ||
                          size > largest(entry->kind) ||
                          !vyre_hash128_equal(vyre_store_seal(entry), lookup->row.checksum);
        entry->bytes = NULL; /* they are freed with the statement */
        if (!lookup->damaged && size > 0 && size <= lookup->capacity)
            memcpy(lookup->out, bytes, size);
    }
    return vyre_store_sql_end(statement, code);
}

/* Removes the entry unless another process has replaced it meanwhile. */
static int remove_entry(struct vyre_store_db *db, void *argument)
{
    const struct vyre_store_entry_row *row = argument;
    return vyre_store_sql_run(
        db, "DELETE FROM entry WHERE device = ? AND kind = ? AND key = ? AND updated_at = ?",
        "hihi", &row->entry.device, (int64_t)row->entry.kind, &row->entry.key,
        row->entry.updated_at);
}

static enum vyre_status drop_damaged(struct vyre_store *store, struct entry_lookup *lookup,
                                     struct vyre_diag *diag)
{
    struct vyre_diag note;
    char key[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(lookup->row.entry.key, key);
    enum vyre_status status = vyre_diag_set(&note, VYRE_DIAG_STORE_CHECKSUM, NULL, 0,
                                            "entry %s does not match its checksum", key);
    if (!store->desc.read_only)
        (void)!vyre_store_write(store, remove_entry, &lookup->row, NULL);
    vyre_store_enter(store);
    vyre_store_note_locked(store, &note);
    vyre_store_leave(store);
    if (diag)
        *diag = note;
    return status;
}

enum vyre_status vyre_store_get_entry(struct vyre_store *store, enum vyre_store_kind kind,
                                      struct vyre_hash128 device, struct vyre_hash128 key,
                                      void *bytes, size_t capacity,
                                      struct vyre_store_entry *out_entry, struct vyre_diag *diag)
{
    memset(out_entry, 0, sizeof *out_entry);
    struct entry_lookup lookup = {
        .row.entry = {.kind = kind, .device = device, .key = key},
        .out = bytes,
        .capacity = capacity,
    };
    enum vyre_status status = vyre_store_read(store, find_entry, &lookup, &lookup.found, diag);
    if (status != VYRE_OK)
        return status;
    if (!lookup.found)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_NOT_FOUND, NULL, 0,
                             "there is no entry under this key");
    if (lookup.damaged)
        return drop_damaged(store, &lookup, diag);
    *out_entry = lookup.row.entry;
    if (out_entry->size_bytes > capacity)
        return vyre_diag_set(diag, VYRE_DIAG_CAPACITY, NULL, 0,
                             "the entry has %zu bytes, there is room for %zu",
                             out_entry->size_bytes, capacity);
    vyre_store_enter(store);
    vyre_store_touch_locked(store, (int64_t)kind, device, key);
    vyre_store_leave(store);
    return VYRE_OK;
}
