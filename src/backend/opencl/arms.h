/*
 * arms.h: independent commands of a batch on two queues.
 *
 *   queue   ── a ── a ── marker ──── b ── b ─────── barrier ── c
 *                            \                      /
 *   side                      barrier ── b' ── marker
 *
 * Both queues run in order. plan/lane_plan.h decides which of them gets an arm. At the start and
 * end of a group of steps with two lanes, one queue waits for the other. A batch begins and ends on
 * the main queue, so that the order of batches is kept.
 *
 * Invariant: device->forked is set while the side queue has work that the main queue does not wait
 * for.
 *
 * Thread-safety: called by submit and record only.
 */
#ifndef VYRE_BACKEND_OPENCL_ARMS_H
#define VYRE_BACKEND_OPENCL_ARMS_H

#include "backend/opencl/encode.h"
#include "plan/lane_plan.h"

/*
 * Where a command goes: its group of steps, from 1, and in the two lowest bits whether the group
 * has two lanes and whether this command goes to the side queue.
 */
#define VYRE_CL_LANE_SIDE   UINT64_C(1)
#define VYRE_CL_LANE_FORKED UINT64_C(2)
#define VYRE_CL_LANE_GROUP  2 /* shift */

/*
 * Whether a batch in this variant goes to both queues; then device->lane_plan says how. If there is
 * no memory for the plan, it goes to one.
 */
enum vyre_status vyre_cl_arms_plan(struct vyre_cl_device *device,
                                   const struct vyre_batch_view *view, uint32_t variant,
                                   bool *out_arms, struct vyre_diag *diag);

uint64_t vyre_cl_lane(const struct vyre_lane_plan *lanes, uint32_t command);

/*
 * Makes the queues wait as a command in this lane needs, and selects the lane's queue in the
 * encoder.
 */
cl_int vyre_cl_arms_step(struct vyre_cl_encoder *encoder, uint64_t lane);

/* Makes the main queue wait for the side queue. `out_event` may be NULL. */
cl_int vyre_cl_arms_join(struct vyre_cl_device *device, cl_event *out_event);

/* The same at the end of a batch, with its last event. */
cl_int vyre_cl_arms_end(struct vyre_cl_encoder *encoder);

#endif
