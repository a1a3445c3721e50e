/*
 * bindless.c: does one table of addresses beat bindings?
 */
#include <vyre/policy.h>

#include "base/text.h"
#include "policy/rules.h"
#include "policy/verdict_text.h"

struct vyre_bindless_verdict vyre_bindless_decide(const struct vyre_bindless_input *input)
{
    return vyre_rule_bindless(input);
}

size_t vyre_bindless_format(const struct vyre_bindless_verdict *verdict, char *out, size_t capacity)
{
    return vyre_verdict_format(VYRE_POLICY_BINDLESS, verdict->choice, NULL, out, capacity);
}

static const char *support_text(enum vyre_bindless_support support)
{
    switch (support) {
    case VYRE_BINDLESS_UNSUPPORTED:
        break;
    case VYRE_BINDLESS_STATIC:
        return "has static";
    case VYRE_BINDLESS_FULL:
        return "has full";
    }
    return "has no";
}

static const char *resources_text(uint32_t count)
{
    if (count >= VYRE_BINDLESS_THRESHOLD)
        return "s reach";
    return count == 1 ? " is below" : "s are below";
}

size_t vyre_bindless_explain(const struct vyre_bindless_input *input, char *out, size_t capacity)
{
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_appendf(&text,
                      "%u resource%s the threshold of %u, the device %s bindless support and "
                      "the indexing is %s.",
                      input->resource_count, resources_text(input->resource_count),
                      (unsigned)VYRE_BINDLESS_THRESHOLD, support_text(input->support),
                      input->dynamic_indexing ? "dynamic" : "not dynamic");
    return text.length;
}
