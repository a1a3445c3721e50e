/*
 * json.h: writes one JSON document and places the commas.
 *
 * `key` is the key of a member; it is NULL for an element of an array and for the document itself.
 */
#ifndef VYRE_CLI_TERMINAL_JSON_H
#define VYRE_CLI_TERMINAL_JSON_H

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
void cli_json_double(struct cli_json *json, const char *key, double value); /* round-trips */
void cli_json_ratio(struct cli_json *json, const char *key, double value);  /* 4 decimals */
void cli_json_flag(struct cli_json *json, const char *key, bool value);
void cli_json_null(struct cli_json *json, const char *key);

/* Ends the document with a line feed. */
void cli_json_finish(struct cli_json *json);

#endif
