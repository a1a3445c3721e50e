/*
 * table.c: asks one policy for every row of a CSV table, as a stream.
 */
#include "decide/table.h"

#include <stdlib.h>

#include "terminal/diag.h"

_Static_assert(CLI_CSV_LINE_BYTES <= CLI_VALUE_TEXT_BYTES, "a field must fit into a value");

enum vyre_status cli_table_create(const struct cli_policy *policy, struct cli_table **out_table,
                                  struct vyre_diag *diag)
{
    *out_table = NULL;
    struct cli_table *table = calloc(1, sizeof *table);
    if (!table)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the reader");
    table->policy = policy;
    enum vyre_status status =
        cli_values_init(&table->values, policy->inputs, policy->input_count, diag);
    if (status != VYRE_OK) {
        free(table);
        return status;
    }
    *out_table = table;
    return VYRE_OK;
}

void cli_table_destroy(struct cli_table **table)
{
    if (!table || !*table)
        return;
    cli_values_deinit(&(*table)->values);
    free(*table);
    *table = NULL;
}

/* Whether an input already has its column. */
static bool is_wanted(const struct cli_table *table, size_t input)
{
    for (size_t i = 0; i < table->wanted_count; i++) {
        if (table->wanted[i].input == input)
            return true;
    }
    return false;
}

static enum vyre_status add_column(struct cli_table *table, const struct cli_field *field,
                                   struct vyre_diag *diag)
{
    size_t column = table->column_count++;
    size_t input = cli_policy_find_input(table->policy, field->text);
    if (input == table->policy->input_count)
        return VYRE_OK;
    if (is_wanted(table, input)) {
        table->csv.column = field->column;
        return cli_diag_set(diag, CLI_DIAG_CSV_COLUMN_REPEATED, NULL, 0,
                            "the column `%s` is given twice", table->policy->inputs[input].name);
    }
    table->wanted[table->wanted_count++] = (struct cli_wanted){column, input};
    return VYRE_OK;
}

static enum vyre_status check_columns(struct cli_table *table, struct vyre_diag *diag)
{
    for (size_t i = 0; i < table->policy->input_count; i++) {
        if (!is_wanted(table, i)) {
            table->csv.column = table->csv.length + 1;
            return cli_diag_set(diag, CLI_DIAG_CSV_COLUMN_MISSING, NULL, 0,
                                "the first line names no column `%s`, which %s reads",
                                table->policy->inputs[i].name, table->policy->name);
        }
    }
    return VYRE_OK;
}

/* Reads the first line and finds the policy's inputs in it. */
static enum vyre_status read_names(struct cli_table *table, struct vyre_diag *diag)
{
    struct cli_csv *csv = &table->csv;
    bool found = false;
    enum vyre_status status = cli_csv_next_line(csv, &found, diag);
    if (status != VYRE_OK)
        return status;
    if (!found)
        return cli_diag_set(diag, CLI_DIAG_CSV_EMPTY, NULL, 0, "the table is empty");
    if (csv->length == 0)
        return cli_diag_set(diag, CLI_DIAG_CSV_EMPTY, NULL, 0, "the first line is empty");

    while (status == VYRE_OK) {
        struct cli_field field;
        status = cli_csv_next_field(csv, &found, &field, diag);
        if (status == VYRE_OK && !found)
            return check_columns(table, diag);
        if (status == VYRE_OK)
            status = add_column(table, &field, diag);
    }
    return status;
}

static enum vyre_status row_short(struct cli_table *table, size_t field_count, size_t taken,
                                  struct vyre_diag *diag)
{
    table->csv.column = table->csv.length + 1;
    if (taken == table->wanted_count)
        return cli_diag_set(diag, CLI_DIAG_CSV_ROW_SHORT, NULL, 0, "the row has %zu of %zu fields",
                            field_count, table->column_count);
    const char *name = table->policy->inputs[table->wanted[taken].input].name;
    return cli_diag_set(diag, CLI_DIAG_CSV_ROW_SHORT, NULL, 0,
                        "the row has %zu of %zu fields; `%s` is missing", field_count,
                        table->column_count, name);
}

static enum vyre_status row_long(struct cli_table *table, const struct cli_field *field,
                                 struct vyre_diag *diag)
{
    table->csv.column = field->column;
    return cli_diag_set(diag, CLI_DIAG_CSV_ROW_LONG, NULL, 0,
                        "the row has more than the %zu fields of the first line",
                        table->column_count);
}

/*
 * Picks the wanted fields out of the current line. The whole line is split before any value is read:
 * with a comma too many or too few, the values are in the wrong columns.
 */
static enum vyre_status split_row(struct cli_table *table, struct cli_field *out_fields,
                                  struct vyre_diag *diag)
{
    size_t field_count = 0;
    size_t taken = 0;
    for (;;) {
        struct cli_field field;
        bool found = false;
        enum vyre_status status = cli_csv_next_field(&table->csv, &found, &field, diag);
        if (status != VYRE_OK)
            return status;
        if (!found)
            break;
        if (field_count == table->column_count)
            return row_long(table, &field, diag);
        if (taken < table->wanted_count && table->wanted[taken].column == field_count)
            out_fields[taken++] = field;
        field_count++;
    }
    if (field_count < table->column_count)
        return row_short(table, field_count, taken, diag);
    return VYRE_OK;
}

static enum vyre_status answer_row(struct cli_table *table, struct cli_answer *out_answer,
                                   struct vyre_diag *diag)
{
    struct cli_field fields[CLI_INPUTS_MAX] = {0};
    enum vyre_status status = split_row(table, fields, diag);
    for (size_t i = 0; status == VYRE_OK && i < table->wanted_count; i++) {
        size_t offset = 0;
        status =
            cli_values_parse(&table->values, table->wanted[i].input, fields[i].text, &offset, diag);
        /* The text before the error contains no quote, so the offset is the same as in the line. */
        if (status != VYRE_OK)
            table->csv.column = fields[i].column + offset + (offset > 0 && fields[i].quoted);
    }
    if (status == VYRE_OK)
        status = table->policy->decide(table->values.value, out_answer, diag);
    return status;
}

static enum vyre_status answer_rows(struct cli_table *table, enum cli_form form,
                                    struct cli_output *out, struct vyre_diag *diag)
{
    while (!cli_output_failed(out)) {
        bool found = false;
        enum vyre_status status = cli_csv_next_line(&table->csv, &found, diag);
        if (status != VYRE_OK || !found)
            return status;
        struct cli_answer answer;
        status = answer_row(table, &answer, diag);
        if (status != VYRE_OK)
            return status;
        cli_answer_print_row(table->policy, &answer, form, table->row_count == 0, out);
        table->row_count++;
    }
    return VYRE_OK;
}

enum vyre_status cli_table_run(struct cli_table *table, cli_csv_read *read, void *user,
                               enum cli_form form, struct cli_output *out, struct vyre_diag *diag)
{
    cli_csv_init(&table->csv, read, user);
    table->column_count = 0;
    table->wanted_count = 0;
    table->row_count = 0;
    enum vyre_status status = read_names(table, diag);
    if (status != VYRE_OK)
        return status;
    cli_answer_begin_table(table->policy, form, out);
    status = answer_rows(table, form, out, diag);
    cli_answer_end_table(form, out);
    return status;
}
