/*
 * trace_jit.c: does compiling the predicted shape ahead of need pay?
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"
#include "policy/verdict_text.h"

struct vyre_trace_jit_verdict vyre_trace_jit_decide(const struct vyre_trace_jit_input *input)
{
    return vyre_rule_trace_jit(input);
}

size_t vyre_trace_jit_format(const struct vyre_trace_jit_verdict *verdict, char *out,
                             size_t capacity)
{
    struct vyre_u128 savings_ns = vyre_u128_from_u64(verdict->savings_ns);
    return vyre_verdict_format(VYRE_POLICY_TRACE_JIT, verdict->choice, &savings_ns, out, capacity);
}

size_t vyre_trace_jit_explain(const struct vyre_trace_jit_input *input, char *out, size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    if (input->shader_hit_count < VYRE_TRACE_JIT_MIN_HITS) {
        vyre_text_appendf(&text, "%u hits are fewer than the %u that a prediction needs.",
                          input->shader_hit_count, (unsigned)VYRE_TRACE_JIT_MIN_HITS);
        return text.length;
    }
    if (input->prediction_confidence_bps < VYRE_TRACE_JIT_MIN_CONFIDENCE_BPS) {
        vyre_text_appendf(&text, "A confidence of %u is below %u (out of 10,000).",
                          input->prediction_confidence_bps,
                          (unsigned)VYRE_TRACE_JIT_MIN_CONFIDENCE_BPS);
        return text.length;
    }
    if (input->miss_cost_ns == 0) {
        vyre_text_append(&text, "A miss costs 0 ns, so there is nothing to save.");
        return text.length;
    }
    struct vyre_trace_jit_verdict verdict = vyre_rule_trace_jit(input);
    bool pays = verdict.choice == VYRE_SPECULATE;
    vyre_text_append(&text, "A miss of ");
    vyre_text_append_u64(&text, input->miss_cost_ns);
    vyre_text_appendf(&text, " ns x %u / 10000 = ", input->prediction_confidence_bps);
    vyre_text_append_u64(&text, vyre_rule_weighted_miss(input));
    vyre_text_appendf(&text, " ns expected, %s ", pays ? "more than" : "not more than");
    vyre_text_append_u64(&text, input->speculative_spec_cost_ns);
    vyre_text_append(&text, " ns to compile ahead");
    vyre_verdict_end_sentence(&text, vyre_u128_from_u64(verdict.savings_ns));
    return text.length;
}
