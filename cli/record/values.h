/*
 * values.h: typed reads from one line of a record. The first failure sticks.
 */
#ifndef VYRE_CLI_RECORD_VALUES_H
#define VYRE_CLI_RECORD_VALUES_H

#include <jansson.h>

#include "record/record.h"
#include "terminal/diag.h"

/* The largest number that a record may have; negative ones are limited alike. */
#define RECORD_NUMBER_MAX ((INT64_C(1) << 62) - 1)

struct record_reader {
    struct record *record;
    FILE *stream;
    struct cli_position *position;
    struct vyre_diag *diag;
    bool has_failed;
    bool is_partial; /* the line has no line feed */
    size_t size;     /* of the line, without its line feed */
    char line[RECORD_LINE_MAX + 2];
};

/* Sets the diagnostic unless it is set already. Returns false. */
bool record_fail(struct record_reader *reader, enum cli_diag_id id, const char *message, ...)
    VYRE_PRINTF(3, 4);
bool record_fail_memory(struct record_reader *reader);

/* Room for one more entry of a list, zeroed. Without memory NULL, and the reader has failed. */
void *record_list_add(struct record_reader *reader, void *items, size_t count, size_t *capacity,
                      size_t entry_bytes);
#define RECORD_ADD(reader, list)                                                                \
    ((list)->items = record_list_add((reader), (list)->items, (list)->count, &(list)->capacity, \
                                     sizeof *(list)->items),                                    \
     (reader)->has_failed ? NULL : &(list)->items[(list)->count++])

/* A whole number from `min` to `max`; `what` names it in messages. 0 after a failure. */
int64_t record_number(struct record_reader *reader, const json_t *json, const char *what,
                      int64_t min, int64_t max);

/* A time; null is RECORD_UNKNOWN. */
int64_t record_moment(struct record_reader *reader, const json_t *json, const char *what);

/* A copy of a string of at most `max` bytes; NULL after a failure. */
char *record_string(struct record_reader *reader, const json_t *json, const char *what, size_t max);

/* 32 hexadecimal digits. */
void record_shape(struct record_reader *reader, const json_t *json, char *out);

/* An array with `min` to `max` entries; its size, 0 after a failure. */
size_t record_array(struct record_reader *reader, const json_t *json, const char *what, size_t min,
                    size_t max);

/* Reads one line of `records`. *out_is_end: it was the last. */
bool record_item(struct record_reader *reader, const json_t *json, bool *out_is_end);

/* Reads an entry of type `shape` into `policies`: policies.c. */
void record_policies(struct record_reader *reader, const json_t *json);

#endif
