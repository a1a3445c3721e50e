/*
 * samples.c: a bounded number of measurements of one thing.
 */
#include "run/samples.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct samples *samples)
{
    if (samples->count < samples->capacity)
        return true;
    size_t capacity = samples->capacity ? samples->capacity * 2 : 16;
    uint64_t *values = realloc(samples->values, capacity * sizeof *values);
    if (!values)
        return false;
    samples->values = values;
    samples->capacity = capacity;
    return true;
}

void samples_add(struct samples *samples, uint64_t value)
{
    samples->seen++;
    if (samples->count < SAMPLES_MAX) {
        if (make_room(samples))
            samples->values[samples->count++] = value;
        return;
    }
    samples->random = samples->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t chosen = (samples->random >> 33) % samples->seen;
    if (chosen < samples->count)
        samples->values[chosen] = value;
}

void samples_deinit(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){0};
}

static int compare_values(const void *first, const void *second)
{
    uint64_t a = *(const uint64_t *)first;
    uint64_t b = *(const uint64_t *)second;
    return (a > b) - (a < b);
}

struct quartiles samples_quartiles(const struct samples *samples)
{
    uint64_t sorted[SAMPLES_MAX];
    if (samples->count == 0)
        return (struct quartiles){0};
    memcpy(sorted, samples->values, samples->count * sizeof *sorted);
    qsort(sorted, samples->count, sizeof *sorted, compare_values);
    size_t last = samples->count - 1;
    return (struct quartiles){
        .low = sorted[last / 4],
        .median = sorted[last / 2],
        .high = sorted[last - last / 4],
    };
}
