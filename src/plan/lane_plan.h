/*
 * lane_plan.h: which commands of a batch go to which queue. Arithmetic only.
 *
 *   lane   a queue: 0 is the main one, then further compute queues, then one for transfers
 *          only
 *   step   commands that one lane gets at once, in one command buffer
 *   group  steps of one segment, at most one for each lane: they run beside each other and wait for
 *          steps of earlier groups only
 *   ahead  a first step with uploads that wait for nothing in the batch; on the transfer lane
 *          they run beside the earlier batches
 *
 *   group      0              1                    2
 *   lane 0                    [ arm 0 ]──────┬────>[ all else ]──> the batch's end
 *   lane 1                 ┌─>[ arm 1 ]──────┘
 *   transfer  [ ahead ]────┘
 *
 * Segments that are not worth it go to lane 0 together.
 *
 * Thread-safety: the caller's.
 */
#ifndef VYRE_PLAN_LANE_PLAN_H
#define VYRE_PLAN_LANE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/backend.h>

#define VYRE_COMPUTE_LANES_MAX 4
#define VYRE_LANES_MAX         (VYRE_COMPUTE_LANES_MAX + 1)

/* When several queues are worth their semaphores: a fork and a join cost some more submits. */
struct vyre_lane_tuning {
    uint64_t split_groups; /* the least that other lanes must take off lane 0 in a segment */
    uint64_t ahead_bytes;  /* the least that the transfer lane must take */
};

struct vyre_lanes {
    uint32_t compute;
    bool transfer; /* one more, after those */
};

/* Instead of a command's step. */
#define VYRE_STEP_NONE UINT32_MAX       /* not known yet */
#define VYRE_STEP_HOST (UINT32_MAX - 1) /* the host does it before anything is submitted */

struct vyre_planned_step {
    uint32_t first; /* into the order */
    uint32_t count;
    uint32_t lane;
    uint32_t waits; /* bits of lanes: waits for their steps before this group */
    uint32_t group;
    bool ahead;
};

struct vyre_lane_plan {
    struct vyre_allocator allocator;
    uint32_t *memory; /* Owned: what follows, except the steps, points into it */
    size_t memory_capacity;
    uint32_t *order;                 /* commands, step by step, in each step by level */
    uint32_t *step_of;               /* by command */
    bool *ahead;                     /* by command: may go into a step ahead */
    struct vyre_planned_step *steps; /* Owned */
    size_t step_capacity;
    uint32_t step_count;
};

void vyre_lane_plan_deinit(struct vyre_lane_plan *out);

/*
 * Makes room for a batch. Then the caller fills in what it knows about commands: VYRE_STEP_HOST in
 * step_of, and which uploads may go ahead. False when out of memory.
 */
bool vyre_lane_plan_begin(struct vyre_lane_plan *out, const struct vyre_batch_plan *plan);

/*
 * Spreads the batch over the lanes. Returns whether that is worth it. If not, the batch goes to
 * lane 0 as it is.
 */
bool vyre_lane_plan_make(struct vyre_lane_plan *out, const struct vyre_batch_view *view,
                         const struct vyre_batch_plan *plan, const struct vyre_lanes *lanes,
                         const struct vyre_lane_tuning *tuning);

/*
 * Commands by level, and where each level ends; needs room for one more end than there are levels.
 */
void vyre_order_by_level(const struct vyre_batch_plan *plan, uint32_t *out_order,
                         uint32_t *out_ends);

#endif
