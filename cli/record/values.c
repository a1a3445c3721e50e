/*
 * values.c: typed reads from one line of a record.
 */
#include "record/values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/diag.h"

bool record_fail(struct record_reader *reader, enum cli_diag_id id, const char *message, ...)
{
    if (reader->has_failed)
        return false;
    reader->has_failed = true;
    char text[VYRE_DIAG_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    (void)cli_diag_set(reader->diag, id, NULL, 0, "%s", text);
    return false;
}

bool record_fail_memory(struct record_reader *reader)
{
    if (!reader->has_failed)
        (void)vyre_diag_set(reader->diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                            "no memory for the record");
    reader->has_failed = true;
    return false;
}

void *record_list_add(struct record_reader *reader, void *items, size_t count, size_t *capacity,
                      size_t entry_bytes)
{
    if (count == *capacity) {
        size_t wanted = count < 16 ? 16 : count * 2;
        void *grown = wanted > SIZE_MAX / entry_bytes ? NULL : realloc(items, wanted * entry_bytes);
        if (!grown) {
            record_fail_memory(reader);
            return items;
        }
        items = grown;
        *capacity = wanted;
    }
    memset((char *)items + count * entry_bytes, 0, entry_bytes);
    return items;
}

int64_t record_number(struct record_reader *reader, const json_t *json, const char *what,
                      int64_t min, int64_t max)
{
    if (!json_is_integer(json)) {
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`%s` is %s whole number", what,
                    json ? "not a" : "missing; it is a");
        return 0;
    }
    int64_t value = json_integer_value(json);
    if (value < min || value > max) {
        record_fail(reader, CLI_DIAG_RECORD_VALUE,
                    "`%s` is %" PRId64 ", not between %" PRId64 " and %" PRId64, what, value, min,
                    max);
        return 0;
    }
    return value;
}

int64_t record_moment(struct record_reader *reader, const json_t *json, const char *what)
{
    if (json_is_null(json))
        return RECORD_UNKNOWN;
    return record_number(reader, json, what, -RECORD_NUMBER_MAX, RECORD_NUMBER_MAX);
}

char *record_string(struct record_reader *reader, const json_t *json, const char *what, size_t max)
{
    const char *text = json_string_value(json);
    if (!text) {
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`%s` is %s string", what,
                    json ? "not a" : "missing; it is a");
        return NULL;
    }
    if (json_string_length(json) > max)
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`%s` has more than %zu bytes", what, max);
    if (reader->has_failed)
        return NULL;
    char *copy = strdup(text);
    if (!copy)
        record_fail_memory(reader);
    return copy;
}

void record_shape(struct record_reader *reader, const json_t *json, char *out)
{
    const char *text = json_string_value(json);
    if (!text || strspn(text, "0123456789abcdef") != 32 || text[32] != '\0') {
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`shape` is not 32 hexadecimal digits");
        return;
    }
    memcpy(out, text, 33);
}

size_t record_array(struct record_reader *reader, const json_t *json, const char *what, size_t min,
                    size_t max)
{
    if (!json_is_array(json)) {
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`%s` is %s array", what,
                    json ? "not an" : "missing; it is an");
        return 0;
    }
    size_t count = json_array_size(json);
    if (count < min || count > max) {
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`%s` has %zu entries, not %zu to %zu", what,
                    count, min, max);
        return 0;
    }
    return count;
}
