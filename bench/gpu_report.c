/*
 * gpu_report.c: figures, tables and aims of the benchmarks against hand-written code. See gpu.h.
 */
#include "gpu.h"

#include <string.h>

/* ---- Figures ---------------------------------------------------------------------------------- */

static bool is_measured(const struct gpu_results *results, size_t contender, uint32_t cell)
{
    return contender != GPU_NONE && results->rounds > 0 && results->measured[contender][cell] &&
           !results->contenders[contender].failed;
}

struct sample_summary gpu_figure(const struct gpu_results *results, size_t contender, uint32_t cell)
{
    double values[GPU_ROUNDS_MAX];
    memcpy(values, results->ns[contender][cell], results->rounds * sizeof values[0]);
    return sample_summarize(values, results->rounds);
}

struct sample_summary gpu_ratio(const struct gpu_results *results, size_t contender, size_t base,
                                uint32_t cell)
{
    double values[GPU_ROUNDS_MAX];
    for (size_t i = 0; i < results->rounds; i++)
        values[i] = results->ns[contender][cell][i] / results->ns[base][cell][i];
    return sample_summarize(values, results->rounds);
}

size_t gpu_best(const struct gpu_results *results, uint32_t cell, bool by_hand)
{
    size_t best = GPU_NONE;
    double least = 0;
    for (size_t c = 0; c < results->contender_count; c++) {
        const struct gpu_contender *contender = &results->contenders[c];
        if (contender->by_hand != by_hand || !is_measured(results, c, cell) ||
            (!by_hand && contender->mode == VYRE_MODE_AUTO))
            continue;
        double median = gpu_figure(results, c, cell).median;
        if (best == GPU_NONE || median < least) {
            best = c;
            least = median;
        }
    }
    return best;
}

size_t gpu_find(const struct gpu_results *results, const char *name, uint32_t cell)
{
    for (size_t c = 0; c < results->contender_count; c++) {
        if (strcmp(results->contenders[c].name, name) == 0)
            return is_measured(results, c, cell) ? c : GPU_NONE;
    }
    return GPU_NONE;
}

/* ---- Tables ----------------------------------------------------------------------------------- */

static void print_cell(const struct gpu_results *results, size_t contender, uint32_t cell,
                       FILE *out)
{
    if (!is_measured(results, contender, cell)) {
        fprintf(out, " | %34s", "-");
        return;
    }
    struct sample_summary ns = gpu_figure(results, contender, cell);
    int digits = ns.median < 1000 ? 1 : 0;
    char quartiles[24];
    char ratio[16] = "";
    snprintf(quartiles, sizeof quartiles, "[%.*f %.*f]", digits, ns.low, digits, ns.high);
    size_t best = gpu_best(results, cell, true);
    if (best != GPU_NONE)
        snprintf(ratio, sizeof ratio, "%.2fx", gpu_ratio(results, contender, best, cell).median);
    fprintf(out, " | %8.*f %-16s %8s", digits, ns.median, quartiles, ratio);
}

static bool has_size(const struct gpu_results *results, size_t contender, uint32_t size)
{
    for (uint32_t p = 0; p < GPU_PATTERNS; p++) {
        if (is_measured(results, contender, size * GPU_PATTERNS + p))
            return true;
    }
    return false;
}

static void print_size(const struct gpu_results *results, uint32_t size, FILE *out)
{
    const struct gpu_cell *cells = &results->cells[(size_t)size * GPU_PATTERNS];
    fprintf(out, "\n%-4u group%-23s", cells[0].groups, cells[0].groups == 1 ? "" : "s");
    for (uint32_t p = 0; p < GPU_PATTERNS; p++) {
        char title[48];
        snprintf(title, sizeof title, "%s (%u x %u)", gpu_pattern_name(cells[p].pattern),
                 cells[p].launches, cells[p].repeats);
        fprintf(out, " | %-34s", title);
    }
    fputc('\n', out);
    for (size_t c = 0; c < results->contender_count; c++) {
        if (!has_size(results, c, size))
            continue;
        fprintf(out, "%-33s", results->contenders[c].name);
        for (uint32_t p = 0; p < GPU_PATTERNS; p++)
            print_cell(results, c, size * GPU_PATTERNS + p, out);
        fputc('\n', out);
    }
}

/* "replay 100.0%", or more than one mode when auto changed its mind or explored. */
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

static void print_auto_cell(const struct gpu_results *results, size_t row, uint32_t cell, FILE *out)
{
    size_t best = gpu_best(results, cell, false);
    if (best == GPU_NONE || !is_measured(results, row, cell))
        return;
    char modes[96];
    format_modes(results->contenders[row].modes[cell], modes, sizeof modes);
    fprintf(out, "%6u  %-7s  %-28s %10.1f %10.1f %7.2fx  %s\n", results->cells[cell].groups,
            gpu_pattern_name(results->cells[cell].pattern), results->contenders[best].name,
            gpu_figure(results, best, cell).median, gpu_figure(results, row, cell).median,
            gpu_ratio(results, row, best, cell).median, modes);
}

static void print_auto(const struct gpu_results *results, FILE *out)
{
    for (size_t c = 0; c < results->contender_count; c++) {
        const struct gpu_contender *contender = &results->contenders[c];
        if (contender->by_hand || contender->mode != VYRE_MODE_AUTO || contender->absent[0])
            continue;
        fprintf(out,
                "\nauto against the best required mode, ns per launch\n%6s  %-7s  %-28s %10s "
                "%10s %8s  %s\n",
                "groups", "pattern", "best", "best", "auto", "ratio", "batches by mode in auto");
        for (uint32_t cell = 0; cell < GPU_CELLS; cell++)
            print_auto_cell(results, c, cell, out);
    }
}

void gpu_report(const struct gpu_results *results, FILE *out)
{
    fprintf(out,
            "\n== %s\nns per launch of 64 invocations a group: median [quartiles] and ratio to the "
            "best by hand\n%zu interleaved rounds of %zu wanted; load before the start %.1f%s\n",
            results->title, results->rounds, results->rounds_wanted, results->load,
            gpu_busy_warning(results->load));
    bool all_agree = true;
    for (size_t c = 0; c < results->contender_count; c++) {
        const struct gpu_contender *contender = &results->contenders[c];
        if (contender->absent[0])
            fprintf(out, "absent: %s: %s\n", contender->name, contender->absent);
        if (contender->failed)
            fprintf(out, "FAILED: %s; its figures are left out\n", contender->name);
        all_agree = all_agree && !contender->failed;
    }
    fprintf(out, "%s\n", all_agree ? "all bytes agree with a plain C loop" : "NOT ALL WAS RIGHT");
    for (uint32_t size = 0; size < GPU_SIZES; size++) {
        for (size_t c = 0; c < results->contender_count; c++) {
            if (has_size(results, c, size)) {
                print_size(results, size, out);
                break;
            }
        }
    }
    print_auto(results, out);
}

/* ---- Aims ------------------------------------------------------------------------------------- */

/* The quartiles tell a miss from a figure that is inside the noise of this run. */
static const char *judge(struct sample_summary value, double limit, bool at_least)
{
    if (at_least ? value.median >= limit : value.median <= limit)
        return "reached";
    bool in_spread = at_least ? value.high >= limit : value.low <= limit;
    return in_spread ? "MISSED, but inside the spread" : "MISSED";
}

static void print_verdict(const struct gpu_results *results, size_t contender, size_t base,
                          uint32_t cell, const struct gpu_aim *aim, FILE *out)
{
    const struct gpu_cell *c = &results->cells[cell];
    struct sample_summary value = aim->faster ? gpu_ratio(results, base, contender, cell)
                                              : gpu_ratio(results, contender, base, cell);
    fprintf(out, "%3u group%-1s %s  %-22s %s %-32s %s %5.2f: %8.2f [%.2f %.2f]  %s\n", c->groups,
            c->groups == 1 ? "" : "s", gpu_pattern_name(c->pattern),
            results->contenders[contender].name, aim->faster ? "faster than" : "time against",
            results->contenders[base].name, aim->faster ? ">=" : "<=", aim->limit, value.median,
            value.low, value.high, judge(value, aim->limit, aim->faster));
}

void gpu_print_aim(const struct gpu_results *results, const struct gpu_aim *aim, uint32_t cell,
                   FILE *out)
{
    size_t contender = gpu_find(results, aim->contender, cell);
    size_t base = aim->base ? gpu_find(results, aim->base, cell) : gpu_best(results, cell, true);
    if (contender != GPU_NONE && base != GPU_NONE) {
        print_verdict(results, contender, base, cell, aim, out);
        return;
    }
    const struct gpu_cell *c = &results->cells[cell];
    fprintf(out, "%3u group%-1s %s  %-22s not measured\n", c->groups, c->groups == 1 ? "" : "s",
            gpu_pattern_name(c->pattern), aim->contender);
}

void gpu_print_best_aims(const struct gpu_results *results, FILE *out)
{
    static const struct gpu_aim aim = {.limit = 1};
    size_t reached = 0;
    size_t judged = 0;
    for (uint32_t cell = 0; cell < GPU_CELLS; cell++) {
        size_t own = gpu_best(results, cell, false);
        size_t base = gpu_best(results, cell, true);
        if (own == GPU_NONE || base == GPU_NONE)
            continue;
        print_verdict(results, own, base, cell, &aim, out);
        reached += gpu_ratio(results, own, base, cell).median <= aim.limit;
        judged++;
    }
    fprintf(out,
            "the best of Vyre's modes is no slower than the best by hand in %zu of %zu cells\n",
            reached, judged);
}

bool gpu_has_vyre(const struct gpu_results *results)
{
    for (uint32_t cell = 0; cell < GPU_CELLS; cell++) {
        if (gpu_best(results, cell, false) != GPU_NONE)
            return true;
    }
    return false;
}
