/*
 * disk.c: the store's file: opening it, finding what is wrong with it, doing without it.
 *
 * Opening happens under the folder's lock, so that of several processes one creates, migrates or
 * sets aside, and the others find the result. Only SQLite reads the file itself: closing another
 * descriptor of it would drop SQLite's locks (POSIX).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/schema.h"

/* The first open may wait, since creating a file or recovering a log can take a while. */
#define OPEN_TIMEOUT_MS 2000

#define HEADER_BYTES 100
#define TEXT_BYTES   320

enum opened {
    OPENED,
    OPENED_NOTHING, /* read only, and there is no file */
    OPENED_BROKEN,
    OPENED_FUTURE,
    OPENED_FOREIGN,
    OPENED_OLD, /* read only, and it would need a migration */
    OPENED_BUSY,
    OPENED_REFUSED,
};

struct attempt {
    uint32_t timeout_ms;
    bool suspect;
    bool fresh; /* there was no file, or an empty one */
    int code;   /* of SQLite */
    char why[TEXT_BYTES];
};

/* ---- what the file says -----------------------------------------------------------------------
 */

static bool wal_is_there(const struct vyre_store *store)
{
    size_t size;
    char *path = vyre_store_path_with(store, "-wal", &size);
    struct stat facts;
    bool there = path && stat(path, &facts) == 0 && facts.st_size > 0;
    vyre_memory_free(&store->desc.allocator, path, size, 1);
    return there;
}

static uint32_t big_endian(const unsigned char *bytes, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/*
 * Compares the header with the length of the file: SQLite itself would accept half a last page. If
 * there is a log, the file may be behind it, and only a full check can decide.
 */
static bool is_cut(struct vyre_store *store, struct attempt *attempt)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    unsigned char header[HEADER_BYTES];
    if (wal_is_there(store) ||
        sqlite3_file_control(store->disk.handle, "main", SQLITE_FCNTL_FILE_POINTER,
                             (void *)&file) != SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK ||
        size == 0)
        return false;
    if (size < HEADER_BYTES || file->pMethods->xRead(file, header, HEADER_BYTES, 0) != SQLITE_OK) {
        snprintf(attempt->why, sizeof attempt->why, "it has %lld bytes", (long long)size);
        return size < HEADER_BYTES;
    }
    uint64_t page = big_endian(header + 16, 2);
    page = page == 1 ? 65536 : page;
    uint64_t expected = page * big_endian(header + 28, 4);
    if ((uint64_t)size >= expected || wal_is_there(store))
        return false;
    snprintf(attempt->why, sizeof attempt->why, "it has %lld bytes and should have %llu",
             (long long)size, (unsigned long long)expected);
    return true;
}

static enum opened classify(struct attempt *attempt, struct vyre_store_db *db)
{
    if (attempt->why[0] == '\0')
        snprintf(attempt->why, sizeof attempt->why, "%s",
                 db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(attempt->code));
    switch (vyre_store_fault_of(attempt->code)) {
    case VYRE_STORE_FAULT_NONE:
        return OPENED;
    case VYRE_STORE_FAULT_BUSY:
        return OPENED_BUSY;
    case VYRE_STORE_FAULT_BROKEN:
        return OPENED_BROKEN;
    case VYRE_STORE_FAULT_GONE:
    case VYRE_STORE_FAULT_MEMORY:
        break;
    }
    return OPENED_REFUSED;
}

static enum opened quick_check(struct vyre_store_db *db, struct attempt *attempt)
{
    sqlite3_stmt *statement;
    attempt->code = vyre_store_sql_query(db, &statement, "PRAGMA quick_check(1)", "");
    if (attempt->code != SQLITE_OK)
        return classify(attempt, db);
    char answer[TEXT_BYTES] = "";
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(statement, 0);
        snprintf(answer, sizeof answer, "%s", text ? (const char *)text : "");
    }
    attempt->code = vyre_store_sql_end(statement, code);
    if (attempt->code != SQLITE_OK)
        return classify(attempt, db);
    if (strcmp(answer, "ok") == 0)
        return OPENED;
    snprintf(attempt->why, sizeof attempt->why, "%s", answer);
    return OPENED_BROKEN;
}

/* Whether the file is a store, and of which version. */
static enum opened identify(struct vyre_store *store, struct attempt *attempt)
{
    struct vyre_store_schema schema;
    attempt->code = vyre_store_schema_read(&store->disk, &schema);
    if (attempt->code != SQLITE_OK)
        return classify(attempt, &store->disk);
    attempt->fresh = schema.table_count == 0 && schema.application_id == 0;
    if (attempt->fresh)
        return store->disk_read_only ? OPENED_NOTHING : OPENED;
    if (schema.application_id != VYRE_STORE_APPLICATION_ID)
        return OPENED_FOREIGN;
    snprintf(attempt->why, sizeof attempt->why, "version %lld, this Vyre knows %d",
             (long long)schema.version, VYRE_STORE_SCHEMA_VERSION);
    if (schema.version > VYRE_STORE_SCHEMA_VERSION)
        return OPENED_FUTURE;
    if (schema.version < 1)
        return OPENED_BROKEN;
    if (schema.version < VYRE_STORE_SCHEMA_VERSION && store->disk_read_only)
        return OPENED_OLD;
    attempt->why[0] = '\0';
    return OPENED;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static int configure(struct vyre_store_db *db)
{
    int ignored;
    (void)sqlite3_extended_result_codes(db->handle, 1);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, &ignored);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &ignored);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, &ignored);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &ignored);
    /* Otherwise temporary files would go where the environment says. */
    return vyre_store_sql_exec(db, "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");
}

static int open_handle(struct vyre_store_db *db, const char *name, int flags)
{
    int code = sqlite3_open_v2(name, &db->handle,
                               flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
    if (code == SQLITE_OK)
        return configure(db);
    int extended = db->handle ? sqlite3_extended_errcode(db->handle) : code;
    (void)sqlite3_close(db->handle);
    db->handle = NULL;
    return extended;
}

/* file:PATH?immutable=1, for a folder in which SQLite cannot create the files of its log. */
static int open_immutable(struct vyre_store *store)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t size = sizeof "file:?immutable=1" + 3 * strlen(store->desc.path);
    char *uri = vyre_memory_allocate(&store->desc.allocator, size, 1);
    if (!uri)
        return SQLITE_NOMEM;
    static const char scheme[] = "file:";
    memcpy(uri, scheme, sizeof scheme);
    char *out = uri + sizeof scheme - 1;
    for (const char *at = store->desc.path; *at; at++) {
        bool plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                     (*at >= 'A' && *at <= 'Z') || strchr("/._-", *at);
        if (plain) {
            *out++ = *at;
        } else {
            *out++ = '%';
            *out++ = hex[(unsigned char)*at >> 4];
            *out++ = hex[(unsigned char)*at & 15];
        }
    }
    memcpy(out, "?immutable=1", sizeof "?immutable=1");
    int code = open_handle(&store->disk, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    vyre_memory_free(&store->desc.allocator, uri, size, 1);
    return code;
}

static void close_handle(struct vyre_store_db *db)
{
    (void)sqlite3_close(db->handle);
    db->handle = NULL;
}

/* A name such as "file:x" or ":memory:" is an ordinary file name here. */
static int open_path(struct vyre_store *store, int flags)
{
    if (store->desc.path[0] == '/' || store->desc.path[0] == '.')
        return open_handle(&store->disk, store->desc.path, flags);
    size_t size = strlen(store->desc.path) + sizeof "./";
    char *path = vyre_memory_allocate(&store->desc.allocator, size, 1);
    if (!path)
        return SQLITE_NOMEM;
    snprintf(path, size, "./%s", store->desc.path);
    int code = open_handle(&store->disk, path, flags);
    vyre_memory_free(&store->desc.allocator, path, size, 1);
    return code;
}

static enum opened open_file(struct vyre_store *store, struct attempt *attempt)
{
    struct stat facts;
    bool there = stat(store->desc.path, &facts) == 0;
    if (there && !S_ISREG(facts.st_mode)) {
        snprintf(attempt->why, sizeof attempt->why, "it is not a file");
        return OPENED_REFUSED;
    }
    if (!there && store->desc.read_only && errno == ENOENT)
        return OPENED_NOTHING;
    int flags =
        store->desc.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    attempt->suspect = attempt->suspect || wal_is_there(store);
    attempt->code = open_path(store, flags);
    if (attempt->code != SQLITE_OK)
        return classify(attempt, &store->disk);
    (void)sqlite3_busy_timeout(store->disk.handle, (int)attempt->timeout_ms);
    store->disk_read_only = sqlite3_db_readonly(store->disk.handle, "main") != 0;
    if (is_cut(store, attempt))
        return OPENED_BROKEN;
    enum opened opened = identify(store, attempt);
    if (opened != OPENED_REFUSED || !store->disk_read_only || wal_is_there(store))
        return opened;
    close_handle(&store->disk);
    attempt->why[0] = '\0';
    attempt->code = open_immutable(store);
    return attempt->code == SQLITE_OK ? identify(store, attempt) : classify(attempt, &store->disk);
}

/* Creates tables and sets how SQLite writes. */
static enum opened prepare(struct vyre_store *store, struct attempt *attempt)
{
    struct vyre_store_db *db = &store->disk;
    attempt->code = SQLITE_OK;
    if (!store->disk_read_only) {
        if (attempt->fresh)
            attempt->code = vyre_store_sql_exec(db, "PRAGMA auto_vacuum = INCREMENTAL");
        if (attempt->code == SQLITE_OK)
            attempt->code =
                vyre_store_sql_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                        "PRAGMA journal_size_limit = 4194304");
        if (attempt->code == SQLITE_OK)
            attempt->code = vyre_store_schema_migrate(db);
    }
    if (attempt->code == SQLITE_OK)
        attempt->code = vyre_store_schema_probe(db);
    if (attempt->code != SQLITE_OK)
        return classify(attempt, db);
    (void)sqlite3_busy_timeout(db->handle, (int)store->desc.busy_timeout_ms);
    struct stat facts;
    if (stat(store->desc.path, &facts) == 0) {
        store->file_device = facts.st_dev;
        store->file_inode = facts.st_ino;
    }
    return OPENED;
}

/* Once the file was locked, the next attempts come with writes, which do not wait long. */
static uint32_t open_timeout_ms(const struct vyre_store *store)
{
    bool first = store->state != VYRE_STORE_DISK_LATER;
    return first ? OPEN_TIMEOUT_MS : store->desc.busy_timeout_ms;
}

static enum opened open_once(struct vyre_store *store, bool suspect, struct attempt *attempt)
{
    *attempt = (struct attempt){.timeout_ms = open_timeout_ms(store), .suspect = suspect};
    enum opened opened = open_file(store, attempt);
    if (opened == OPENED && attempt->suspect && !attempt->fresh)
        opened = quick_check(&store->disk, attempt);
    if (opened == OPENED)
        opened = prepare(store, attempt);
    if (opened != OPENED)
        close_handle(&store->disk);
    return opened;
}

/* ---- what is done about it --------------------------------------------------------------------
 */

static void give_up(struct vyre_store *store, enum vyre_diag_id id, const struct attempt *attempt)
{
    struct vyre_diag note;
    (void)vyre_diag_set(&note, id, NULL, attempt->code, "the store `%s` is not used: %s",
                        store->desc.path, attempt->why);
    store->state = VYRE_STORE_DISK_GONE;
    vyre_store_note_locked(store, &note);
}

/* Renames the file and starts a new one. */
static enum opened replace(struct vyre_store *store, enum vyre_diag_id id, struct attempt *attempt)
{
    char name[4096];
    struct vyre_diag note;
    if (!vyre_store_set_aside(store, name, sizeof name)) {
        snprintf(attempt->why, sizeof attempt->why, "it is broken and cannot be renamed: %s",
                 strerror(errno));
        return OPENED_REFUSED;
    }
    (void)vyre_diag_set(&note, id, NULL, attempt->code, "%s; the store's file is now `%s`",
                        attempt->why, name);
    vyre_store_note_locked(store, &note);
    return open_once(store, false, attempt);
}

static void settle(struct vyre_store *store, enum opened opened, const struct attempt *attempt)
{
    switch (opened) {
    case OPENED:
        store->state = VYRE_STORE_DISK_OPEN;
        break;
    case OPENED_NOTHING:
        store->state = VYRE_STORE_DISK_NONE;
        break;
    case OPENED_BUSY:
        store->state = VYRE_STORE_DISK_LATER;
        break;
    case OPENED_BROKEN:
    case OPENED_FUTURE:
        give_up(store, VYRE_DIAG_STORE_DAMAGED, attempt);
        break;
    case OPENED_FOREIGN:
        give_up(store, VYRE_DIAG_STORE_FOREIGN, attempt);
        break;
    case OPENED_OLD:
    case OPENED_REFUSED:
        give_up(store, VYRE_DIAG_STORE_MEMORY_ONLY, attempt);
        break;
    }
}

void vyre_store_disk_open_locked(struct vyre_store *store, bool suspect)
{
    if (!store->desc.path)
        return;
    struct attempt attempt;
    int folder = vyre_store_folder_lock(store->desc.path, open_timeout_ms(store));
    store->disk_read_only = store->desc.read_only;
    enum opened opened = open_once(store, suspect, &attempt);
    if (!store->desc.read_only && opened == OPENED_BROKEN)
        opened = replace(store, VYRE_DIAG_STORE_SET_ASIDE, &attempt);
    else if (!store->desc.read_only && opened == OPENED_FUTURE)
        opened = replace(store, VYRE_DIAG_STORE_VERSION, &attempt);
    vyre_store_folder_unlock(folder);
    settle(store, opened, &attempt);
}

void vyre_store_disk_close_locked(struct vyre_store *store)
{
    close_handle(&store->disk);
    store->state = VYRE_STORE_DISK_LATER;
}

bool vyre_store_disk_moved_locked(const struct vyre_store *store)
{
    struct stat facts;
    if (stat(store->desc.path, &facts) != 0)
        return errno == ENOENT;
    return facts.st_dev != store->file_device || facts.st_ino != store->file_inode;
}

int vyre_store_memory_open(struct vyre_store *store)
{
    int code =
        open_handle(&store->memory,
                    ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY);
    if (code == SQLITE_OK)
        code = vyre_store_sql_exec(&store->memory, "PRAGMA auto_vacuum = INCREMENTAL");
    if (code == SQLITE_OK)
        code = vyre_store_schema_migrate(&store->memory);
    return code;
}
