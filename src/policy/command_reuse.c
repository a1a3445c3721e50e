/*
 * command_reuse.c: does recording once and replaying pay?
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"
#include "policy/verdict_text.h"

struct vyre_command_reuse_verdict vyre_command_reuse_decide(
    const struct vyre_command_reuse_input *input)
{
    return vyre_rule_command_reuse(input);
}

size_t vyre_command_reuse_format(const struct vyre_command_reuse_verdict *verdict, char *out,
                                 size_t capacity)
{
    struct vyre_u128 savings_ns = vyre_u128_from_u64(verdict->savings_ns);
    return vyre_verdict_format(VYRE_POLICY_COMMAND_REUSE, verdict->choice, &savings_ns, out,
                               capacity);
}

size_t vyre_command_reuse_explain(const struct vyre_command_reuse_input *input, char *out,
                                  size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    if (input->repeat_count <= 1) {
        vyre_text_appendf(&text, "%u repeat%s nothing to replay.", input->repeat_count,
                          input->repeat_count == 1 ? " leaves" : "s leave");
        return text.length;
    }
    if (input->replay_overhead_ns >= input->per_launch_overhead_ns) {
        vyre_text_append(&text, "A replay costs ");
        vyre_text_append_u64(&text, input->replay_overhead_ns);
        vyre_text_append(&text, " ns, not less than a launch at ");
        vyre_text_append_u64(&text, input->per_launch_overhead_ns);
        vyre_text_append(&text, " ns.");
        return text.length;
    }
    struct vyre_command_reuse_verdict verdict = vyre_rule_command_reuse(input);
    bool pays = verdict.choice == VYRE_RECORD_AND_REPLAY;
    uint64_t gross = vyre_rule_replay_gross(input);
    vyre_text_appendf(&text, "%u x (", input->repeat_count);
    vyre_text_append_u64(&text, input->per_launch_overhead_ns);
    vyre_text_append(&text, " - ");
    vyre_text_append_u64(&text, input->replay_overhead_ns);
    vyre_text_append(&text, ") ns = ");
    vyre_text_append_u64(&text, gross);
    vyre_text_appendf(&text, " ns%s, %s ", gross == UINT64_MAX ? " (saturated)" : "",
                      pays ? "more than" : "not more than");
    vyre_text_append_u64(&text, input->record_overhead_ns);
    vyre_text_append(&text, " ns to record");
    vyre_verdict_end_sentence(&text, vyre_u128_from_u64(verdict.savings_ns));
    return text.length;
}
