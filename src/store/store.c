/*
 * store.c: open, close, flush; where a record goes if it cannot be written to the file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "store/internal.h"

#define DEFAULT_BUSY_MS      250
#define DEFAULT_SIZE_BYTES   (UINT64_C(64) << 20)
#define DEFAULT_MEMORY_BYTES (UINT64_C(32) << 20)
#define DEFAULT_LEARNINGS    8192
#define BUSY_MS_MAX          3600000

/* What is reported once in the life of a store. */
enum { REPORTED_BUSY = 1, REPORTED_MEMORY_ONLY = 2, REPORTED_DROPPED = 4 };

int64_t vyre_store_now(void)
{
    return (int64_t)time(NULL);
}

/* ---- lock and log -----------------------------------------------------------------------------
 */

void vyre_store_enter(struct vyre_store *store)
{
    vyre_lock_acquire(&store->lock);
}

void vyre_store_note_locked(struct vyre_store *store, const struct vyre_diag *note)
{
    store->reason = *note;
    if (store->note_count < VYRE_STORE_NOTES_MAX)
        store->notes[store->note_count++] = *note;
}

static void note_once(struct vyre_store *store, unsigned bit, const struct vyre_diag *note)
{
    if (store->reported & bit)
        return;
    store->reported |= bit;
    vyre_store_note_locked(store, note);
}

void vyre_store_leave(struct vyre_store *store)
{
    struct vyre_diag notes[VYRE_STORE_NOTES_MAX];
    size_t count = store->note_count;
    if (count > 0)
        memcpy(notes, store->notes, count * sizeof notes[0]);
    store->note_count = 0;
    vyre_lock_release(&store->lock);
    for (size_t i = 0; store->desc.log && i < count; i++) {
        char text[sizeof notes[i] + 128];
        (void)vyre_diag_format(&notes[i], text, sizeof text);
        store->desc.log(store->desc.log_user, VYRE_LOG_WARNING, text);
    }
}

enum vyre_status vyre_store_failed(int code, struct vyre_diag *diag)
{
    switch (vyre_store_fault_of(code)) {
    case VYRE_STORE_FAULT_NONE:
        return VYRE_OK;
    case VYRE_STORE_FAULT_BUSY:
        return vyre_diag_set(diag, VYRE_DIAG_STORE_BUSY, NULL, code,
                             "another process holds the store");
    case VYRE_STORE_FAULT_MEMORY:
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, code, "the store has no memory");
    case VYRE_STORE_FAULT_BROKEN:
    case VYRE_STORE_FAULT_GONE:
        break;
    }
    return vyre_diag_set(diag, VYRE_DIAG_STORE_FAILED, NULL, code, "the store's database says: %s",
                         sqlite3_errstr(code));
}

/* ---- faults of the disk -----------------------------------------------------------------------
 */

static void do_without(struct vyre_store *store, int code)
{
    struct vyre_diag note;
    (void)vyre_diag_set(&note, VYRE_DIAG_STORE_MEMORY_ONLY, NULL, code,
                        "the store `%s` cannot be written: %s", store->desc.path,
                        sqlite3_errstr(code));
    note_once(store, REPORTED_MEMORY_ONLY, &note);
    store->state = VYRE_STORE_DISK_GONE;
}

static void come_back_later(struct vyre_store *store, int code)
{
    struct vyre_diag note;
    (void)vyre_diag_set(&note, VYRE_DIAG_STORE_BUSY, NULL, code,
                        "another process holds the store `%s`%s", store->desc.path,
                        store->desc.read_only ? "" : "; records wait in memory");
    note_once(store, REPORTED_BUSY, &note);
}

bool vyre_store_recover_locked(struct vyre_store *store, int code)
{
    switch (vyre_store_fault_of(code)) {
    case VYRE_STORE_FAULT_BUSY:
        come_back_later(store, code);
        return false;
    case VYRE_STORE_FAULT_BROKEN:
        vyre_store_disk_close_locked(store);
        vyre_store_disk_open_locked(store, true);
        return store->state == VYRE_STORE_DISK_OPEN;
    case VYRE_STORE_FAULT_GONE:
        do_without(store, code);
        return false;
    case VYRE_STORE_FAULT_NONE:
    case VYRE_STORE_FAULT_MEMORY:
        break;
    }
    return false;
}

/* Whether the disk can be written to; opens it again if necessary. */
static bool disk_takes_writes(struct vyre_store *store)
{
    if (store->state == VYRE_STORE_DISK_OPEN && !store->desc.read_only &&
        vyre_store_disk_moved_locked(store))
        vyre_store_disk_close_locked(store);
    if (store->state == VYRE_STORE_DISK_LATER) {
        vyre_store_disk_open_locked(store, false);
        if (store->state == VYRE_STORE_DISK_LATER)
            come_back_later(store, SQLITE_BUSY);
    }
    if (store->state == VYRE_STORE_DISK_OPEN && store->disk_read_only && !store->desc.read_only)
        do_without(store, SQLITE_READONLY);
    return store->state == VYRE_STORE_DISK_OPEN && !store->disk_read_only;
}

/* ---- from memory to disk ----------------------------------------------------------------------
 */

static int move_device(void *user, const struct vyre_store_device_row *row)
{
    return vyre_store_put_device_row(user, row);
}

/* What waited in memory may be older than what another process has written since. */
static int move_calibration(void *user, const struct vyre_store_calibration_row *row)
{
    int64_t newer = 0;
    int code = vyre_store_sql_number(
        user, &newer, "SELECT count(*) FROM calibration WHERE device = ? AND taken_at > ?", "hi",
        &row->device, row->calibration.taken_at);
    return code == SQLITE_OK && newer == 0 ? vyre_store_put_calibration_row(user, row) : code;
}

static int move_learning(void *user, const struct vyre_store_learning_row *row)
{
    int64_t newer = 0;
    int code = vyre_store_sql_number(
        user, &newer,
        "SELECT count(*) FROM learning WHERE device = ? AND shape = ? AND candidate = ?"
        " AND updated_at > ?",
        "hhii", &row->device, &row->learning.shape, (int64_t)row->learning.candidate,
        row->learning.updated_at);
    if (code != SQLITE_OK || newer > 0)
        return code;
    code = vyre_store_make_room(user, sizeof *row);
    if (code == SQLITE_OK)
        code = vyre_store_put_learning_row(user, row);
    return code == SQLITE_OK ? vyre_store_bound_learnings(user, row->device) : code;
}

static int move_entry(void *user, const struct vyre_store_entry_row *row)
{
    const struct vyre_store_entry *entry = &row->entry;
    int64_t newer = 0;
    int code = vyre_store_sql_number(
        user, &newer,
        "SELECT count(*) FROM entry WHERE kind = ? AND device = ? AND key = ? AND updated_at > ?",
        "ihhi", (int64_t)entry->kind, &entry->device, &entry->key, entry->updated_at);
    return code == SQLITE_OK && newer == 0 ? vyre_store_put_entry_row(user, row) : code;
}

static int move_all(struct vyre_store_db *db, void *argument)
{
    struct vyre_store *store = argument;
    const struct vyre_store_rows rows = {db, move_device, move_calibration, move_learning,
                                         move_entry};
    int code = store->memory_used ? vyre_store_each_row(&store->memory, &rows) : SQLITE_OK;
    if (code == SQLITE_OK)
        code = vyre_store_write_touches(db, store->touches, store->touch_count);
    return code;
}

static int clear_memory(struct vyre_store *store)
{
    int code = vyre_store_sql_exec(&store->memory,
                                   "DELETE FROM device; DELETE FROM calibration;"
                                   "DELETE FROM cost; DELETE FROM learning; DELETE FROM entry");
    if (code == SQLITE_OK)
        store->memory_used = false;
    return code;
}

int vyre_store_drain_locked(struct vyre_store *store)
{
    if (!store->memory_used && store->touch_count == 0)
        return SQLITE_OK;
    int code = vyre_store_sql_transact(&store->disk, move_all, store);
    if (code != SQLITE_OK)
        return code;
    store->touch_count = 0;
    return store->memory_used ? clear_memory(store) : SQLITE_OK;
}

/* ---- writing and reading ----------------------------------------------------------------------
 */

static int write_memory(struct vyre_store *store, vyre_store_action *action, void *argument)
{
    int code = vyre_store_sql_transact(&store->memory, action, argument);
    store->memory_used = store->memory_used || code == SQLITE_OK;
    if (store->memory.evicted && store->desc.path) {
        struct vyre_diag note;
        (void)vyre_diag_set(&note, VYRE_DIAG_STORE_DROPPED, NULL, 0,
                            "the store's memory of %llu bytes is full; the coldest records went",
                            (unsigned long long)store->memory.limit_bytes);
        note_once(store, REPORTED_DROPPED, &note);
    }
    store->memory.evicted = false;
    return code;
}

static int write_locked(struct vyre_store *store, vyre_store_action *action, void *argument)
{
    for (int i = 0; i < 2 && disk_takes_writes(store); i++) {
        int code = vyre_store_drain_locked(store);
        if (code == SQLITE_OK)
            code = vyre_store_sql_transact(&store->disk, action, argument);
        if (code == SQLITE_OK || vyre_store_fault_of(code) == VYRE_STORE_FAULT_MEMORY)
            return code;
        if (!vyre_store_recover_locked(store, code))
            break;
    }
    return write_memory(store, action, argument);
}

enum vyre_status vyre_store_write(struct vyre_store *store, vyre_store_action *action,
                                  void *argument, struct vyre_diag *diag)
{
    vyre_store_enter(store);
    int code = write_locked(store, action, argument);
    vyre_store_leave(store);
    return vyre_store_failed(code, diag);
}

/* All statements of the action see the same state of the file. */
static int read_disk(struct vyre_store *store, vyre_store_action *action, void *argument)
{
    int code = vyre_store_sql_exec(&store->disk, "BEGIN");
    if (code == SQLITE_OK)
        code = action(&store->disk, argument);
    if (!sqlite3_get_autocommit(store->disk.handle))
        (void)!vyre_store_sql_exec(&store->disk, "ROLLBACK");
    return code;
}

enum vyre_status vyre_store_read(struct vyre_store *store, vyre_store_action *action,
                                 void *argument, const bool *found, struct vyre_diag *diag)
{
    vyre_store_enter(store);
    int code = store->memory_used ? action(&store->memory, argument) : SQLITE_OK;
    if (code == SQLITE_OK && !*found && store->disk.handle) {
        code = read_disk(store, action, argument);
        enum vyre_store_fault fault = vyre_store_fault_of(code);
        if (fault == VYRE_STORE_FAULT_BROKEN || fault == VYRE_STORE_FAULT_GONE) {
            (void)vyre_store_recover_locked(store, code);
            code = SQLITE_OK;
        }
    }
    vyre_store_leave(store);
    return vyre_store_failed(code, diag);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static enum vyre_status check_limit(const char *name, uint64_t bytes, struct vyre_diag *diag)
{
    if (bytes >= VYRE_STORE_SIZE_LIMIT_MIN && bytes <= INT64_MAX)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, NULL, 0, "%s is %llu, at least %u", name,
                         (unsigned long long)bytes, VYRE_STORE_SIZE_LIMIT_MIN);
}

static enum vyre_status resolve(const struct vyre_store_desc *desc, struct vyre_store_desc *out,
                                struct vyre_diag *diag)
{
    *out = desc ? *desc : (struct vyre_store_desc){0};
    out->allocator = vyre_allocator_resolve(desc ? &desc->allocator : NULL);
    if (out->busy_timeout_ms == 0)
        out->busy_timeout_ms = DEFAULT_BUSY_MS;
    if (out->size_limit_bytes == 0)
        out->size_limit_bytes = DEFAULT_SIZE_BYTES;
    if (out->memory_limit_bytes == 0)
        out->memory_limit_bytes = DEFAULT_MEMORY_BYTES;
    if (out->learnings_limit == 0)
        out->learnings_limit = DEFAULT_LEARNINGS;
    if (out->path && out->path[0] == '\0')
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, NULL, 0, "the path is empty");
    if (out->busy_timeout_ms > BUSY_MS_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, NULL, 0,
                             "busy_timeout_ms is %u, at most %u", out->busy_timeout_ms,
                             BUSY_MS_MAX);
    enum vyre_status status = check_limit("size_limit_bytes", out->size_limit_bytes, diag);
    if (status == VYRE_OK)
        status = check_limit("memory_limit_bytes", out->memory_limit_bytes, diag);
    return status;
}

static void release(struct vyre_store *store)
{
    struct vyre_allocator allocator = store->desc.allocator;
    (void)sqlite3_close(store->disk.handle);
    (void)sqlite3_close(store->memory.handle);
    if (store->desc.path)
        vyre_memory_free(&allocator, (void *)(uintptr_t)store->desc.path,
                         strlen(store->desc.path) + 1, 1);
    vyre_memory_free(&allocator, store, sizeof *store, _Alignof(struct vyre_store));
}

static struct vyre_store *allocate(const struct vyre_store_desc *desc)
{
    struct vyre_store *store =
        vyre_memory_allocate(&desc->allocator, sizeof *store, _Alignof(struct vyre_store));
    if (!store)
        return NULL;
    store->desc = *desc;
    store->desc.path = NULL;
    store->disk.limit_bytes = desc->size_limit_bytes;
    store->disk.learnings_limit = desc->learnings_limit;
    store->memory.limit_bytes = desc->memory_limit_bytes;
    store->memory.learnings_limit = desc->learnings_limit;
    if (!desc->path)
        return store;
    size_t size = strlen(desc->path) + 1;
    char *path = vyre_memory_allocate(&desc->allocator, size, 1);
    if (!path) {
        release(store);
        return NULL;
    }
    memcpy(path, desc->path, size);
    store->desc.path = path;
    return store;
}

enum vyre_status vyre_store_open(const struct vyre_store_desc *desc, struct vyre_store **out_store,
                                 struct vyre_diag *diag)
{
    *out_store = NULL;
    struct vyre_store_desc resolved;
    enum vyre_status status = resolve(desc, &resolved, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_store *store = allocate(&resolved);
    if (!store)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "a store takes %zu bytes",
                             sizeof *store);
    int code = vyre_store_memory_open(store);
    if (code != SQLITE_OK) {
        release(store);
        return vyre_store_failed(code, diag);
    }
    vyre_store_enter(store);
    vyre_store_disk_open_locked(store, false);
    if (store->state == VYRE_STORE_DISK_OPEN)
        (void)disk_takes_writes(store); /* reports now what the first write would report */
    if (store->state == VYRE_STORE_DISK_LATER)
        come_back_later(store, SQLITE_BUSY);
    if (store->state == VYRE_STORE_DISK_GONE)
        store->reported |= REPORTED_MEMORY_ONLY;
    vyre_store_leave(store);
    *out_store = store;
    return VYRE_OK;
}

/* Tries once more, even a disk that was given up: it may have room again. */
static int flush_locked(struct vyre_store *store)
{
    if (!store->memory_used && store->touch_count == 0)
        return SQLITE_OK;
    bool writable = disk_takes_writes(store) ||
                    (store->state == VYRE_STORE_DISK_GONE && store->disk.handle &&
                     !store->disk_read_only && !vyre_store_disk_moved_locked(store));
    if (!writable)
        return store->state == VYRE_STORE_DISK_LATER ? SQLITE_BUSY : SQLITE_READONLY;
    int code = vyre_store_drain_locked(store);
    if (code == SQLITE_OK)
        store->state = VYRE_STORE_DISK_OPEN;
    else if (vyre_store_recover_locked(store, code))
        code = vyre_store_drain_locked(store);
    return code;
}

enum vyre_status vyre_store_flush(struct vyre_store *store, struct vyre_diag *diag)
{
    if (!store->desc.path || store->desc.read_only)
        return VYRE_OK;
    vyre_store_enter(store);
    int code = flush_locked(store);
    struct vyre_diag reason = store->reason;
    vyre_store_leave(store);
    if (code != SQLITE_READONLY || reason.id == VYRE_DIAG_NONE)
        return vyre_store_failed(code, diag);
    if (diag)
        *diag = reason;
    return reason.status;
}

void vyre_store_close(struct vyre_store **store)
{
    if (!store || !*store)
        return;
    (void)!vyre_store_flush(*store, NULL); /* there will be no later attempt */
    release(*store);
    *store = NULL;
}

/* ---- info -------------------------------------------------------------------------------------
 */

const char *vyre_store_mode_name(enum vyre_store_mode mode)
{
    switch (mode) {
    case VYRE_STORE_MEMORY:
        return "memory";
    case VYRE_STORE_FILE:
        return "file";
    case VYRE_STORE_READ_ONLY:
        return "read-only";
    }
    return "unknown";
}

static uint64_t count_rows(struct vyre_store_db *db, const char *sql)
{
    int64_t count = 0;
    int code = db->handle ? vyre_store_sql_number(db, &count, sql, "") : SQLITE_OK;
    return code == SQLITE_OK && count > 0 ? (uint64_t)count : 0;
}

static uint64_t count_all(struct vyre_store *store, const char *sql)
{
    return count_rows(&store->disk, sql) + count_rows(&store->memory, sql);
}

static void fill_info(struct vyre_store *store, struct vyre_store_info *out_info)
{
    bool open = store->disk.handle != NULL;
    bool writable = store->state == VYRE_STORE_DISK_OPEN && !store->disk_read_only;
    out_info->mode = writable ? VYRE_STORE_FILE : open ? VYRE_STORE_READ_ONLY : VYRE_STORE_MEMORY;
    if (store->state == VYRE_STORE_DISK_LATER && !store->desc.read_only)
        out_info->mode = VYRE_STORE_FILE;
    out_info->schema_version = (uint32_t)count_rows(&store->disk, "PRAGMA user_version");
    if (open)
        (void)!vyre_store_size(&store->disk, true, &out_info->size_bytes);
    (void)!vyre_store_size(&store->memory, true, &out_info->memory_bytes);
    out_info->reason = store->reason;
    out_info->device_count = count_all(store, "SELECT count(*) FROM device");
    out_info->calibration_count = count_all(store, "SELECT count(*) FROM calibration");
    out_info->learning_count = count_all(store, "SELECT count(*) FROM learning");
    out_info->tuning_count = count_all(store, "SELECT count(*) FROM entry WHERE kind = 1");
    out_info->pipeline_count = count_all(store, "SELECT count(*) FROM entry WHERE kind = 2");
    out_info->waiting_count =
        count_rows(&store->memory,
                   "SELECT (SELECT count(*) FROM device) + (SELECT count(*) FROM calibration) +"
                   "(SELECT count(*) FROM learning) + (SELECT count(*) FROM entry)");
    out_info->desc = store->desc;
}

void vyre_store_get_info(struct vyre_store *store, struct vyre_store_info *out_info)
{
    memset(out_info, 0, sizeof *out_info);
    vyre_store_enter(store);
    fill_info(store, out_info);
    vyre_store_leave(store);
}
