/*
 * regret.c: time in auto over time in the best required mode, for the seven canonical workloads on every device
 * of this machine. Claim: at most 1.05 after the warm-up, 1.10 with it.
 *
 * Each measurement is one run of `vyre compare`, in which all modes take turns. The store is not used: each run
 * starts from a calibration of its own and knows nothing else. Six rounds, which an interval needs, take about
 * half an hour.
 *
 *   bench_regret [--quick] [--json] [--rounds N] [--tool VYRE] [--folder WORKLOADS] [--workload NAME]
 *                [--where TEXT]
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench.h"

#define LIMIT_AFTER 1.05
#define LIMIT_ALL   1.10
#define TIMEOUT_S   "300"
#define ROUNDS      "33" /* of a run of the tool: its ratios then differ by a few percent at most */

static const char *const workloads[] = {"big-kernels", "decode",      "fan-out",      "gather-64",
                                        "scan-jobs",   "shape-shift", "stream-upload"};
#define WORKLOADS (sizeof workloads / sizeof workloads[0])

static const struct place {
    const char *name;
    const char *backend;
    const char *device;
    const char *threads; /* of llvmpipe, which reads it when it is loaded; "": its default */
} places[] = {
    {"cpu", "cpu", "0", "LP_NUM_THREADS="},
    {"opencl pthread", "opencl", "pthread", "LP_NUM_THREADS="},
    {"opencl basic", "opencl", "basic", "LP_NUM_THREADS="},
    {"vulkan, 0 threads", "vulkan", "0", "LP_NUM_THREADS=0"},
    {"vulkan", "vulkan", "0", "LP_NUM_THREADS="},
};
#define PLACES (sizeof places / sizeof places[0])

static const char *const modes[] = {"plain", "replay", "persistent", "auto"};
#define MODES (sizeof modes / sizeof modes[0])

/* What a run gives of each mode: after the warm-up, and with it. */
enum { AFTER, ALL, PARTS };

struct regret {
    const char *tool;
    const char *folder;
    double ns[WORKLOADS * PLACES][PARTS][MODES];    /* of the last run; 0: no such mode */
    bool is_used[WORKLOADS * PLACES][PARTS][MODES]; /* the table has taken it */
    bool has_run[WORKLOADS * PLACES];
    char decisions[WORKLOADS * PLACES][96];
};

static size_t cell_index(size_t workload, size_t place)
{
    return workload * PLACES + place;
}

/* ---- One run ---------------------------------------------------------------------------------- */

/* The median round of the best mode. */
static double best_round_ns(json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_number_value(json_object_get(item, "ratio")) == 1)
            return json_number_value(json_object_get(json_object_get(item, "round_ns"), "median"));
    }
    return 0;
}

static void take_modes(struct regret *regret, size_t index, json_t *list)
{
    double best_ns = best_round_ns(list);
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "mode"));
        for (size_t m = 0; name && m < MODES; m++) {
            if (strcmp(name, modes[m]) != 0 || !json_is_true(json_object_get(item, "present")))
                continue;
            /* In proportion to the best mode's round: the tool compares modes within rounds. */
            regret->ns[index][AFTER][m] =
                best_ns * json_number_value(json_object_get(item, "ratio"));
            regret->ns[index][ALL][m] = json_number_value(json_object_get(item, "total_ns")) +
                                        json_number_value(json_object_get(item, "warm_up_ns"));
        }
    }
}

static void take_decisions(struct regret *regret, size_t index, json_t *counts)
{
    const char *mode;
    json_t *count;
    char *out = regret->decisions[index];
    size_t used = 0;
    out[0] = '\0';
    json_object_foreach(counts, mode, count)
    {
        size_t capacity = sizeof regret->decisions[index] - used;
        if (json_integer_value(count) == 0)
            continue;
        int length = snprintf(out + used, capacity, "%s%s %lld", used ? ", " : "", mode,
                              (long long)json_integer_value(count));
        if (length < 0 || (size_t)length >= capacity)
            return;
        used += (size_t)length;
    }
}

static bool run_compare(struct regret *regret, size_t index)
{
    const struct place *place = &places[index % PLACES];
    char path[512];
    const char *argv[] = {"timeout",     TIMEOUT_S,    "env",         place->threads, regret->tool,
                          "compare",     path,         "--backend",   place->backend, "--device",
                          place->device, "--no-store", "--calibrate", "--quiet",      "--json",
                          "--rounds",    ROUNDS,       NULL};
    struct bench_process process;
    snprintf(path, sizeof path, "%s/%s.json", regret->folder, workloads[index / PLACES]);
    if (!bench_process_start((char *const *)(uintptr_t)argv, &process))
        return false;
    json_t *document = json_loadf(process.output, 0, NULL);
    int code = bench_process_finish(&process);
    memset(regret->ns[index], 0, sizeof regret->ns[index]);
    memset(regret->is_used[index], 0, sizeof regret->is_used[index]);
    if (code == 0)
        take_modes(regret, index, json_object_get(document, "modes"));
    take_decisions(regret, index, json_object_get(document, "decisions"));
    json_decref(document);
    if (code != 0)
        fprintf(stderr, "bench_regret: %s on %s: vyre compare ended with %d\n",
                workloads[index / PLACES], place->name, code);
    regret->has_run[index] = true;
    return true;
}

/*
 * Every contender's figure of a cell in a round comes from one run; asking twice for one starts the next run. A
 * backend that is absent or a run that fails leaves its cell empty.
 */
static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    struct regret *regret = context;
    size_t index = cell / PARTS;
    size_t part = cell % PARTS;
    size_t mode = (size_t)((const char *const *)contender->state - modes);
    if ((!regret->has_run[index] || regret->is_used[index][part][mode]) &&
        !run_compare(regret, index))
        return -1;
    regret->is_used[index][part][mode] = true;
    return regret->ns[index][part][mode];
}

static void note(void *context, const struct bench_contender *contender, size_t cell,
                 char *out_text, size_t capacity)
{
    const struct regret *regret = context;
    (void)contender;
    snprintf(out_text, capacity, "%s", regret->decisions[cell / PARTS]);
}

/* ---- All of them ------------------------------------------------------------------------------ */

static size_t add_cells(struct bench_table *table, const char *workload, const char *where,
                        struct bench_aim *out_aims)
{
    size_t count = 0;
    for (size_t w = 0; w < WORKLOADS; w++) {
        for (size_t p = 0; p < PLACES; p++) {
            char group[48];
            snprintf(group, sizeof group, "%s, %s", workloads[w], places[p].name);
            for (size_t part = 0; part < PARTS; part++) {
                size_t cell =
                    bench_add_cell(table, group, part == AFTER ? "after the warm-up" : "all");
                table->cells[cell].is_left_out =
                    (workload && strcmp(workload, workloads[w]) != 0) ||
                    (where && !strstr(places[p].name, where));
                out_aims[count++] =
                    (struct bench_aim){.kind = BENCH_REGRET_AT_MOST,
                                       .contender = "auto",
                                       .cell = cell_index(w, p) * PARTS + part,
                                       .limit = part == AFTER ? LIMIT_AFTER : LIMIT_ALL};
            }
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct regret regret = {.tool = "build/bench/bin/vyre", .folder = "examples/workloads"};
    static struct bench_aim aims[WORKLOADS * PLACES * PARTS];
    const char *workload = NULL;
    const char *where = NULL;
    const struct bench_option options[] = {
        {"--tool", "VYRE", &regret.tool},
        {"--folder", "WORKLOADS", &regret.folder},
        {"--workload", "NAME", &workload},
        {"--where", "TEXT", &where},
    };
    const struct bench_desc desc = {.name = "regret",
                                    .rounds = 6,
                                    .rounds_quick = 1,
                                    .options = options,
                                    .option_count = sizeof options / sizeof options[0]};
    struct bench bench;
    struct bench_table table;
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    setenv("POCL_DEVICES", "pthread basic", 0); /* PoCL shows both only then */
    bench_table_init(&table, "auto against the best required mode",
                     "time of a round, and of all rounds with the warm-up");
    table.starts_cold =
        true; /* each run of the tool is a process of its own and warms up by itself */
    table.measure = measure;
    table.note = note;
    table.context = &regret;
    for (size_t m = 0; m < MODES; m++)
        bench_add_contender(&table, modes[m], m + 1 < MODES ? BENCH_OWN : BENCH_AUTO)->state =
            (void *)(uintptr_t)&modes[m];
    size_t aim_count = add_cells(&table, workload, where, aims);
    bench_run(&bench, &table);
    bench_report(&bench, &table, aims, aim_count);
    bench_table_deinit(&table);
    return bench_end(&bench);
}
