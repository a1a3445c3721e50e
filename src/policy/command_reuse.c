/*
 * command_reuse.c: D4, does recording once and replaying pay?
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"

struct vyre_command_reuse_verdict vyre_command_reuse_decide(
    const struct vyre_command_reuse_input *input)
{
    return vyre_rule_command_reuse(input);
}

size_t vyre_command_reuse_format(const struct vyre_command_reuse_verdict *verdict, char *out,
                                 size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    switch (verdict->choice) {
    case VYRE_COMMAND_REUSE_NONE:
        vyre_text_append(&text, "none");
        break;
    case VYRE_PLAIN_LAUNCHES:
        vyre_text_append(&text, "plain-launches");
        break;
    case VYRE_RECORD_AND_REPLAY:
        vyre_text_append(&text, "record-and-replay:");
        vyre_text_append_u64(&text, verdict->savings_ns);
        break;
    }
    return text.length;
}

size_t vyre_command_reuse_explain(const struct vyre_command_reuse_input *input, char *out,
                                  size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    if (input->repeat_count <= 1) {
        vyre_text_appendf(&text, "Repeating %u times leaves nothing to replay.",
                          input->repeat_count);
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
    if (pays) {
        vyre_text_append(&text, ": it saves ");
        vyre_text_append_u64(&text, verdict.savings_ns);
        vyre_text_append(&text, " ns");
    }
    vyre_text_append(&text, ".");
    return text.length;
}
