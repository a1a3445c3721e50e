/*
 * launch_report.c: the launch benchmark's results as aligned tables.
 */
#include "launch_figures.h"

/* Above it others take part of the two cores that the contenders are measured on. */
#define LOAD_MAX 0.5

static bool has_size(const struct launch_results *results, size_t contender, uint32_t size)
{
    for (uint32_t pattern = 0; pattern < LAUNCH_PATTERNS; pattern++) {
        if (results->measured[contender][size * LAUNCH_PATTERNS + pattern])
            return true;
    }
    return false;
}

static void print_cell(const struct launch_results *results, size_t contender, uint32_t cell,
                       FILE *out)
{
    struct launch_figure figure;
    if (!launch_get_figure(results, contender, cell, &figure)) {
        fprintf(out, " | %33s", "-");
        return;
    }
    const struct sample_summary *ns = &figure.ns;
    int digits = ns->median < 1000 ? 1 : 0;
    char quartiles[24];
    snprintf(quartiles, sizeof quartiles, "[%.*f %.*f]", digits, ns->low, digits, ns->high);
    fprintf(out, " | %8.*f %-16s %6.2fx", digits, ns->median, quartiles, figure.ratio);
}

static void print_size(const struct launch_results *results, uint32_t size, FILE *out)
{
    uint32_t groups = results->cells[size * LAUNCH_PATTERNS].groups;
    fprintf(out, "\n%-4u group%s             ", groups, groups == 1 ? " " : "s");
    for (uint32_t pattern = 0; pattern < LAUNCH_PATTERNS; pattern++) {
        const struct launch_cell *cell = &results->cells[size * LAUNCH_PATTERNS + pattern];
        char title[48];
        snprintf(title, sizeof title, "%s (%u x %u)", launch_pattern_name(cell->pattern),
                 cell->launches, cell->repeats);
        fprintf(out, " | %-33s", title);
    }
    fputc('\n', out);
    for (size_t c = 0; c < results->contender_count; c++) {
        if (!has_size(results, c, size))
            continue;
        fprintf(out, "%-23s", results->contenders[c].name);
        for (uint32_t pattern = 0; pattern < LAUNCH_PATTERNS; pattern++)
            print_cell(results, c, size * LAUNCH_PATTERNS + pattern, out);
        fputc('\n', out);
    }
}

static void print_absent(const struct launch_results *results, FILE *out)
{
    for (size_t c = 0; c < results->contender_count; c++) {
        if (results->contenders[c].absent[0])
            fprintf(out, "absent: %s: %s\n", results->contenders[c].name,
                    results->contenders[c].absent);
    }
    for (size_t s = 0; s < results->streamer_count; s++) {
        if (results->streamers[s].absent[0])
            fprintf(out, "absent: streaming, %s: %s\n", results->streamers[s].name,
                    results->streamers[s].absent);
    }
}

/* "replay 100%", or more than one mode when auto changed its mind or explored. */
static void format_modes(const uint64_t modes[VYRE_MODE_COUNT], char *out, size_t capacity)
{
    uint64_t all = 0;
    size_t used = 0;
    for (int m = 0; m < VYRE_MODE_COUNT; m++)
        all += modes[m];
    out[0] = '\0';
    for (int m = 0; m < VYRE_MODE_COUNT && used < capacity; m++) {
        if (modes[m] == 0)
            continue;
        int length =
            snprintf(out + used, capacity - used, "%s%s %.1f%%", used ? ", " : "",
                     vyre_mode_name((enum vyre_mode)m), 100.0 * (double)modes[m] / (double)all);
        if (length < 0)
            return;
        used += (size_t)length;
    }
}

static void print_auto(const struct launch_results *results, FILE *out)
{
    if (results->contenders[results->auto_row].absent[0])
        return;
    fprintf(out, "\nauto against the best forced mode, ns per launch\n");
    fprintf(out, "%6s  %-10s  %-10s %10s %10s %10s %8s  %s\n", "groups", "pattern", "best", "best",
            "auto", "added", "added", "batches by mode in auto");
    for (uint32_t cell = 0; cell < LAUNCH_CELLS; cell++) {
        struct launch_figure best;
        struct launch_figure own;
        size_t contender = 0;
        if (!launch_get_figure(results, results->auto_row, cell, &own) ||
            !launch_get_best_forced(results, cell, &best, &contender))
            continue;
        char modes[96];
        format_modes(launch_vyre_modes(&results->contenders[results->auto_row], cell), modes,
                     sizeof modes);
        double added = own.ns.median - best.ns.median;
        fprintf(out, "%6u  %-10s  %-10s %10.1f %10.1f %+10.1f %+7.1f%%  %s\n",
                results->cells[cell].groups, launch_pattern_name(results->cells[cell].pattern),
                launch_mode_of(results, contender), best.ns.median, own.ns.median, added,
                100 * added / best.ns.median, modes);
    }
}

static void print_streams(const struct launch_results *results, FILE *out)
{
    if (results->stream_rounds == 0)
        return;
    fprintf(out,
            "\nstreaming independent items of 1 group on %d buffers, ns per item, %zu rounds\n",
            LAUNCH_STREAM_BUFFERS, results->stream_rounds);
    fprintf(out, "%-30s  %-28s  %-28s\n", "", "streamed, one wait at the end",
            "round trip: submit + wait");
    for (size_t s = 0; s < results->streamer_count; s++) {
        if (results->streamers[s].absent[0])
            continue;
        struct sample_summary item =
            launch_summarize(results->stream_ns[s], results->stream_rounds);
        struct sample_summary trip =
            launch_summarize(results->round_trip_ns[s], results->stream_rounds);
        fprintf(out, "%-30s  %8.1f [%7.1f %7.1f]    %8.1f [%7.1f %7.1f]\n",
                results->streamers[s].name, item.median, item.low, item.high, trip.median, trip.low,
                trip.high);
    }
}

static void print_aims(const struct launch_results *results, FILE *out)
{
    struct launch_aim aims[LAUNCH_AIMS_MAX];
    size_t count = launch_make_aims(results, aims);
    if (count > 0)
        fprintf(out, "\naims\n");
    for (size_t i = 0; i < count; i++) {
        char limit[32];
        snprintf(limit, sizeof limit, "%s %g %s", aims[i].at_least ? ">=" : "<=", aims[i].limit,
                 aims[i].unit);
        fprintf(out, "%-45s %-10s", aims[i].text, limit);
        for (size_t r = 0; r < 2; r++) {
            const struct launch_verdict *result = &aims[i].verdicts[r];
            if (result->known)
                fprintf(out, "  %12s %8.2f %s", result->who, result->value,
                        result->reached ? "reached" : "MISSED ");
        }
        fputc('\n', out);
    }
}

void launch_report_text(const struct launch_results *results, FILE *out)
{
    fprintf(out,
            "ns per launch of 64 invocations a group: median [quartiles] and ratio to the direct "
            "loop\n%zu interleaved rounds of %zu wanted; all digests agree; load before the start "
            "%.1f%s\n",
            results->rounds, results->rounds_wanted, results->load,
            results->load > LOAD_MAX ? ": THE MACHINE IS BUSY, do not trust these figures" : "");
    print_absent(results, out);
    for (uint32_t size = 0; size < LAUNCH_SIZES; size++) {
        if (has_size(results, 0, size))
            print_size(results, size, out);
    }
    print_auto(results, out);
    print_streams(results, out);
    print_aims(results, out);
}
