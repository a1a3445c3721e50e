/*
 * clock.h: monotonic time.
 */
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some fixed moment; never goes back. A call costs about 28 ns. */
uint64_t vyre_clock_now_ns(void);

/* A time as a whole number of nanoseconds; negative values become 0. */
static inline uint64_t vyre_whole_ns(double ns)
{
    return ns <= 0.0 ? 0 : ns >= 1e18 ? UINT64_C(1000000000000000000) : (uint64_t)(ns + 0.5);
}

#endif
