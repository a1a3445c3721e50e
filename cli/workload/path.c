/*
 * path.c: the reader's errors with JSON paths, its memory, its names.
 *
 *   $.batches.step[1].bind["0"]     a key that is not an identifier is in brackets
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "terminal/suggest.h"
#include "workload/internal.h"

/* The longest step is a quoted key. */
#define STEP_BYTES    (CLI_QUOTE_BYTES + sizeof "[\"\"]")
#define WHOLE_BYTES   (1 + WORKLOAD_DEPTH_MAX * STEP_BYTES + 1)
#define LEFT_OUT      "$..."
#define MESSAGE_BYTES 240

static bool is_identifier(struct cli_span key)
{
    for (size_t i = 0; i < key.size; i++) {
        char c = key.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool inner = (c >= '0' && c <= '9') || c == '-';
        if (!letter && !(inner && i > 0))
            return false;
    }
    return key.size > 0;
}

static size_t format_step(const struct workload_path_step *step, char *out, size_t capacity)
{
    int length;
    if (!step->key.bytes)
        length = snprintf(out, capacity, "[%zu]", step->index);
    else if (is_identifier(step->key))
        length = snprintf(out, capacity, ".%s", cli_quote(step->key).text);
    else
        length = snprintf(out, capacity, "[\"%s\"]", cli_quote(step->key).text);
    return length > 0 ? (size_t)length : 0;
}

struct workload_path workload_path_format(const struct workload_path_step *steps, size_t count)
{
    char whole[WHOLE_BYTES] = "$";
    size_t used = 1;
    for (size_t i = 0; i < count && i < WORKLOAD_DEPTH_MAX; i++)
        used += format_step(&steps[i], whole + used, sizeof whole - used);

    struct workload_path path;
    if (used < sizeof path.text) {
        memcpy(path.text, whole, used + 1);
        return path;
    }
    /* The end of a long path matters more than its beginning. */
    size_t kept = sizeof path.text - sizeof LEFT_OUT;
    memcpy(path.text, LEFT_OUT, sizeof LEFT_OUT - 1);
    memcpy(path.text + sizeof LEFT_OUT - 1, whole + used - kept, kept + 1);
    return path;
}

static struct workload_path node_path(const struct workload_node *node)
{
    struct workload_path_step steps[WORKLOAD_DEPTH_MAX];
    size_t count = 0;
    for (const struct workload_node *at = node; at->parent; at = at->parent)
        count++;
    size_t i = count < WORKLOAD_DEPTH_MAX ? count : WORKLOAD_DEPTH_MAX;
    for (const struct workload_node *at = node; i > 0; at = at->parent) {
        i--;
        steps[i].key = at->key ? cli_span_of(at->key) : (struct cli_span){NULL, 0};
        steps[i].index = at->index;
    }
    return workload_path_format(steps, count);
}

bool workload_fail(struct workload_reader *reader, const struct workload_node *node,
                   enum cli_diag_id id, const char *message, ...)
{
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    (void)cli_diag_set(&reader->error, id, NULL, 0, "%s: %s", node_path(node).text, text);
    return false;
}

/* ---- Memory ------------------------------------------------------------------------------------ */

bool workload_fail_memory(struct workload_reader *reader)
{
    (void)vyre_diag_set(&reader->error, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                        "no memory to read the workload");
    return false;
}

void *workload_take(struct workload_reader *reader, size_t count, size_t size)
{
    void *taken = workload_arena_take(reader->arena, count, size);
    if (!taken)
        (void)workload_fail_memory(reader);
    return taken;
}

const char *workload_take_text(struct workload_reader *reader, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = workload_take(reader, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- Names ------------------------------------------------------------------------------------- */

bool workload_names_add(struct workload_reader *reader, json_t *names, const char *name,
                        size_t index)
{
    if (json_object_set_new(names, name, json_integer((json_int_t)index)) == 0)
        return true;
    return workload_fail_memory(reader);
}

bool workload_fail_name(struct workload_reader *reader, const struct workload_node *node,
                        json_t *names, const char *what, const char *name)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(name)};
    for (void *at = json_object_iter(names); at; at = json_object_iter_next(names, at))
        cli_suggestion_offer(&suggestion, json_object_iter_key(at));
    (void)workload_fail(reader, node, CLI_DIAG_WORKLOAD_REFERENCE, "there is no %s `%s`", what,
                        cli_quote(cli_span_of(name)).text);
    if (suggestion.nearest)
        vyre_diag_set_fix(&reader->error, "Did you mean `%s`?", suggestion.nearest);
    return false;
}

bool workload_get_reference(struct workload_reader *reader, const struct workload_node *node,
                            json_t *names, const char *what, uint32_t *out_index)
{
    const char *name;
    *out_index = 0;
    if (!workload_get_text(reader, node, &name))
        return false;
    const json_t *index = json_object_get(names, name);
    if (!index)
        return workload_fail_name(reader, node, names, what, name);
    *out_index = (uint32_t)json_integer_value(index);
    return true;
}
