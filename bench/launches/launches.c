/*
 * launches.c: see launches.h.
 */
#include "launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LCG_MULTIPLIER 1664525u

static const char *const pattern_names[LAUNCHES_PATTERNS] = {"P1", "P1 rebuilt", "P2", "P3"};

/* ---- Bytes ------------------------------------------------------------------------------------ */

void launches_fill(void *out_bytes, size_t size_bytes)
{
    unsigned char *bytes = out_bytes;
    for (size_t i = 0; i < size_bytes / sizeof(uint32_t); i++) {
        uint32_t word = (uint32_t)i * 2654435761u + 1;
        memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
}

/* Of what the cell leaves: its launches composed into one a * multiplier + addend. */
static bool expect(const struct launches_cell *cell, struct vyre_hash128 *out_digest)
{
    size_t size = launches_bytes(cell);
    unsigned char *bytes = malloc(size);
    uint32_t multiplier = 1;
    uint32_t addend = 0;
    if (!bytes)
        return false;
    for (uint32_t r = 0; r < cell->repeats; r++) {
        for (uint32_t k = 0; k < cell->launches; k++) {
            multiplier *= LCG_MULTIPLIER;
            addend = addend * LCG_MULTIPLIER + launches_constant(k);
        }
    }
    launches_fill(bytes, size);
    for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        word = word * multiplier + addend;
        memcpy(bytes + i, &word, sizeof word);
    }
    *out_digest = vyre_hash128(bytes, size);
    free(bytes);
    return true;
}

/* ---- Measuring -------------------------------------------------------------------------------- */

bool launches_measure(struct launches_row *row, const struct launches_cell *cell,
                      struct launches_sample *out_sample)
{
    size_t size = launches_bytes(cell);
    void *state = row->state;
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return false;
    launches_fill(bytes, size);
    bool ok = row->write(state, bytes, size) && row->run(state, cell, cell->repeats / 8 + 1) &&
              row->write(state, bytes, size);
    uint64_t start_ns = bench_now_ns();
    ok = ok && row->run(state, cell, cell->repeats);
    uint64_t end_ns = bench_now_ns();
    if (row->rest)
        row->rest(state);
    ok = ok && row->read(state, bytes, size);
    out_sample->ns = (double)(end_ns - start_ns) / ((double)cell->launches * cell->repeats);
    out_sample->digest = vyre_hash128(bytes, size);
    free(bytes);
    return ok;
}

static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    struct launches *launches = context;
    struct launches_row *row = contender->state;
    struct launches_sample sample = {0};
    bool ok = row->measure ? row->measure(row, &launches->cells[cell], &sample)
                           : launches_measure(row, &launches->cells[cell], &sample);
    if (!ok)
        return -1;
    if (vyre_hash128_equal(sample.digest, launches->want[cell]))
        return sample.ns;
    char got[VYRE_HASH128_TEXT_BYTES];
    char want[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(sample.digest, got);
    vyre_hash128_format(launches->want[cell], want);
    fprintf(stderr, "WRONG BYTES: %s: digest %s, but a plain C loop gives %s\n", row->name, got,
            want);
    return -1;
}

static void note(void *context, const struct bench_contender *contender, size_t cell,
                 char *out_text, size_t capacity)
{
    (void)context;
    const struct launches_row *row = contender->state;
    if (row->note)
        row->note(row->state, (uint32_t)cell, out_text, capacity);
}

/* ---- The table -------------------------------------------------------------------------------- */

static bool is_left_out(const struct launches_options *options, uint32_t groups, size_t pattern)
{
    char text[16];
    snprintf(text, sizeof text, "%u", groups);
    return (options->pattern && strcmp(options->pattern, pattern_names[pattern]) != 0) ||
           (options->groups && strcmp(options->groups, text) != 0);
}

static void add_cell(struct launches *launches, const struct launches_size *size, size_t pattern,
                     const struct launches_options *options)
{
    const struct launches_work *work = &size->work[pattern];
    char group[32];
    snprintf(group, sizeof group, "%u group%s", size->groups, size->groups == 1 ? "" : "s");
    size_t index = bench_add_cell(&launches->table, group, pattern_names[pattern]);
    struct bench_cell *cell = &launches->table.cells[index];
    cell->is_left_out = is_left_out(options, size->groups, pattern);
    cell->numbers[cell->number_count++] = (struct bench_number){"groups", size->groups};
    cell->numbers[cell->number_count++] = (struct bench_number){"launches", work->launches};
    cell->numbers[cell->number_count++] = (struct bench_number){"repeats", work->repeats};
    snprintf(cell->detail, sizeof cell->detail, "(%u x %u)", work->launches, work->repeats);
    launches->cells[index] = (struct launches_cell){.index = (uint32_t)index,
                                                    .pattern = (enum launches_pattern)pattern,
                                                    .groups = size->groups,
                                                    .launches = work->launches,
                                                    .repeats = work->repeats};
}

void launches_init(struct launches *launches, const char *title, const struct launches_size *sizes,
                   size_t size_count, const struct launches_options *options)
{
    memset(launches, 0, sizeof *launches);
    bench_table_init(&launches->table, title, "ns per launch of 64 invocations a group");
    launches->table.settles = true;
    launches->table.measure = measure;
    launches->table.note = note;
    launches->table.context = launches;
    for (size_t size = 0; size < size_count; size++) {
        for (size_t pattern = 0; pattern < LAUNCHES_PATTERNS; pattern++) {
            if (sizes[size].work[pattern].launches > 0)
                add_cell(launches, &sizes[size], pattern, options);
        }
    }
}

struct launches_row *launches_add(struct launches *launches)
{
    if (launches->row_count == BENCH_CONTENDERS_MAX)
        abort(); /* a mistake in a benchmark, which has a fixed list of them */
    return &launches->rows[launches->row_count++];
}

bool launches_run(struct bench *bench, struct launches *launches)
{
    struct bench_table *table = &launches->table;
    for (size_t cell = 0; cell < table->cell_count; cell++) {
        if (!expect(&launches->cells[cell], &launches->want[cell])) {
            fprintf(stderr, "bench_%s: out of memory\n", bench->desc->name);
            bench->failed = true;
            return false;
        }
    }
    for (size_t i = 0; i < launches->row_count; i++) {
        struct launches_row *row = &launches->rows[i];
        struct bench_contender *contender = bench_add_contender(table, row->name, row->role);
        contender->state = row;
        snprintf(contender->absent, sizeof contender->absent, "%s", row->absent);
        for (size_t cell = 0; cell < table->cell_count; cell++)
            contender->skips[cell] = !(row->patterns >> launches->cells[cell].pattern & 1);
    }
    return bench_run(bench, table);
}

size_t launches_find(const struct launches *launches, uint32_t groups,
                     enum launches_pattern pattern)
{
    for (size_t cell = 0; cell < launches->table.cell_count; cell++) {
        if (launches->cells[cell].groups == groups && launches->cells[cell].pattern == pattern)
            return cell;
    }
    return BENCH_NONE;
}

void launches_deinit(struct launches *launches)
{
    for (size_t i = 0; i < launches->row_count; i++) {
        if (launches->rows[i].state && launches->rows[i].close)
            launches->rows[i].close(launches->rows[i].state);
    }
    bench_table_deinit(&launches->table);
}
