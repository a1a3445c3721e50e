/*
 * sql.c: SQLite, as far as the store uses it.
 */
#include "store/sql.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define HASH_BYTES 16

enum vyre_store_fault vyre_store_fault_of(int code)
{
    /* Codes that mean something else than their family. */
    switch (code) {
    case SQLITE_IOERR_NOMEM:
        return VYRE_STORE_FAULT_MEMORY;
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
    case SQLITE_READONLY_DBMOVED:
        return VYRE_STORE_FAULT_BROKEN;
    default:
        break;
    }
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return VYRE_STORE_FAULT_NONE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return VYRE_STORE_FAULT_BUSY;
    case SQLITE_NOMEM:
        return VYRE_STORE_FAULT_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* the statements are fixed, so a failure means that the tables are wrong */
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return VYRE_STORE_FAULT_BROKEN;
    default:
        return VYRE_STORE_FAULT_GONE;
    }
}

int vyre_store_sql_exec(struct vyre_store_db *db, const char *sql)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
}

/* High half first, so that SQLite's hex() gives the text of vyre_hash128_format. */
static void hash_to_bytes(struct vyre_hash128 hash, unsigned char out[HASH_BYTES])
{
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (unsigned char)(hash.hi >> (56 - 8 * i));
        out[8 + i] = (unsigned char)(hash.lo >> (56 - 8 * i));
    }
}

static int bind_hash(sqlite3_stmt *statement, int index, const struct vyre_hash128 *hash)
{
    unsigned char bytes[HASH_BYTES];
    hash_to_bytes(*hash, bytes);
    return sqlite3_bind_blob(statement, index, bytes, HASH_BYTES, SQLITE_TRANSIENT);
}

static int bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t size)
{
    /* A NULL pointer would bind NULL, not an empty blob. */
    return sqlite3_bind_blob64(statement, index, size ? bytes : "", size, SQLITE_STATIC);
}

static int bind_all(sqlite3_stmt *statement, const char *types, va_list *values)
{
    int code = SQLITE_OK;
    for (int index = 1; code == SQLITE_OK && types[index - 1] != '\0'; index++) {
        switch (types[index - 1]) {
        case 'h':
            code = bind_hash(statement, index, va_arg(*values, const struct vyre_hash128 *));
            break;
        case 'i':
            code = sqlite3_bind_int64(statement, index, va_arg(*values, int64_t));
            break;
        case 'r':
            code = sqlite3_bind_double(statement, index, va_arg(*values, double));
            break;
        case 't':
            code = sqlite3_bind_text(statement, index, va_arg(*values, const char *), -1,
                                     SQLITE_STATIC);
            break;
        default: {
            const void *bytes = va_arg(*values, const void *);
            size_t size = va_arg(*values, size_t);
            code = bind_bytes(statement, index, bytes, size);
            break;
        }
        }
    }
    return code;
}

static int query(struct vyre_store_db *db, sqlite3_stmt **out_statement, const char *sql,
                 const char *types, va_list *values)
{
    *out_statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, out_statement, NULL);
    if (code != SQLITE_OK)
        return code;
    code = bind_all(*out_statement, types, values);
    if (code == SQLITE_OK)
        return SQLITE_OK;
    (void)sqlite3_finalize(*out_statement);
    *out_statement = NULL;
    return code;
}

int vyre_store_sql_query(struct vyre_store_db *db, sqlite3_stmt **out_statement, const char *sql,
                         const char *types, ...)
{
    va_list values;
    va_start(values, types);
    int code = query(db, out_statement, sql, types, &values);
    va_end(values);
    return code;
}

int vyre_store_sql_end(sqlite3_stmt *statement, int code)
{
    int finalized = sqlite3_finalize(statement);
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
        return code;
    return finalized;
}

int vyre_store_sql_run(struct vyre_store_db *db, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, types);
    int code = query(db, &statement, sql, types, &values);
    va_end(values);
    if (code != SQLITE_OK)
        return code;
    do {
        code = sqlite3_step(statement);
    } while (code == SQLITE_ROW);
    return vyre_store_sql_end(statement, code);
}

int vyre_store_sql_number(struct vyre_store_db *db, int64_t *out_number, const char *sql,
                          const char *types, ...)
{
    *out_number = 0;
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, types);
    int code = query(db, &statement, sql, types, &values);
    va_end(values);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out_number = sqlite3_column_int64(statement, 0);
    return vyre_store_sql_end(statement, code);
}

bool vyre_store_column_hash(sqlite3_stmt *statement, int column, struct vyre_hash128 *out_hash)
{
    *out_hash = (struct vyre_hash128){0};
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    if (!bytes || sqlite3_column_bytes(statement, column) != HASH_BYTES)
        return false;
    for (unsigned i = 0; i < 8; i++) {
        out_hash->hi = out_hash->hi << 8 | bytes[i];
        out_hash->lo = out_hash->lo << 8 | bytes[8 + i];
    }
    return true;
}

bool vyre_store_column_text(sqlite3_stmt *statement, int column, char *out, size_t capacity)
{
    out[0] = '\0';
    const unsigned char *text = sqlite3_column_text(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    if (!text || size < 0 || (size_t)size >= capacity || strlen((const char *)text) != (size_t)size)
        return false;
    memcpy(out, text, (size_t)size + 1);
    return true;
}

bool vyre_store_column_cost(sqlite3_stmt *statement, int column, double *out_ns)
{
    *out_ns = sqlite3_column_double(statement, column);
    return isfinite(*out_ns) && *out_ns >= 0;
}

uint64_t vyre_store_column_count(sqlite3_stmt *statement, int column)
{
    int64_t value = sqlite3_column_int64(statement, column);
    return value > 0 ? (uint64_t)value : 0;
}

int vyre_store_sql_transact(struct vyre_store_db *db, vyre_store_action *action, void *argument)
{
    /* Immediate: a transaction that starts with reading might not get the lock when it writes. */
    int code = vyre_store_sql_exec(db, "BEGIN IMMEDIATE");
    if (code != SQLITE_OK)
        return code;
    code = action(db, argument);
    if (code == SQLITE_OK)
        code = vyre_store_sql_exec(db, "COMMIT");
    if (code != SQLITE_OK && !sqlite3_get_autocommit(db->handle))
        (void)!vyre_store_sql_exec(db, "ROLLBACK");
    return code;
}
