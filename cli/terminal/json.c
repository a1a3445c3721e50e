/*
 * json.c: writes one JSON document.
 */
#include "terminal/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void cli_json_init(struct cli_json *json, struct cli_output *out)
{
    *json = (struct cli_json){.out = out};
}

/* Writes what precedes a value: a comma, a line break between parts of the document, the key. */
static void begin(struct cli_json *json, const char *key)
{
    if (json->has_members[json->depth])
        cli_output_text(json->out, (json->depth <= 1 || (json->depth == 2 && !key)) ? ",\n" : ",");
    json->has_members[json->depth] = true;
    if (!key)
        return;
    cli_output_json_string(json->out, cli_span_of(key));
    cli_output_text(json->out, ":");
}

static void open_bracket(struct cli_json *json, const char *key, const char *bracket)
{
    begin(json, key);
    cli_output_text(json->out, bracket);
    if (json->depth + 1 < CLI_JSON_DEPTH_MAX)
        json->depth++;
    json->has_members[json->depth] = false;
}

static void close_bracket(struct cli_json *json, const char *bracket)
{
    cli_output_text(json->out, bracket);
    if (json->depth > 0)
        json->depth--;
}

void cli_json_object(struct cli_json *json, const char *key)
{
    open_bracket(json, key, "{");
}

void cli_json_end_object(struct cli_json *json)
{
    close_bracket(json, "}");
}

void cli_json_array(struct cli_json *json, const char *key)
{
    open_bracket(json, key, "[");
}

void cli_json_end_array(struct cli_json *json)
{
    close_bracket(json, "]");
}

static void word(struct cli_json *json, const char *key, const char *text)
{
    begin(json, key);
    cli_output_text(json->out, text);
}

void cli_json_text(struct cli_json *json, const char *key, const char *text)
{
    if (!text) {
        cli_json_null(json, key);
        return;
    }
    begin(json, key);
    cli_output_json_string(json->out, cli_span_of(text));
}

void cli_json_u64(struct cli_json *json, const char *key, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    word(json, key, digits);
}

void cli_json_i64(struct cli_json *json, const char *key, int64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    word(json, key, digits);
}

void cli_json_double(struct cli_json *json, const char *key, double value)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%.17g", value);
    word(json, key, isfinite(value) ? digits : "null");
}

void cli_json_ratio(struct cli_json *json, const char *key, double value)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%.4f", value);
    word(json, key, isfinite(value) ? digits : "null");
}

void cli_json_flag(struct cli_json *json, const char *key, bool value)
{
    word(json, key, value ? "true" : "false");
}

void cli_json_null(struct cli_json *json, const char *key)
{
    word(json, key, "null");
}

void cli_json_finish(struct cli_json *json)
{
    cli_output_text(json->out, "\n");
}
