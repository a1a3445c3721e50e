/*
 * batch_plan.h: which commands of a batch may run beside which.
 *
 * Words
 *   interval  disjoint bytes that the batch touches, numbered batch-wide: see intervals.h
 *   deps      the commands that a command waits for: see hazards.h for which are left out
 *   level     the length of the longest chain of deps before a command
 *   arm       commands of one segment that are tied by deps; they run in order
 *   segment   a run of commands whose arms do not touch each other's data
 *
 *   command   0   1   2   3   4   5 | 6   7
 *   waits     -   -   0   1   2   3 | 4,5 6       a fan-out of two arms, then a join
 *   level     0   0   1   1   2   2 | 3   4
 *   arm       0   1   0   1   0   1 | 0   0
 *   segment   0   0   0   0   0   0 | 1   1
 *
 * A command with deps in one arm of the current segment joins that arm. Without deps there it opens
 * an arm; with deps in two or more arms it opens a segment. If two commands of one segment
 * conflict, a path of deps inside the segment connects them, and every step of the path stays in
 * one arm. So arms are independent.
 *
 * The planner keeps its memory between calls, so a load of similar batches stops allocating. Time
 * is linear in commands and ranges as long as no range covers many intervals; see hazards.h for the
 * bound otherwise.
 *
 * Thread-safety: a planner belongs to one thread at a time.
 */
#ifndef VYRE_PLAN_BATCH_PLAN_H
#define VYRE_PLAN_BATCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/backend.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/policy.h>

#include "plan/hazards.h"
#include "plan/intervals.h"
#include "plan/room.h"

struct vyre_batch_planner {
    struct vyre_allocator allocator;
    struct vyre_intervals intervals;
    struct vyre_hazards hazards;
    struct vyre_room nodes;             /* struct vyre_plan_node */
    struct vyre_room segments;          /* struct vyre_plan_segment */
    struct vyre_room chain_deps;        /* uint32_t: 0, 1, 2 ... */
    struct vyre_room touched;           /* unsigned char per interval: accesses of two arms */
    struct vyre_room arm_slots;         /* uint32_t: sets of ..._arms too large to be inline */
    struct vyre_room copy_slots;        /* uint32_t: the same of ..._copy */
    const struct vyre_batch_view *view; /* Borrowed: what was planned last */
};

/* `allocator` NULL or zeroed is the C library's. Allocates nothing yet. */
void vyre_batch_planner_init(struct vyre_batch_planner *planner,
                             const struct vyre_allocator *allocator);
void vyre_batch_planner_deinit(struct vyre_batch_planner *planner);

/*
 * Plans a batch. The ranges are in bounds and their access is resolved: a range whose access is
 * VYRE_ACCESS_DEFAULT would conflict with nothing. If the view says that it is a chain, that is not
 * checked: each command depends on the one before it, and no intervals are numbered.
 *
 * *out_plan points into the planner's memory and is valid until the next plan or deinit.
 * OUT_OF_MEMORY and PLAN_OVERFLOW (more ranges, deps or interval accesses than 32 bits can number)
 * zero *out_plan and leave the planner usable.
 */
VYRE_NODISCARD enum vyre_status vyre_batch_planner_plan(struct vyre_batch_planner *planner,
                                                        const struct vyre_batch_view *view,
                                                        struct vyre_batch_plan *out_plan,
                                                        struct vyre_diag *diag);

/*
 * The two functions below read the last plan, whose view must still exist. Their slots are
 * intervals. In a chain only the commands in question are numbered, so its slots are meaningful
 * only within one answer. Sets of more than 8 slots are in the planner's memory, until the next
 * call of the same function, the next plan or deinit. On false the outputs are zeroed. False can
 * also mean that memory ran out, in the first calls only: then there is nothing to ask.
 */

/*
 * The input of arm_independence: the first two arms of the first segment that has two; in a plan
 * without one, the first two commands. False if the batch has fewer than two commands.
 */
VYRE_NODISCARD bool vyre_batch_planner_arms(struct vyre_batch_planner *planner,
                                            const struct vyre_batch_plan *plan,
                                            struct vyre_arm *out_first,
                                            struct vyre_arm *out_second);

/*
 * The input of copy_overlap: the first upload of at least one byte that has a dispatch before it,
 * and the nearest such dispatch as an arm. The slot is the first one of the upload that the
 * dispatch touches, so that the verdict holds for the whole upload; if it touches none, the
 * upload's first. False if there is no such upload.
 */
VYRE_NODISCARD bool vyre_batch_planner_copy(struct vyre_batch_planner *planner,
                                            const struct vyre_batch_plan *plan, uint32_t *out_slot,
                                            struct vyre_arm *out_arm);

#endif
