/*
 * decide.h: which mode a batch in auto runs in.
 */
#ifndef VYRE_RUNTIME_DECIDE_H
#define VYRE_RUNTIME_DECIDE_H

#include "runtime/batch.h"

struct vyre_mode_choice {
    enum vyre_mode mode;
    enum vyre_mode wanted;
    enum vyre_mode_reason reason;
    uint32_t variant;
};

/* The choice for one submission of the body. The caller holds the device's lock. */
void vyre_decide_mode_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_mode_choice *out_choice);

#endif
