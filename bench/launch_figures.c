/*
 * launch_figures.c: see launch_figures.h.
 */
#include "launch_figures.h"

#include <string.h>

#define FORCED_MODES 3

bool launch_get_figure(const struct launch_results *results, size_t contender, uint32_t cell,
                       struct launch_figure *out_figure)
{
    double values[LAUNCH_ROUNDS_MAX];
    if (!results->measured[contender][cell] || results->rounds == 0)
        return false;
    for (size_t i = 0; i < results->rounds; i++)
        values[i] = results->ns[contender][cell][i] / results->ns[0][cell][i];
    out_figure->ratio = sample_summarize(values, results->rounds).median;
    memcpy(values, results->ns[contender][cell], results->rounds * sizeof values[0]);
    out_figure->ns = sample_summarize(values, results->rounds);
    return true;
}

/* The cheapest of the forced modes in a cell. */
bool launch_get_best_forced(const struct launch_results *results, uint32_t cell,
                            struct launch_figure *out_figure, size_t *out_contender)
{
    bool found = false;
    for (size_t c = results->auto_row - FORCED_MODES; c < results->auto_row; c++) {
        struct launch_figure figure;
        if (launch_get_figure(results, c, cell, &figure) &&
            (!found || figure.ns.median < out_figure->ns.median)) {
            *out_figure = figure;
            *out_contender = c;
            found = true;
        }
    }
    return found;
}

const char *launch_mode_of(const struct launch_results *results, size_t contender)
{
    const char *name = results->contenders[contender].name;
    const char *space = strchr(name, ' ');
    return space ? space + 1 : name;
}

struct sample_summary launch_summarize(const double *ns, size_t count)
{
    double values[LAUNCH_ROUNDS_MAX];
    memcpy(values, ns, count * sizeof values[0]);
    return sample_summarize(values, count);
}

/* ---- Aims ------------------------------------------------------------------------------------- */

static void judge(const struct launch_aim *aim, struct launch_verdict *result, double value,
                  const char *who)
{
    result->known = true;
    result->value = value;
    result->reached = aim->at_least ? value >= aim->limit : value <= aim->limit;
    snprintf(result->who, sizeof result->who, "%s", who);
}

enum measure {
    MEASURE_NS,
    MEASURE_RATIO,
    MEASURE_SPEEDUP,
};

static double measure_of(enum measure measure, const struct launch_figure *figure)
{
    switch (measure) {
    case MEASURE_NS:
        return figure->ns.median;
    case MEASURE_RATIO:
        return figure->ratio;
    case MEASURE_SPEEDUP:
        return 1 / figure->ratio;
    }
    return 0;
}

static void make_cell_aim(const struct launch_results *results, uint32_t cell, double limit,
                          enum measure measure, struct launch_aim *out_aim)
{
    static const char *const what[] = {"", ", time against the direct loop",
                                       ", faster than the direct loop"};
    static const char *const units[] = {"ns", "x", "x"};
    const struct launch_cell *c = &results->cells[cell];
    *out_aim = (struct launch_aim){
        .unit = units[measure], .limit = limit, .at_least = measure == MEASURE_SPEEDUP};
    snprintf(out_aim->text, sizeof out_aim->text, "%u group%s, %s%s", c->groups,
             c->groups == 1 ? "" : "s", launch_pattern_name(c->pattern), what[measure]);
    struct launch_figure figure;
    size_t best = 0;
    if (launch_get_figure(results, results->auto_row, cell, &figure))
        judge(out_aim, &out_aim->verdicts[0], measure_of(measure, &figure), "auto");
    if (launch_get_best_forced(results, cell, &figure, &best))
        judge(out_aim, &out_aim->verdicts[1], measure_of(measure, &figure),
              launch_mode_of(results, best));
}

static void make_stream_aim(const struct launch_results *results, bool round_trip,
                            struct launch_aim *out_aim)
{
    *out_aim = (struct launch_aim){.unit = "ns", .limit = round_trip ? 1000 : 50};
    snprintf(out_aim->text, sizeof out_aim->text, "persistent, %s",
             round_trip ? "round trip of an item" : "item streamed");
    for (size_t i = 0; i < 2 && results->stream_rounds > 0; i++) {
        static const char *const who[2] = {"host helps", "workers only"};
        size_t s = results->streamer_count - 2 + i;
        if (results->streamers[s].absent[0])
            continue;
        const double *ns = round_trip ? results->round_trip_ns[s] : results->stream_ns[s];
        judge(out_aim, &out_aim->verdicts[i], launch_summarize(ns, results->stream_rounds).median,
              who[i]);
    }
}

static bool is_known(const struct launch_aim *aim)
{
    return aim->verdicts[0].known || aim->verdicts[1].known;
}

size_t launch_make_aims(const struct launch_results *results,
                        struct launch_aim out_aims[LAUNCH_AIMS_MAX])
{
    static const struct {
        uint32_t size;
        enum launch_pattern pattern;
        double limit;
        enum measure measure;
    } wanted[] = {
        {0, LAUNCH_P1, 60, MEASURE_NS},       {0, LAUNCH_P2, 50, MEASURE_NS},
        {0, LAUNCH_P3, 20, MEASURE_NS},       {2, LAUNCH_P1, 1, MEASURE_RATIO},
        {2, LAUNCH_P2, 1, MEASURE_RATIO},     {2, LAUNCH_P3, 1, MEASURE_RATIO},
        {3, LAUNCH_P1, 1.7, MEASURE_SPEEDUP}, {3, LAUNCH_P2, 1.7, MEASURE_SPEEDUP},
        {3, LAUNCH_P3, 1.7, MEASURE_SPEEDUP},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        uint32_t cell = wanted[i].size * LAUNCH_PATTERNS + (uint32_t)wanted[i].pattern;
        make_cell_aim(results, cell, wanted[i].limit, wanted[i].measure, &out_aims[count]);
        count += is_known(&out_aims[count]);
    }
    for (int round_trip = 0; round_trip < 2; round_trip++) {
        make_stream_aim(results, round_trip != 0, &out_aims[count]);
        count += is_known(&out_aims[count]);
    }
    return count;
}
