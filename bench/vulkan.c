/*
 * vulkan.c: what a launch costs through Vyre's Vulkan backend, against Vulkan written by hand.
 *
 * Claims: plain at most 1.10 times and replay at most 1.03 times the time by hand; P1 no slower than
 * a fence wait by hand; the host time of submitting a recorded batch does not grow with the batch.
 *
 * Runs itself again for each configuration, because llvmpipe reads LP_NUM_THREADS when it is loaded:
 * its default threads, and none. All contenders of a configuration are measured in one process,
 * interleaved round by round. Their bytes are compared after every cell: a difference ends in exit
 * code 1. Nothing is asserted of time. Without Vulkan the exit code is 77.
 *
 *   bench_vulkan [--quick] [--full] [--rounds N] [--seconds N] [--row TEXT] [--pattern P1|P2|P3]
 *                [--groups N] [--device TEXT]
 */
#include "vulkan_submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VYRE_PLAIN  "Vyre plain"
#define VYRE_REPLAY "Vyre replay"

#define CHILD_DEFAULT    "default"
#define CHILD_NO_THREADS "no-threads"

#define ABSENT      77
#define TITLE_BYTES 320

static void add_vyre_rows(const char *device, struct gpu_results *results)
{
    static const struct {
        const char *name;
        enum vyre_mode mode;
    } rows[] = {
        {VYRE_PLAIN, VYRE_MODE_PLAIN},
        {VYRE_REPLAY, VYRE_MODE_REPLAY},
        {"Vyre auto", VYRE_MODE_AUTO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct gpu_vyre_desc desc = {
            .name = rows[i].name,
            .backend = "vulkan",
            .device = device,
            .mode = rows[i].mode,
            .payload = {.target = VYRE_TARGET_SPIRV,
                        .entry = "main",
                        .bytes = hand_spirv,
                        .size_bytes = hand_spirv_bytes},
        };
        gpu_open_vyre(&desc, &results->contenders[results->contender_count++]);
    }
}

static void print_aims(const struct gpu_results *results)
{
    static const struct gpu_aim aims[GPU_PATTERNS][3] = {
        [GPU_P1] = {{VYRE_PLAIN, HAND_RECORDED, 1.10, false},
                    {VYRE_REPLAY, HAND_REPLAYED, 1.03, false},
                    {VYRE_REPLAY, HAND_REPLAYED, 1.00, false}},
        [GPU_P2] = {{VYRE_PLAIN, HAND_RECORDED, 1.10, false},
                    {VYRE_REPLAY, HAND_RECORDED, 1.03, false}},
        [GPU_P3] = {{VYRE_PLAIN, HAND_RECORDED, 1.10, false},
                    {VYRE_REPLAY, HAND_REPLAYED, 1.03, false}},
    };
    printf("\naims on %s\n", results->title);
    if (!gpu_has_vyre(results)) {
        printf("none of Vyre's modes was measured: nothing to judge\n");
        return;
    }
    for (uint32_t cell = 0; cell < GPU_CELLS; cell++) {
        for (size_t i = 0; i < 3 && aims[cell % GPU_PATTERNS][i].contender; i++)
            gpu_print_aim(results, &aims[cell % GPU_PATTERNS][i], cell, stdout);
    }
    printf("the best of each; no aim, but good to know\n");
    gpu_print_best_aims(results, stdout);
}

static struct gpu_contender *find_replay(struct gpu_results *results)
{
    for (size_t i = 0; i < results->contender_count; i++) {
        if (strcmp(results->contenders[i].name, VYRE_REPLAY) == 0)
            return &results->contenders[i];
    }
    return NULL;
}

static bool run_device(const struct gpu_options *options, struct hand_device *device,
                       struct gpu_results *results)
{
    /* Some 40 to 400 ms each; a launch of 256 groups takes llvmpipe 80 to 170 us. */
    static const gpu_work_table with_threads = {
        {{1, 200}, {2000, 1}, {500, 20}},
        {{1, 200}, {2000, 1}, {250, 20}},
        {{1, 100}, {2000, 1}, {50, 20}},
    };
    static const gpu_work_table without_threads = {
        {{1, 200}, {2000, 4}, {2000, 20}},
        {{1, 200}, {2000, 1}, {500, 20}},
        {{1, 100}, {2000, 1}, {40, 20}},
    };
    bool threads = strcmp(options->child, CHILD_DEFAULT) == 0;
    char title[TITLE_BYTES];
    snprintf(title, sizeof title, "%s, %s", hand_device_name(device),
             threads ? "default threads" : "LP_NUM_THREADS=0");
    results->title = title;
    results->load = gpu_load();
    gpu_define_cells(options, threads ? with_threads : without_threads, results->cells);
    hand_add_rows(device, results);
    add_vyre_rows(hand_device_name(device), results);
    bool ok = gpu_measure(options, results);
    gpu_report(results, stdout);
    print_aims(results);
    struct gpu_contender *replay = find_replay(results);
    if (replay && !options->row && !options->pattern && options->groups == 0)
        ok = submit_report(device, replay, stdout) && ok;
    gpu_close(results);
    return ok;
}

static int run_child(const struct gpu_options *options)
{
    struct hand_device *device = hand_device_open(options->device);
    if (!device)
        return ABSENT;
    bool ok = true;
    if (strcmp(options->child, CHILD_NO_THREADS) == 0 &&
        !strstr(hand_device_name(device), "llvmpipe")) {
        printf("\n%s knows no LP_NUM_THREADS: measured once\n", hand_device_name(device));
    } else {
        struct gpu_results *results = calloc(1, sizeof *results);
        ok = results && run_device(options, device, results);
        free(results);
    }
    hand_device_close(device);
    return ok ? 0 : 1;
}

/* This program again, with the same options. */
static int run_configuration(const char *name, int argc, char **argv)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char **arguments = calloc((size_t)argc + 3, sizeof *arguments);
        char option[] = "--child";
        char *value = strdup(name);
        if (!arguments || !value)
            _exit(1);
        memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
        arguments[argc] = option;
        arguments[argc + 1] = value;
        if (strcmp(name, CHILD_NO_THREADS) == 0)
            setenv("LP_NUM_THREADS", "0", 1);
        else
            unsetenv("LP_NUM_THREADS");
        execv("/proc/self/exe", arguments);
        _exit(1);
    }
    int state = 0;
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || !WIFEXITED(state)) {
        fprintf(stderr, "bench_vulkan: the process for %s did not end by itself\n", name);
        return 1;
    }
    return WEXITSTATUS(state);
}

int main(int argc, char **argv)
{
    struct gpu_options options;
    if (!gpu_parse("bench_vulkan", argc, argv, &options))
        return 2;
    if (options.child)
        return run_child(&options);
    int with_threads = run_configuration(CHILD_DEFAULT, argc, argv);
    if (with_threads == ABSENT)
        return ABSENT;
    int without = run_configuration(CHILD_NO_THREADS, argc, argv);
    return with_threads != 0 ? with_threads : without;
}
