/*
 * submit.h: submissions that the runtime makes for itself.
 */
#ifndef VYRE_RUNTIME_SUBMIT_H
#define VYRE_RUNTIME_SUBMIT_H

#include "runtime/body.h"
#include "runtime/internal.h"

/*
 * Queues a body in a mode that the device has, without a decision, record or measurement: observers
 * and counters do not see it. It has a ticket like any other.
 */
VYRE_NODISCARD enum vyre_status vyre_submit_unseen_locked(struct vyre_device *device,
                                                          struct vyre_body *body,
                                                          enum vyre_mode mode, uint32_t variant,
                                                          uint64_t *out_sequence,
                                                          struct vyre_diag *diag);

#endif
