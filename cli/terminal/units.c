/*
 * units.c: numbers as people read them.
 */
#include "terminal/units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct unit_step {
    const char *name;
    double size;
};

static const struct unit_step time_steps[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
static const struct unit_step byte_steps[] = {
    {"B", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};

/* The step and the decimals go by the rounded value: 9.995 prints as 10.0, not as 9.99 or 10.00. */
static struct cli_unit scale(uint64_t value, const struct unit_step *steps, size_t count)
{
    size_t step = 0;
    while (step + 1 < count && (double)value >= steps[step + 1].size * 0.9995)
        step++;
    struct cli_unit unit;
    if (step == 0) {
        snprintf(unit.text, sizeof unit.text, "%" PRIu64 " %s", value, steps[0].name);
        return unit;
    }
    double scaled = (double)value / steps[step].size;
    int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    snprintf(unit.text, sizeof unit.text, "%.*f %s", decimals, scaled, steps[step].name);
    return unit;
}

struct cli_unit cli_unit_ns(uint64_t ns)
{
    return scale(ns, time_steps, sizeof time_steps / sizeof time_steps[0]);
}

struct cli_unit cli_unit_signed_ns(int64_t ns)
{
    if (ns >= 0)
        return cli_unit_ns((uint64_t)ns);
    struct cli_unit positive = cli_unit_ns(0 - (uint64_t)ns);
    struct cli_unit unit;
    snprintf(unit.text, sizeof unit.text, "-%.30s", positive.text);
    return unit;
}

struct cli_unit cli_unit_bytes(uint64_t bytes)
{
    return scale(bytes, byte_steps, sizeof byte_steps / sizeof byte_steps[0]);
}

struct cli_unit cli_unit_count(uint64_t count)
{
    char digits[CLI_UNIT_BYTES];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    struct cli_unit unit;
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            unit.text[used++] = ',';
        unit.text[used++] = digits[i];
    }
    unit.text[used] = '\0';
    return unit;
}

struct cli_unit cli_unit_ratio(double ratio)
{
    struct cli_unit unit;
    snprintf(unit.text, sizeof unit.text, "%.2fx", ratio);
    return unit;
}
