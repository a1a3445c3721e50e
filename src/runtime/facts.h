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
 * Which candidates can run, and what each costs. Candidates that cannot run have costs too.
 * `updates`: how many commands have constants that no recording holds.
 */
void vyre_facts_find_locked(struct vyre_device *device, struct vyre_body *body,
                            struct vyre_shape *shape, uint32_t updates,
                            struct vyre_candidate_facts out_facts[VYRE_CANDIDATES_MAX]);

/*
 * Commands that would have to be recorded again because their constants changed. None if recordings
 * do not hold constants, or if the shape was never recorded and pays for a whole recording anyway.
 */
uint32_t vyre_facts_updates_locked(const struct vyre_device *device, struct vyre_body *body,
                                   const struct vyre_shape *shape);

/* What a candidate's recordings hold: bits of enum vyre_recording_bakes. */
uint32_t vyre_facts_bakes(const struct vyre_device *device, uint32_t variant);

/* A candidate failed: it is out until the shape was seen twice as often, or `forever`. */
void vyre_facts_failed_locked(struct vyre_shape *shape, uint32_t candidate, bool forever,
                              bool is_unproven);

#endif
