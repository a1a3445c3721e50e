/*
 * trap.h: the trap that auto must not fall into: to stay with a candidate that was measured as clearly slower
 * than another which could have run. Read off decisions, with measured times or on a simulated clock.
 */
#ifndef VYRE_TESTS_RUNTIME_TRAP_H
#define VYRE_TESTS_RUNTIME_TRAP_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/decision.h>

#define TRAP_CLEARLY 1.1 /* the governor's own margin is less */

/* By which factor its mean may be off, by the spread of its windows. */
static inline double trap_factor(const struct vyre_decision_candidate *candidate)
{
    double error = candidate->error_bps / 10000.0;
    return 1 + error + error * error / 2;
}

/* The batch ran this way in order to find something out. */
static inline bool trap_is_try(uint8_t why)
{
    return why == VYRE_WHY_TRIAL || why == VYRE_WHY_EXPLORE || why == VYRE_WHY_DRIFT_RECHECK;
}

/* What could have run without a cost that is due first, and whose time is known. */
static inline bool trap_is_open(const struct vyre_decision_candidate *candidate)
{
    return candidate->state == VYRE_CANDIDATE_MEASURED &&
           candidate->why != VYRE_WHY_FIXED_TOO_SLOW && candidate->why != VYRE_WHY_IN_TRIAL;
}

static inline bool trap_is_slow(const struct vyre_decision_candidate *candidates, uint32_t count,
                                uint32_t i)
{
    bool slow = false;
    for (uint32_t j = 0; trap_is_open(&candidates[i]) && j < count; j++)
        slow |= trap_is_open(&candidates[j]) &&
                (double)candidates[i].measured_ns > (double)candidates[j].measured_ns *
                                                        TRAP_CLEARLY * trap_factor(&candidates[i]) *
                                                        trap_factor(&candidates[j]);
    return slow;
}

#endif
