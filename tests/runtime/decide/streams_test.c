/*
 * streams_test.c: auto as a whole on streams of batches, through the public API, on the simulated device: its
 * virtual time as a multiple of the best required mode's.
 *
 *   streams_test [--report] [--only PATTERN] [SEEDS]
 *
 *   --report  prints the tables and asserts nothing
 *   --only    runs the tests whose names match, such as "frames*"
 *
 * A row is one device, program and completion, over all seeds. `warm` leaves out the warm-up; `all` has it, with the
 * fixed costs of both sides. `switches` are batches in another mode than the batch of their shape before, `choices`
 * those of them that are no tries; both per 1,000 batches after the warm-up. A row that misses a bound ends in its
 * name. The bounds are aims. Some rows miss them, so that a table has two limits more, which are asserted: how many
 * rows may miss, and how far the worst may go.
 */
#include <stdlib.h>

#include "runtime/decide/stream_devices.h"
#include "runtime/decide/stream_model.h"
#include "support/test.h"

#ifndef VYRE_TEST_STREAM_SEEDS
#define VYRE_TEST_STREAM_SEEDS 10
#endif

enum { SEEDS_MAX = 100 };

/* What auto must reach. 0: no bound. */
struct bounds {
    double warm_median, warm_p90;
    double all_median, all_p90;
    double choices;    /* per 1,000 batches, mean over seeds */
    double recordings; /* per 1,000 batches */
    uint32_t misses;   /* rows that may miss one of these ... */
    double worst;      /* ... and the largest warm median */
};

#define AIMS .warm_median = 1.05, .warm_p90 = 1.10, .choices = 1

static const struct bounds steady = {AIMS, .misses = 10, .worst = 1.25};
static const struct bounds swinging = {AIMS, .misses = 5, .worst = 1.1};
static const struct bounds in_turn = {AIMS, .misses = 26, .worst = 1.15};
static const struct bounds shuffled = {AIMS, .misses = 13, .worst = 1.15};
static const struct bounds frames = {AIMS, .misses = 1, .worst = 1.05};
static const struct bounds full_frames = {AIMS, .misses = 3, .worst = 1.1};
static const struct bounds cold = {AIMS, .misses = 2, .worst = 1.1};
static const struct bounds never_back = {.all_median = 1.05, .all_p90 = 1.05, .recordings = 10};

static const struct stream_device *const all_devices[] = {
    &cpu_16, &cpu_256, &alike, &opencl_16, &opencl_64, &opencl_slow, &vulkan_16, &vulkan_64};
static const struct stream_device *const some_devices[] = {&cpu_16, &opencl_16, &opencl_slow,
                                                           &vulkan_16};

struct settings {
    bool reports;
    uint32_t seeds;
};

struct table {
    const struct settings *settings;
    const struct bounds *bounds;
    uint32_t rows;
    uint32_t misses;
    double worst;
};

/* ---- One row ---------------------------------------------------------------------------------- */

struct spread {
    double median, p90, max;
};

struct row {
    struct spread warm, all;
    double switches, choices, recordings; /* per 1,000 batches */
    uint32_t best[VYRE_MODE_COUNT]; /* in how many seeds the mode was the best after the warm-up */
};

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static struct spread spread_of(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (struct spread){values[(count - 1) / 2], values[(count - 1) * 9 / 10],
                           values[count - 1]};
}

/* The best required mode of one seed; plain if no shape comes back. The least times may be of two modes. */
struct best {
    double warm_ns, all_ns;
    enum vyre_mode mode;
};

static struct best best_of(const struct stream_device *device, const struct stream_program *program,
                           uint64_t seed)
{
    struct best best = {.warm_ns = 0};
    for (int mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++) {
        struct stream_result result;
        if (mode == VYRE_MODE_PERSISTENT && device->no_persistent)
            continue;
        if (mode != VYRE_MODE_PLAIN && program->order == STREAM_FRESH)
            continue;
        stream_run(device, program, (enum vyre_mode)mode, seed, &result);
        if (best.mode == 0 || result.warm_ns < best.warm_ns) {
            best.warm_ns = result.warm_ns;
            best.mode = (enum vyre_mode)mode;
        }
        if (best.all_ns <= 0 || result.all_ns < best.all_ns)
            best.all_ns = result.all_ns;
    }
    return best;
}

static struct row row_of(const struct stream_device *device, const struct stream_program *program,
                         const struct best *bests, uint32_t seeds)
{
    double warm[SEEDS_MAX], all[SEEDS_MAX];
    struct row row = {0};
    double late = (double)(program->batches - program->warm_up) / 1000 * seeds;
    for (uint32_t i = 0; i < seeds; i++) {
        struct stream_result result;
        stream_run(device, program, VYRE_MODE_AUTO, i + 1, &result);
        warm[i] = result.warm_ns / bests[i].warm_ns;
        all[i] = result.all_ns / bests[i].all_ns;
        row.switches += result.switches / late;
        row.choices += result.choices / late;
        row.recordings += (double)result.recordings * 1000 / program->batches / seeds;
        row.best[bests[i].mode]++;
    }
    row.warm = spread_of(warm, seeds);
    row.all = spread_of(all, seeds);
    return row;
}

static bool over(double value, double bound)
{
    return bound > 0 && !(value <= bound);
}

static const char *miss_of(const struct row *row, const struct bounds *bounds)
{
    if (over(row->warm.median, bounds->warm_median))
        return "warm median";
    if (over(row->warm.p90, bounds->warm_p90))
        return "warm p90";
    if (over(row->all.median, bounds->all_median))
        return "all median";
    if (over(row->all.p90, bounds->all_p90))
        return "all p90";
    if (over(row->choices, bounds->choices))
        return "choices";
    return over(row->recordings, bounds->recordings) ? "recordings" : "";
}

static void print_row(const struct stream_device *device, const struct stream_program *program,
                      const struct row *row, const char *miss)
{
    enum vyre_mode best = VYRE_MODE_PLAIN;
    for (int i = VYRE_MODE_PLAIN; i < VYRE_MODE_COUNT; i++)
        best = row->best[i] > row->best[best] ? (enum vyre_mode)i : best;
    printf("    %-23s %2u  %-9s %-4s %-10s  %6.3f %6.3f %6.3f  %6.3f %6.3f %6.3f  %6.1f %6.1f %6.1f"
           "  %s\n",
           device->name, program->depth, stream_completion_name(program->completion),
           program->hinted ? "hint" : "-", vyre_mode_name(best), row->warm.median, row->warm.p90,
           row->warm.max, row->all.median, row->all.p90, row->all.max, row->switches, row->choices,
           row->recordings, miss);
    fflush(stdout);
}

/* If the program waits for each batch, it finds the end at once, however it is reported. */
static bool is_double(const struct stream_program *program)
{
    bool waits = program->depth == 1 || program->frame_batches == 1;
    return waits && program->completion != STREAM_AT_ONCE;
}

/* Adds the row without a hint and the one with it. */
static void add_rows(struct table *table, const struct stream_device *device,
                     struct stream_program program)
{
    struct best bests[SEEDS_MAX];
    uint32_t seeds = table->settings->seeds;
    if (is_double(&program))
        return;
    for (uint32_t i = 0; i < seeds; i++)
        bests[i] = best_of(device, &program, i + 1);
    for (int hinted = 0; hinted < (program.order == STREAM_FRESH ? 1 : 2); hinted++) {
        program.hinted = hinted;
        struct row row = row_of(device, &program, bests, seeds);
        const char *miss = miss_of(&row, table->bounds);
        print_row(device, &program, &row, miss);
        table->rows++;
        table->misses += miss[0] != '\0';
        table->worst = row.warm.median > table->worst ? row.warm.median : table->worst;
    }
}

/* ---- Tables ----------------------------------------------------------------------------------- */

static struct table begin(const char *title, const struct bounds *bounds, void **state)
{
    const struct settings *settings = *state;
    printf("%s\n    %-23s %2s  %-9s %-4s %-10s  %-20s  %-20s  %6s %6s %6s\n", title, "device", "D",
           "ends", "", "best", "  warm    p90    max", "   all    p90    max", "switch", "choice",
           "record");
    return (struct table){.settings = settings, .bounds = bounds};
}

static void end(const struct table *table)
{
    const struct bounds *bounds = table->bounds;
    printf("    %u of %u rows miss a bound, the worst is %.3f\n", table->misses, table->rows,
           table->worst);
    fflush(stdout);
    if (table->settings->reports)
        return;
    if (table->misses > bounds->misses)
        fail_msg("%u of %u rows miss a bound, %u may", table->misses, table->rows, bounds->misses);
    if (over(table->worst, bounds->worst))
        fail_msg("the worst row is at %.3f, not within %.3f", table->worst, bounds->worst);
}

static const uint32_t depths[] = {1, 8, 64};

static void one_shape_is_near_the_best(void **state)
{
    struct table table = begin("one shape, 2,000 batches", &steady, state);
    for (size_t d = 0; d < COUNT_OF(all_devices); d++) {
        for (size_t i = 0; i < COUNT_OF(depths); i++) {
            for (int c = 0; c < STREAM_COMPLETION_COUNT; c++) {
                const struct stream_program program = {.batches = 2000,
                                                       .warm_up = 200,
                                                       .depth = depths[i],
                                                       .completion = (enum stream_completion)c};
                add_rows(&table, all_devices[d], program);
            }
        }
    }
    end(&table);
}

/* Where it matters when the end is known: at once, and when the program waits. */
static void add_both(struct table *table, const struct stream_device *device,
                     struct stream_program program)
{
    program.completion = STREAM_AT_ONCE;
    add_rows(table, device, program);
    program.completion = STREAM_FOUND;
    add_rows(table, device, program);
}

static void pace_that_swings_is_not_followed(void **state)
{
    struct table table = begin("one shape, the pace swings", &swinging, state);
    for (size_t d = 0; d < COUNT_OF(all_devices); d++) {
        for (size_t i = 0; i < COUNT_OF(depths); i += 2)
            add_both(&table, all_devices[d],
                     (struct stream_program){
                         .batches = 2000, .warm_up = 200, .depth = depths[i], .swings = true});
    }
    end(&table);
}

static void shapes_in_turn_are_near_the_best(void **state)
{
    struct table table = begin("16 shapes in turn, 3,200 batches", &in_turn, state);
    for (size_t d = 0; d < COUNT_OF(some_devices); d++) {
        for (size_t i = 0; i < COUNT_OF(depths); i++)
            add_both(&table, some_devices[d],
                     (struct stream_program){
                         .batches = 3200, .warm_up = 400, .shapes = 16, .depth = depths[i]});
    }
    end(&table);
}

static void shuffled_shapes_are_near_the_best(void **state)
{
    struct table table = begin("64 shapes shuffled, 6,000 batches", &shuffled, state);
    for (size_t d = 0; d < COUNT_OF(some_devices); d++)
        add_both(&table, some_devices[d],
                 (struct stream_program){.batches = 6000,
                                         .warm_up = 1000,
                                         .shapes = 64,
                                         .order = STREAM_SHUFFLED,
                                         .depth = 8});
    end(&table);
}

/* What is resident leaves between two frames. */
static void add_frames(struct table *table, uint32_t in_a_frame)
{
    for (size_t d = 0; d < COUNT_OF(some_devices); d++)
        add_both(table, some_devices[d],
                 (struct stream_program){.batches = 2000,
                                         .warm_up = 200,
                                         .depth = 8,
                                         .frame_ns = 16666667,
                                         .frame_batches = in_a_frame});
}

static void frames_of_one_batch_are_near_the_best(void **state)
{
    struct table table = begin("60 frames a second, one batch in each", &frames, state);
    add_frames(&table, 1);
    end(&table);
}

static void frames_of_many_batches_are_near_the_best(void **state)
{
    struct table table = begin("60 frames a second, 32 batches in each", &full_frames, state);
    add_frames(&table, 32);
    end(&table);
}

static void cold_kernels_do_not_decide(void **state)
{
    struct table table = begin("the first two batches compile", &cold, state);
    for (size_t d = 0; d < COUNT_OF(some_devices); d++) {
        for (size_t i = 0; i < COUNT_OF(depths); i++)
            add_both(&table, some_devices[d],
                     (struct stream_program){
                         .batches = 2000, .warm_up = 200, .depth = depths[i], .cold = true});
    }
    end(&table);
}

static void shapes_that_never_come_back_stay_plain(void **state)
{
    struct table table = begin("every batch is a new shape", &never_back, state);
    for (size_t d = 0; d < COUNT_OF(some_devices); d++) {
        for (size_t i = 0; i < COUNT_OF(depths); i++)
            add_both(
                &table, some_devices[d],
                (struct stream_program){
                    .batches = 2000, .warm_up = 200, .order = STREAM_FRESH, .depth = depths[i]});
    }
    end(&table);
}

int main(int argc, char **argv)
{
    struct settings settings = {.seeds = VYRE_TEST_STREAM_SEEDS};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--report") == 0)
            settings.reports = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            cmocka_set_test_filter(argv[++i]);
        else
            settings.seeds = (uint32_t)strtoul(argv[i], NULL, 10);
    }
    if (settings.seeds == 0 || settings.seeds > SEEDS_MAX) {
        fprintf(stderr, "usage: streams_test [--report] [--only PATTERN] [SEEDS, at most %d]\n",
                SEEDS_MAX);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(one_shape_is_near_the_best, &settings),
        cmocka_unit_test_prestate(pace_that_swings_is_not_followed, &settings),
        cmocka_unit_test_prestate(shapes_in_turn_are_near_the_best, &settings),
        cmocka_unit_test_prestate(shuffled_shapes_are_near_the_best, &settings),
        cmocka_unit_test_prestate(frames_of_one_batch_are_near_the_best, &settings),
        cmocka_unit_test_prestate(frames_of_many_batches_are_near_the_best, &settings),
        cmocka_unit_test_prestate(cold_kernels_do_not_decide, &settings),
        cmocka_unit_test_prestate(shapes_that_never_come_back_stay_plain, &settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
