/*
 * program.c: options, the look at the machine, and the document that a program writes. See bench.h.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static const char **find_target(struct bench *bench, const char *option)
{
    if (strcmp(option, "--row") == 0)
        return &bench->row;
    for (size_t i = 0; i < bench->desc->option_count; i++) {
        if (strcmp(option, bench->desc->options[i].name) == 0)
            return bench->desc->options[i].target;
    }
    return NULL;
}

static bool parse(struct bench *bench, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        const char **target = find_target(bench, argv[i]);
        if (strcmp(argv[i], "--quick") == 0) {
            bench->rounds = bench->desc->rounds_quick;
            continue;
        }
        if (strcmp(argv[i], "--json") == 0) {
            bench->json = true;
            continue;
        }
        if (!value)
            return false;
        if (strcmp(argv[i], "--rounds") == 0)
            bench->rounds = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            bench->seconds = strtod(value, NULL);
        else if (target)
            *target = value;
        else
            return false;
        i++;
    }
    return bench->rounds >= 1 && bench->rounds <= BENCH_ROUNDS_MAX;
}

static void print_usage(const struct bench_desc *desc)
{
    fprintf(stderr,
            "usage: bench_%s [--quick] [--json] [--rounds 1..%d] [--seconds N] [--row TEXT]",
            desc->name, BENCH_ROUNDS_MAX);
    for (size_t i = 0; i < desc->option_count; i++) {
        if (desc->options[i].value)
            fprintf(stderr, " [%s %s]", desc->options[i].name, desc->options[i].value);
    }
    fputc('\n', stderr);
}

bool bench_begin(struct bench *bench, const struct bench_desc *desc, int argc, char **argv)
{
    *bench = (struct bench){.desc = desc, .rounds = desc->rounds, .seconds = desc->seconds};
    if (!parse(bench, argc, argv)) {
        print_usage(desc);
        return false;
    }
    char text[320];
    bench_machine_look(&bench->machine);
    bench_machine_format(&bench->machine, text, sizeof text);
    if (bench->json)
        bench->tables = json_array();
    else
        printf("machine: %s\n", text);
    return true;
}

void bench_report(struct bench *bench, const struct bench_table *table,
                  const struct bench_aim *aims, size_t aim_count)
{
    if (bench->tables)
        json_array_append_new(bench->tables, bench_make_json(table, aims, aim_count));
    else
        bench_print_text(table, aims, aim_count);
}

void bench_append(struct bench *bench, FILE *document)
{
    json_t *root = json_loadf(document, 0, NULL);
    bench->failed = bench->failed || !root || json_is_true(json_object_get(root, "failed")) ||
                    json_array_extend(bench->tables, json_object_get(root, "tables")) != 0;
    json_decref(root);
}

int bench_end(struct bench *bench)
{
    struct bench_machine after;
    char text[320];
    bench_machine_look(&after);
    bench_machine_format(&after, text, sizeof text);
    if (bench->json) {
        json_t *document =
            json_pack("{s:s, s:i, s:o, s:o, s:o, s:b}", "bench", bench->desc->name, "version", 1,
                      "machine", bench_machine_json(&bench->machine), "machine_after",
                      bench_machine_json(&after), "tables", bench->tables, "failed", bench->failed);
        bench->failed = bench->failed || !document ||
                        json_dumpf(document, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0;
        fputc('\n', stdout);
        json_decref(document);
    } else {
        printf("\nmachine at the end: %s\n", text);
    }
    if (fflush(stdout) != 0)
        bench->failed = true;
    return bench->failed ? 1 : 0;
}
