/*
 * intern.h: numbers for distinct byte strings, in the order in which they are first seen.
 */
#ifndef VYRE_CLI_REPORT_INTERN_H
#define VYRE_CLI_REPORT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_intern_entry {
    uint64_t hash;
    size_t offset; /* in `bytes` */
    size_t size;
};

/* A zeroed table is empty. */
struct cli_intern {
    char *bytes; /* Owned, all three */
    size_t byte_count;
    size_t byte_capacity;
    struct cli_intern_entry *entries;
    size_t count;
    size_t capacity;
    size_t *slots; /* number + 1; 0: empty */
    size_t slot_count;
};

/* The number of the bytes, counted from 0; false when memory ran out. */
bool cli_intern_add(struct cli_intern *table, const void *bytes, size_t size, size_t *out_number);

void cli_intern_deinit(struct cli_intern *table);

#endif
