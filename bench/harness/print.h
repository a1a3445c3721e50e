/*
 * print.h: the two forms of a report, for program.c.
 */
#ifndef VYRE_BENCH_HARNESS_PRINT_H
#define VYRE_BENCH_HARNESS_PRINT_H

#include "bench.h"

void bench_print_text(const struct bench *bench, const struct bench_table *table,
                      const struct bench_aim *aims, size_t aim_count);

/* A new reference, or NULL without memory. */
struct json_t *bench_make_json(const struct bench_table *table, const struct bench_aim *aims,
                               size_t aim_count);
struct json_t *bench_machine_json(const struct bench_machine *machine);

/* "<=" or ">=", and "x" or "ns". */
const char *bench_aim_sign(const struct bench_aim *aim);
const char *bench_aim_unit(const struct bench_aim *aim);

#endif
