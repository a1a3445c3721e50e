/*
 * decide.h: in which mode a batch in auto runs: where a decision is made.
 */
#ifndef VYRE_RUNTIME_DECIDE_H
#define VYRE_RUNTIME_DECIDE_H

#include "runtime/batch.h"
#include "runtime/governor.h"
#include "runtime/internal.h"

/* How one submission runs. */
struct vyre_choice {
    enum vyre_mode mode;
    uint32_t variant;
    enum vyre_mode wanted; /* by the policies, or by the caller ... */
    uint32_t wanted_variant;
    enum vyre_why wanted_out; /* ... and why it cannot run; NONE: it can */
    enum vyre_why why;
    bool is_auto;
    uint8_t build; /* in auto: the candidate that is to be built beside this batch, + 1; 0: none */
    uint32_t put_off; /* in auto, bits: candidates that this batch cannot run in any more */
    struct vyre_governor_choice governed; /* in auto: what was compared, and for whom to learn */
};

/*
 * The choice for one submission of the body in auto. Its governed.shape must be told how it went:
 * measure.h. The caller holds the device's lock.
 */
void vyre_decide_locked(struct vyre_device *device, struct vyre_body *body, uint32_t repeat_hint,
                        struct vyre_choice *out_choice);

/*
 * What the next submit would choose; counts nothing and changes nothing. `out_shape` is a copy of what is
 * known of the shape, with what was found out meanwhile.
 */
void vyre_decide_next_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_shape *out_shape,
                             struct vyre_choice *out_choice);

/*
 * The choice could not be carried out: `status` says why. Chooses again among the others. The shape is
 * not tried so again before it was seen twice as often, or ever where the mode does not fit it.
 * `is_unproven`: it is the mode's generated code that may not be used.
 */
void vyre_decide_failed_locked(struct vyre_device *device, struct vyre_body *body,
                               uint32_t repeat_hint, enum vyre_status status, bool is_unproven,
                               struct vyre_choice *inout_choice);

/* The choice must be built first: chooses again among the others. Nothing is held against it. */
void vyre_decide_put_off_locked(struct vyre_device *device, struct vyre_body *body,
                                uint32_t repeat_hint, struct vyre_choice *inout_choice);

#endif
