/*
 * grid.c: tables for people.
 */
#include "terminal/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 512

void cli_grid_init(struct cli_grid *grid, const char *columns, const char *const *heads,
                   bool colour)
{
    *grid = (struct cli_grid){.column_count = strlen(columns), .colour = colour};
    for (size_t i = 0; i < grid->column_count; i++)
        grid->right[i] = columns[i] == 'r';
    for (size_t i = 0; i < grid->column_count; i++)
        cli_grid_add(grid, heads[i]);
}

void cli_grid_deinit(struct cli_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++)
        free(grid->cells[i]);
    free(grid->cells);
    *grid = (struct cli_grid){0};
}

static bool make_room(struct cli_grid *grid)
{
    if (grid->count < grid->capacity)
        return true;
    size_t capacity = grid->capacity ? grid->capacity * 2 : 64;
    char **cells = realloc(grid->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    grid->cells = cells;
    grid->capacity = capacity;
    return true;
}

void cli_grid_add(struct cli_grid *grid, const char *text)
{
    char *copy = grid->failed || !make_room(grid) ? NULL : strdup(text);
    if (!copy) {
        grid->failed = true;
        return;
    }
    for (char *at = copy; *at; at++) {
        unsigned char code = (unsigned char)*at;
        if (code < 0x20 || code == 0x7f)
            *at = '?';
    }
    grid->cells[grid->count++] = copy;
}

void cli_grid_addf(struct cli_grid *grid, const char *format, ...)
{
    char text[CELL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_grid_add(grid, text);
}

/* Columns on the screen, one per code point: right except for wide and combining characters. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void spaces(struct cli_output *out, size_t count)
{
    while (count-- > 0)
        cli_output_bytes(out, " ", 1);
}

static void print_row(const struct cli_grid *grid, size_t row, const size_t *widths, size_t indent,
                      struct cli_output *out)
{
    bool bold = grid->colour && row == 0;
    /* Spaces wait in `owed` until a cell follows, so that no line ends in spaces. */
    size_t owed = indent;
    for (size_t i = 0; i < grid->column_count; i++) {
        const char *cell = grid->cells[row * grid->column_count + i];
        size_t padding = widths[i] - width_of(cell);
        owed += grid->right[i] ? padding : 0;
        if (cell[0] != '\0') {
            spaces(out, owed);
            cli_output_text(out, bold ? "\x1b[1m" : "");
            cli_output_text(out, cell);
            cli_output_text(out, bold ? "\x1b[0m" : "");
            owed = 0;
        }
        owed += (grid->right[i] ? 0 : padding) + 2;
    }
    cli_output_text(out, "\n");
}

void cli_grid_print(const struct cli_grid *grid, size_t indent, struct cli_output *out)
{
    if (grid->failed) {
        cli_output_text(out, "(not enough memory for this table)\n");
        return;
    }
    size_t rows = grid->count / grid->column_count;
    size_t widths[CLI_GRID_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < rows * grid->column_count; i++) {
        size_t width = width_of(grid->cells[i]);
        size_t column = i % grid->column_count;
        if (width > widths[column])
            widths[column] = width;
    }
    for (size_t row = 0; row < rows; row++)
        print_row(grid, row, widths, indent, out);
}
