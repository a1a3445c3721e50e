/*
 * verdict.h: what the six policies ask for, as a candidate.
 *
 * D1 and D4 give the mode: of those that ask, the one that saves more over the batches expected. D2 and
 * D3 give the variant: commands side by side, or one after another. D9 has no variant to choose: a table
 * is what the kernel declares. Nothing is compiled ahead without a predictor, so that I2 holds steady.
 *
 * What a policy is told to pay holds all that is not paid yet: recording, setup, builds, proofs.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_VERDICT_H
#define VYRE_RUNTIME_VERDICT_H

#include "runtime/body.h"
#include "runtime/internal.h"

/*
 * Asks for the shape, if it was not asked before or something that the policies are told has changed, and
 * leaves the answer in shape->verdict. `repeats` are the batches expected, this one included: see
 * vyre_governor_repeats; `hinted`: by the caller's hint.
 */
void vyre_verdict_ask_locked(struct vyre_device *device, struct vyre_body *body,
                             const struct vyre_candidate_facts *facts, uint32_t repeats,
                             bool hinted, struct vyre_shape *shape);

#endif
