/*
 * schedule.h: which batch of a workload comes next.
 *
 * A step runs its list of batches in order, `times` times. A shuffled step runs `times` batches in all:
 * it puts the list into a random order (Fisher-Yates, xoshiro256** seeded with the step's seed by
 * splitmix64), runs through it, and shuffles it again. So every batch of the list runs equally often,
 * except in the last round. The whole schedule runs `repeat` times, with the same orders each time.
 */
#ifndef VYRE_CLI_RUN_SCHEDULE_H
#define VYRE_CLI_RUN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/random.h"
#include "workload/workload.h"

struct schedule {
    const struct workload *workload; /* Borrowed */
    uint64_t repeat;
    uint64_t pass;
    size_t step;
    uint64_t done;   /* submissions of the step so far */
    uint32_t *order; /* Owned: the step's batches, shuffled */
    struct cli_random random;
};

VYRE_NODISCARD enum vyre_status schedule_init(struct schedule *schedule,
                                              const struct workload *workload, uint64_t repeat,
                                              struct vyre_diag *diag);
void schedule_deinit(struct schedule *schedule);

/* Returns false at the end. */
bool schedule_next(struct schedule *schedule, uint32_t *out_batch);

/* How often the whole schedule submits a batch, saturating: the repeat hint of `vyre run`. */
uint32_t schedule_repeats(const struct workload *workload, uint64_t repeat, uint32_t batch);

/* Submissions of one pass; UINT64_MAX when they are too many to count. */
uint64_t schedule_pass_length(const struct workload *workload);

#endif
