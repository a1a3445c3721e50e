/*
 * record.h: the decision record of a submission, which the ring keeps, the observer receives and
 * explain shows.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_RECORD_H
#define VYRE_RUNTIME_RECORD_H

#include "runtime/decide.h"

/*
 * Fills the record of a choice; times come later. For a required mode, the shape and the candidates
 * that auto would have had are filled in only if it is `observed`: finding them costs more than a
 * submit.
 */
void vyre_record_fill_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, const struct vyre_choice *choice, bool observed,
                             struct vyre_decision_record *out);

/* The entry of a shape that an observer sees, with its profile filled. */
struct vyre_shape *vyre_record_profile_locked(struct vyre_device *device, struct vyre_body *body);

#endif
