/*
 * shrink.h: from a program that fails to a small one that fails as well.
 */
#ifndef VYRE_TESTS_KERNELS_SHRINK_H
#define VYRE_TESTS_KERNELS_SHRINK_H

#include "kernels/campaign.h"

struct shrink_result {
    uint32_t runs;          /* in child processes */
    uint32_t rejected;      /* candidates that the oracle took for no programs */
    struct outcome outcome; /* of the smaller program */
};

/*
 * Makes `program`, which failed as `outcome` says, as small as it can within about `seconds`. What
 * is kept fails in the same mode, and agrees in plain mode unless that is what failed.
 */
void program_shrink(struct program *program, const struct campaign *campaign,
                    const struct outcome *outcome, uint32_t seconds,
                    struct shrink_result *out_result);

#endif
