/*
 * deadline.h: when to stop trying.
 */
#ifndef VYRE_TESTS_SUPPORT_DEADLINE_H
#define VYRE_TESTS_SUPPORT_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct deadline {
    time_t end;
};

static inline struct deadline deadline_in(uint32_t seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (struct deadline){now.tv_sec + (time_t)seconds};
}

static inline bool deadline_is_past(struct deadline deadline)
{
    return deadline_in(0).end >= deadline.end;
}

#endif
