/*
 * sql.h: SQLite, as far as the store uses it: statements with typed values, and what a failure means.
 *
 * Functions return SQLite's extended codes, so that nothing is lost before the caller decides what
 * to do. Statements are prepared for each use: the store is not on a hot path, and nothing must be
 * reset when something fails half way.
 */
#ifndef VYRE_STORE_SQL_H
#define VYRE_STORE_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include <vyre/export.h>
#include <vyre/hash.h>

/* One open database: the file, or the memory. */
struct vyre_store_db {
    sqlite3 *handle; /* Owned; NULL: closed */
    uint64_t limit_bytes;
    uint32_t learnings_limit;
    bool evicted; /* records were removed to make room since the flag was last read */
};

/* What a failure asks of the store. */
enum vyre_store_fault {
    VYRE_STORE_FAULT_NONE = 0,
    VYRE_STORE_FAULT_BUSY,   /* another process has the lock: try later */
    VYRE_STORE_FAULT_BROKEN, /* the file is not what it should be: set it aside */
    VYRE_STORE_FAULT_GONE,   /* the file system refuses: do without the file */
    VYRE_STORE_FAULT_MEMORY, /* no memory */
};

enum vyre_store_fault vyre_store_fault_of(int code);

/* Runs statements without parameters or results. */
VYRE_NODISCARD int vyre_store_sql_exec(struct vyre_store_db *db, const char *sql);

/*
 * Prepares and binds. `types` has one letter per value: h const struct vyre_hash128 *, i int64_t,
 * r double, t const char *, b const void * and size_t. Texts and bytes must outlive the statement.
 */
VYRE_NODISCARD int vyre_store_sql_query(struct vyre_store_db *db, sqlite3_stmt **out_statement,
                                        const char *sql, const char *types, ...);

/* The same, and runs it to the end. */
VYRE_NODISCARD int vyre_store_sql_run(struct vyre_store_db *db, const char *sql, const char *types,
                                      ...);

/* The first column of the first row; 0 if there is no row. */
VYRE_NODISCARD int vyre_store_sql_number(struct vyre_store_db *db, int64_t *out_number,
                                         const char *sql, const char *types, ...);

/* Finalizes the statement and returns the code; SQLITE_DONE and SQLITE_ROW are not failures. */
VYRE_NODISCARD int vyre_store_sql_end(sqlite3_stmt *statement, int code);

/* Columns. The first three are false for a value of another type or length. */
bool vyre_store_column_hash(sqlite3_stmt *statement, int column, struct vyre_hash128 *out_hash);
bool vyre_store_column_text(sqlite3_stmt *statement, int column, char *out, size_t capacity);
bool vyre_store_column_cost(sqlite3_stmt *statement, int column, double *out_ns);
uint64_t vyre_store_column_count(sqlite3_stmt *statement, int column);

/* Begins, runs and commits; rolls back on failure. */
typedef int vyre_store_action(struct vyre_store_db *db, void *argument);
VYRE_NODISCARD int vyre_store_sql_transact(struct vyre_store_db *db, vyre_store_action *action,
                                           void *argument);

#endif
