/*
 * decide.h: in which mode a batch in auto runs: where a decision is made.
 */
#ifndef VYRE_RUNTIME_DECIDE_H
#define VYRE_RUNTIME_DECIDE_H

#include "runtime/batch.h"
#include "runtime/governor.h"

struct vyre_mode_choice {
    enum vyre_mode mode;
    enum vyre_mode wanted;
    enum vyre_mode_reason reason;
    uint32_t variant;
};

/*
 * The choice for one submission of the body. `out_governed` says what the governor considered and
 * names the shape's entry, which must be told how it went: see measure.h. The caller holds the
 * device's lock.
 */
void vyre_decide_mode_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_mode_choice *out_choice,
                             struct vyre_governor_choice *out_governed);

/* The choice could not be carried out; the batch runs plainly. The shape is not tried so again. */
void vyre_decide_failed_locked(struct vyre_device *device, struct vyre_body *body,
                               struct vyre_governor_choice *governed);

#endif
