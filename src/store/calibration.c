/*
 * calibration.c: the costs measured on a device: one set, read and written as a whole.
 *
 * The column noisy of a cost holds how many calibrations in a row were noisy, this one included; 0 if
 * the cost is not noisy. Versions that know only a mark read and write it as one: 0 or not.
 */
#include <math.h>
#include <string.h>

#include "store/internal.h"

static bool is_cost(double ns)
{
    return isfinite(ns) && ns >= 0;
}

static bool is_name(const char *name, size_t capacity)
{
    if (!memchr(name, '\0', capacity) || name[0] == '\0')
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(name);
}

static bool is_tool(const char *tool, size_t capacity)
{
    if (!memchr(tool, '\0', capacity))
        return false;
    for (; *tool; tool++) {
        if (*tool < 0x20 || *tool > 0x7e)
            return false;
    }
    return true;
}

/* What is wrong, or NULL. */
static const char *find_fault(const struct vyre_store_calibration *calibration)
{
    if (calibration->cost_count == 0 || calibration->cost_count > VYRE_STORE_COSTS_MAX)
        return "a calibration has 1 to 32 costs";
    if (calibration->taken_at < 0)
        return "a calibration was not taken before 1970";
    if (!is_tool(calibration->tool, sizeof calibration->tool))
        return "the tool's version is not terminated, or not plain text";
    for (uint32_t i = 0; i < calibration->cost_count; i++) {
        const struct vyre_store_cost *cost = &calibration->costs[i];
        if (!is_name(cost->name, sizeof cost->name))
            return "the name of a cost is not 1 to 31 of a-z, 0-9, _ and -";
        if (!is_cost(cost->min_ns) || !is_cost(cost->median_ns) || !is_cost(cost->spread_ns))
            return "a cost is negative or not finite";
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(cost->name, calibration->costs[j].name) == 0)
                return "two costs have the same name";
        }
    }
    return NULL;
}

int vyre_store_put_calibration_row(struct vyre_store_db *db,
                                   const struct vyre_store_calibration_row *row)
{
    const struct vyre_store_calibration *calibration = &row->calibration;
    int64_t runs = calibration->noisy_runs > 0 ? calibration->noisy_runs : 1;
    int code = vyre_store_make_room(db, sizeof *row);
    if (code == SQLITE_OK)
        code = vyre_store_sql_run(db, "DELETE FROM cost WHERE device = ?", "h", &row->device);
    if (code == SQLITE_OK)
        code = vyre_store_sql_run(
            db, "INSERT OR REPLACE INTO calibration(device, taken_at, tool) VALUES(?, ?, ?)", "hit",
            &row->device, calibration->taken_at, calibration->tool);
    for (uint32_t i = 0; code == SQLITE_OK && i < calibration->cost_count; i++) {
        const struct vyre_store_cost *cost = &calibration->costs[i];
        code =
            vyre_store_sql_run(db,
                               "INSERT INTO cost(device, name, min_ns, median_ns, spread_ns,"
                               " samples, noisy) VALUES(?, ?, ?, ?, ?, ?, ?)",
                               "htrrrii", &row->device, cost->name, cost->min_ns, cost->median_ns,
                               cost->spread_ns, (int64_t)cost->samples, cost->noisy ? runs : 0);
    }
    return code;
}

static int put_calibration(struct vyre_store_db *db, void *argument)
{
    return vyre_store_put_calibration_row(db, argument);
}

enum vyre_status vyre_store_put_calibration(struct vyre_store *store, struct vyre_hash128 device,
                                            const struct vyre_store_calibration *calibration,
                                            struct vyre_diag *diag)
{
    const char *fault = find_fault(calibration);
    if (fault)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_VALUE, NULL, 0, "%s", fault);
    struct vyre_store_calibration_row row = {device, *calibration};
    if (row.calibration.taken_at == 0)
        row.calibration.taken_at = vyre_store_now();
    return vyre_store_write(store, put_calibration, &row, diag);
}

static bool read_cost(sqlite3_stmt *statement, struct vyre_store_cost *cost, uint32_t *inout_runs)
{
    int64_t samples = sqlite3_column_int64(statement, 4);
    int64_t runs = sqlite3_column_int64(statement, 5);
    cost->samples = samples >= 0 && samples <= UINT32_MAX ? (uint32_t)samples : 0;
    cost->noisy = runs != 0;
    if (runs > *inout_runs && runs <= UINT32_MAX)
        *inout_runs = (uint32_t)runs;
    return vyre_store_column_text(statement, 0, cost->name, sizeof cost->name) &&
           vyre_store_column_cost(statement, 1, &cost->min_ns) &&
           vyre_store_column_cost(statement, 2, &cost->median_ns) &&
           vyre_store_column_cost(statement, 3, &cost->spread_ns);
}

int vyre_store_get_costs(struct vyre_store_db *db, struct vyre_store_calibration_row *row,
                         bool *out_found)
{
    struct vyre_store_calibration *calibration = &row->calibration;
    *out_found = false;
    calibration->cost_count = 0;
    calibration->noisy_runs = 0;
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement,
                                    "SELECT name, min_ns, median_ns, spread_ns, samples, noisy"
                                    " FROM cost WHERE device = ? ORDER BY name",
                                    "h", &row->device);
    if (code != SQLITE_OK)
        return code;
    bool whole = true;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && whole) {
        whole = calibration->cost_count < VYRE_STORE_COSTS_MAX &&
                read_cost(statement, &calibration->costs[calibration->cost_count],
                          &calibration->noisy_runs);
        calibration->cost_count += whole;
    }
    *out_found = whole && !find_fault(calibration);
    return vyre_store_sql_end(statement, code);
}

struct calibration_lookup {
    struct vyre_store_calibration_row row;
    bool found;
};

static int find_calibration(struct vyre_store_db *db, void *argument)
{
    struct calibration_lookup *lookup = argument;
    struct vyre_store_calibration *calibration = &lookup->row.calibration;
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement,
                                    "SELECT taken_at, tool FROM calibration WHERE device = ?", "h",
                                    &lookup->row.device);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    bool whole = code == SQLITE_ROW &&
                 vyre_store_column_text(statement, 1, calibration->tool, sizeof calibration->tool);
    if (whole)
        calibration->taken_at = sqlite3_column_int64(statement, 0);
    code = vyre_store_sql_end(statement, code);
    if (code == SQLITE_OK && whole)
        code = vyre_store_get_costs(db, &lookup->row, &lookup->found);
    return code;
}

enum vyre_status vyre_store_get_calibration(struct vyre_store *store, struct vyre_hash128 device,
                                            struct vyre_store_calibration *out_calibration,
                                            struct vyre_diag *diag)
{
    memset(out_calibration, 0, sizeof *out_calibration);
    struct calibration_lookup lookup = {.row.device = device};
    enum vyre_status status =
        vyre_store_read(store, find_calibration, &lookup, &lookup.found, diag);
    if (status == VYRE_OK && !lookup.found)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_NOT_FOUND, NULL, 0,
                             "the device was not calibrated");
    if (status == VYRE_OK)
        *out_calibration = lookup.row.calibration;
    return status;
}
