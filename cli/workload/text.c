/*
 * text.c: bytes to JSON, and the place of an error in it.
 *
 * jansson reports the byte at which it gave up. A scan of the bytes before it, which knows only
 * brackets, commas and strings, finds the path that leads there. The same scan runs over all bytes
 * before jansson does, and refuses documents that are nested too deep or have too many values: each
 * value takes jansson more than a hundred bytes.
 */
#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "workload/internal.h"

/* An object or an array that is open where the scan is. */
struct level {
    bool is_object;
    bool wants_key;
    struct workload_path_step step; /* to the value being read; an object may have no key yet */
};

struct scan {
    struct level levels[WORKLOAD_DEPTH_MAX];
    size_t depth;
    size_t value_count; /* 1 + opening brackets + commas: an upper bound of the values */
};

/* The index after the string that begins at `start`, or `size` if the string does not end. */
static size_t skip_string(const char *bytes, size_t size, size_t start)
{
    for (size_t i = start + 1; i < size; i++) {
        if (bytes[i] == '\\')
            i++;
        else if (bytes[i] == '"')
            return i + 1;
    }
    return size;
}

static void open_level(struct scan *scan, bool is_object)
{
    scan->value_count++;
    scan->levels[scan->depth++] = (struct level){.is_object = is_object, .wants_key = is_object};
}

static void next_entry(struct scan *scan)
{
    scan->value_count++;
    if (scan->depth == 0)
        return;
    struct level *level = &scan->levels[scan->depth - 1];
    level->wants_key = level->is_object;
    if (level->is_object)
        level->step.key = (struct cli_span){NULL, 0};
    else
        level->step.index++;
}

/* Takes a complete string: it is a key if the innermost level expects one. */
static void take_string(struct scan *scan, struct cli_span text)
{
    if (scan->depth == 0 || !scan->levels[scan->depth - 1].wants_key)
        return;
    scan->levels[scan->depth - 1].wants_key = false;
    scan->levels[scan->depth - 1].step.key = text;
}

/* Scans `size` bytes. False if they nest too deep; the scan is then at the deepest allowed level. */
static bool scan_bytes(struct scan *scan, const char *bytes, size_t size)
{
    scan->depth = 0;
    scan->value_count = 1;
    for (size_t i = 0; i < size; i++) {
        switch (bytes[i]) {
        case '{':
        case '[':
            if (scan->depth == WORKLOAD_DEPTH_MAX)
                return false;
            open_level(scan, bytes[i] == '{');
            break;
        case '}':
        case ']':
            scan->depth -= scan->depth > 0;
            break;
        case ',':
            next_entry(scan);
            break;
        case '"': {
            size_t end = skip_string(bytes, size, i);
            if (end - i >= 2 && bytes[end - 1] == '"')
                take_string(scan, (struct cli_span){bytes + i + 1, end - i - 2});
            i = end - 1;
            break;
        }
        default:
            break;
        }
    }
    return true;
}

static struct workload_path scan_path(const struct scan *scan)
{
    struct workload_path_step steps[WORKLOAD_DEPTH_MAX];
    size_t count = 0;
    for (size_t i = 0; i < scan->depth; i++) {
        const struct level *level = &scan->levels[i];
        if (!level->is_object || level->step.key.bytes)
            steps[count++] = level->step;
    }
    return workload_path_format(steps, count);
}

static enum cli_diag_id id_of(enum json_error_code code)
{
    if (code == json_error_duplicate_key)
        return CLI_DIAG_WORKLOAD_DUPLICATE;
    if (code == json_error_numeric_overflow)
        return CLI_DIAG_WORKLOAD_NUMBER;
    if (code == json_error_stack_overflow)
        return CLI_DIAG_WORKLOAD_DEPTH;
    if (code == json_error_invalid_utf8 || code == json_error_null_character ||
        code == json_error_null_byte_in_key)
        return CLI_DIAG_WORKLOAD_ENCODING;
    return CLI_DIAG_WORKLOAD_SYNTAX;
}

/* jansson's position is after the unexpected token; the scan must not include a bracket there. */
static size_t error_position(const json_error_t *error, const char *bytes, size_t size_bytes)
{
    size_t position = error->position > 0 ? (size_t)error->position : 0;
    position = position < size_bytes ? position : size_bytes;
    enum json_error_code code = json_error_code(error);
    bool unexpected = code == json_error_invalid_syntax || code == json_error_end_of_input_expected;
    if (unexpected && position > 0 && strchr("{}[],", bytes[position - 1]))
        position--;
    return position;
}

/* Sets an error at a byte, whether jansson or the scan found it. */
static void fail_at(struct workload_reader *reader, const char *bytes, size_t position,
                    enum cli_diag_id id, const char *text)
{
    size_t line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < position; i++) {
        if (bytes[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    struct scan scan;
    (void)scan_bytes(&scan, bytes, position);
    (void)cli_diag_set(&reader->error, id, NULL, 0, "%s: line %zu, column %zu: %s",
                       scan_path(&scan).text, line, position - line_start + 1,
                       cli_quote(cli_span_of(text)).text);
}

json_t *workload_text_parse(struct workload_reader *reader, const char *bytes, size_t size_bytes)
{
    struct scan scan;
    if (!scan_bytes(&scan, bytes, size_bytes)) {
        (void)cli_diag_set(&reader->error, CLI_DIAG_WORKLOAD_DEPTH, NULL, 0,
                           "%s: nested more than %d levels deep", scan_path(&scan).text,
                           WORKLOAD_DEPTH_MAX);
        return NULL;
    }
    if (scan.value_count > WORKLOAD_VALUES_MAX) {
        (void)cli_diag_set(&reader->error, CLI_DIAG_WORKLOAD_LIMIT, NULL, 0,
                           "$: more than %u values", WORKLOAD_VALUES_MAX);
        return NULL;
    }
    const char *nul = size_bytes > 0 ? memchr(bytes, '\0', size_bytes) : NULL;
    if (nul) {
        fail_at(reader, bytes, (size_t)(nul - bytes), CLI_DIAG_WORKLOAD_ENCODING, "a NUL byte");
        return NULL;
    }
    json_error_t error = {0}; /* jansson sets no code when it runs out of memory */
    json_t *root = json_loadb(bytes, size_bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    enum json_error_code code = json_error_code(&error);
    if (!root && (code == json_error_out_of_memory || code == json_error_unknown))
        (void)workload_fail_memory(reader);
    else if (!root)
        fail_at(reader, bytes, error_position(&error, bytes, size_bytes), id_of(code), error.text);
    return root;
}
