/*
 * persistent_kernel.c: does one resident kernel beat many launches?
 *
 * The items take the same time on the device either way, so only batch x launch and the set-up are
 * compared.
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"
#include "policy/verdict_text.h"

struct vyre_persistent_kernel_verdict vyre_persistent_kernel_decide(
    const struct vyre_persistent_kernel_input *input)
{
    return vyre_rule_persistent_kernel(input);
}

size_t vyre_persistent_kernel_format(const struct vyre_persistent_kernel_verdict *verdict,
                                     char *out, size_t capacity)
{
    return vyre_verdict_format(VYRE_POLICY_PERSISTENT_KERNEL, verdict->choice, &verdict->savings_ns,
                               out, capacity);
}

size_t vyre_persistent_kernel_explain(const struct vyre_persistent_kernel_input *input, char *out,
                                      size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    if (input->batch_size <= 1) {
        vyre_text_appendf(&text, "A batch of %u has no launch to save.", input->batch_size);
        return text.length;
    }
    if (input->per_launch_overhead_ns == 0) {
        vyre_text_append(&text, "The launch overhead is 0 ns, so there is nothing to save.");
        return text.length;
    }
    struct vyre_persistent_kernel_verdict verdict = vyre_rule_persistent_kernel(input);
    bool pays = verdict.choice == VYRE_PERSISTENT_KERNEL;
    vyre_text_appendf(&text, "%u launches x ", input->batch_size);
    vyre_text_append_u64(&text, input->per_launch_overhead_ns);
    vyre_text_append(&text, " ns = ");
    vyre_text_append_u128(&text,
                          vyre_u128_mul_u64(input->batch_size, input->per_launch_overhead_ns));
    vyre_text_appendf(&text, " ns of launching, %s ", pays ? "more than" : "not more than");
    vyre_text_append_u64(&text, input->persistent_setup_overhead_ns);
    vyre_text_append(&text, " ns to set up a persistent kernel");
    vyre_verdict_end_sentence(&text, verdict.savings_ns);
    return text.length;
}
