/*
 * explain.h: what auto would do with a batch, for other parts of the runtime.
 */
#ifndef VYRE_RUNTIME_EXPLAIN_H
#define VYRE_RUNTIME_EXPLAIN_H

#include <vyre/explain.h>

#include "runtime/body.h"

struct vyre_device;

/*
 * All that vyre_batch_explain says. The caller holds the device's lock; the batch's objects are
 * alive.
 */
void vyre_explain_locked(struct vyre_device *device, struct vyre_body *body, uint32_t repeat_hint,
                         struct vyre_explanation *out);

#endif
