/*
 * vulkan.c: what a launch costs through Vyre's Vulkan backend, against Vulkan written by hand.
 *
 * Claims: plain at most 1.10 times and replay at most 1.03 times the time by hand; P1 no slower than
 * a fence wait by hand; the host time of submitting a recorded batch does not grow with the batch.
 *
 * llvmpipe is measured with its default threads and without threads. It reads LP_NUM_THREADS when it is
 * loaded, so the second configuration is another process of this program.
 *
 *   bench_vulkan [--quick] [--json] [--rounds N] [--seconds N] [--row TEXT] [--pattern P1|P2|P3]
 *                [--groups N] [--device TEXT]
 *
 * Different bytes are a failure, exit code 1. Nothing is asserted of time. Without Vulkan the exit code is 77.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launches/vyre_row.h"
#include "vulkan_submit.h"

#define VYRE_PLAIN  "Vyre plain"
#define VYRE_REPLAY "Vyre replay"

#define ABSENT      77
#define TITLE_BYTES 320

struct options {
    struct launches_options only;
    const char *device;     /* a part of its name */
    const char *no_threads; /* set: this process measures llvmpipe without threads */
};

/* Some 40 to 400 ms each; a launch of 256 groups takes llvmpipe 80 to 170 us. */
static const struct launches_size with_threads[] = {
    {1, {[LAUNCHES_P1] = {1, 200}, [LAUNCHES_P2] = {2000, 1}, [LAUNCHES_P3] = {500, 20}}},
    {16, {[LAUNCHES_P1] = {1, 200}, [LAUNCHES_P2] = {2000, 1}, [LAUNCHES_P3] = {250, 20}}},
    {256, {[LAUNCHES_P1] = {1, 100}, [LAUNCHES_P2] = {2000, 1}, [LAUNCHES_P3] = {50, 20}}},
};
static const struct launches_size without_threads[] = {
    {1, {[LAUNCHES_P1] = {1, 200}, [LAUNCHES_P2] = {2000, 4}, [LAUNCHES_P3] = {2000, 20}}},
    {16, {[LAUNCHES_P1] = {1, 200}, [LAUNCHES_P2] = {2000, 1}, [LAUNCHES_P3] = {500, 20}}},
    {256, {[LAUNCHES_P1] = {1, 100}, [LAUNCHES_P2] = {2000, 1}, [LAUNCHES_P3] = {40, 20}}},
};
#define SIZES (sizeof with_threads / sizeof with_threads[0])

static void add_vyre_rows(const char *device, struct launches *launches)
{
    static const struct vyre_row_mode modes[] = {
        {VYRE_PLAIN, VYRE_MODE_PLAIN, 0},
        {VYRE_REPLAY, VYRE_MODE_REPLAY, 0},
        {"Vyre auto", VYRE_MODE_AUTO, 0},
    };
    const struct vyre_row_desc desc = {
        .device = {.backend = "vulkan", .name = device},
        .payload = {.target = VYRE_TARGET_SPIRV,
                    .entry = "main",
                    .bytes = hand_spirv,
                    .size_bytes = hand_spirv_bytes},
    };
    vyre_row_add(launches, &desc, modes, sizeof modes / sizeof modes[0]);
}

/* Each mode against its counterpart by hand. */
static size_t make_aims(const struct launches *launches, struct bench_aim *out_aims)
{
    size_t count = 0;
    for (size_t cell = 0; cell < launches->table.cell_count; cell++) {
        enum launches_pattern pattern = launches->cells[cell].pattern;
        const char *replayed = pattern == LAUNCHES_P2 ? HAND_RECORDED : HAND_REPLAYED;
        double replay_limit = pattern == LAUNCHES_P1 ? 1.00 : 1.03;
        const struct bench_aim aims[] = {
            {BENCH_TIMES_AT_MOST, VYRE_PLAIN, HAND_RECORDED, cell, 0, 1.10},
            {BENCH_TIMES_AT_MOST, VYRE_REPLAY, replayed, cell, 0, replay_limit},
        };
        memcpy(&out_aims[count], aims, sizeof aims);
        count += sizeof aims / sizeof aims[0];
    }
    return count;
}

static struct launches_row *find_replay(struct launches *launches)
{
    for (size_t i = 0; i < launches->row_count; i++) {
        if (strcmp(launches->rows[i].name, VYRE_REPLAY) == 0 && !launches->rows[i].absent[0] &&
            !launches->table.contenders[i].failed)
            return &launches->rows[i];
    }
    return NULL;
}

static void run_device(struct bench *bench, const struct options *options,
                       struct hand_device *device, struct launches *launches)
{
    bool threads = !options->no_threads;
    struct bench_aim aims[2 * LAUNCHES_CELLS];
    char title[TITLE_BYTES];
    snprintf(title, sizeof title, "%s, %s", hand_device_name(device),
             threads ? "default threads" : "LP_NUM_THREADS=0");
    launches_init(launches, title, threads ? with_threads : without_threads, SIZES, &options->only);
    hand_add_rows(device, launches);
    add_vyre_rows(hand_device_name(device), launches);
    launches_run(bench, launches);
    bench_report(bench, &launches->table, aims, make_aims(launches, aims));
    if (!bench->row && !options->only.pattern && !options->only.groups)
        submit_run(bench, device, find_replay(launches), title);
    launches_deinit(launches);
}

/* What this process is for: llvmpipe with its threads or without, or another device. */
static bool run_configuration(struct bench *bench, const struct options *options)
{
    struct hand_device *device = hand_device_open(options->device);
    if (!device)
        return false;
    struct launches *launches = malloc(sizeof *launches);
    if (launches)
        run_device(bench, options, device, launches);
    else
        bench->failed = true;
    free(launches);
    hand_device_close(device);
    return true;
}

static bool is_llvmpipe(const struct options *options)
{
    struct hand_device *device = hand_device_open(options->device);
    bool yes = device && strstr(hand_device_name(device), "llvmpipe");
    if (device)
        hand_device_close(device);
    return yes;
}

/* This program again, with the same options and no threads in llvmpipe. Its tables join those of this process. */
static void run_again(struct bench *bench, int argc, char **argv)
{
    char program[] = "/proc/self/exe";
    char option[] = "--no-threads";
    char value[] = "yes";
    char line[512];
    struct bench_process process;
    char **arguments = calloc((size_t)argc + 3, sizeof *arguments);
    setenv("LP_NUM_THREADS", "0", 1); /* this process uses no device any more */
    if (arguments) {
        memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
        arguments[0] = program;
        arguments[argc] = option;
        arguments[argc + 1] = value;
    }
    if (!arguments || !bench_process_start(arguments, &process)) {
        bench->failed = true;
        free(arguments);
        return;
    }
    if (bench->json)
        bench_append(bench, process.output);
    while (!bench->json && fgets(line, sizeof line, process.output))
        fputs(line, stdout);
    if (bench_process_finish(&process) != 0) {
        fprintf(stderr, "bench_vulkan: the process without threads failed\n");
        bench->failed = true;
    }
    free(arguments);
}

int main(int argc, char **argv)
{
    struct options chosen = {0};
    const struct bench_option options[] = {
        {"--pattern", "P1|P2|P3", &chosen.only.pattern},
        {"--groups", "1|16|256", &chosen.only.groups},
        {"--device", "TEXT", &chosen.device},
        {"--no-threads", NULL, &chosen.no_threads},
    };
    const struct bench_desc desc = {.name = "vulkan",
                                    .rounds = 21,
                                    .rounds_quick = 7,
                                    .seconds = 60,
                                    .options = options,
                                    .option_count = sizeof options / sizeof options[0]};
    struct bench bench;
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    if (!chosen.no_threads)
        unsetenv("LP_NUM_THREADS");
    if (!run_configuration(&bench, &chosen))
        return ABSENT;
    if (!chosen.no_threads && is_llvmpipe(&chosen))
        run_again(&bench, argc, argv);
    return bench_end(&bench);
}
