/*
 * scan_jobs.c: searches a piece of a log for 16 signatures of at most 16 bytes. A signature ends at its
 * first newline.
 */
#include <stdbool.h>
#include <stddef.h>

#include "host_kernels/kernels.h"

#define SIGNATURES      16
#define SIGNATURE_BYTES 16

static bool matches(const uint8_t *text, uint32_t left, const uint8_t *signature)
{
    for (uint32_t i = 0; i < SIGNATURE_BYTES && signature[i] != '\n'; i++) {
        if (i >= left || text[i] != signature[i])
            return false;
    }
    return true;
}

void scan_jobs_match(const struct vyre_host_group *group)
{
    uint32_t length = *(const uint32_t *)group->constants;
    const uint8_t *text = host_input(group, 0);
    const uint8_t *signatures = host_input(group, 1);
    uint32_t *masks = host_output(group, 2);
    uint32_t first = host_first(group);
    for (uint32_t at = first; at < first + group->local_size[0] && at < length; at++) {
        uint32_t mask = 0;
        for (uint32_t s = 0; s < SIGNATURES; s++) {
            if (matches(text + at, length - at, signatures + (size_t)s * SIGNATURE_BYTES))
                mask |= 1u << s;
        }
        masks[at] = mask;
    }
}

/* Rows of the results: hits over all runs, hits of this run, first hit + 1; then the runs. */
void scan_jobs_tally(const struct vyre_host_group *group)
{
    uint32_t length = *(const uint32_t *)group->constants;
    const uint32_t *masks = host_input(group, 0);
    uint32_t *results = host_output(group, 1);
    uint32_t hits[SIGNATURES] = {0};
    uint32_t firsts[SIGNATURES] = {0};
    for (uint32_t i = 0; i < length; i++) {
        for (uint32_t s = 0; masks[i] >> s; s++) {
            if (!(masks[i] >> s & 1u))
                continue;
            if (hits[s]++ == 0)
                firsts[s] = i + 1;
        }
    }
    for (uint32_t s = 0; s < SIGNATURES; s++) {
        results[s] += hits[s];
        results[SIGNATURES + s] = hits[s];
        results[2 * SIGNATURES + s] = firsts[s];
    }
    results[(size_t)3 * SIGNATURES] += 1;
}
