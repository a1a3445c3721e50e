/*
 * arm_independence.c: may two arms run side by side?
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"
#include "policy/verdict_text.h"

struct vyre_arm_verdict vyre_arm_independence_decide(const struct vyre_arm *first,
                                                     const struct vyre_arm *second)
{
    return vyre_rule_arms(first, second);
}

static const char *conflict_name(enum vyre_conflict conflict)
{
    switch (conflict) {
    case VYRE_CONFLICT_WRITE_WRITE:
        return "write-write";
    case VYRE_CONFLICT_READ_AFTER_WRITE:
        return "read-after-write";
    case VYRE_CONFLICT_WRITE_AFTER_READ:
        return "write-after-read";
    case VYRE_CONFLICT_NONE:
        break;
    }
    return "none";
}

size_t vyre_arm_independence_format(const struct vyre_arm_verdict *verdict, char *out,
                                    size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_append(&text, vyre_choice_name(VYRE_POLICY_ARM_INDEPENDENCE, verdict->choice));
    if (verdict->choice == VYRE_ARMS_SERIALIZE) {
        vyre_text_append(&text, ":");
        vyre_text_append(&text, conflict_name(verdict->conflict));
    }
    return text.length;
}

size_t vyre_arm_independence_explain(const struct vyre_arm *first, const struct vyre_arm *second,
                                     char *out, size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    struct vyre_arm_verdict verdict = vyre_rule_arms(first, second);
    uint32_t slot = 0;
    switch (verdict.conflict) {
    case VYRE_CONFLICT_NONE:
        vyre_text_append(&text, "Neither arm writes a slot that the other reads or writes.");
        break;
    case VYRE_CONFLICT_WRITE_WRITE:
        vyre_slot_set_intersects(&first->writes, &second->writes, &slot);
        vyre_text_appendf(&text, "Both arms write slot %u.", slot);
        break;
    case VYRE_CONFLICT_READ_AFTER_WRITE:
        vyre_slot_set_intersects(&first->writes, &second->reads, &slot);
        vyre_text_appendf(&text, "The first arm writes slot %u, which the second reads.", slot);
        break;
    case VYRE_CONFLICT_WRITE_AFTER_READ:
        vyre_slot_set_intersects(&first->reads, &second->writes, &slot);
        vyre_text_appendf(&text, "The first arm reads slot %u, which the second writes.", slot);
        break;
    }
    return text.length;
}
