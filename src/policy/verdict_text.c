/*
 * verdict_text.c: the names of verdicts.
 */
#include "policy/verdict_text.h"

/* In every verdict 0 means not decided, 1 conservative, 2 aggressive. */
enum { NOT_DECIDED, CONSERVATIVE, AGGRESSIVE, CHOICE_COUNT };

static const char *const names[VYRE_POLICY_COUNT][CHOICE_COUNT] = {
    [VYRE_POLICY_PERSISTENT_KERNEL] = {"none", "standard-launches", "persistent-kernel"},
    [VYRE_POLICY_ARM_INDEPENDENCE] = {"none", "serialize", "independent"},
    [VYRE_POLICY_COPY_OVERLAP] = {"none", "serialize", "overlap"},
    [VYRE_POLICY_COMMAND_REUSE] = {"none", "plain-launches", "record-and-replay"},
    [VYRE_POLICY_BINDLESS] = {"none", "traditional-bindings", "bindless"},
    [VYRE_POLICY_TRACE_JIT] = {"none", "hold-steady", "speculate"},
};

const char *vyre_choice_name(enum vyre_policy policy, unsigned choice)
{
    if (policy == VYRE_POLICY_NONE || (unsigned)policy >= VYRE_POLICY_COUNT ||
        choice >= CHOICE_COUNT)
        return "none";
    return names[policy][choice];
}

size_t vyre_verdict_format(enum vyre_policy policy, unsigned choice,
                           const struct vyre_u128 *savings_ns, char *out, size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_append(&text, vyre_choice_name(policy, choice));
    if (savings_ns && choice == AGGRESSIVE) {
        vyre_text_append(&text, ":");
        vyre_text_append_u128(&text, *savings_ns);
    }
    return text.length;
}

void vyre_verdict_end_sentence(struct vyre_text *text, struct vyre_u128 savings_ns)
{
    if (!vyre_u128_is_zero(savings_ns)) {
        vyre_text_append(text, ": it saves ");
        vyre_text_append_u128(text, savings_ns);
        vyre_text_append(text, " ns");
    }
    vyre_text_append(text, ".");
}
