/*
 * table.c: contenders in cells, measured in turns, and the figures that come of it. See bench.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define PAUSE_NS 3000000 /* above the 2 ms after which a resident kernel leaves */
#define SPIN_NS  500000

void bench_table_init(struct bench_table *table, const char *title, const char *unit)
{
    *table = (struct bench_table){.title = title, .unit = unit};
}

void bench_table_deinit(struct bench_table *table)
{
    free(table->ns);
    table->ns = NULL;
}

struct bench_contender *bench_add_contender(struct bench_table *table, const char *name,
                                            enum bench_role role)
{
    if (table->contender_count == BENCH_CONTENDERS_MAX)
        abort(); /* a mistake in a benchmark, which has a fixed list of them */
    struct bench_contender *contender = &table->contenders[table->contender_count++];
    *contender = (struct bench_contender){.name = name, .role = role};
    return contender;
}

size_t bench_add_cell(struct bench_table *table, const char *group, const char *column)
{
    if (table->cell_count == BENCH_CELLS_MAX)
        abort();
    struct bench_cell *cell = &table->cells[table->cell_count];
    *cell = (struct bench_cell){.is_left_out = false};
    snprintf(cell->group, sizeof cell->group, "%s", group);
    snprintf(cell->column, sizeof cell->column, "%s", column);
    return table->cell_count++;
}

/* ---- Rounds ----------------------------------------------------------------------------------- */

void bench_settle(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    nanosleep(&pause, NULL);
    uint64_t start_ns = bench_now_ns();
    while (bench_now_ns() - start_ns < SPIN_NS)
        continue;
}

static size_t sample_index(const struct bench_table *table, size_t contender, size_t cell)
{
    return (contender * table->cell_count + cell) * table->rounds_wanted;
}

const double *bench_samples(const struct bench_table *table, size_t contender, size_t cell)
{
    return &table->ns[sample_index(table, contender, cell)];
}

/* By --row: what it names, the bases, and for auto the modes it chooses from. */
static bool is_selected(const struct bench *bench, const struct bench_table *table,
                        const struct bench_contender *contender)
{
    if (!bench->row || table->is_whole || contender->role == BENCH_BASE ||
        strstr(contender->name, bench->row))
        return true;
    for (size_t c = 0; contender->role == BENCH_OWN && c < table->contender_count; c++) {
        if (table->contenders[c].role == BENCH_AUTO &&
            strstr(table->contenders[c].name, bench->row))
            return true;
    }
    return false;
}

static bool is_wanted(const struct bench *bench, const struct bench_table *table, size_t contender,
                      size_t cell)
{
    const struct bench_contender *c = &table->contenders[contender];
    return !c->absent[0] && !c->failed && !c->skips[cell] && !table->cells[cell].is_left_out &&
           is_selected(bench, table, c);
}

/* Each contender once in one cell. Round 0 is not kept. */
static bool run_cell(const struct bench *bench, struct bench_table *table, size_t cell,
                     size_t round)
{
    bool ok = true;
    for (size_t i = 0; i < table->contender_count; i++) {
        size_t turn = round % 2 == 0 ? i : table->contender_count - 1 - i;
        size_t c = (turn + round) % table->contender_count;
        if (!is_wanted(bench, table, c, cell))
            continue;
        if (table->settles)
            bench_settle();
        double ns = table->measure(table->context, &table->contenders[c], cell);
        if (ns < 0) {
            fprintf(stderr, "bench_%s: %s failed in %s %s\n", bench->desc->name,
                    table->contenders[c].name, table->cells[cell].group, table->cells[cell].column);
            table->contenders[c].failed = true;
            ok = false;
        }
        if (round > 0)
            table->ns[sample_index(table, c, cell) + round - 1] = ns;
    }
    return ok;
}

static bool is_late(const struct bench *bench, const struct bench_table *table, uint64_t begin_ns)
{
    double limit = bench->seconds;
    if (table->seconds_most > 0 && (limit <= 0 || limit > table->seconds_most))
        limit = table->seconds_most;
    return limit > 0 && (double)(bench_now_ns() - begin_ns) / 1e9 > limit;
}

static bool has_figures(const struct bench_table *table)
{
    for (size_t i = 0; i < table->contender_count * table->cell_count; i++) {
        if (bench_is_measured(table, i / table->cell_count, i % table->cell_count))
            return true;
    }
    return false;
}

static bool all_are_absent(const struct bench_table *table)
{
    for (size_t c = 0; c < table->contender_count; c++) {
        if (!table->contenders[c].absent[0])
            return false;
    }
    return true;
}

bool bench_run(struct bench *bench, struct bench_table *table)
{
    bool ok = true;
    uint64_t begin_ns = bench_now_ns();
    table->rounds = 0;
    table->rounds_wanted = bench->rounds;
    table->ns = calloc(table->contender_count * table->cell_count * table->rounds_wanted + 1,
                       sizeof *table->ns);
    if (!table->ns) {
        fprintf(stderr, "bench_%s: out of memory\n", bench->desc->name);
        bench->failed = true;
        return false;
    }
    for (size_t round = table->starts_cold ? 1 : 0; round <= table->rounds_wanted; round++) {
        for (size_t cell = 0; cell < table->cell_count; cell++) {
            if (table->rounds > 0 && is_late(bench, table, begin_ns))
                goto done; /* what this round measured is dropped */
            ok = run_cell(bench, table, cell, round) && ok;
        }
        table->rounds = round;
    }
done:
    if (ok && !has_figures(table) && !all_are_absent(table)) {
        fprintf(stderr, "bench_%s: nothing was measured; do the options leave a row and a cell?\n",
                bench->desc->name);
        ok = false;
    }
    bench->failed = bench->failed || !ok;
    return ok;
}

/* ---- Figures ---------------------------------------------------------------------------------- */

bool bench_is_measured(const struct bench_table *table, size_t contender, size_t cell)
{
    return contender != BENCH_NONE && table->ns && table->rounds > 0 &&
           !table->contenders[contender].failed && *bench_samples(table, contender, cell) > 0;
}

struct bench_summary bench_figure(const struct bench_table *table, size_t contender, size_t cell)
{
    return bench_summarize(bench_samples(table, contender, cell), table->rounds);
}

struct bench_summary bench_ratio(const struct bench_table *table, size_t contender, size_t cell,
                                 size_t base, size_t base_cell)
{
    double ratios[BENCH_ROUNDS_MAX];
    const double *own = bench_samples(table, contender, cell);
    const double *other = bench_samples(table, base, base_cell);
    for (size_t i = 0; i < table->rounds; i++)
        ratios[i] = own[i] / other[i];
    return bench_summarize(ratios, table->rounds);
}

size_t bench_best(const struct bench_table *table, enum bench_role role, size_t cell)
{
    size_t best = BENCH_NONE;
    double least = 0;
    for (size_t c = 0; c < table->contender_count; c++) {
        if (table->contenders[c].role != role || !bench_is_measured(table, c, cell))
            continue;
        double median = bench_figure(table, c, cell).median;
        if (best == BENCH_NONE || median < least) {
            best = c;
            least = median;
        }
    }
    return best;
}

size_t bench_find(const struct bench_table *table, const char *name, size_t cell)
{
    for (size_t c = 0; c < table->contender_count; c++) {
        if (strcmp(table->contenders[c].name, name) == 0)
            return bench_is_measured(table, c, cell) ? c : BENCH_NONE;
    }
    return BENCH_NONE;
}

/* ---- Aims ------------------------------------------------------------------------------------- */

static size_t find_base(const struct bench_table *table, const struct bench_aim *aim,
                        size_t contender)
{
    if (aim->kind == BENCH_GROWTH_AT_MOST)
        return bench_is_measured(table, contender, aim->base_cell) ? contender : BENCH_NONE;
    if (aim->kind == BENCH_REGRET_AT_MOST)
        return bench_best(table, BENCH_OWN, aim->cell);
    if (aim->base)
        return bench_find(table, aim->base, aim->cell);
    return bench_best(table, BENCH_BASE, aim->cell);
}

struct bench_verdict bench_judge(const struct bench_table *table, const struct bench_aim *aim)
{
    struct bench_verdict verdict = {.contender = BENCH_NONE, .base = BENCH_NONE};
    if (aim->cell >= table->cell_count)
        return verdict;
    verdict.contender = aim->contender ? bench_find(table, aim->contender, aim->cell)
                                       : bench_best(table, BENCH_OWN, aim->cell);
    if (verdict.contender == BENCH_NONE)
        return verdict;
    if (aim->kind != BENCH_NS_AT_MOST) {
        verdict.base = find_base(table, aim, verdict.contender);
        if (verdict.base == BENCH_NONE)
            return verdict;
    }
    size_t base_cell = aim->kind == BENCH_GROWTH_AT_MOST ? aim->base_cell : aim->cell;
    if (aim->kind == BENCH_NS_AT_MOST)
        verdict.value = bench_figure(table, verdict.contender, aim->cell);
    else if (aim->kind == BENCH_FASTER_AT_LEAST)
        verdict.value = bench_ratio(table, verdict.base, base_cell, verdict.contender, aim->cell);
    else
        verdict.value = bench_ratio(table, verdict.contender, aim->cell, verdict.base, base_cell);
    verdict.known = true;
    verdict.reached = aim->kind == BENCH_FASTER_AT_LEAST ? verdict.value.median >= aim->limit
                                                         : verdict.value.median <= aim->limit;
    verdict.is_told_apart = verdict.value.count >= BENCH_ROUNDS_FOR_95 &&
                            (verdict.value.low > aim->limit || verdict.value.high < aim->limit);
    return verdict;
}
