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
    uint64_t least_ns = UINT64_MAX;
    for (uint32_t j = 0; j < count; j++) {
        if (trap_is_open(&candidates[j]) && candidates[j].measured_ns < least_ns)
            least_ns = candidates[j].measured_ns;
    }
    return trap_is_open(&candidates[i]) &&
           (double)candidates[i].measured_ns > (double)least_ns * TRAP_CLEARLY;
}

#endif
