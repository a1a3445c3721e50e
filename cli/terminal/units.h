/*
 * units.h: numbers as people read them.
 *
 * Three significant digits and a unit: 840 ns, 12.3 us, 1.05 ms, 2.40 s; 512 B, 1.50 MiB. Counts are
 * whole, with commas.
 */
#ifndef VYRE_CLI_TERMINAL_UNITS_H
#define VYRE_CLI_TERMINAL_UNITS_H

#include <stdint.h>

#include <vyre/vyre.h>

#define CLI_UNIT_BYTES 32

/* A text that is returned by value, so that a call can be an argument of printf. */
struct cli_unit {
    char text[CLI_UNIT_BYTES];
};

struct cli_unit cli_unit_ns(uint64_t ns);
struct cli_unit cli_unit_signed_ns(int64_t ns);
struct cli_unit cli_unit_bytes(uint64_t bytes);
struct cli_unit cli_unit_count(uint64_t count);
struct cli_unit cli_unit_ratio(double ratio); /* 1.07x */

/* Monotonic time. */
static inline uint64_t cli_now_ns(void)
{
    return vyre_clock_ns();
}

#endif
