/*
 * verdict_text.h: the names of verdicts, in one place, for their text forms and for the audit's
 * counts.
 */
#ifndef VYRE_POLICY_VERDICT_TEXT_H
#define VYRE_POLICY_VERDICT_TEXT_H

#include <stddef.h>

#include <vyre/policy.h>

#include "base/text.h"

/* "persistent-kernel" and so on; "none" if not decided or not a choice. Static. */
const char *vyre_choice_name(enum vyre_policy policy, unsigned choice);

/*
 * The choice's name and, if it is the aggressive choice and `savings_ns` is given, ":N". As
 * snprintf writes.
 */
size_t vyre_verdict_format(enum vyre_policy policy, unsigned choice,
                           const struct vyre_u128 *savings_ns, char *out, size_t capacity);

/* Ends an explanation: ": it saves N ns." or, if that is 0, ".". */
void vyre_verdict_end_sentence(struct vyre_text *text, struct vyre_u128 savings_ns);

#endif
