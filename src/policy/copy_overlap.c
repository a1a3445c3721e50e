/*
 * copy_overlap.c: may a host-to-device copy run beside a kernel?
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"
#include "policy/verdict_text.h"

struct vyre_copy_verdict vyre_copy_overlap_decide(uint32_t copy_dst_slot,
                                                  const struct vyre_arm *kernel)
{
    return vyre_rule_copy(copy_dst_slot, kernel);
}

size_t vyre_copy_overlap_format(const struct vyre_copy_verdict *verdict, char *out, size_t capacity)
{
    return vyre_verdict_format(VYRE_POLICY_COPY_OVERLAP, verdict->choice, NULL, out, capacity);
}

size_t vyre_copy_overlap_explain(uint32_t copy_dst_slot, const struct vyre_arm *kernel, char *out,
                                 size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    bool reads = vyre_slot_set_has(&kernel->reads, copy_dst_slot);
    bool writes = vyre_slot_set_has(&kernel->writes, copy_dst_slot);
    if (!reads && !writes)
        vyre_text_appendf(&text,
                          "The copy fills slot %u, which the kernel neither reads nor writes.",
                          copy_dst_slot);
    else
        vyre_text_appendf(&text, "The copy fills slot %u, which the kernel %s.", copy_dst_slot,
                          reads && writes ? "reads and writes" : (reads ? "reads" : "writes"));
    return text.length;
}
