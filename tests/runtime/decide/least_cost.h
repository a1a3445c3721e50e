/*
 * least_cost.h: what the policies would ask for, for tests that have candidates without modes: the least
 * overhead over the batches expected, with what is not paid yet; candidate 0 is plain.
 */
#ifndef VYRE_TESTS_RUNTIME_LEAST_COST_H
#define VYRE_TESTS_RUNTIME_LEAST_COST_H

#include "runtime/governor.h"

static inline uint8_t verdict_of(const struct vyre_candidate_facts *facts, uint32_t count,
                                 const struct vyre_governor_batch *batch, uint32_t seen)
{
    double repeats = batch->repeat_hint ? batch->repeat_hint : seen;
    double least = 0;
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
        double each =
            (double)facts[i].per_batch_ns + (double)facts[i].per_command_ns * batch->command_count;
        double total = (facts[i].ready ? 0 : (double)facts[i].fixed_ns) + repeats * each;
        bool may = i == 0 || batch->repeat_hint || seen > 1;
        if (facts[i].feasible && may && (best == count || total < least)) {
            best = i;
            least = total;
        }
    }
    for (uint32_t i = 0; best == count && i < count; i++)
        best = facts[i].feasible ? i : count;
    return (uint8_t)(best < count ? best : 0);
}

#endif
