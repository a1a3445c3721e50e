/*
 * clock.h: monotonic time.
 */
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some fixed moment; never goes back. Costs about 28 ns. */
uint64_t vyre_clock_now_ns(void);

#endif
