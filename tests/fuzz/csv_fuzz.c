/*
 * csv_fuzz.c: tables of any bytes through the reader and every policy of `vyre decide`.
 *
 * The first byte picks the policy, the rest is the table. It is run four times: whole and in pieces
 * of changing size, as CSV and as JSON. What must hold:
 *
 *   - how the bytes arrive changes nothing: same output, same rows, same error at the same place
 *   - the output has one line per answered row, under one line of names, or is empty
 *   - both forms answer the same rows, and a JSON document that was begun is closed
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decide/policy_table.h"
#include "decide/table.h"
#include "terminal/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
    const uint8_t *data;
    size_t size;
    size_t position;
    size_t piece; /* 0: all at once; otherwise the size of the next piece, 1 to 7 */
};

static ssize_t read_source(void *user, char *out, size_t capacity)
{
    struct source *source = user;
    size_t count = source->size - source->position;
    if (count > capacity)
        count = capacity;
    if (source->piece > 0) {
        if (count > source->piece)
            count = source->piece;
        source->piece = source->piece % 7 + 1;
    }
    if (count > 0)
        memcpy(out, source->data + source->position, count);
    source->position += count;
    return (ssize_t)count;
}

/* What is kept of an output: enough to see that two of them differ. */
struct sink {
    uint64_t hash; /* FNV-1a */
    uint64_t line_count;
    size_t size;
    char tail[4]; /* the last bytes */
};

static ssize_t write_sink(void *user, const char *bytes, size_t size_bytes)
{
    struct sink *sink = user;
    for (size_t i = 0; i < size_bytes; i++) {
        sink->hash = (sink->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
        sink->line_count += bytes[i] == '\n';
        memmove(sink->tail, sink->tail + 1, sizeof sink->tail - 1);
        sink->tail[sizeof sink->tail - 1] = bytes[i];
    }
    sink->size += size_bytes;
    return (ssize_t)size_bytes;
}

struct outcome {
    enum vyre_status status;
    enum vyre_diag_id id;
    uint64_t line;
    size_t column;
    uint64_t row_count;
    struct sink sink;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static struct outcome run(struct cli_table *table, struct source source, enum cli_form form)
{
    struct outcome outcome = {.sink = {.hash = UINT64_C(0xcbf29ce484222325)}};
    struct cli_output out;
    cli_output_init(&out, write_sink, &outcome.sink);
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    outcome.status = cli_table_run(table, read_source, &source, form, &out, &diag);
    cli_output_flush(&out);
    require(!cli_output_failed(&out));
    require(outcome.status == diag.status);
    require(outcome.status == VYRE_OK || (diag.message[0] != '\0' && diag.fix[0] != '\0'));
    outcome.id = diag.id;
    outcome.line = table->csv.line;
    outcome.column = table->csv.column;
    outcome.row_count = table->row_count;
    return outcome;
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
    require(a->status == b->status && a->id == b->id);
    require(a->line == b->line && a->column == b->column);
    require(a->row_count == b->row_count);
}

static void require_shape(const struct outcome *csv, const struct outcome *json)
{
    bool begun = csv->sink.size > 0;
    require(begun == (json->sink.size > 0));
    require(begun || (csv->status != VYRE_OK && csv->row_count == 0 && csv->line == 1));
    require(csv->sink.line_count == csv->row_count + begun);
    /* Every row begins on a new line, and so does what closes the document. */
    require(json->sink.line_count == (begun ? json->row_count + 2 : 0));
    require(!begun || memcmp(json->sink.tail, "\n]}\n", 4) == 0);
    /* Every line is a row, except the first and the bad one or the end. */
    require(!begun || csv->line == csv->row_count + 2);
}

static void check_table(struct cli_table *table, struct source source)
{
    struct outcome csv = run(table, source, CLI_FORM_TEXT);
    struct outcome json = run(table, source, CLI_FORM_JSON);
    source.piece = 1;
    struct outcome csv_pieces = run(table, source, CLI_FORM_TEXT);
    struct outcome json_pieces = run(table, source, CLI_FORM_JSON);

    require_same(&csv, &csv_pieces);
    require_same(&csv, &json);
    require_same(&csv, &json_pieces);
    require(csv.sink.hash == csv_pieces.sink.hash && csv.sink.size == csv_pieces.sink.size);
    require(json.sink.hash == json_pieces.sink.hash && json.sink.size == json_pieces.sink.size);
    require_shape(&csv, &json);
}

/* Tables are kept between runs: making one costs far more than running a small input. */
static struct cli_table *table_for(size_t policy)
{
    static struct cli_table *tables[16];
    require(policy < sizeof tables / sizeof tables[0]);
    if (!tables[policy])
        require(cli_table_create(&cli_policies[policy], &tables[policy], NULL) == VYRE_OK);
    return tables[policy];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    /* The seeds are readable: '0' is the first policy. */
    size_t policy = (size_t)(uint8_t)(data[0] - '0') % cli_policy_count;
    struct source source = {.data = data + 1, .size = size - 1};
    check_table(table_for(policy), source);
    return 0;
}
