/*
 * verdict.h: what the six policies ask for, as a candidate.
 *
 * persistent_kernel and command_reuse choose the mode: if both ask, the one that saves more over
 * the expected batches. arm_independence and copy_overlap choose the variant: commands side by
 * side, or one after another. bindless has no variant to choose, because the kernel declares its
 * tables. Without a predictor nothing is compiled ahead, so trace_jit always holds steady.
 *
 * The costs that a policy receives include everything still to be paid: recording, setup, builds,
 * proofs.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_VERDICT_H
#define VYRE_RUNTIME_VERDICT_H

#include "runtime/body.h"
#include "runtime/internal.h"

/*
 * Asks for the shape, if it was not asked before or an input of the policies has changed, and
 * leaves the answer in shape->verdict. `repeats` are the batches expected, this one included: see
 * vyre_governor_repeats; `hinted`: they come from the caller's hint.
 */
void vyre_verdict_ask_locked(struct vyre_device *device, struct vyre_body *body,
                             const struct vyre_candidate_facts *facts, uint32_t repeats,
                             bool hinted, struct vyre_shape *shape);

#endif
