/*
 * rules.h: the six rules, each written once.
 *
 * Each single policy and the bundle use these. The bundle runs on every batch, so the rules are
 * inline and have no branches on their inputs: costs and counts look random to a branch predictor,
 * and one misprediction costs as much as three of the rules.
 */
#ifndef VYRE_POLICY_RULES_H
#define VYRE_POLICY_RULES_H

#include <vyre/policy.h>

#include "base/checked.h"
#include "policy/slot_set_ops.h"

/* `value` if `keep`, else 0. */
static inline uint64_t vyre_rule_keep(bool keep, uint64_t value)
{
    return value & (0 - (uint64_t)keep);
}

/*
 * persistent_kernel: persistent if batch x launch > setup. The product has up to 96 bits and is
 * kept whole.
 */
static inline struct vyre_persistent_kernel_verdict vyre_rule_persistent_kernel(
    const struct vyre_persistent_kernel_input *input)
{
    struct vyre_u128 launches = vyre_u128_mul_u64(input->batch_size, input->per_launch_overhead_ns);
    uint64_t setup = input->persistent_setup_overhead_ns;
    /* Without launch overhead the product is 0 and exceeds nothing, so "no model" needs no test. */
    bool pays = (input->batch_size > 1) & ((launches.hi != 0) | (launches.lo > setup));
    struct vyre_persistent_kernel_verdict verdict;
    verdict.choice = pays ? VYRE_PERSISTENT_KERNEL : VYRE_STANDARD_LAUNCHES;
    verdict.savings_ns.lo = vyre_rule_keep(pays, launches.lo - setup);
    verdict.savings_ns.hi = vyre_rule_keep(pays, launches.hi - (launches.lo < setup));
    return verdict;
}

/* arm_independence: the first conflict found, in the order of enum vyre_conflict. */
static inline struct vyre_arm_verdict vyre_rule_arms(const struct vyre_arm *first,
                                                     const struct vyre_arm *second)
{
    bool write_write = vyre_slot_set_meets(&first->writes, &second->writes);
    bool read_after_write = vyre_slot_set_meets(&first->writes, &second->reads);
    bool write_after_read = vyre_slot_set_meets(&first->reads, &second->writes);
    enum vyre_conflict conflict = VYRE_CONFLICT_NONE;
    conflict = write_after_read ? VYRE_CONFLICT_WRITE_AFTER_READ : conflict;
    conflict = read_after_write ? VYRE_CONFLICT_READ_AFTER_WRITE : conflict;
    conflict = write_write ? VYRE_CONFLICT_WRITE_WRITE : conflict;
    return (struct vyre_arm_verdict){
        .choice = conflict ? VYRE_ARMS_SERIALIZE : VYRE_ARMS_INDEPENDENT, .conflict = conflict};
}

/* copy_overlap: serialize if the kernel touches the slot that the copy fills. */
static inline struct vyre_copy_verdict vyre_rule_copy(uint32_t copy_dst_slot,
                                                      const struct vyre_arm *kernel)
{
    bool reads = vyre_slot_set_has(&kernel->reads, copy_dst_slot);
    bool writes = vyre_slot_set_has(&kernel->writes, copy_dst_slot);
    return (struct vyre_copy_verdict){.choice = (reads | writes) ? VYRE_COPY_SERIALIZE
                                                                 : VYRE_COPY_OVERLAP};
}

/*
 * command_reuse: what replaying saves compared with launching, before the cost of recording; 0 if
 * it is not cheaper.
 */
static inline uint64_t vyre_rule_replay_gross(const struct vyre_command_reuse_input *input)
{
    bool cheaper = input->replay_overhead_ns < input->per_launch_overhead_ns;
    uint64_t each =
        vyre_rule_keep(cheaper, input->per_launch_overhead_ns - input->replay_overhead_ns);
    return vyre_saturating_mul_u64(input->repeat_count, each);
}

static inline struct vyre_command_reuse_verdict vyre_rule_command_reuse(
    const struct vyre_command_reuse_input *input)
{
    uint64_t gross = vyre_rule_replay_gross(input);
    bool pays = (input->repeat_count > 1) & (gross > input->record_overhead_ns);
    return (struct vyre_command_reuse_verdict){
        .choice = pays ? VYRE_RECORD_AND_REPLAY : VYRE_PLAIN_LAUNCHES,
        .savings_ns = vyre_rule_keep(pays, gross - input->record_overhead_ns)};
}

/* bindless: from the threshold on, if the device can. */
static inline struct vyre_bindless_verdict vyre_rule_bindless(
    const struct vyre_bindless_input *input)
{
    bool can = (input->support == VYRE_BINDLESS_FULL) |
               ((input->support == VYRE_BINDLESS_STATIC) & !input->dynamic_indexing);
    bool pays = input->resource_count >= VYRE_BINDLESS_THRESHOLD;
    return (struct vyre_bindless_verdict){.choice = (can & pays) ? VYRE_BINDLESS
                                                                 : VYRE_TRADITIONAL_BINDINGS};
}

/*
 * trace_jit: floor(miss x confidence / 10,000), clamped to 64 bits. Splitting miss = 10,000 q + r
 * makes it q x confidence + floor(r x confidence / 10,000): the same number without a 128-bit
 * division, which would cost more than the other five policies together.
 */
static inline uint64_t vyre_rule_weighted_miss(const struct vyre_trace_jit_input *input)
{
    uint64_t confidence = input->prediction_confidence_bps;
    uint64_t whole = input->miss_cost_ns / VYRE_CONFIDENCE_ONE_BPS;
    uint64_t rest = input->miss_cost_ns % VYRE_CONFIDENCE_ONE_BPS;
    uint64_t product = vyre_saturating_mul_u64(whole, confidence);
    uint64_t sum = product + rest * confidence / VYRE_CONFIDENCE_ONE_BPS;
    return sum < product ? UINT64_MAX : sum;
}

static inline struct vyre_trace_jit_verdict vyre_rule_trace_jit(
    const struct vyre_trace_jit_input *input)
{
    uint64_t weighted = vyre_rule_weighted_miss(input);
    /* A miss that costs nothing has weight 0 and exceeds no cost. */
    bool pays = (input->shader_hit_count >= VYRE_TRACE_JIT_MIN_HITS) &
                (input->prediction_confidence_bps >= VYRE_TRACE_JIT_MIN_CONFIDENCE_BPS) &
                (weighted > input->speculative_spec_cost_ns);
    return (struct vyre_trace_jit_verdict){
        .choice = pays ? VYRE_SPECULATE : VYRE_HOLD_STEADY,
        .savings_ns = vyre_rule_keep(pays, weighted - input->speculative_spec_cost_ns)};
}

#endif
