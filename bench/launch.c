/*
 * launch.c: what a launch of a small kernel costs, in Vyre's modes and beside peers.
 *
 * Claims, in ns per launch of 64 invocations: at 1 group P1 at most 60, P2 50, P3 20; at 256 groups
 * no slower than a direct loop; at 4,096 groups at least 1.7 times as fast; an item streamed through
 * persistent mode at most 50, its round trip below 1,000. See launch.h for the patterns.
 *
 * All contenders are measured in one run, interleaved round by round, in an order that shifts by one
 * each round, after a pause in which what still spins goes to sleep. Their bytes are compared after
 * every cell: a difference ends the run with exit code 1. Nothing is asserted of time.
 *
 *   bench_launch [--quick] [--json] [--rounds N] [--row TEXT] [--pattern TEXT] [--groups N]
 */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define ROUNDS           21
#define ROUNDS_QUICK     5
#define CELLS_NS         UINT64_C(45000000000) /* a round that is not over by then is dropped */
#define STREAMS_NS       UINT64_C(8000000000)  /* the same for streaming */
#define PAUSE_NS         3000000 /* above the 2 ms after which persistent workers leave */
#define SPIN_NS          500000  /* after the pause, until the core is at its speed again */
#define STREAM_ITEMS     20000
#define ROUND_TRIP_ITEMS 5000

struct options {
    bool json;
    size_t rounds;
    const char *row;     /* only contenders whose name contains it; the direct loop always */
    const char *pattern; /* only this one */
    uint32_t groups;     /* only this many; 0: all */
};

static const char *const pattern_names[LAUNCH_PATTERNS] = {"P1", "P1 rebuilt", "P2", "P3"};

const char *launch_pattern_name(enum launch_pattern pattern)
{
    return pattern_names[pattern];
}

/*
 * The launches and repeats of a cell: 2,000 launches a batch and, in P3, 20 repeats, as the patterns
 * are defined; fewer where a launch takes so long that a cell would go past about 20 ms.
 */
static void define_cells(struct launch_cell cells[LAUNCH_CELLS])
{
    static const uint32_t groups[LAUNCH_SIZES] = {1, 16, 256, 4096};
    static const struct {
        uint32_t launches;
        uint32_t repeats;
    } work[LAUNCH_SIZES][LAUNCH_PATTERNS] = {
        {{1, 10000}, {1, 10000}, {2000, 10}, {2000, 20}},
        {{1, 6000}, {1, 6000}, {2000, 5}, {2000, 20}},
        {{1, 2000}, {1, 2000}, {2000, 2}, {800, 20}},
        {{1, 600}, {1, 600}, {600, 1}, {40, 20}},
    };
    for (uint32_t size = 0; size < LAUNCH_SIZES; size++) {
        for (uint32_t pattern = 0; pattern < LAUNCH_PATTERNS; pattern++) {
            uint32_t index = size * LAUNCH_PATTERNS + pattern;
            cells[index] = (struct launch_cell){.index = index,
                                                .pattern = (enum launch_pattern)pattern,
                                                .groups = groups[size],
                                                .launches = work[size][pattern].launches,
                                                .repeats = work[size][pattern].repeats};
        }
    }
}

void launch_fill(void *out_bytes, size_t size_bytes)
{
    unsigned char *bytes = out_bytes;
    for (size_t i = 0; i < size_bytes / sizeof(uint32_t); i++) {
        uint32_t word = (uint32_t)i * 2654435761u + 1;
        memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
}

static void spin(void)
{
    uint64_t start = sample_now_ns();
    while (sample_now_ns() - start < SPIN_NS)
        continue;
}

bool launch_measure(struct launch_contender *contender, const struct launch_cell *cell,
                    struct launch_sample *out_sample)
{
    size_t size = launch_cell_bytes(cell);
    void *state = contender->state;
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return false;
    launch_fill(bytes, size);
    spin();
    bool ok = contender->write(state, bytes, size) &&
              contender->run(state, cell, cell->repeats / 8 + 1) &&
              contender->write(state, bytes, size);
    uint64_t start = sample_now_ns();
    ok = ok && contender->run(state, cell, cell->repeats);
    uint64_t end = sample_now_ns();
    if (contender->rest)
        contender->rest(state);
    ok = ok && contender->read(state, bytes, size);
    *out_sample = (struct launch_sample){end - start, vyre_hash128(bytes, size)};
    free(bytes);
    return ok;
}

static void pause_all(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    nanosleep(&pause, NULL);
}

static bool same_digest(const char *contender, const char *what, struct vyre_hash128 got,
                        struct vyre_hash128 want)
{
    if (vyre_hash128_equal(got, want))
        return true;
    char got_text[VYRE_HASH128_TEXT_BYTES];
    char want_text[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(got, got_text);
    vyre_hash128_format(want, want_text);
    fprintf(stderr, "bench_launch: WRONG BYTES: %s, %s: digest %s, but the direct loop gives %s\n",
            contender, what, got_text, want_text);
    return false;
}

/* ---- Cells ------------------------------------------------------------------------------------ */

static void open_contenders(struct launch_results *results)
{
    struct launch_contender *next = results->contenders;
    launch_open_direct(next++);
    launch_open_openmp(next++);
    launch_open_openmp_if(next++);
    launch_open_openmp_active(next++);
    launch_open_onetbb(next++);
    launch_open_vyre(VYRE_MODE_PLAIN, next++);
    launch_open_vyre(VYRE_MODE_REPLAY, next++);
    launch_open_vyre(VYRE_MODE_PERSISTENT, next++);
    results->auto_row = (size_t)(next - results->contenders);
    launch_open_vyre(VYRE_MODE_AUTO, next++);
    results->contender_count = (size_t)(next - results->contenders);
}

static bool is_wanted(const struct options *options, const struct launch_results *results,
                      size_t contender, const struct launch_cell *cell)
{
    const struct launch_contender *c = &results->contenders[contender];
    if (c->absent[0] || (c->skips_rebuilt && cell->pattern == LAUNCH_P1_REBUILT))
        return false;
    if (contender > 0 && options->row && !strstr(c->name, options->row))
        return false;
    if (options->pattern && strcmp(pattern_names[cell->pattern], options->pattern) != 0)
        return false;
    return options->groups == 0 || options->groups == cell->groups;
}

/* Each contender once in one cell. Round 0 is not kept. */
static bool run_cell(const struct options *options, struct launch_results *results,
                     const struct launch_cell *cell, size_t round, struct vyre_hash128 *want)
{
    for (size_t i = 0; i < results->contender_count; i++) {
        /* The direct loop comes first in round 0: its digest is the reference. */
        size_t c = (i + round) % results->contender_count;
        if (!is_wanted(options, results, c, cell))
            continue;
        struct launch_contender *contender = &results->contenders[c];
        struct launch_sample sample;
        char what[64];
        snprintf(what, sizeof what, "%s at %u groups", pattern_names[cell->pattern], cell->groups);
        pause_all();
        if (!contender->measure(contender, cell, &sample)) {
            fprintf(stderr, "bench_launch: %s failed in %s\n", contender->name, what);
            return false;
        }
        if (round == 0 && c == 0)
            *want = sample.digest;
        if (!same_digest(contender->name, what, sample.digest, *want))
            return false;
        results->measured[c][cell->index] = true;
        if (round > 0)
            results->ns[c][cell->index][round - 1] = (double)sample.ns / launch_cell_launches(cell);
    }
    return true;
}

static bool run_cells(const struct options *options, struct launch_results *results)
{
    struct vyre_hash128 want[LAUNCH_CELLS] = {{0, 0}};
    uint64_t begin = sample_now_ns();
    for (size_t round = 0; round <= options->rounds; round++) {
        for (size_t i = 0; i < LAUNCH_CELLS; i++) {
            if (results->rounds > 0 && sample_now_ns() - begin > CELLS_NS)
                return true;
            if (!run_cell(options, results, &results->cells[i], round, &want[i]))
                return false;
        }
        results->rounds = round;
    }
    return true;
}

/* ---- Streaming -------------------------------------------------------------------------------- */

static void open_streamers(struct launch_results *results)
{
    struct launch_streamer *next = results->streamers;
    launch_stream_open_direct(next++);
    launch_stream_open_onetbb(next++);
    launch_stream_open_vyre(false, next++);
    launch_stream_open_vyre(true, next++);
    results->streamer_count = (size_t)(next - results->streamers);
}

/* An eighth to warm up, then the timed run. A negative time: it failed. */
static double time_items(bool (*run)(void *, uint32_t), void *state, uint32_t items)
{
    if (!run(state, items / 8))
        return -1;
    uint64_t start = sample_now_ns();
    if (!run(state, items))
        return -1;
    return (double)(sample_now_ns() - start) / items;
}

static bool run_streamer(struct launch_results *results, size_t s, size_t round,
                         struct vyre_hash128 *want)
{
    struct launch_streamer *streamer = &results->streamers[s];
    struct vyre_hash128 got = {0, 0};
    pause_all();
    spin();
    if (!streamer->fill(streamer->state))
        return false;
    double item = time_items(streamer->stream, streamer->state, STREAM_ITEMS);
    double trip = time_items(streamer->round_trip, streamer->state, ROUND_TRIP_ITEMS);
    if (item < 0 || trip < 0 || !streamer->digest(streamer->state, &got))
        return false;
    if (round == 0 && s == 0)
        *want = got;
    if (round > 0) {
        results->stream_ns[s][round - 1] = item;
        results->round_trip_ns[s][round - 1] = trip;
    }
    return same_digest(streamer->name, "streaming", got, *want);
}

static bool run_streams(const struct options *options, struct launch_results *results)
{
    struct vyre_hash128 want = {0, 0};
    uint64_t begin = sample_now_ns();
    for (size_t round = 0; round <= options->rounds; round++) {
        for (size_t i = 0; i < results->streamer_count; i++) {
            size_t s = (i + round) % results->streamer_count;
            if (results->stream_rounds > 0 && sample_now_ns() - begin > STREAMS_NS)
                return true;
            if (!results->streamers[s].absent[0] && !run_streamer(results, s, round, &want))
                return false;
        }
        results->stream_rounds = round;
    }
    return true;
}

/* ---- Main ------------------------------------------------------------------------------------- */

static void close_all(struct launch_results *results)
{
    for (size_t i = 0; i < results->contender_count; i++) {
        if (results->contenders[i].state)
            results->contenders[i].close(results->contenders[i].state);
    }
    for (size_t i = 0; i < results->streamer_count; i++) {
        if (results->streamers[i].state)
            results->streamers[i].close(results->streamers[i].state);
    }
}

static bool parse(int argc, char **argv, struct options *out_options)
{
    *out_options = (struct options){.rounds = ROUNDS};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            out_options->rounds = ROUNDS_QUICK;
            continue;
        }
        if (strcmp(argv[i], "--json") == 0) {
            out_options->json = true;
            continue;
        }
        if (!value)
            return false;
        if (strcmp(argv[i], "--rounds") == 0)
            out_options->rounds = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--row") == 0)
            out_options->row = value;
        else if (strcmp(argv[i], "--pattern") == 0)
            out_options->pattern = value;
        else if (strcmp(argv[i], "--groups") == 0)
            out_options->groups = (uint32_t)strtoul(value, NULL, 10);
        else
            return false;
        i++;
    }
    return out_options->rounds >= 1 && out_options->rounds <= LAUNCH_ROUNDS_MAX;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--openmp-child") == 0)
        return launch_openmp_child();
    struct options options;
    if (!parse(argc, argv, &options)) {
        fprintf(stderr,
                "usage: bench_launch [--quick] [--json] [--rounds 1..%d] [--row TEXT]\n"
                "                    [--pattern P1|'P1 rebuilt'|P2|P3] [--groups N]\n",
                LAUNCH_ROUNDS_MAX);
        return 2;
    }
    struct launch_cell cells[LAUNCH_CELLS];
    define_cells(cells);
    struct launch_results *results = calloc(1, sizeof *results);
    if (!results)
        return 1;
    results->cells = cells;
    results->rounds_wanted = options.rounds;
    if (getloadavg(&results->load, 1) != 1)
        results->load = 0;
    open_contenders(results);
    bool ok = run_cells(&options, results);
    if (ok && !options.row && !options.pattern && options.groups == 0) {
        open_streamers(results);
        ok = run_streams(&options, results);
    }
    if (ok && options.json)
        launch_report_json(results, stdout);
    else if (ok)
        launch_report_text(results, stdout);
    close_all(results);
    free(results);
    return ok ? 0 : 1;
}
