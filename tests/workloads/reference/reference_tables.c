/*
 * reference_tables.c: scan-jobs, gather-64 and shape-shift, exactly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- scan-jobs --------------------------------------------------------------------------------- */

#define JOBS            64
#define TEXT_BYTES      65536
#define SIGNATURES      16
#define SIGNATURE_BYTES 16
#define ROW_WORDS       64
#define SUBMISSIONS     10000

static bool read_contents(struct check *check, const char *name, char *bytes, size_t size)
{
    for (size_t i = 0; i < check->workload->buffer_count; i++) {
        const struct workload_buffer *buffer = &check->workload->buffers[i];
        if (strcmp(buffer->name, name) != 0 || buffer->init.kind != WORKLOAD_INIT_FILE)
            continue;
        FILE *file = fopen(buffer->init.path, "rb");
        bool whole = file && fread(bytes, 1, size, file) == size;
        if (file)
            (void)fclose(file);
        if (!whole)
            reference_fail(check, "cannot read %s", buffer->init.path);
        return whole;
    }
    reference_fail(check, "no buffer %s with a file", name);
    return false;
}

/* Hits of one signature in a text; *out_first is where the first one is, counted from 1. */
static uint32_t count_hits(const char *text, size_t length, const char *signature,
                           uint32_t *out_first)
{
    size_t size = (size_t)((const char *)memchr(signature, '\n', SIGNATURE_BYTES) - signature);
    uint32_t hits = 0;
    *out_first = 0;
    const char *at = text;
    while ((at = memmem(at, length - (size_t)(at - text), signature, size))) {
        if (hits++ == 0)
            *out_first = (uint32_t)(at - text) + 1;
        at++;
    }
    return hits;
}

/* How often each job ran is the shuffle's business, but as often as any other, give or take one. */
static void check_jobs(struct check *check, const char *text, const char *signatures)
{
    const uint32_t *results =
        reference_output(check, "results", WORKLOAD_U32, (size_t)JOBS * ROW_WORDS);
    uint64_t total_runs = 0;
    for (size_t job = 0; results && job < JOBS; job++) {
        const uint32_t *row = results + job * ROW_WORDS;
        uint32_t runs = row[3 * SIGNATURES];
        total_runs += runs;
        if (runs < SUBMISSIONS / JOBS || runs > SUBMISSIONS / JOBS + 1) {
            reference_fail(check, "job %zu ran %u times", job, (unsigned)runs);
            return;
        }
        uint32_t expected[ROW_WORDS] = {[3 * SIGNATURES] = runs};
        size_t length = 256 + job * 397 % 1537;
        for (size_t s = 0; s < SIGNATURES; s++) {
            uint32_t hits =
                count_hits(text + job * 37 % 248 * 256, length, signatures + s * SIGNATURE_BYTES,
                           &expected[2 * SIGNATURES + s]);
            expected[s] = hits * runs;
            expected[SIGNATURES + s] = hits;
        }
        for (size_t i = 0; i < ROW_WORDS; i++) {
            if (row[i] != expected[i]) {
                reference_fail(check, "results of job %zu, word %zu: %u, not %u", job, i,
                               (unsigned)row[i], (unsigned)expected[i]);
                return;
            }
        }
    }
    if (results && total_runs != SUBMISSIONS)
        reference_fail(check, "%llu jobs ran", (unsigned long long)total_runs);
    check->compared += results != NULL;
}

void reference_scan_jobs(struct check *check)
{
    char *text = reference_memory(TEXT_BYTES, 1);
    char signatures[SIGNATURES * SIGNATURE_BYTES];
    if (read_contents(check, "text", text, TEXT_BYTES) &&
        read_contents(check, "signatures", signatures, sizeof signatures))
        check_jobs(check, text, signatures);
    free(text);
}

/* ---- gather-64 --------------------------------------------------------------------------------- */

#define SHARDS      128
#define SHARD_WORDS 1024
#define SAMPLES     512
#define SAMPLE_IDS  8
#define COLUMNS     16

/* The shards that a table names: the first 64, the last 64 backwards, or the even ones. */
static size_t member(char table, size_t index)
{
    return table == 'l' ? index : table == 'h' ? 127 - index : 2 * index;
}

void reference_gather_64(struct check *check)
{
    uint32_t(*shards)[SHARD_WORDS] = reference_memory(SHARDS, sizeof *shards);
    uint32_t *ids = reference_memory((size_t)SAMPLES * SAMPLE_IDS, sizeof *ids);
    uint32_t *sums = reference_memory((size_t)SAMPLES * COLUMNS, sizeof *sums);
    for (size_t i = 0; i < SHARDS; i++)
        reference_random_bytes(1000 + i, shards[i], sizeof shards[i]);
    reference_random_bytes(21, ids, (size_t)SAMPLES * SAMPLE_IDS * sizeof *ids);

    /* low, high, even, low, even, high: 500 lookups, then 10 updates. */
    static const char tables[] = "lheleh";
    for (const char *table = tables; *table; table++) {
        for (size_t i = 0; i < (size_t)SAMPLES * COLUMNS; i++) {
            uint32_t sum = 0;
            for (size_t k = 0; k < SAMPLE_IDS; k++) {
                uint32_t id = ids[i / COLUMNS * SAMPLE_IDS + k];
                sum += shards[member(*table, id % 64)][id / 64 % 64 * COLUMNS + i % COLUMNS];
            }
            for (int times = 0; times < 500; times++)
                sums[i] = sums[i] * 3 + sum;
        }
        uint32_t addend = *table == 'l' ? 3 : 4;
        for (size_t m = 0; m < 64; m++) {
            for (size_t i = 0; i < SHARD_WORDS; i++) {
                for (int times = 0; times < 10; times++)
                    shards[member(*table, m)][i] = shards[member(*table, m)][i] * 5 + addend;
            }
        }
    }
    reference_compare_u32(check, "sums", sums, (size_t)SAMPLES * COLUMNS);
    reference_compare_u32(check, "shard-000", shards[0], SHARD_WORDS);
    reference_compare_u32(check, "shard-062", shards[62], SHARD_WORDS);
    reference_compare_u32(check, "shard-127", shards[127], SHARD_WORDS);
    free(shards);
    free(ids);
    free(sums);
}

/* ---- shape-shift ------------------------------------------------------------------------------- */

#define OUT_COUNT 4096
#define LONGEST   384

static uint32_t correlation(const uint32_t *signal, const uint32_t *taps, const uint32_t *scales,
                            size_t length)
{
    size_t tile = length < 64 ? 8 : 16;
    uint32_t sum = 0;
    for (size_t j = 0; j < length; j++)
        sum += signal[j] * taps[j] * scales[j / tile];
    return sum;
}

void reference_shape_shift(struct check *check)
{
    static const uint32_t lengths[] = {16, 32, 48, 64, 96, 128, 192, 256, 320, 384};
    static const int rounds[] = {40, 20, 20, 20};
    uint32_t signal[OUT_COUNT + LONGEST], taps[LONGEST], scales[LONGEST / 8];
    uint32_t *out = reference_memory(OUT_COUNT, sizeof *out);
    reference_random_bytes(31, signal, sizeof signal);
    reference_random_bytes(32, taps, sizeof taps);
    reference_random_bytes(33, scales, sizeof scales);
    for (size_t i = 0; i < OUT_COUNT; i++) {
        uint32_t sums[10];
        for (size_t n = 0; n < 10; n++)
            sums[n] = correlation(signal + i, taps, scales, lengths[n]) + lengths[n] * 7;
        for (size_t round = 0; round < 4; round++) {
            for (size_t n = 0; n < 10; n++) {
                for (int times = 0; times < rounds[round]; times++)
                    out[i] = out[i] * 5 + sums[n];
            }
        }
    }
    reference_compare_u32(check, "out", out, OUT_COUNT);
    free(out);
}
