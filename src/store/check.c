/*
 * check.c: checks the store's structure and checksums.
 */
#include <stdio.h>
#include <string.h>

#include "store/internal.h"

#define TEXT_BYTES 512

struct check {
    vyre_store_problem *problem;
    void *user;
    struct vyre_store_check result;
};

static void report(const struct check *check, const char *text)
{
    if (check->problem)
        check->problem(check->user, text);
}

static int check_structure(struct vyre_store_db *db, struct check *check)
{
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement, "PRAGMA integrity_check(100)", "");
    if (code != SQLITE_OK)
        return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(statement, 0);
        if (text && strcmp((const char *)text, "ok") == 0)
            continue;
        check->result.problem_count++;
        report(check, text ? (const char *)text : "no answer");
    }
    return vyre_store_sql_end(statement, code);
}

static int check_entry(void *user, const struct vyre_store_entry_row *row)
{
    struct check *check = user;
    check->result.entry_count++;
    if (vyre_hash128_equal(vyre_store_seal(&row->entry), row->checksum))
        return SQLITE_OK;
    check->result.damaged_count++;
    char key[VYRE_HASH128_TEXT_BYTES], text[TEXT_BYTES];
    vyre_hash128_format(row->entry.key, key);
    snprintf(text, sizeof text, "%s %s does not match its checksum",
             row->entry.kind == VYRE_STORE_TUNING ? "tuning" : "pipeline", key);
    report(check, text);
    return SQLITE_OK;
}

static int check_one(struct vyre_store_db *db, struct check *check)
{
    const struct vyre_store_rows rows = {.user = check, .entry = check_entry};
    int code = check_structure(db, check);
    return code == SQLITE_OK ? vyre_store_each_row(db, &rows) : code;
}

enum vyre_status vyre_store_check(struct vyre_store *store, vyre_store_problem *problem, void *user,
                                  struct vyre_store_check *out_check, struct vyre_diag *diag)
{
    struct check check = {.problem = problem, .user = user};
    vyre_store_enter(store);
    int code = store->memory_used ? check_one(&store->memory, &check) : SQLITE_OK;
    if (code == SQLITE_OK && store->disk.handle)
        code = check_one(&store->disk, &check);
    /* A file that is too broken to be read has also been checked. */
    if (vyre_store_fault_of(code) == VYRE_STORE_FAULT_BROKEN) {
        check.result.problem_count++;
        report(&check, sqlite3_errstr(code));
        code = SQLITE_OK;
    }
    vyre_store_leave(store);
    memset(out_check, 0, sizeof *out_check);
    if (code == SQLITE_OK)
        *out_check = check.result;
    return vyre_store_failed(code, diag);
}
