/*
 * decide.h: chooses the mode of a batch in auto. This is where a decision is made.
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
    uint8_t build;    /* in auto: the candidate to be built in the background, + 1; 0: none */
    uint32_t put_off; /* in auto, bits: candidates that can no longer run this batch */
    struct vyre_governor_choice governed; /* in auto: what was compared; its shape learns from it */
};

/*
 * The choice for one submission of the body in auto. measure.h reports the outcome to
 * governed.shape. The caller holds the device's lock.
 */
void vyre_decide_locked(struct vyre_device *device, struct vyre_body *body, uint32_t repeat_hint,
                        struct vyre_choice *out_choice);

/*
 * What the next submit would choose. Counts nothing and changes nothing. `out_shape` is a copy of
 * what is known about the shape, plus what this call found out.
 */
void vyre_decide_next_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_shape *out_shape,
                             struct vyre_choice *out_choice);

/*
 * The choice could not be carried out: `status` says why. Chooses again among the others. The
 * failed candidate is not tried again until the shape was seen twice as often, or ever if the mode
 * does not fit the shape. `is_unproven`: the mode's generated code may not be used.
 */
void vyre_decide_failed_locked(struct vyre_device *device, struct vyre_body *body,
                               uint32_t repeat_hint, enum vyre_status status, bool is_unproven,
                               struct vyre_choice *inout_choice);

/*
 * The choice must be built first: chooses again among the others. This does not count against the
 * choice.
 */
void vyre_decide_put_off_locked(struct vyre_device *device, struct vyre_body *body,
                                uint32_t repeat_hint, struct vyre_choice *inout_choice);

#endif
