/*
 * harness_test.c: the harness of the benchmarks: medians and intervals, turns, failures, aims, the document.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench.h"
#include "harness/print.h"
#include "support/test.h"

/* ---- Statistics ------------------------------------------------------------------------------- */

static void summarize_ten_values_interval_is_second_to_ninth(void **state)
{
    (void)state;
    const double values[] = {5, 3, 8, 1, 10, 2, 7, 4, 9, 6};
    struct bench_summary summary = bench_summarize(values, 10);
    assert_int_equal(summary.count, 10);
    assert_true(summary.min == 1 && summary.median == 5.5);
    assert_true(summary.low == 2 &&
                summary.high == 9); /* covers 97.9 %; third to eighth only 89 % */
    assert_true(values[0] == 5);    /* left as they were */
}

static void summarize_six_values_is_the_first_with_an_interval(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(BENCH_ROUNDS_FOR_95, 6);
    assert_true(bench_summarize(values, 6).low == 1); /* all of six: 96.9 % */
    assert_true(bench_summarize(values, 8).low == 1); /* second to seventh: 93 % */
    assert_true(bench_summarize(values, 9).low == 2);
    assert_true(bench_summarize(values, 9).high == 8);
}

static void summarize_one_value_is_everything(void **state)
{
    (void)state;
    const double value = 7;
    struct bench_summary summary = bench_summarize(&value, 1);
    assert_true(summary.min == 7 && summary.low == 7 && summary.median == 7 && summary.high == 7);
}

static double next_uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* A skewed distribution whose median is known: -ln(u), median ln 2. */
static void summarize_random_values_interval_holds_the_median(void **state)
{
    (void)state;
    static const size_t counts[] = {6, 21, 200, BENCH_ROUNDS_MAX};
    uint64_t seed = 42;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        static double values[BENCH_ROUNDS_MAX];
        int held = 0;
        for (int trial = 0; trial < 400; trial++) {
            for (size_t i = 0; i < counts[c]; i++)
                values[i] = -log(next_uniform(&seed) + 1e-12);
            struct bench_summary summary = bench_summarize(values, counts[c]);
            held += summary.low <= log(2) && log(2) <= summary.high;
        }
        assert_in_range(held, 367,
                        398); /* 95 % is 380; three deviations are 13. Discrete ranks give more. */
    }
}

/* ---- Turns ------------------------------------------------------------------------------------ */

#define CALLS_MAX 256

struct scene {
    struct bench bench;
    struct bench_table table;
    char calls[CALLS_MAX + 1]; /* the first letter of each contender that was measured */
    size_t call_count;
    double times[3]; /* by contender; 0: it has no such cell, negative: it fails */
    double pace;     /* what a round takes of the time of the round before */
};

static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    struct scene *scene = context;
    size_t index = (size_t)(contender - scene->table.contenders);
    size_t round = scene->call_count / (scene->table.contender_count * scene->table.cell_count);
    assert_in_range(scene->call_count, 0, CALLS_MAX - 1);
    scene->calls[scene->call_count++] = contender->name[0];
    return scene->times[index] * pow(scene->pace, (double)round) * (double)(cell + 1);
}

static const struct bench_desc desc = {.name = "scene", .rounds = 6, .rounds_quick = 2};

static void set_up(struct scene *scene, size_t cells)
{
    memset(scene, 0, sizeof *scene);
    scene->bench = (struct bench){.desc = &desc, .rounds = desc.rounds};
    scene->pace = 1;
    scene->times[0] = 100;
    scene->times[1] = 80;
    scene->times[2] = 50;
    bench_table_init(&scene->table, "scene", "ns per thing");
    scene->table.measure = measure;
    scene->table.context = scene;
    bench_add_contender(&scene->table, "hand", BENCH_BASE);
    bench_add_contender(&scene->table, "plain", BENCH_OWN);
    bench_add_contender(&scene->table, "auto", BENCH_AUTO);
    for (size_t i = 0; i < cells; i++)
        bench_add_cell(&scene->table, "group", i == 0 ? "first" : "second");
}

static void run_contenders_shift_by_one_each_round(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 1);
    scene.bench.rounds = 3;
    assert_true(bench_run(&scene.bench, &scene.table));
    /* The first three warm up; each second round turns around. */
    assert_string_equal(scene.calls, "hpahapahpaph");
    assert_int_equal(scene.table.rounds, 3);
    bench_table_deinit(&scene.table);
}

static void run_every_cell_in_every_round(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 2);
    scene.bench.rounds = 1;
    assert_true(bench_run(&scene.bench, &scene.table));
    assert_string_equal(scene.calls, "hpahpahaphap");
    bench_table_deinit(&scene.table);
}

static void run_pace_changes_ratio_stays(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 1);
    scene.pace = 1.5;
    assert_true(bench_run(&scene.bench, &scene.table));
    struct bench_summary figure = bench_figure(&scene.table, 1, 0);
    struct bench_summary ratio = bench_ratio(&scene.table, 1, 0, 0, 0);
    assert_true(figure.high / figure.low > 5);
    assert_true(fabs(ratio.low - 0.8) < 1e-9 && fabs(ratio.high - 0.8) < 1e-9);
    bench_table_deinit(&scene.table);
}

static void run_failed_contender_others_go_on(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 2);
    scene.times[1] = -1;
    assert_false(bench_run(&scene.bench, &scene.table));
    assert_true(scene.bench.failed);
    assert_true(scene.table.contenders[1].failed);
    assert_false(bench_is_measured(&scene.table, 1, 0));
    assert_true(bench_is_measured(&scene.table, 0, 1));
    assert_true(bench_is_measured(&scene.table, 2, 1));
    assert_null(strchr(strchr(scene.calls, 'p') + 1, 'p')); /* not tried again */
    bench_table_deinit(&scene.table);
}

static void run_absent_skipped_and_left_out_are_not_measured(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 2);
    strcpy(scene.table.contenders[0].absent, "not installed");
    scene.table.contenders[1].skips[1] = true;
    scene.times[2] = 0; /* has no such cell */
    assert_true(bench_run(&scene.bench, &scene.table));
    assert_null(strchr(scene.calls, 'h'));
    assert_true(bench_is_measured(&scene.table, 1, 0));
    assert_false(bench_is_measured(&scene.table, 1, 1));
    assert_false(bench_is_measured(&scene.table, 2, 0));
    bench_table_deinit(&scene.table);
    set_up(&scene, 2);
    scene.table.cells[0].is_left_out = true;
    assert_true(bench_run(&scene.bench, &scene.table));
    assert_false(bench_is_measured(&scene.table, 1, 0));
    assert_true(bench_is_measured(&scene.table, 1, 1));
    bench_table_deinit(&scene.table);
}

static void run_row_keeps_what_ratios_need(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 1);
    scene.bench.row = "auto"; /* compared with the base and with the modes it chooses from */
    assert_true(bench_run(&scene.bench, &scene.table));
    for (size_t c = 0; c < 3; c++)
        assert_true(bench_is_measured(&scene.table, c, 0));
    bench_table_deinit(&scene.table);
    set_up(&scene, 1);
    scene.bench.row = "plain";
    assert_true(bench_run(&scene.bench, &scene.table));
    assert_true(bench_is_measured(&scene.table, 0, 0));
    assert_true(bench_is_measured(&scene.table, 1, 0));
    assert_false(bench_is_measured(&scene.table, 2, 0));
    bench_table_deinit(&scene.table);
}

/* A nanosecond has passed after the first kept round, however fast the machine is. */
static void run_nothing_to_measure_fails(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 1);
    scene.table.cells[0].is_left_out = true;
    assert_false(bench_run(&scene.bench, &scene.table));
    assert_true(scene.bench.failed);
    bench_table_deinit(&scene.table);
    set_up(&scene, 1);
    for (size_t c = 0; c < 3; c++)
        strcpy(scene.table.contenders[c].absent,
               "no device"); /* nothing to blame the options for */
    assert_true(bench_run(&scene.bench, &scene.table));
    bench_table_deinit(&scene.table);
}

static void run_time_is_up_keeps_whole_rounds(void **state)
{
    (void)state;
    struct scene scene;
    set_up(&scene, 2);
    scene.bench.seconds = 1e-9;
    assert_true(bench_run(&scene.bench, &scene.table));
    assert_int_equal(scene.table.rounds, 1);
    assert_int_equal(scene.table.rounds_wanted, 6);
    assert_int_equal(bench_figure(&scene.table, 0, 0).count, 1);
    bench_table_deinit(&scene.table);
}

/* ---- Figures and aims ------------------------------------------------------------------------- */

/* Samples without a measurement: contender c takes times[c] x (1 + round / 100). */
static void fill_samples(struct scene *scene, size_t cells)
{
    set_up(scene, cells);
    scene->table.rounds = scene->table.rounds_wanted = 21;
    scene->table.ns = calloc(3 * cells * 21, sizeof *scene->table.ns);
    assert_non_null(scene->table.ns);
    for (size_t c = 0; c < 3; c++) {
        for (size_t cell = 0; cell < cells; cell++) {
            for (size_t r = 0; r < 21; r++)
                scene->table.ns[(c * cells + cell) * 21 + r] =
                    scene->times[c] * (double)(cell + 1) * (1 + (double)r / 100);
        }
    }
}

static void best_and_find_by_role_and_name(void **state)
{
    (void)state;
    struct scene scene;
    fill_samples(&scene, 1);
    assert_int_equal(bench_best(&scene.table, BENCH_BASE, 0), 0);
    assert_int_equal(bench_best(&scene.table, BENCH_OWN, 0), 1);
    assert_int_equal(bench_best(&scene.table, BENCH_PEER, 0), BENCH_NONE);
    assert_int_equal(bench_find(&scene.table, "auto", 0), 2);
    assert_int_equal(bench_find(&scene.table, "nothing", 0), BENCH_NONE);
    bench_table_deinit(&scene.table);
}

static void judge_each_kind_is_reached_or_missed(void **state)
{
    (void)state;
    struct scene scene;
    fill_samples(&scene, 2);
    const struct {
        struct bench_aim aim;
        double value;
        bool reached;
    } cases[] = {
        {{.kind = BENCH_TIMES_AT_MOST, .limit = 0.81}, 0.8, true}, /* plain against hand */
        {{.kind = BENCH_TIMES_AT_MOST, .contender = "auto", .base = "plain", .limit = 0.6},
         0.625,
         false},
        {{.kind = BENCH_FASTER_AT_LEAST, .contender = "auto", .limit = 1.9}, 2, true},
        {{.kind = BENCH_FASTER_AT_LEAST, .contender = "auto", .limit = 2.1}, 2, false},
        {{.kind = BENCH_NS_AT_MOST, .contender = "auto", .limit = 56}, 55, true},
        {{.kind = BENCH_GROWTH_AT_MOST, .contender = "auto", .cell = 1, .limit = 1.5}, 2, false},
        {{.kind = BENCH_REGRET_AT_MOST, .contender = "auto", .limit = 1.05}, 0.625, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_verdict verdict = bench_judge(&scene.table, &cases[i].aim);
        assert_true(verdict.known);
        assert_true(fabs(verdict.value.median - cases[i].value) < 1e-9);
        assert_int_equal(verdict.reached, cases[i].reached);
    }
    bench_table_deinit(&scene.table);
}

static void judge_limit_inside_the_interval_is_not_told_apart(void **state)
{
    (void)state;
    struct scene scene;
    fill_samples(&scene, 1);
    struct bench_aim aim = {.kind = BENCH_NS_AT_MOST, .contender = "auto", .limit = 55.2};
    assert_false(bench_judge(&scene.table, &aim).is_told_apart);
    aim.limit = 70;
    assert_true(bench_judge(&scene.table, &aim).is_told_apart);
    aim.limit = 30;
    assert_true(bench_judge(&scene.table, &aim).is_told_apart);
    scene.table.rounds = BENCH_ROUNDS_FOR_95 - 1; /* no interval */
    assert_false(bench_judge(&scene.table, &aim).is_told_apart);
    bench_table_deinit(&scene.table);
}

static void judge_unmeasured_side_is_unknown(void **state)
{
    (void)state;
    struct scene scene;
    fill_samples(&scene, 1);
    struct bench_aim aim = {.cell = BENCH_NONE, .limit = 1};
    assert_false(bench_judge(&scene.table, &aim).known);
    aim = (struct bench_aim){.contender = "auto", .base = "nothing", .limit = 1};
    assert_false(bench_judge(&scene.table, &aim).known);
    aim.base = NULL;
    assert_true(bench_judge(&scene.table, &aim).known);
    scene.table.contenders[0].failed = true;
    assert_false(bench_judge(&scene.table, &aim).known);
    bench_table_deinit(&scene.table);
}

/* ---- The document ----------------------------------------------------------------------------- */

static void json_has_figures_ratios_and_aims(void **state)
{
    (void)state;
    struct scene scene;
    fill_samples(&scene, 1);
    strcpy(scene.table.contenders[1].absent, "cut \xc3"); /* not UTF-8 */
    scene.table.cells[0].numbers[0] = (struct bench_number){"groups", 16};
    scene.table.cells[0].number_count = 1;
    scene.table.ns[21] = 0; /* not measured */
    const struct bench_aim aim = {.kind = BENCH_TIMES_AT_MOST, .contender = "auto", .limit = 1};
    json_t *table = bench_make_json(&scene.table, &aim, 1);
    const char *name = NULL;
    const char *base = NULL;
    double ratio = 0;
    int reached = 0;
    assert_int_equal(json_array_size(json_object_get(table, "figures")), 2);
    assert_int_equal(json_unpack(json_array_get(json_object_get(table, "figures"), 1),
                                 "{s:s, s:s, s:F}", "contender", &name, "base", &base,
                                 "median_ratio", &ratio),
                     0);
    assert_string_equal(name, "auto");
    assert_string_equal(base, "hand");
    assert_true(fabs(ratio - 0.5) < 1e-6);
    assert_int_equal(json_unpack(json_object_get(table, "aims"), "[{s:b}]", "reached", &reached),
                     0);
    assert_true(reached);
    json_t *figure = json_array_get(json_object_get(table, "figures"), 1);
    assert_int_equal(json_array_size(json_object_get(figure, "samples_ns")), 21);
    assert_true(json_number_value(json_object_get(figure, "groups")) == 16);
    json_decref(table);
    bench_table_deinit(&scene.table);
}

/* ---- Program, machine, process ---------------------------------------------------------------- */

/* As main gets them. */
static char **arguments(const char **words)
{
    return (char **)(uintptr_t)words;
}

static void begin_options_are_read_or_refused(void **state)
{
    (void)state;
    const char *device = NULL;
    const struct bench_option options[] = {{"--device", "TEXT", &device}};
    const struct bench_desc with_options = {.name = "scene",
                                            .rounds = 6,
                                            .rounds_quick = 2,
                                            .seconds = 9,
                                            .options = options,
                                            .option_count = 1};
    struct bench bench;
    const char *good[] = {"bench", "--json", "--quick", "--device", "x", "--seconds", "3", NULL};
    const char *wrong[][3] = {{"bench", "--rounds", "0"},
                              {"bench", "--rounds", "1002"},
                              {"bench", "--rounds", "5x"},
                              {"bench", "--seconds", "abc"},
                              {"bench", "--wrong", "1"}};
    assert_true(bench_begin(&bench, &with_options, 7, arguments(good)));
    assert_true(bench.json && bench.rounds == 2 && bench.seconds == 3);
    assert_string_equal(device, "x");
    assert_true(bench.machine.cores >= 1);
    json_decref(bench.tables);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(bench_begin(&bench, &with_options, 3, arguments(wrong[i])));
    assert_false(
        bench_begin(&bench, &with_options, 2, arguments(wrong[0]))); /* without its value */
}

static void machine_judge_each_threshold(void **state)
{
    (void)state;
    static const struct {
        struct bench_machine machine;
        bool is_quiet, has_two_cores;
    } cases[] = {
        {{.others = 0.1, .stolen = 0.05, .pair = 1.8}, true, true},
        {{.others = 0.11, .pair = 1.79}, false, false},
        {{.stolen = 0.06, .pair = 2}, false, true},
        {{.others = -1, .pair = 0}, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench_machine machine = cases[i].machine;
        bench_machine_judge(&machine);
        assert_int_equal(machine.is_quiet, cases[i].is_quiet);
        assert_int_equal(machine.has_two_cores, cases[i].has_two_cores);
    }
}

static void process_output_and_exit_code_arrive(void **state)
{
    (void)state;
    struct bench_process process;
    char line[32] = "";
    const char *argv[] = {"sh", "-c", "echo hello; exit 3", NULL};
    const char *missing[] = {"/nonexistent/program", NULL};
    assert_true(bench_process_start(arguments(argv), &process));
    assert_non_null(fgets(line, sizeof line, process.output));
    assert_string_equal(line, "hello\n");
    assert_int_equal(bench_process_finish(&process), 3);
    assert_false(bench_process_start(arguments(missing), &process));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summarize_ten_values_interval_is_second_to_ninth),
        cmocka_unit_test(summarize_six_values_is_the_first_with_an_interval),
        cmocka_unit_test(summarize_one_value_is_everything),
        cmocka_unit_test(summarize_random_values_interval_holds_the_median),
        cmocka_unit_test(run_contenders_shift_by_one_each_round),
        cmocka_unit_test(run_every_cell_in_every_round),
        cmocka_unit_test(run_pace_changes_ratio_stays),
        cmocka_unit_test(run_failed_contender_others_go_on),
        cmocka_unit_test(run_absent_skipped_and_left_out_are_not_measured),
        cmocka_unit_test(run_row_keeps_what_ratios_need),
        cmocka_unit_test(run_nothing_to_measure_fails),
        cmocka_unit_test(run_time_is_up_keeps_whole_rounds),
        cmocka_unit_test(best_and_find_by_role_and_name),
        cmocka_unit_test(judge_each_kind_is_reached_or_missed),
        cmocka_unit_test(judge_limit_inside_the_interval_is_not_told_apart),
        cmocka_unit_test(judge_unmeasured_side_is_unknown),
        cmocka_unit_test(json_has_figures_ratios_and_aims),
        cmocka_unit_test(begin_options_are_read_or_refused),
        cmocka_unit_test(machine_judge_each_threshold),
        cmocka_unit_test(process_output_and_exit_code_arrive),
    };
    return cmocka_run_group_tests_name("bench/harness", tests, NULL, NULL);
}
