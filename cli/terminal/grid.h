/*
 * grid.h: tables for people: columns as wide as their widest cell, two spaces between them.
 *
 * Add the cells in reading order; a row ends when every column has one. If memory runs out,
 * cli_grid_print says so; the calls that add cells do not fail.
 */
#ifndef VYRE_CLI_TERMINAL_GRID_H
#define VYRE_CLI_TERMINAL_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "terminal/output.h"

#define CLI_GRID_COLUMNS_MAX 12

struct cli_grid {
    size_t column_count;
    bool right[CLI_GRID_COLUMNS_MAX]; /* aligned to the right, as numbers are */
    bool colour;                      /* the first row is bold */
    char **cells;                     /* Owned, each */
    size_t count;
    size_t capacity;
    bool failed;
};

/* `columns` has one letter per column: l left, r right. `heads` are the cells of the first row. */
void cli_grid_init(struct cli_grid *grid, const char *columns, const char *const *heads,
                   bool colour);
void cli_grid_deinit(struct cli_grid *grid);

/* The text is copied; bytes that do not print become '?'. */
void cli_grid_add(struct cli_grid *grid, const char *text);
void cli_grid_addf(struct cli_grid *grid, const char *format, ...) VYRE_PRINTF(2, 3);

/* Every line starts with `indent` spaces. If memory ran out, prints a note instead of the table. */
void cli_grid_print(const struct cli_grid *grid, size_t indent, struct cli_output *out);

#endif
