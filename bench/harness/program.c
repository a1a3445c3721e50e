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

/* Below 0: it is none, and so outside every range. */
static double read_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && value >= 0 && value <= 1e9 ? value : -1;
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
            bench->rounds = read_number(value) > 0 ? (size_t)read_number(value) : 0;
        else if (strcmp(argv[i], "--seconds") == 0)
            bench->seconds = read_number(value);
        else if (target)
            *target = value;
        else
            return false;
        i++;
    }
    return bench->rounds >= 1 && bench->rounds <= BENCH_ROUNDS_MAX && bench->seconds >= 0;
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
        printf("build: %s%s\nmachine: %s\n", BENCH_BUILD_TYPE,
               strcmp(BENCH_BUILD_TYPE, "Release") == 0
                   ? ""
                   : ": NOT A RELEASE, do not trust these figures",
               text);
    return true;
}

void bench_report(struct bench *bench, const struct bench_table *table,
                  const struct bench_aim *aims, size_t aim_count)
{
    if (!bench->json) {
        bench_print_text(bench, table, aims, aim_count);
    } else if (json_array_append_new(bench->tables, bench_make_json(table, aims, aim_count)) != 0) {
        fprintf(stderr, "bench_%s: no memory for the document\n", bench->desc->name);
        bench->failed = true;
    }
}

void bench_append(struct bench *bench, FILE *document)
{
    json_error_t error;
    size_t i;
    json_t *table;
    json_t *root = json_loadf(document, 0, &error);
    if (!root)
        fprintf(stderr, "bench_%s: the second process wrote no document: %s\n", bench->desc->name,
                error.text);
    json_array_foreach(json_object_get(root, "tables"), i, table)
    {
        json_object_set(table, "machine", json_object_get(root, "machine"));
        json_object_set(table, "machine_after", json_object_get(root, "machine_after"));
    }
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
            json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:b}", "bench", bench->desc->name,
                      "version", 1, "build", BENCH_BUILD_TYPE, "compiler", __VERSION__, "machine",
                      bench_machine_json(&bench->machine), "machine_after",
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
