/*
 * launch.c: what a launch of a small kernel costs on the CPU, in Vyre's modes and beside peers.
 *
 * Claims, in ns per launch of 64 invocations: at 1 group P1 at most 60, P2 50, P3 20; at 256 groups
 * no slower than a direct loop; at 4,096 groups at least 1.7 times as fast; an item streamed through
 * persistent mode at most 50, its round trip below 1,000. See launches/launches.h for the patterns.
 *
 *   bench_launch [--quick] [--json] [--rounds N] [--seconds N] [--row TEXT] [--pattern TEXT] [--groups N]
 *
 * Different bytes are a failure, exit code 1. Nothing is asserted of time.
 */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "launches/vyre_row.h"

/* 2,000 launches a batch and, in P3, 20 repeats, as the patterns are defined; fewer where a launch takes so
 * long that a cell would go past about 20 ms. */
static const struct launches_size sizes[] = {
    {1, {{1, 10000}, {1, 10000}, {2000, 10}, {2000, 20}}},
    {16, {{1, 6000}, {1, 6000}, {2000, 5}, {2000, 20}}},
    {256, {{1, 2000}, {1, 2000}, {2000, 2}, {800, 20}}},
    {4096, {{1, 600}, {1, 600}, {600, 1}, {40, 20}}},
};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void open_vyre(struct launches *launches)
{
    static const struct vyre_row_mode modes[] = {
        {"Vyre plain", VYRE_MODE_PLAIN, 0},
        {"Vyre replay", VYRE_MODE_REPLAY, 0},
        {"Vyre persistent", VYRE_MODE_PERSISTENT, 0},
        {"Vyre auto", VYRE_MODE_AUTO, 0},
    };
    const struct vyre_row_desc desc = {
        .device = {.backend = "cpu"},
        .payload = {.target = VYRE_TARGET_HOST, .function = launch_kernel},
    };
    vyre_row_add(launches, &desc, modes, sizeof modes / sizeof modes[0]);
}

/* For auto, and for the fastest of the required modes. */
static size_t make_aims(const struct launches *launches, struct bench_aim *out_aims)
{
    static const struct {
        uint32_t groups;
        enum launches_pattern pattern;
        enum bench_aim_kind kind;
        double limit;
    } wanted[] = {
        {1, LAUNCHES_P1, BENCH_NS_AT_MOST, 60},
        {1, LAUNCHES_P2, BENCH_NS_AT_MOST, 50},
        {1, LAUNCHES_P3, BENCH_NS_AT_MOST, 20},
        {256, LAUNCHES_P1, BENCH_TIMES_AT_MOST, 1},
        {256, LAUNCHES_P2, BENCH_TIMES_AT_MOST, 1},
        {256, LAUNCHES_P3, BENCH_TIMES_AT_MOST, 1},
        {4096, LAUNCHES_P1, BENCH_FASTER_AT_LEAST, 1.7},
        {4096, LAUNCHES_P2, BENCH_FASTER_AT_LEAST, 1.7},
        {4096, LAUNCHES_P3, BENCH_FASTER_AT_LEAST, 1.7},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct bench_aim aim = {.kind = wanted[i].kind,
                                .cell =
                                    launches_find(launches, wanted[i].groups, wanted[i].pattern),
                                .limit = wanted[i].limit};
        out_aims[count++] = aim;
        aim.contender = "Vyre auto";
        out_aims[count++] = aim;
    }
    return count;
}

static void run_launches(struct bench *bench, const struct launches_options *options)
{
    struct launches *launches = malloc(sizeof *launches);
    struct bench_aim aims[32];
    if (!launches) {
        bench->failed = true;
        return;
    }
    launches_init(launches, "launches on the CPU", sizes, SIZES, options);
    launch_open_direct(launches_add(launches));
    launch_open_openmp(launches_add(launches));
    launch_open_openmp_if(launches_add(launches));
    launch_open_openmp_active(launches_add(launches));
    launch_open_onetbb(launches_add(launches));
    open_vyre(launches);
    launches_run(bench, launches);
    bench_report(bench, &launches->table, aims, make_aims(launches, aims));
    launches_deinit(launches);
    free(launches);
}

int main(int argc, char **argv)
{
    struct launches_options only = {0};
    const struct bench_option options[] = {
        {"--pattern", "P1|'P1 rebuilt'|P2|P3", &only.pattern},
        {"--groups", "1|16|256|4096", &only.groups},
    };
    const struct bench_desc desc = {.name = "launch",
                                    .rounds = 21,
                                    .rounds_quick = 7,
                                    .seconds = 45,
                                    .options = options,
                                    .option_count = sizeof options / sizeof options[0]};
    struct bench bench;
    if (argc == 2 && strcmp(argv[1], "--openmp-child") == 0)
        return launch_openmp_child();
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    run_launches(&bench, &only);
    if (!bench.row && !only.pattern && !only.groups)
        launch_stream_run(&bench);
    return bench_end(&bench);
}
