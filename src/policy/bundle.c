/*
 * bundle.c: all six policies in one call, and the events that their aggressive verdicts leave.
 */
#include <vyre/policy.h>

#include "policy/rules.h"

void vyre_bundle_decide(const struct vyre_bundle_input *input, struct vyre_bundle *out_bundle)
{
    out_bundle->persistent_kernel = vyre_rule_persistent_kernel(&input->persistent_kernel);
    out_bundle->arms = input->first_arm ? vyre_rule_arms(input->first_arm, input->second_arm)
                                        : (struct vyre_arm_verdict){.choice = VYRE_ARMS_NONE};
    out_bundle->copy = input->copy_arm ? vyre_rule_copy(input->copy_dst_slot, input->copy_arm)
                                       : (struct vyre_copy_verdict){.choice = VYRE_COPY_ABSENT};
    out_bundle->command_reuse = vyre_rule_command_reuse(&input->command_reuse);
    out_bundle->bindless = vyre_rule_bindless(&input->bindless);
    out_bundle->trace_jit = vyre_rule_trace_jit(&input->trace_jit);
}

size_t vyre_bundle_events(const struct vyre_bundle *bundle,
                          struct vyre_policy_event out_events[VYRE_BUNDLE_EVENTS_MAX])
{
    size_t count = 0;
    if (bundle->persistent_kernel.choice == VYRE_PERSISTENT_KERNEL)
        out_events[count++] = (struct vyre_policy_event){
            VYRE_POLICY_PERSISTENT_KERNEL, VYRE_ACTION_QUEUE_BATCH, VYRE_DETAIL_LAUNCH_OVERHEAD,
            bundle->persistent_kernel.savings_ns};
    if (bundle->command_reuse.choice == VYRE_RECORD_AND_REPLAY)
        out_events[count++] = (struct vyre_policy_event){
            VYRE_POLICY_COMMAND_REUSE, VYRE_ACTION_RECORD_AND_REPLAY, VYRE_DETAIL_REPEAT_SHAPE,
            vyre_u128_from_u64(bundle->command_reuse.savings_ns)};
    if (bundle->bindless.choice == VYRE_BINDLESS)
        out_events[count++] =
            (struct vyre_policy_event){VYRE_POLICY_BINDLESS, VYRE_ACTION_DESCRIPTOR_ARRAY,
                                       VYRE_DETAIL_RESOURCE_COUNT_THRESHOLD, vyre_u128_from_u64(0)};
    if (bundle->trace_jit.choice == VYRE_SPECULATE)
        out_events[count++] = (struct vyre_policy_event){
            VYRE_POLICY_TRACE_JIT, VYRE_ACTION_SPECULATE, VYRE_DETAIL_PREDICTED_SHAPE,
            vyre_u128_from_u64(bundle->trace_jit.savings_ns)};
    return count;
}

const char *vyre_policy_name(enum vyre_policy policy)
{
    static const char *const names[VYRE_POLICY_COUNT] = {
        [VYRE_POLICY_NONE] = "none",
        [VYRE_POLICY_PERSISTENT_KERNEL] = "persistent_kernel",
        [VYRE_POLICY_ARM_INDEPENDENCE] = "arm_independence",
        [VYRE_POLICY_COPY_OVERLAP] = "copy_overlap",
        [VYRE_POLICY_COMMAND_REUSE] = "command_reuse",
        [VYRE_POLICY_BINDLESS] = "bindless",
        [VYRE_POLICY_TRACE_JIT] = "trace_jit",
    };
    return (unsigned)policy < VYRE_POLICY_COUNT ? names[policy] : "none";
}

const char *vyre_policy_action_name(enum vyre_policy_action action)
{
    switch (action) {
    case VYRE_ACTION_NONE:
        break;
    case VYRE_ACTION_QUEUE_BATCH:
        return "queue_batch";
    case VYRE_ACTION_RECORD_AND_REPLAY:
        return "record_and_replay";
    case VYRE_ACTION_DESCRIPTOR_ARRAY:
        return "descriptor_array";
    case VYRE_ACTION_SPECULATE:
        return "speculate";
    }
    return "none";
}

const char *vyre_policy_detail_name(enum vyre_policy_detail detail)
{
    switch (detail) {
    case VYRE_DETAIL_NONE:
        break;
    case VYRE_DETAIL_LAUNCH_OVERHEAD:
        return "launch_overhead";
    case VYRE_DETAIL_REPEAT_SHAPE:
        return "repeat_shape";
    case VYRE_DETAIL_RESOURCE_COUNT_THRESHOLD:
        return "resource_count_threshold";
    case VYRE_DETAIL_PREDICTED_SHAPE:
        return "predicted_shape";
    }
    return "none";
}
