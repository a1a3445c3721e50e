/*
 * json.c: typed reads of JSON values; errors carry the path of the value.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "terminal/suggest.h"
#include "workload/internal.h"

/* ---- Nodes ------------------------------------------------------------------------------------- */

struct workload_node workload_member(const struct workload_node *parent, const char *key)
{
    return (struct workload_node){parent, key, 0, json_object_get(parent->json, key)};
}

struct workload_node workload_item(const struct workload_node *parent, size_t index)
{
    return (struct workload_node){parent, NULL, index, json_array_get(parent->json, index)};
}

static const char *type_of(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        break;
    }
    return "null";
}

static bool wrong_type(struct workload_reader *reader, const struct workload_node *node,
                       const char *wanted)
{
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_TYPE, "%s, not %s", type_of(node->json),
                         wanted);
}

bool workload_require(struct workload_reader *reader, const struct workload_node *node)
{
    if (node->json)
        return true;
    return workload_fail(reader, node->parent, CLI_DIAG_WORKLOAD_MISSING, "`%s` is missing",
                         cli_quote(cli_span_of(node->key ? node->key : "entry")).text);
}

/* "`a`, `b` and `c`", as far as it fits. */
static void list_words(const char *const *words, size_t count, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < capacity; i++) {
        const char *join = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        int length = snprintf(out + used, capacity - used, "%s`%s`", join, words[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* Sets the error for an unknown word, with the known ones and the nearest. */
static bool fail_word(struct workload_reader *reader, const struct workload_node *node,
                      enum cli_diag_id id, const char *const *words, size_t count,
                      struct cli_span word)
{
    char list[160];
    list_words(words, count, list, sizeof list);
    const char *what = id == CLI_DIAG_WORKLOAD_KEY_UNKNOWN ? "key" : "word";
    (void)workload_fail(reader, node, id, "there is no %s `%s` here; known are %s", what,
                        cli_quote(word).text, list);
    struct cli_suggestion suggestion = {.wanted = word};
    for (size_t i = 0; i < count; i++)
        cli_suggestion_offer(&suggestion, words[i]);
    if (suggestion.nearest)
        vyre_diag_set_fix(&reader->error, "Did you mean `%s`?", suggestion.nearest);
    return false;
}

static bool is_among(const char *word, const char *const *words, size_t count, size_t *out_index)
{
    for (size_t i = 0; i < count; i++) {
        *out_index = i;
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

bool workload_check_keys(struct workload_reader *reader, const struct workload_node *node,
                         const char *const *keys, size_t key_count)
{
    if (!json_is_object(node->json))
        return wrong_type(reader, node, "an object");
    for (void *at = json_object_iter(node->json); at; at = json_object_iter_next(node->json, at)) {
        const char *key = json_object_iter_key(at);
        size_t index;
        if (!is_among(key, keys, key_count, &index)) {
            struct workload_node member = workload_member(node, key);
            return fail_word(reader, &member, CLI_DIAG_WORKLOAD_KEY_UNKNOWN, keys, key_count,
                             cli_span_of(key));
        }
    }
    return true;
}

/* ---- Containers -------------------------------------------------------------------------------- */

static bool check_count(struct workload_reader *reader, const struct workload_node *node,
                        size_t max, size_t count)
{
    if (count <= max)
        return true;
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_LIMIT,
                         "%zu entries; at most %zu are allowed", count, max);
}

bool workload_get_object(struct workload_reader *reader, const struct workload_node *node,
                         size_t max, size_t *out_count)
{
    *out_count = 0;
    if (!workload_require(reader, node))
        return false;
    if (!json_is_object(node->json))
        return wrong_type(reader, node, "an object");
    *out_count = json_object_size(node->json);
    return check_count(reader, node, max, *out_count);
}

bool workload_get_array(struct workload_reader *reader, const struct workload_node *node,
                        size_t min, size_t max, size_t *out_count)
{
    *out_count = 0;
    if (!workload_require(reader, node))
        return false;
    if (!json_is_array(node->json))
        return wrong_type(reader, node, "an array");
    size_t count = json_array_size(node->json);
    if (count < min || (count > max && min == max))
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_RANGE, "%zu entries instead of %s%zu",
                             count, min == max ? "" : "at least ", min);
    *out_count = count;
    return check_count(reader, node, max, count);
}

/* ---- Text -------------------------------------------------------------------------------------- */

bool workload_get_text(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_text)
{
    *out_text = NULL;
    if (!workload_require(reader, node))
        return false;
    *out_text = json_string_value(node->json);
    return *out_text || wrong_type(reader, node, "a string");
}

static bool check_name(struct workload_reader *reader, const struct workload_node *node,
                       const char *name)
{
    size_t characters = 0;
    for (const char *at = name; *at; at++) {
        unsigned char code = (unsigned char)*at;
        if (code < 0x20 || code == 0x7f)
            return workload_fail(reader, node, CLI_DIAG_WORKLOAD_NAME,
                                 "the name contains the control character 0x%02x", code);
        characters += (code & 0xc0) != 0x80;
    }
    if (characters == 0)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_NAME, "the name is empty");
    if (characters > WORKLOAD_NAME_MAX)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_NAME,
                             "the name has %zu characters; at most %d are allowed", characters,
                             WORKLOAD_NAME_MAX);
    return true;
}

bool workload_get_name(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_name)
{
    const char *text;
    *out_name = NULL;
    if (!workload_get_text(reader, node, &text) || !check_name(reader, node, text))
        return false;
    *out_name = workload_take_text(reader, text);
    return *out_name != NULL;
}

bool workload_key_name(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_name)
{
    *out_name = NULL;
    if (!check_name(reader, node, node->key))
        return false;
    *out_name = workload_take_text(reader, node->key);
    return *out_name != NULL;
}

bool workload_get_word(struct workload_reader *reader, const struct workload_node *node,
                       const char *const *words, size_t word_count, size_t *out_index)
{
    const char *text;
    *out_index = 0;
    if (!workload_get_text(reader, node, &text))
        return false;
    if (is_among(text, words, word_count, out_index))
        return true;
    return fail_word(reader, node, CLI_DIAG_WORKLOAD_WORD, words, word_count, cli_span_of(text));
}

/* ---- Numbers ----------------------------------------------------------------------------------- */

/* Up to this value a double holds every whole number exactly. */
#define EXACT_DOUBLE_MAX 9007199254740992.0

bool workload_get_value(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_value *out_value)
{
    *out_value = (struct workload_value){0};
    if (!workload_require(reader, node))
        return false;
    if (!json_is_number(node->json))
        return wrong_type(reader, node, "a number");
    out_value->value = json_number_value(node->json);
    if (json_is_integer(node->json)) {
        out_value->is_integer = true;
        out_value->integer = json_integer_value(node->json);
    } else if (floor(out_value->value) == out_value->value &&
               fabs(out_value->value) <= EXACT_DOUBLE_MAX) {
        out_value->is_integer = true;
        out_value->integer = (int64_t)out_value->value;
    }
    return true;
}

bool workload_get_integer(struct workload_reader *reader, const struct workload_node *node,
                          int64_t min, int64_t max, int64_t *out_value)
{
    struct workload_value value;
    *out_value = 0;
    if (!workload_get_value(reader, node, &value))
        return false;
    if (!value.is_integer)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_NUMBER, "%g is not a whole number",
                             value.value);
    if (value.integer < min || value.integer > max)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_RANGE,
                             "%" PRId64 " is not between %" PRId64 " and %" PRId64, value.integer,
                             min, max);
    *out_value = value.integer;
    return true;
}

bool workload_get_u32(struct workload_reader *reader, const struct workload_node *node,
                      uint32_t min, uint32_t *out_value)
{
    int64_t value;
    bool got = workload_get_integer(reader, node, min, UINT32_MAX, &value);
    *out_value = (uint32_t)value;
    return got;
}

bool workload_get_u32x3(struct workload_reader *reader, const struct workload_node *node,
                        uint32_t min, uint32_t out_values[3])
{
    size_t count;
    if (!workload_get_array(reader, node, 3, 3, &count))
        return false;
    for (size_t i = 0; i < 3; i++) {
        struct workload_node item = workload_item(node, i);
        if (!workload_get_u32(reader, &item, min, &out_values[i]))
            return false;
    }
    return true;
}
