/*
 * opencl.c: what a launch costs through Vyre's OpenCL backend, against OpenCL written by hand.
 *
 * Claims on PoCL's `pthread` device at 1 group: persistent P1 at least 50 times as fast as enqueue
 * and finish; persistent P2 and P3 at least 3 times as fast as the best by hand; plain and replay at
 * most 1.05 times the time of their counterparts by hand. In every cell, on `pthread` and `basic`:
 * the best of Vyre's modes no slower than the best by hand.
 *
 * Beside that, the same batch with arms and copy overlap and without (opencl_overlap.c). It is left out
 * when a row, a pattern or a number of groups is asked for; `--row overlap` runs nothing else.
 *
 * All contenders of a device are measured in one run, interleaved round by round. Their bytes are
 * compared after every cell: a difference ends in exit code 1. Nothing is asserted of time. Without
 * OpenCL the exit code is 77.
 *
 *   bench_opencl [--quick] [--full] [--rounds N] [--seconds N] [--row TEXT] [--pattern P1|P2|P3]
 *                [--groups N] [--device TEXT]
 */
#include "opencl_hand.h"
#include "opencl_overlap.h"

#include <stdlib.h>
#include <string.h>

#define VYRE_PLAIN         "Vyre plain"
#define VYRE_REPLAY        "Vyre replay"
#define VYRE_REPLAY_DRIVER "Vyre replay, driver's"
#define VYRE_PERSISTENT    "Vyre persistent"

static void add_vyre_rows(const char *device, struct gpu_results *results)
{
    static const struct {
        const char *name;
        enum vyre_mode mode;
        uint32_t variant;
    } rows[] = {
        {VYRE_PLAIN, VYRE_MODE_PLAIN, 0},
        {VYRE_REPLAY, VYRE_MODE_REPLAY, 0},
        {VYRE_REPLAY_DRIVER, VYRE_MODE_REPLAY, VYRE_VARIANT_DRIVER},
        {VYRE_PERSISTENT, VYRE_MODE_PERSISTENT, 0},
        {"Vyre auto", VYRE_MODE_AUTO, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct gpu_vyre_desc desc = {
            .name = rows[i].name,
            .backend = "opencl",
            .device = device,
            .mode = rows[i].mode,
            .variant = rows[i].variant,
            .payload = {.target = VYRE_TARGET_OPENCL_C,
                        .entry = "lcg",
                        .bytes = hand_source,
                        .size_bytes = strlen(hand_source)},
        };
        gpu_open_vyre(&desc, &results->contenders[results->contender_count++]);
    }
}

/* At 1 group on a device with threads. */
static void print_one_group_aims(const struct gpu_results *results)
{
    static const struct {
        enum gpu_pattern pattern;
        struct gpu_aim aim;
    } aims[] = {
        {GPU_P1, {VYRE_PERSISTENT, HAND_FINISH_EACH, 50, true}},
        {GPU_P2, {VYRE_PERSISTENT, NULL, 3, true}},
        {GPU_P3, {VYRE_PERSISTENT, NULL, 3, true}},
        {GPU_P1, {VYRE_PLAIN, HAND_FINISH_EACH, 1.05, false}},
        {GPU_P2, {VYRE_PLAIN, HAND_ENQUEUE, 1.05, false}},
        {GPU_P3, {VYRE_PLAIN, HAND_ENQUEUE, 1.05, false}},
        {GPU_P1, {VYRE_REPLAY, HAND_FINISH_EACH, 1.05, false}},
        {GPU_P2, {VYRE_REPLAY, HAND_ENQUEUE, 1.05, false}},
        {GPU_P3, {VYRE_REPLAY, HAND_KERNELS, 1.05, false}},
        {GPU_P1, {VYRE_REPLAY_DRIVER, HAND_COMMAND_BUFFER, 1.05, false}},
        {GPU_P2, {VYRE_REPLAY_DRIVER, HAND_COMMAND_BUFFER, 1.05, false}},
        {GPU_P3, {VYRE_REPLAY_DRIVER, HAND_COMMAND_BUFFER, 1.05, false}},
    };
    for (size_t i = 0; i < sizeof aims / sizeof aims[0]; i++)
        gpu_print_aim(results, &aims[i].aim, aims[i].pattern, stdout);
}

static void print_aims(const struct gpu_results *results)
{
    printf("\naims on %s\n", results->title);
    if (!gpu_has_vyre(results)) {
        printf("none of Vyre's modes was measured: nothing to judge\n");
        return;
    }
    if (strstr(results->title, "pthread"))
        print_one_group_aims(results);
    gpu_print_best_aims(results, stdout);
}

static bool run_device(const struct gpu_options *options, struct hand_library *library,
                       size_t index)
{
    /* A run takes some 20 to 200 ms each; fewer launches where one takes longer. */
    static const gpu_work_table work = {
        {{1, 400}, {2000, 2}, {2000, 20}},
        {{1, 400}, {2000, 2}, {1000, 20}},
        {{1, 400}, {2000, 1}, {500, 20}},
    };
    const char *name = hand_library_device_name(library, index);
    if (options->row && strcmp(options->row, "overlap") == 0)
        return overlap_run(options, name);
    struct gpu_results *results = calloc(1, sizeof *results);
    struct hand_device *device = hand_device_open(library, index);
    bool ok = results && device;
    if (ok) {
        results->title = name;
        results->load = gpu_load();
        gpu_define_cells(options, work, results->cells);
        hand_add_rows(device, results);
        add_vyre_rows(name, results);
        ok = gpu_measure(options, results);
        gpu_report(results, stdout);
        print_aims(results);
        fflush(stdout);
        gpu_close(results);
    }
    if (device)
        hand_device_close(device);
    free(results);
    if (ok && !options->row && !options->pattern && options->groups == 0)
        ok = overlap_run(options, name);
    return ok;
}

int main(int argc, char **argv)
{
    struct gpu_options options;
    if (!gpu_parse("bench_opencl", argc, argv, &options))
        return 2;
    setenv("POCL_DEVICES", "pthread basic", 0); /* read by PoCL when it is loaded */
    struct hand_library *library = hand_library_open();
    if (!library)
        return 77;
    bool ok = true;
    size_t run = 0;
    for (size_t i = 0; i < hand_library_devices(library); i++) {
        const char *name = hand_library_device_name(library, i);
        if (options.device && !strstr(name, options.device))
            continue;
        ok = run_device(&options, library, i) && ok;
        run++;
    }
    hand_library_close(library);
    if (run == 0)
        fprintf(stderr, "bench_opencl: no OpenCL device%s%s\n", options.device ? " named " : "",
                options.device ? options.device : "");
    if (run == 0)
        return 77;
    return ok ? 0 : 1;
}
