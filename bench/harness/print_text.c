/*
 * print_text.c: a table as aligned text.
 */
#include <stdio.h>
#include <string.h>

#include "print.h"

#define NAME_WIDTH        32
#define CELL_WIDTH        29
#define PLACE_WIDTH       36
#define MILLISECONDS_FROM 1e7 /* longer times do not fit in ns */

/* Half of the interval, in percent of the median: the larger side. */
static double spread_percent(struct bench_summary value)
{
    double above = value.high - value.median;
    double below = value.median - value.low;
    return value.median > 0 ? 100 * (above > below ? above : below) / value.median : 0;
}

static int spread_digits(struct bench_summary value)
{
    return spread_percent(value) < 10 ? 1 : 0;
}

static void format_ns(struct bench_summary ns, char *out, size_t capacity)
{
    if (ns.median < MILLISECONDS_FROM)
        snprintf(out, capacity, "%9.*f ±%.*f%%", ns.median < 1000 ? 1 : 0, ns.median,
                 spread_digits(ns), spread_percent(ns));
    else
        snprintf(out, capacity, "%6.1f ms ±%.*f%%", ns.median / 1e6, spread_digits(ns),
                 spread_percent(ns));
}

/* Three digits tell 1.01 from 1.02, and also 0.061 from 0.062. */
static void format_ratio(struct bench_summary ratio, char *out, size_t capacity)
{
    snprintf(out, capacity, "%.3gx ±%.*f%%", ratio.median, spread_digits(ratio),
             spread_percent(ratio));
}

/* printf counts bytes, and ± has two. */
static int pad(const char *text, int width)
{
    return width + (strstr(text, "±") ? 1 : 0);
}

static void print_cell(const struct bench_table *table, size_t contender, size_t cell)
{
    char ns[40] = "-";
    char ratio[40] = "";
    if (bench_is_measured(table, contender, cell)) {
        size_t base = bench_best(table, BENCH_BASE, cell);
        format_ns(bench_figure(table, contender, cell), ns, sizeof ns);
        if (base == contender)
            snprintf(ratio, sizeof ratio, "1x");
        else if (base != BENCH_NONE)
            format_ratio(bench_ratio(table, contender, cell, base, cell), ratio, sizeof ratio);
    }
    printf(" | %-*s%*s", pad(ns, CELL_WIDTH - 13), ns, pad(ratio, 13), ratio);
}

static bool has_group(const struct bench_table *table, size_t contender, size_t first, size_t end)
{
    for (size_t cell = first; cell < end; cell++) {
        if (bench_is_measured(table, contender, cell))
            return true;
    }
    return false;
}

static void print_column(const struct bench_cell *cell)
{
    char text[80];
    snprintf(text, sizeof text, "%s%s%s", cell->column, cell->detail[0] ? " " : "", cell->detail);
    printf(" | %-*s", CELL_WIDTH, text);
}

/* Cells of the same group, from `first` on; returns the first one behind them. */
static size_t print_group(const struct bench_table *table, size_t first)
{
    size_t end = first;
    bool any = false;
    while (end < table->cell_count &&
           strcmp(table->cells[end].group, table->cells[first].group) == 0)
        end++;
    for (size_t c = 0; c < table->contender_count; c++) {
        if (!has_group(table, c, first, end))
            continue;
        if (!any) {
            printf("\n%-*s", NAME_WIDTH, table->cells[first].group);
            for (size_t cell = first; cell < end; cell++)
                print_column(&table->cells[cell]);
            printf("\n");
            any = true;
        }
        printf("%-*s", NAME_WIDTH, table->contenders[c].name);
        for (size_t cell = first; cell < end; cell++)
            print_cell(table, c, cell);
        printf("\n");
    }
    return end;
}

/* The name of a cell in a line of its own. */
static void print_place(const struct bench_table *table, size_t cell)
{
    char text[104];
    const char *column = table->cells[cell].column;
    snprintf(text, sizeof text, "%s%s%s", table->cells[cell].group, column[0] ? ", " : "", column);
    printf("%-*s ", PLACE_WIDTH, text);
}

static void print_auto_cell(const struct bench_table *table, size_t contender, size_t cell)
{
    size_t best = bench_best(table, BENCH_OWN, cell);
    char ns[2][40];
    char ratio[40];
    char note[128] = "";
    if (best == BENCH_NONE || !bench_is_measured(table, contender, cell))
        return;
    format_ns(bench_figure(table, best, cell), ns[0], sizeof ns[0]);
    format_ns(bench_figure(table, contender, cell), ns[1], sizeof ns[1]);
    format_ratio(bench_ratio(table, contender, cell, best, cell), ratio, sizeof ratio);
    if (table->note)
        table->note(table->context, &table->contenders[contender], cell, note, sizeof note);
    print_place(table, cell);
    printf("%-22s %-17s %-17s %*s  %s\n", table->contenders[best].name, ns[0], ns[1],
           pad(ratio, 12), ratio, note);
}

static void print_auto(const struct bench_table *table)
{
    for (size_t c = 0; c < table->contender_count; c++) {
        if (table->contenders[c].role != BENCH_AUTO || !has_group(table, c, 0, table->cell_count))
            continue;
        printf("\n%s against the fastest mode, %s\n%-*s %-22s %-16s %-16s %12s  %s\n",
               table->contenders[c].name, table->unit, PLACE_WIDTH, "", "fastest", "its time",
               "auto", "ratio", table->note ? "batches by mode" : "");
        for (size_t cell = 0; cell < table->cell_count; cell++)
            print_auto_cell(table, c, cell);
    }
}

const char *bench_aim_sign(const struct bench_aim *aim)
{
    return aim->kind == BENCH_FASTER_AT_LEAST ? ">=" : "<=";
}

const char *bench_aim_unit(const struct bench_aim *aim)
{
    return aim->kind == BENCH_NS_AT_MOST ? "ns" : "x";
}

static const char *verdict_text(const struct bench_verdict *verdict)
{
    if (verdict->reached)
        return verdict->is_told_apart ? "reached" : "reached, the limit is within the interval";
    return verdict->is_told_apart ? "MISSED" : "MISSED, the limit is within the interval";
}

static void print_aim(const struct bench_table *table, const struct bench_aim *aim,
                      const struct bench_verdict *verdict)
{
    static const char *const words[] = {"time against", "faster than", "", "time against",
                                        "time against"};
    const char *base = "";
    if (aim->kind == BENCH_GROWTH_AT_MOST)
        base = table->cells[aim->base_cell].group;
    else if (verdict->base != BENCH_NONE)
        base = table->contenders[verdict->base].name;
    print_place(table, aim->cell);
    printf("%-22s %-12s %-28s %s %5.4g %-2s: %8.4g [%.4g %.4g]  %s\n",
           table->contenders[verdict->contender].name, words[aim->kind], base, bench_aim_sign(aim),
           aim->limit, bench_aim_unit(aim), verdict->value.median, verdict->value.low,
           verdict->value.high, verdict_text(verdict));
}

static void print_aims(const struct bench *bench, const struct bench_table *table,
                       const struct bench_aim *aims, size_t count)
{
    size_t known = 0;
    size_t reached = 0;
    for (size_t i = 0; i < count; i++) {
        struct bench_verdict verdict = bench_judge(table, &aims[i]);
        if (!verdict.known)
            continue;
        if (known == 0)
            printf("\naims: median [%s]\n",
                   table->rounds < BENCH_ROUNDS_FOR_95 ? "range" : "95 % interval");
        print_aim(table, &aims[i], &verdict);
        known++;
        reached += verdict.reached;
    }
    if (count > 0)
        printf("%zu of %zu aims reached, %zu not measured%s\n", reached, count, count - known,
               bench->machine.is_quiet && bench->machine.has_two_cores
                   ? ""
                   : "; the machine was not fit to tell");
}

void bench_print_text(const struct bench *bench, const struct bench_table *table,
                      const struct bench_aim *aims, size_t aim_count)
{
    bool has_base = false;
    for (size_t c = 0; c < table->contender_count; c++)
        has_base = has_base || table->contenders[c].role == BENCH_BASE;
    printf("\n== %s\n%s: median ± 95 %% interval%s\n%zu interleaved rounds of %zu wanted%s\n",
           table->title, table->unit, has_base ? ", and ratio to the row at 1x" : "", table->rounds,
           table->rounds_wanted,
           table->rounds < BENCH_ROUNDS_FOR_95
               ? ": too few for 95 %, the interval is the range of all"
               : "");
    for (size_t c = 0; c < table->contender_count; c++) {
        const struct bench_contender *contender = &table->contenders[c];
        if (contender->absent[0])
            printf("absent: %s: %s\n", contender->name, contender->absent);
        if (contender->failed)
            printf("FAILED: %s; its figures are left out\n", contender->name);
    }
    for (size_t cell = 0; cell < table->cell_count;)
        cell = print_group(table, cell);
    print_auto(table);
    print_aims(bench, table, aims, aim_count);
    fflush(stdout);
}
