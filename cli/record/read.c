/*
 * read.c: reads a record line by line.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/values.h"
#include "terminal/diag.h"

#define BATCH_COLUMNS_1                                                                     \
    "device sequence label status mode variant why settled decision shape repeat_hint "     \
    "repeats_seen predicted_ns wall_ns saved_ns submit_begin_ns submit_ns device_begin_ns " \
    "device_ns "                                                                            \
    "complete_ns commands copied_bytes kernels candidates"

/* Lists of names, with the first and the last version that has each. */
static const struct {
    const char *name;
    int from, to;
} known_lists[RECORD_NAME_LISTS] = {
    {"mode", 1, 2},    {"why", 1, 2},  {"reason", 1, 1}, {"status", 1, 2},  {"command", 1, 2},
    {"ability", 1, 2}, {"cost", 1, 2}, {"state", 1, 2},  {"variant", 1, 2}, {"evidence", 2, 2}};

/* The columns that this reader knows; a later version may add more after them. */
static const struct {
    const char *of;
    const char *names;
    int from, to; /* versions */
} known_columns[] = {
    {"batch", BATCH_COLUMNS_1, 1, 1},
    {"batch", BATCH_COLUMNS_1 " wanted wanted_variant wanted_out evidence", 2, 2},
    {"kernel", "label dispatches", 1, 2},
    {"candidate", "mode variant state reason predicted_ns measured_ns count", 1, 1},
    {"candidate", "mode variant state why predicted_ns measured_ns count", 2, 2},
    {"cost", "known noisy samples min_ns median_ns spread_ns confidence_ns", 1, 2},
    {"ability", "value reason", 1, 2},
};

/* ---- Lines ------------------------------------------------------------------------------------- */

/* Reads the next line, without its line feed. False at the end of the file or on failure. */
static bool next_line(struct record_reader *reader)
{
    reader->size = 0;
    int byte = getc_unlocked(reader->stream);
    if (byte == EOF) {
        if (ferror(reader->stream))
            record_fail(reader, CLI_DIAG_RECORD_OPEN, "the record cannot be read: %s",
                        strerror(errno));
        return false;
    }
    reader->position->line++;
    reader->position->column = 1;
    for (; byte != EOF && byte != '\n'; byte = getc_unlocked(reader->stream)) {
        if (reader->size == RECORD_LINE_MAX)
            return record_fail(reader,
                               reader->position->line == 1 ? CLI_DIAG_RECORD_FOREIGN
                                                           : CLI_DIAG_RECORD_SIZE,
                               "the line has more than %d bytes", RECORD_LINE_MAX);
        reader->line[reader->size++] = (char)byte;
    }
    reader->is_partial = byte == EOF;
    reader->line[reader->size] = '\0';
    return true;
}

static bool fail_truncated(struct record_reader *reader)
{
    reader->position->column = reader->size + 1;
    return record_fail(reader, CLI_DIAG_RECORD_TRUNCATED,
                       "the record stops here; its end is missing");
}

/* Parses a line; `added` bytes at its beginning are not in the file. */
static json_t *parse(struct record_reader *reader, const char *bytes, size_t size, size_t added)
{
    json_error_t error;
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (json)
        return json;
    if (reader->is_partial) {
        fail_truncated(reader);
        return NULL;
    }
    size_t column = error.position > 0 ? (size_t)error.position : 1;
    reader->position->column = column > added ? column - added : 1;
    record_fail(reader, CLI_DIAG_RECORD_SYNTAX, "not JSON: %s", error.text);
    return NULL;
}

/* Parses a line of the head as an object: without its comma, with braces. */
static json_t *parse_head(struct record_reader *reader, bool has_brace)
{
    if (!next_line(reader)) {
        fail_truncated(reader);
        return NULL;
    }
    static const char tail[] = "}";
    char *text = malloc(reader->size + 3);
    if (!text) {
        record_fail_memory(reader);
        return NULL;
    }
    size_t size = 0;
    if (!has_brace)
        text[size++] = '{';
    memcpy(text + size, reader->line, reader->size);
    size += reader->size;
    if (reader->size > 0 && text[size - 1] == ',')
        size--;
    memcpy(text + size, tail, sizeof tail);
    json_t *json = parse(reader, text, size + 1, !has_brace);
    free(text);
    return json;
}

/* ---- Head -------------------------------------------------------------------------------------- */

static void read_first(struct record_reader *reader)
{
    static const char mark[] = "{\"vyre_record\":";
    if (!next_line(reader) || strncmp(reader->line, mark, sizeof mark - 1) != 0) {
        reader->position->line = 1;
        reader->position->column = 1;
        record_fail(reader, CLI_DIAG_RECORD_FOREIGN, "the file does not begin like a record");
        return;
    }
    if (reader->is_partial) {
        fail_truncated(reader);
        return;
    }
    const char *digits = reader->line + sizeof mark - 1;
    long version = strtol(digits, NULL, 10);
    if (version != 1 && version != 2) {
        reader->position->column = sizeof mark;
        record_fail(reader, CLI_DIAG_RECORD_VERSION,
                    "the record is of version %ld; this tool reads versions 1 and 2", version);
        return;
    }
    reader->record->version = (int)version;
    rewind(reader->stream);
    reader->position->line = 0;
    json_t *json = parse_head(reader, true);
    if (json) {
        struct record *record = reader->record;
        record->vyre = record_string(reader, json_object_get(json, "vyre"), "vyre", 64);
        record->start_ns = record_number(reader, json_object_get(json, "start_ns"), "start_ns", 0,
                                         RECORD_NUMBER_MAX);
        record->start_unix_ns = record_number(reader, json_object_get(json, "start_unix_ns"),
                                              "start_unix_ns", 0, RECORD_NUMBER_MAX);
        record->limit_bytes = record_number(reader, json_object_get(json, "limit_bytes"),
                                            "limit_bytes", 0, INT64_MAX);
    }
    json_decref(json);
}

static void check_columns(struct record_reader *reader, const json_t *columns, size_t index)
{
    const char *of = known_columns[index].of;
    const json_t *list = json_object_get(columns, of);
    size_t count = record_array(reader, list, of, 1, RECORD_NAMES_MAX);
    const char *at = known_columns[index].names;
    for (size_t i = 0; *at && !reader->has_failed; i++) {
        size_t size = strcspn(at, " ");
        const char *name = i < count ? json_string_value(json_array_get(list, i)) : NULL;
        if (!name || strlen(name) != size || memcmp(name, at, size) != 0)
            record_fail(reader, CLI_DIAG_RECORD_VALUE, "column %zu of `%s` is not `%.*s`", i + 1,
                        of, (int)size, at);
        at += size + (at[size] == ' ');
    }
}

static bool has_version(const struct record_reader *reader, int from, int to)
{
    return reader->record->version >= from && reader->record->version <= to;
}

static void read_columns(struct record_reader *reader)
{
    json_t *json = parse_head(reader, false);
    const json_t *columns = json_object_get(json, "columns");
    if (json && !columns)
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`columns` is missing");
    for (size_t i = 0; i < sizeof known_columns / sizeof known_columns[0]; i++) {
        bool has = has_version(reader, known_columns[i].from, known_columns[i].to);
        if (has && !reader->has_failed)
            check_columns(reader, columns, i);
    }
    json_decref(json);
}

static void read_names(struct record_reader *reader)
{
    json_t *json = parse_head(reader, false);
    const json_t *names = json_object_get(json, "names");
    if (json && !names)
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`names` is missing");
    for (size_t i = 0; i < RECORD_NAME_LISTS && !reader->has_failed; i++) {
        /* From version 2 on, batches and candidates share one list of reasons. */
        const char *name = known_lists[i].name;
        if (i == RECORD_NAMES_REASON && reader->record->version > 1)
            name = known_lists[RECORD_NAMES_WHY].name;
        else if (!has_version(reader, known_lists[i].from, known_lists[i].to))
            continue;
        const json_t *list = json_object_get(names, name);
        struct record_names *out = &reader->record->names[i];
        size_t count = record_array(reader, list, name, 1, RECORD_NAMES_MAX);
        for (size_t j = 0; j < count && !reader->has_failed; j++) {
            out->items[j] = record_string(reader, json_array_get(list, j), name, 64);
            out->count = j + 1;
        }
    }
    json_decref(json);
}

static bool read_head(struct record_reader *reader)
{
    read_first(reader);
    if (!reader->has_failed)
        read_columns(reader);
    if (!reader->has_failed)
        read_names(reader);
    if (reader->has_failed)
        return false;
    if (!next_line(reader))
        return fail_truncated(reader);
    if (strcmp(reader->line, "\"records\":[") != 0)
        return reader->is_partial
                   ? fail_truncated(reader)
                   : record_fail(reader, CLI_DIAG_RECORD_SYNTAX, "`\"records\":[` should be here");
    char **none = RECORD_ADD(reader, &reader->record->labels);
    if (none && !(*none = strdup("")))
        return record_fail_memory(reader);
    return !reader->has_failed;
}

/* ---- Whole ------------------------------------------------------------------------------------- */

static bool read_record(struct record_reader *reader, bool *out_is_end)
{
    if (!next_line(reader))
        return fail_truncated(reader);
    size_t size = reader->size;
    if (size > 0 && reader->line[size - 1] == ',')
        size--;
    json_t *json = parse(reader, reader->line, size, 0);
    bool is_end = false;
    bool is_read = json && record_item(reader, json, &is_end);
    json_decref(json);
    if (is_read && !is_end && reader->is_partial)
        return fail_truncated(reader); /* the comma or the next line is missing */
    if (is_read && is_end != (size == reader->size)) {
        reader->position->column = size + 1;
        return record_fail(reader, CLI_DIAG_RECORD_SYNTAX,
                           is_end ? "a comma follows the last entry"
                                  : "no comma follows the entry");
    }
    *out_is_end = is_end;
    return is_read;
}

static bool read_all(struct record_reader *reader)
{
    if (!read_head(reader))
        return false;
    for (bool is_end = false; !is_end;) {
        if (!read_record(reader, &is_end))
            return false;
    }
    if (!next_line(reader))
        return fail_truncated(reader);
    if (strcmp(reader->line, "]}") != 0)
        return reader->is_partial
                   ? fail_truncated(reader)
                   : record_fail(reader, CLI_DIAG_RECORD_SYNTAX, "`]}` should be here");
    if (next_line(reader))
        return record_fail(reader, CLI_DIAG_RECORD_SYNTAX,
                           "something follows the end of the record");
    return !reader->has_failed;
}

enum vyre_status record_read_stream(FILE *stream, struct record **out_record,
                                    struct cli_position *position, struct vyre_diag *diag)
{
    *out_record = NULL;
    position->line = 0;
    position->column = 1;
    struct record *record = calloc(1, sizeof *record);
    struct record_reader *reader = calloc(1, sizeof *reader);
    if (!record || !reader) {
        free(record);
        free(reader);
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the record");
    }
    struct vyre_diag own;
    *reader = (struct record_reader){
        .record = record, .stream = stream, .position = position, .diag = diag ? diag : &own};
    bool is_read = read_all(reader);
    enum vyre_status status = is_read ? VYRE_OK : reader->diag->status;
    free(reader);
    if (!is_read)
        record_destroy(&record);
    *out_record = record;
    return status;
}

static enum vyre_status read_path(const char *path, struct record **out_record,
                                  struct cli_position *position, struct vyre_diag *diag)
{
    FILE *stream = fopen(path, "re");
    struct stat facts;
    if (!stream || fstat(fileno(stream), &facts) != 0) {
        int error = errno;
        if (stream)
            fclose(stream);
        return cli_diag_set(diag, CLI_DIAG_RECORD_OPEN, NULL, error, "cannot open the record: %s",
                            strerror(error));
    }
    enum vyre_status status;
    if (!S_ISREG(facts.st_mode))
        status = cli_diag_set(diag, CLI_DIAG_RECORD_OPEN, NULL, 0, "not a regular file");
    else if (facts.st_size > RECORD_FILE_MAX)
        status =
            cli_diag_set(diag, CLI_DIAG_RECORD_SIZE, NULL, 0,
                         "the file has %lld bytes, more than 512 MiB", (long long)facts.st_size);
    else
        status = record_read_stream(stream, out_record, position, diag);
    fclose(stream);
    return status;
}

struct record *record_read_file(const char *path)
{
    struct record *record = NULL;
    struct cli_position position = {.file = path};
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    if (read_path(path, &record, &position, &diag) == VYRE_OK)
        return record;
    if (position.line > 0)
        cli_message_print(&diag, &position);
    else
        cli_message_print_file(&diag, path);
    return NULL;
}

static void destroy_device(struct record_device *device)
{
    free(device->label);
    free(device->backend);
    free(device->kind);
    free(device->name);
    free(device->driver);
    free(device->uuid);
    for (size_t i = 0; i < device->ability_count; i++)
        free(device->abilities[i].reason);
}

void record_destroy(struct record **record)
{
    struct record *dead = *record;
    *record = NULL;
    if (!dead)
        return;
    for (size_t i = 0; i < RECORD_NAME_LISTS; i++) {
        for (size_t j = 0; j < dead->names[i].count; j++)
            free(dead->names[i].items[j]);
    }
    for (size_t i = 0; i < dead->labels.count; i++)
        free(dead->labels.items[i]);
    for (size_t i = 0; i < dead->devices.count; i++)
        destroy_device(&dead->devices.items[i]);
    free(dead->vyre);
    free(dead->labels.items);
    free(dead->devices.items);
    free(dead->kernels.items);
    free(dead->leases.items);
    free(dead->recordings.items);
    free(dead->policies.items);
    free(dead->batches.items);
    free(dead->uses.items);
    free(dead->candidates.items);
    free(dead);
}

size_t record_candidate_name(const struct record *record, uint8_t mode, uint8_t variant, char *out,
                             size_t capacity)
{
    int length = snprintf(out, capacity, "%s", record_name(record, RECORD_NAMES_MODE, mode));
    size_t used = length > 0 ? (size_t)length : 0;
    for (size_t bit = 0; bit < record_name_count(record, RECORD_NAMES_VARIANT) && bit < 8; bit++) {
        if (!(variant >> bit & 1))
            continue;
        bool has_room = used < capacity;
        length = snprintf(has_room ? out + used : NULL, has_room ? capacity - used : 0, ", %s",
                          record_name(record, RECORD_NAMES_VARIANT, bit));
        used += length > 0 ? (size_t)length : 0;
    }
    return used;
}
