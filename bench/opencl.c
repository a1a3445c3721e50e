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
 *   bench_opencl [--quick] [--json] [--rounds N] [--seconds N] [--row TEXT] [--pattern P1|P2|P3]
 *                [--groups N] [--device TEXT]
 *
 * Different bytes are a failure, exit code 1. Nothing is asserted of time. Without OpenCL the exit code is 77.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launches/vyre_row.h"
#include "opencl_hand.h"
#include "opencl_overlap.h"

#define VYRE_PLAIN         "Vyre plain"
#define VYRE_REPLAY        "Vyre replay"
#define VYRE_REPLAY_DRIVER "Vyre replay, driver's"
#define VYRE_PERSISTENT    "Vyre persistent"

#define ABSENT 77

/* A run takes some 20 to 200 ms each; fewer launches where one takes longer. */
static const struct launches_size sizes[] = {
    {1, {[LAUNCHES_P1] = {1, 400}, [LAUNCHES_P2] = {2000, 2}, [LAUNCHES_P3] = {2000, 20}}},
    {16, {[LAUNCHES_P1] = {1, 400}, [LAUNCHES_P2] = {2000, 2}, [LAUNCHES_P3] = {1000, 20}}},
    {256, {[LAUNCHES_P1] = {1, 400}, [LAUNCHES_P2] = {2000, 1}, [LAUNCHES_P3] = {500, 20}}},
};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void add_vyre_rows(const char *device, struct launches *launches)
{
    static const struct vyre_row_mode modes[] = {
        {VYRE_PLAIN, VYRE_MODE_PLAIN, 0},
        {VYRE_REPLAY, VYRE_MODE_REPLAY, 0},
        {VYRE_REPLAY_DRIVER, VYRE_MODE_REPLAY, VYRE_VARIANT_DRIVER},
        {VYRE_PERSISTENT, VYRE_MODE_PERSISTENT, 0},
        {"Vyre auto", VYRE_MODE_AUTO, 0},
    };
    const struct vyre_row_desc desc = {
        .device = {.backend = "opencl", .name = device},
        .payload = {.target = VYRE_TARGET_OPENCL_C,
                    .entry = "lcg",
                    .bytes = hand_source,
                    .size_bytes = strlen(hand_source)},
    };
    vyre_row_add(launches, &desc, modes, sizeof modes / sizeof modes[0]);
}

/* At 1 group on a device with threads; then, on every device and in every cell, the best against the best. */
static size_t make_aims(const struct launches *launches, bool has_threads,
                        struct bench_aim *out_aims)
{
    static const struct {
        enum launches_pattern pattern;
        struct bench_aim aim;
    } one_group[] = {
        {LAUNCHES_P1, {BENCH_FASTER_AT_LEAST, VYRE_PERSISTENT, HAND_FINISH_EACH, 0, 0, 50}},
        {LAUNCHES_P2, {BENCH_FASTER_AT_LEAST, VYRE_PERSISTENT, NULL, 0, 0, 3}},
        {LAUNCHES_P3, {BENCH_FASTER_AT_LEAST, VYRE_PERSISTENT, NULL, 0, 0, 3}},
        {LAUNCHES_P1, {BENCH_TIMES_AT_MOST, VYRE_PLAIN, HAND_FINISH_EACH, 0, 0, 1.05}},
        {LAUNCHES_P2, {BENCH_TIMES_AT_MOST, VYRE_PLAIN, HAND_ENQUEUE, 0, 0, 1.05}},
        {LAUNCHES_P3, {BENCH_TIMES_AT_MOST, VYRE_PLAIN, HAND_ENQUEUE, 0, 0, 1.05}},
        {LAUNCHES_P1, {BENCH_TIMES_AT_MOST, VYRE_REPLAY, HAND_FINISH_EACH, 0, 0, 1.05}},
        {LAUNCHES_P2, {BENCH_TIMES_AT_MOST, VYRE_REPLAY, HAND_ENQUEUE, 0, 0, 1.05}},
        {LAUNCHES_P3, {BENCH_TIMES_AT_MOST, VYRE_REPLAY, HAND_KERNELS, 0, 0, 1.05}},
        {LAUNCHES_P1, {BENCH_TIMES_AT_MOST, VYRE_REPLAY_DRIVER, HAND_COMMAND_BUFFER, 0, 0, 1.05}},
        {LAUNCHES_P2, {BENCH_TIMES_AT_MOST, VYRE_REPLAY_DRIVER, HAND_COMMAND_BUFFER, 0, 0, 1.05}},
        {LAUNCHES_P3, {BENCH_TIMES_AT_MOST, VYRE_REPLAY_DRIVER, HAND_COMMAND_BUFFER, 0, 0, 1.05}},
    };
    size_t count = 0;
    for (size_t i = 0; has_threads && i < sizeof one_group / sizeof one_group[0]; i++) {
        out_aims[count] = one_group[i].aim;
        out_aims[count++].cell = launches_find(launches, 1, one_group[i].pattern);
    }
    for (size_t cell = 0; cell < launches->table.cell_count; cell++)
        out_aims[count++] =
            (struct bench_aim){.kind = BENCH_TIMES_AT_MOST, .cell = cell, .limit = 1};
    return count;
}

static void run_launches(struct bench *bench, const struct launches_options *only,
                         struct hand_library *library, size_t index)
{
    const char *name = hand_library_device_name(library, index);
    struct launches *launches = malloc(sizeof *launches);
    struct hand_device *device = hand_device_open(library, index);
    if (launches && device) {
        struct bench_aim aims[32];
        launches_init(launches, name, sizes, SIZES, only);
        hand_add_rows(device, launches);
        add_vyre_rows(name, launches);
        launches_run(bench, launches);
        bench_report(bench, &launches->table, aims,
                     make_aims(launches, strstr(name, "pthread") != NULL, aims));
        launches_deinit(launches);
    } else {
        bench->failed = true;
    }
    if (device)
        hand_device_close(device);
    free(launches);
}

int main(int argc, char **argv)
{
    struct launches_options only = {0};
    const char *wanted = NULL;
    const struct bench_option options[] = {
        {"--pattern", "P1|P2|P3", &only.pattern},
        {"--groups", "1|16|256", &only.groups},
        {"--device", "TEXT", &wanted},
    };
    const struct bench_desc desc = {.name = "opencl",
                                    .rounds = 21,
                                    .rounds_quick = 7,
                                    .seconds = 60,
                                    .options = options,
                                    .option_count = sizeof options / sizeof options[0]};
    struct bench bench;
    setenv("POCL_DEVICES", "pthread basic", 0); /* read by PoCL when it is loaded */
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    struct hand_library *library = hand_library_open();
    size_t run = 0;
    bool overlap_only = bench.row && strcmp(bench.row, "overlap") == 0;
    for (size_t i = 0; library && i < hand_library_devices(library); i++) {
        const char *name = hand_library_device_name(library, i);
        if (wanted && !strstr(name, wanted))
            continue;
        if (!overlap_only)
            run_launches(&bench, &only, library, i);
        if (overlap_only || (!bench.row && !only.pattern && !only.groups))
            overlap_run(&bench, name);
        run++;
    }
    hand_library_close(library);
    if (run == 0) {
        fprintf(stderr, "bench_opencl: no OpenCL device%s%s\n", wanted ? " named " : "",
                wanted ? wanted : "");
        return ABSENT;
    }
    return bench_end(&bench);
}
