/*
 * samples.h: a bounded number of measurements of one thing, for medians.
 *
 * Past the limit a new one replaces a random old one, or is dropped, so that every one seen has the same
 * chance to be kept.
 */
#ifndef VYRE_CLI_RUN_SAMPLES_H
#define VYRE_CLI_RUN_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLES_MAX 512

/* A zeroed struct is empty. */
struct samples {
    uint64_t *values; /* Owned */
    size_t count;
    size_t capacity;
    uint64_t seen;
    uint64_t random;
};

struct quartiles {
    uint64_t low;
    uint64_t median;
    uint64_t high;
};

/* If memory runs out, the measurement is dropped. */
void samples_add(struct samples *samples, uint64_t value);
void samples_deinit(struct samples *samples);

/* All 0 when there are none. */
struct quartiles samples_quartiles(const struct samples *samples);

#endif
