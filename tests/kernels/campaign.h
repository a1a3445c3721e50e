/*
 * campaign.h: many programs, and what came of them.
 */
#ifndef VYRE_TESTS_KERNELS_CAMPAIGN_H
#define VYRE_TESTS_KERNELS_CAMPAIGN_H

#include "kernels/worker.h"

enum { JOBS_MAX = 16, REASONS_MAX = 64 };

struct campaign {
    struct target target;
    uint64_t programs;
    uint64_t seed;
    uint32_t jobs;
    uint32_t hang_seconds;
    uint32_t shrink_seconds; /* for each failure */
    uint32_t failures_shown; /* further ones are only counted */
    bool keep_going;         /* after a failure */
    bool complete;           /* a device without persistent mode fails it */
    bool strict;             /* a driver's fault fails the campaign, too */
    bool verbose;
};

/* The exit code. */
int campaign_run(const struct campaign *campaign);

/* One program by its seed: shrunk and reported if it fails. */
int campaign_run_one(const struct campaign *campaign, uint64_t seed);

#endif
