/*
 * facts.h: which candidates can run a batch, and at which cost.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_FACTS_H
#define VYRE_RUNTIME_FACTS_H

#include "runtime/body.h"
#include "runtime/internal.h"

/*
 * What can run and at which cost, candidate by candidate: also those that cannot run have their costs.
 * `updates` commands have constants that no recording holds.
 */
void vyre_facts_find_locked(struct vyre_device *device, struct vyre_body *body,
                            struct vyre_shape *shape, uint32_t updates,
                            struct vyre_candidate_facts out_facts[VYRE_CANDIDATES_MAX]);

/*
 * Commands whose recording would have to be made anew because their constants changed: none where
 * nothing is baked in, or where the shape was never recorded and pays for all of it anyway.
 */
uint32_t vyre_facts_updates_locked(const struct vyre_device *device, struct vyre_body *body,
                                   const struct vyre_shape *shape);

/* What a candidate's recordings hold: bits of enum vyre_recording_bakes. */
uint32_t vyre_facts_bakes(const struct vyre_device *device, uint32_t variant);

/*
 * A candidate could not be carried out: it is out until the shape was seen twice as often, or `forever`.
 */
void vyre_facts_failed_locked(struct vyre_shape *shape, uint32_t candidate, bool forever,
                              bool is_unproven);

#endif
