/*
 * table.h: asks one policy for every row of a CSV table, as a stream.
 *
 * Rows are answered as they are read. The first bad row ends the run: the output keeps the earlier
 * answers, a JSON document is closed, and nothing else is written. After a bad first line the output is
 * empty. Only create allocates memory, no matter how long the table is.
 *
 * Thread-safety: a table belongs to one thread at a time.
 */
#ifndef VYRE_CLI_DECIDE_TABLE_H
#define VYRE_CLI_DECIDE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/vyre.h>

#include "decide/answer.h"
#include "decide/csv.h"
#include "decide/policy_table.h"
#include "terminal/output.h"

/* A column of the table that is an input of the policy. */
struct cli_wanted {
    size_t column; /* counts from 0 */
    size_t input;
};

/* After a failed run csv.line and csv.column say where the error is. */
struct cli_table {
    const struct cli_policy *policy; /* Borrowed */
    struct cli_csv csv;
    struct cli_values values;
    size_t column_count;                      /* of the first line */
    struct cli_wanted wanted[CLI_INPUTS_MAX]; /* ascending by column */
    size_t wanted_count;
    uint64_t row_count; /* rows answered in the last run */
};

VYRE_NODISCARD enum vyre_status cli_table_create(const struct cli_policy *policy,
                                                 struct cli_table **out_table,
                                                 struct vyre_diag *diag);

/* NULL and a pointer to NULL are ignored. */
void cli_table_destroy(struct cli_table **table);

/*
 * Reads a whole table and answers it. If the output fails, stops early and reports no error. May be
 * called again for another table.
 */
VYRE_NODISCARD enum vyre_status cli_table_run(struct cli_table *table, cli_csv_read *read,
                                              void *user, enum cli_form form,
                                              struct cli_output *out, struct vyre_diag *diag);

#endif
