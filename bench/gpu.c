/*
 * gpu.c: options, cells and interleaved rounds. See gpu.h.
 */
#include "gpu.h"

#include <string.h>
#include <time.h>

#define ROUNDS         21
#define ROUNDS_QUICK   3
#define SECONDS        60
#define PAUSE_NS       3000000 /* above the 2 ms after which a resident kernel leaves */
#define SPIN_NS        500000
#define LOAD_MAX       0.5 /* above it others take part of the cores that are measured on */
#define LCG_MULTIPLIER 1664525u

static const char *const pattern_names[GPU_PATTERNS] = {"P1", "P2", "P3"};

const char *gpu_pattern_name(enum gpu_pattern pattern)
{
    return pattern_names[pattern];
}

double gpu_load(void)
{
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

const char *gpu_busy_warning(double load)
{
    return load > LOAD_MAX ? ": THE MACHINE IS BUSY, do not trust these figures" : "";
}

void gpu_settle(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    nanosleep(&pause, NULL);
    uint64_t start = sample_now_ns();
    while (sample_now_ns() - start < SPIN_NS)
        continue;
}

/* ---- Cells ------------------------------------------------------------------------------------ */

void gpu_define_cells(const struct gpu_options *options, const gpu_work_table work,
                      struct gpu_cell cells[GPU_CELLS])
{
    static const uint32_t groups[GPU_SIZES] = {1, 16, 256};
    for (uint32_t i = 0; i < GPU_CELLS; i++) {
        uint32_t pattern = i % GPU_PATTERNS;
        const struct gpu_work *w = &work[i / GPU_PATTERNS][pattern];
        cells[i] = (struct gpu_cell){.index = i,
                                     .pattern = (enum gpu_pattern)pattern,
                                     .groups = groups[i / GPU_PATTERNS],
                                     .launches = w->launches,
                                     .repeats = w->repeats};
        if (options->full && pattern != GPU_P1) {
            cells[i].launches = GPU_LAUNCHES_MAX;
            cells[i].repeats = pattern == GPU_P3 ? 20 : 1;
        }
    }
}

static void fill(unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes / sizeof(uint32_t); i++) {
        uint32_t word = (uint32_t)i * 2654435761u + 1;
        memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
}

/* What the cell leaves of fill's bytes: its launches composed into one a * multiplier + addend. */
static void expect(const struct gpu_cell *cell, unsigned char *bytes)
{
    uint32_t multiplier = 1;
    uint32_t addend = 0;
    for (uint32_t r = 0; r < cell->repeats; r++) {
        for (uint32_t k = 0; k < cell->launches; k++) {
            multiplier *= LCG_MULTIPLIER;
            addend = addend * LCG_MULTIPLIER + gpu_constant(k);
        }
    }
    fill(bytes, gpu_cell_bytes(cell));
    for (size_t i = 0; i < gpu_cell_bytes(cell); i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        word = word * multiplier + addend;
        memcpy(bytes + i, &word, sizeof word);
    }
}

static bool same_bytes(const struct gpu_contender *contender, const struct gpu_cell *cell,
                       const unsigned char *got, const unsigned char *want)
{
    for (size_t i = 0; i < gpu_cell_bytes(cell); i++) {
        if (got[i] == want[i])
            continue;
        fprintf(stderr, "WRONG BYTES: %s, %s at %u groups: byte %zu is 0x%02x, not 0x%02x\n",
                contender->name, gpu_pattern_name(cell->pattern), cell->groups, i, got[i], want[i]);
        return false;
    }
    return true;
}

/* An eighth of the cell untimed, then the cell itself. A negative time: it failed. */
static double time_cell(struct gpu_contender *contender, const struct gpu_cell *cell,
                        unsigned char *bytes)
{
    size_t size = gpu_cell_bytes(cell);
    fill(bytes, size);
    if (!contender->write(contender, bytes, size) ||
        !contender->run(contender, cell, cell->repeats / 8 + 1) ||
        !contender->write(contender, bytes, size))
        return -1;
    uint64_t start = sample_now_ns();
    bool ok = contender->run(contender, cell, cell->repeats);
    uint64_t end = sample_now_ns();
    if (!ok || !contender->read(contender, bytes, size))
        return -1;
    return (double)(end - start) / ((double)cell->launches * cell->repeats);
}

/* ---- Rounds ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct gpu_options *options, const struct gpu_contender *contender,
                      const struct gpu_cell *cell)
{
    if (contender->absent[0] || contender->failed || !(contender->patterns & (1u << cell->pattern)))
        return false;
    if (options->row && !strstr(contender->name, options->row))
        return false;
    if (options->pattern && strcmp(gpu_pattern_name(cell->pattern), options->pattern) != 0)
        return false;
    return options->groups == 0 || options->groups == cell->groups;
}

/* Each contender once in one cell, in an order that shifts by one each round; 0 is not kept. */
static bool run_cell(const struct gpu_options *options, struct gpu_results *results,
                     const struct gpu_cell *cell, size_t round)
{
    static unsigned char want[GPU_BUFFER_BYTES];
    static unsigned char got[GPU_BUFFER_BYTES];
    bool ok = true;
    expect(cell, want);
    for (size_t i = 0; i < results->contender_count; i++) {
        size_t c = (i + round) % results->contender_count;
        struct gpu_contender *contender = &results->contenders[c];
        if (!is_wanted(options, contender, cell))
            continue;
        gpu_settle();
        double ns = time_cell(contender, cell, got);
        if (ns < 0)
            fprintf(stderr, "%s failed in %s at %u groups\n", contender->name,
                    gpu_pattern_name(cell->pattern), cell->groups);
        contender->failed = ns < 0 || !same_bytes(contender, cell, got, want);
        ok = ok && !contender->failed;
        results->measured[c][cell->index] = !contender->failed;
        if (round > 0)
            results->ns[c][cell->index][round - 1] = ns;
    }
    return ok;
}

bool gpu_measure(const struct gpu_options *options, struct gpu_results *results)
{
    bool ok = true;
    uint64_t begin = sample_now_ns();
    results->rounds_wanted = options->rounds;
    for (size_t round = 0; round <= options->rounds; round++) {
        for (size_t i = 0; i < GPU_CELLS; i++) {
            double seconds = (double)(sample_now_ns() - begin) / 1e9;
            if (results->rounds > 0 && seconds > options->seconds)
                return ok;
            ok = run_cell(options, results, &results->cells[i], round) && ok;
        }
        results->rounds = round;
    }
    return ok;
}

void gpu_close(struct gpu_results *results)
{
    for (size_t i = 0; i < results->contender_count; i++) {
        struct gpu_contender *contender = &results->contenders[i];
        if (contender->state && contender->close)
            contender->close(contender);
    }
}

/* ---- Options ---------------------------------------------------------------------------------- */

/* An option with a value. False: there is no such option. */
static bool take_value(const char *option, const char *value, struct gpu_options *options)
{
    if (strcmp(option, "--rounds") == 0)
        options->rounds = strtoul(value, NULL, 10);
    else if (strcmp(option, "--seconds") == 0)
        options->seconds = strtod(value, NULL);
    else if (strcmp(option, "--row") == 0)
        options->row = value;
    else if (strcmp(option, "--pattern") == 0)
        options->pattern = value;
    else if (strcmp(option, "--groups") == 0)
        options->groups = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(option, "--device") == 0)
        options->device = value;
    else if (strcmp(option, "--child") == 0)
        options->child = value;
    else
        return false;
    return true;
}

static bool parse(int argc, char **argv, struct gpu_options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            options->rounds = ROUNDS_QUICK;
        } else if (strcmp(argv[i], "--full") == 0) {
            options->full = true;
            options->seconds = 1e9;
        } else {
            if (i + 1 == argc || !take_value(argv[i], argv[i + 1], options))
                return false;
            i++;
        }
    }
    return options->rounds >= 1 && options->rounds <= GPU_ROUNDS_MAX;
}

bool gpu_parse(const char *program, int argc, char **argv, struct gpu_options *out_options)
{
    *out_options = (struct gpu_options){.rounds = ROUNDS, .seconds = SECONDS};
    if (parse(argc, argv, out_options))
        return true;
    fprintf(stderr,
            "usage: %s [--quick] [--full] [--rounds 1..%d] [--seconds N] [--row TEXT]\n"
            "       [--pattern P1|P2|P3] [--groups 1|16|256] [--device TEXT]\n",
            program, GPU_ROUNDS_MAX);
    return false;
}
