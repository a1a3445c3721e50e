/*
 * json.h: writes one JSON document, with commas where they belong.
 *
 * Members are given with their key, elements of an array and the document itself with NULL.
 */
#ifndef VYRE_CLI_JSON_H
#define VYRE_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal/output.h"

#define CLI_JSON_DEPTH_MAX 16

struct cli_json {
    struct cli_output *out; /* Borrowed */
    unsigned depth;
    bool has_members[CLI_JSON_DEPTH_MAX];
};

void cli_json_init(struct cli_json *json, struct cli_output *out);

void cli_json_object(struct cli_json *json, const char *key);
void cli_json_end_object(struct cli_json *json);
void cli_json_array(struct cli_json *json, const char *key);
void cli_json_end_array(struct cli_json *json);

void cli_json_text(struct cli_json *json, const char *key, const char *text); /* NULL: null */
void cli_json_u64(struct cli_json *json, const char *key, uint64_t value);
void cli_json_i64(struct cli_json *json, const char *key, int64_t value);
void cli_json_double(struct cli_json *json, const char *key, double value); /* exact */
void cli_json_ratio(struct cli_json *json, const char *key, double value);
void cli_json_flag(struct cli_json *json, const char *key, bool value);
void cli_json_null(struct cli_json *json, const char *key);

/* Ends the document with a line feed. */
void cli_json_finish(struct cli_json *json);

#endif
