/*
 * run.h: one program, run by Vyre and by the model side by side, and the search for a smaller one
 * that fails as well.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_RUN_H
#define VYRE_TESTS_DIFFERENTIAL_RUN_H

#include "differential/driver.h"

/* What a run did, added up. */
struct tally {
    uint64_t programs;
    uint64_t batches;
    uint64_t stale; /* submits that had to fail, and did */
    uint64_t commands[COMMAND_KIND_COUNT];
    uint64_t dispatches[KERNEL_COUNT];
    uint64_t groups;
    uint64_t checks;
    uint64_t by_mode[VYRE_MODE_COUNT];
    uint64_t recordings_made;
    uint64_t recordings_reused;
    uint64_t recordings_evicted;
};

struct outcome {
    bool failed;
    uint32_t step; /* that found it; the step count: closing did */
    char text[DRIVER_FAILURE_BYTES];
};

/* `tally` may be NULL. */
void program_run(const struct program *program, const struct config *config, struct tally *tally,
                 struct outcome *out_outcome);

struct shrink_result {
    uint32_t runs;
    uint32_t failures_of_ten; /* how often the whole program failed in ten runs */
    struct outcome outcome;   /* of the smaller program */
};

/* Makes `program`, which fails, as small as it can within about `seconds`. */
void program_shrink(struct program *program, const struct config *config, uint32_t seconds,
                    struct shrink_result *out_result);

#endif
