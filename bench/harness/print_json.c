/*
 * print_json.c: a table as JSON; docs/measurements/README.md describes the fields.
 */
#include <jansson.h>
#include <math.h>

#include "print.h"

/* Five significant digits: what is behind them is noise, and rows stay readable. */
static json_t *number(double value)
{
    double scale = value != 0 ? pow(10, 4 - floor(log10(fabs(value)))) : 1;
    return json_real(round(value * scale) / scale);
}

/* Texts come from drivers, too, and may be cut in the middle of a character. */
static json_t *string(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_string("(not UTF-8)");
}

static void put_summary(json_t *object, const char *unit, struct bench_summary value)
{
    char key[32];
    const struct {
        const char *name;
        double value;
    } parts[] = {{"median", value.median}, {"low", value.low}, {"high", value.high}};
    for (size_t i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "%s_%s", parts[i].name, unit);
        json_object_set_new(object, key, number(parts[i].value));
    }
}

static json_t *name_cell(const struct bench_table *table, size_t cell, size_t contender)
{
    return json_pack("{s:s, s:s, s:s}", "group", table->cells[cell].group, "column",
                     table->cells[cell].column, "contender", table->contenders[contender].name);
}

static json_t *make_figure(const struct bench_table *table, size_t contender, size_t cell)
{
    json_t *figure = name_cell(table, cell, contender);
    struct bench_summary ns = bench_figure(table, contender, cell);
    size_t base = bench_best(table, BENCH_BASE, cell);
    char note[128] = "";
    put_summary(figure, "ns", ns);
    json_object_set_new(figure, "min_ns", number(ns.min));
    if (base != BENCH_NONE) {
        json_object_set_new(figure, "base", json_string(table->contenders[base].name));
        put_summary(figure, "ratio", bench_ratio(table, contender, cell, base, cell));
    }
    for (size_t i = 0; i < table->cells[cell].number_count; i++)
        json_object_set_new(figure, table->cells[cell].numbers[i].name,
                            json_real(table->cells[cell].numbers[i].value));
    json_t *samples = json_array();
    for (size_t i = 0; i < table->rounds; i++)
        json_array_append_new(samples, number(bench_samples(table, contender, cell)[i]));
    json_object_set_new(figure, "samples_ns", samples);
    if (table->note && table->contenders[contender].role == BENCH_AUTO)
        table->note(table->context, &table->contenders[contender], cell, note, sizeof note);
    if (note[0])
        json_object_set_new(figure, "note", string(note));
    return figure;
}

static json_t *make_contenders(const struct bench_table *table)
{
    static const char *const roles[] = {"peer", "base", "own", "auto"};
    json_t *list = json_array();
    for (size_t c = 0; c < table->contender_count; c++) {
        const struct bench_contender *contender = &table->contenders[c];
        json_t *item = json_pack("{s:s, s:s, s:b}", "name", contender->name, "role",
                                 roles[contender->role], "failed", contender->failed);
        if (contender->absent[0])
            json_object_set_new(item, "absent", string(contender->absent));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *make_aims(const struct bench_table *table, const struct bench_aim *aims,
                         size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        struct bench_verdict verdict = bench_judge(table, &aims[i]);
        if (!verdict.known) {
            json_array_append_new(list, json_pack("{s:b}", "known", 0));
            continue;
        }
        json_t *item = name_cell(table, aims[i].cell, verdict.contender);
        json_object_set_new(item, "known", json_true());
        if (verdict.base != BENCH_NONE)
            json_object_set_new(item, "base", json_string(table->contenders[verdict.base].name));
        if (aims[i].kind == BENCH_GROWTH_AT_MOST)
            json_object_set_new(item, "base_group",
                                json_string(table->cells[aims[i].base_cell].group));
        json_object_set_new(item, "comparison", json_string(bench_aim_sign(&aims[i])));
        json_object_set_new(item, "limit", json_real(aims[i].limit));
        json_object_set_new(item, "unit", json_string(bench_aim_unit(&aims[i])));
        put_summary(item, "value", verdict.value);
        json_object_set_new(item, "reached", json_boolean(verdict.reached));
        json_object_set_new(item, "told_apart", json_boolean(verdict.is_told_apart));
        json_array_append_new(list, item);
    }
    return list;
}

json_t *bench_make_json(const struct bench_table *table, const struct bench_aim *aims,
                        size_t aim_count)
{
    json_t *figures = json_array();
    for (size_t cell = 0; cell < table->cell_count; cell++) {
        for (size_t c = 0; c < table->contender_count; c++) {
            if (bench_is_measured(table, c, cell))
                json_array_append_new(figures, make_figure(table, c, cell));
        }
    }
    return json_pack("{s:o, s:s, s:I, s:I, s:o, s:o, s:o}", "title", string(table->title), "unit",
                     table->unit, "rounds", (json_int_t)table->rounds, "rounds_wanted",
                     (json_int_t)table->rounds_wanted, "contenders", make_contenders(table),
                     "figures", figures, "aims", make_aims(table, aims, aim_count));
}

json_t *bench_machine_json(const struct bench_machine *machine)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:b, s:b}", "cores", (int)machine->cores, "others_cores",
                     number(machine->others), "stolen_cores", number(machine->stolen),
                     "two_loops_over_one", number(machine->pair), "quiet", machine->is_quiet,
                     "two_full_cores", machine->has_two_cores);
}
