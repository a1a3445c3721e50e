/*
 * table.h: reads the golden tables: a first line of names, then lines of fields, split at commas.
 * The files hold no quotes. It is written apart from the tool's own reader so that neither can hide
 * the other's mistakes. Whatever is not as expected fails the test.
 */
#ifndef VYRE_TESTS_SUPPORT_TABLE_H
#define VYRE_TESTS_SUPPORT_TABLE_H

#include <stdio.h>

#include "support/test.h"

enum { TABLE_COLUMNS_MAX = 16 };

struct table {
    FILE *file;
    char *header;
    const char *names[TABLE_COLUMNS_MAX];
    size_t column_count;
    char *line;
    size_t line_capacity;
    char *fields[TABLE_COLUMNS_MAX];
    size_t row_count;
};

/* Cuts `line` at its commas and drops the line's end. */
static inline size_t table_split(char *line, char *fields[TABLE_COLUMNS_MAX])
{
    line[strcspn(line, "\r\n")] = '\0';
    size_t count = 0;
    for (char *rest = line; rest; count++) {
        assert_in_range(count, 0, TABLE_COLUMNS_MAX - 1);
        fields[count] = rest;
        rest = strchr(rest, ',');
        if (rest)
            *rest++ = '\0';
    }
    return count;
}

static inline void table_open(struct table *table, const char *directory, const char *name)
{
    memset(table, 0, sizeof *table);
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_in_range(length, 1, sizeof path - 1);
    table->file = fopen(path, "r");
    if (!table->file)
        fail_msg("cannot open %s", path);
    size_t capacity = 0;
    assert_true(getline(&table->header, &capacity, table->file) > 0);
    table->column_count = table_split(table->header, table->fields);
    for (size_t i = 0; i < table->column_count; i++)
        table->names[i] = table->fields[i];
}

/* The next row into `fields`; false at the end of the file. */
static inline bool table_next(struct table *table)
{
    if (getline(&table->line, &table->line_capacity, table->file) <= 0) {
        assert_true(feof(table->file));
        return false;
    }
    table->row_count++;
    assert_int_equal(table_split(table->line, table->fields), table->column_count);
    return true;
}

static inline void table_close(struct table *table)
{
    fclose(table->file);
    free(table->header);
    free(table->line);
}

static inline const char *table_text(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->names[i], name) == 0)
            return table->fields[i];
    }
    fail_msg("the table has no column %s", name);
    return "";
}

static inline wide table_wide(const struct table *table, const char *name)
{
    const char *text = table_text(table, name);
    wide value = 0;
    assert_int_not_equal(text[0], '\0');
    for (; *text; text++) {
        assert_in_range(*text, '0', '9');
        value = value * 10 + (unsigned)(*text - '0');
    }
    return value;
}

static inline uint64_t table_u64(const struct table *table, const char *name)
{
    wide value = table_wide(table, name);
    assert_true(value <= UINT64_MAX);
    return (uint64_t)value;
}

static inline uint32_t table_u32(const struct table *table, const char *name)
{
    uint64_t value = table_u64(table, name);
    assert_true(value <= UINT32_MAX);
    return (uint32_t)value;
}

/* Slots separated by spaces, or "-". Returns how many. */
static inline size_t table_slots(const struct table *table, const char *name, uint32_t *slots,
                                 size_t capacity)
{
    const char *text = table_text(table, name);
    size_t count = 0;
    if (strcmp(text, "-") == 0)
        return 0;
    while (*text) {
        char *end;
        unsigned long long slot = strtoull(text, &end, 10);
        assert_true(end != text && slot <= UINT32_MAX && (*end == ' ' || *end == '\0'));
        assert_in_range(count, 0, capacity - 1);
        slots[count++] = (uint32_t)slot;
        text = *end == ' ' ? end + 1 : end;
    }
    return count;
}

#endif
