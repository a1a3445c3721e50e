/*
 * batch_arms.c: the inputs of arm_independence and copy_overlap, from a plan.
 *
 * Accesses are marked interval by interval, so the sets come out ascending. The cost is the
 * intervals that the commands cover, plus one look at every interval:
 *
 *   touched[interval]   bit 0: first reads   bit 1: first writes   bit 2: second reads   ...
 */
#include <string.h>

#include "plan/batch_plan.h"

#define ARM_BITS 2 /* per arm: the bits of enum vyre_access */

/* The commands whose sets are needed, and the numbers of their ranges. */
struct pair {
    const struct vyre_command *first;
    const struct vyre_command *second;
    uint32_t first_range;
    uint32_t second_range;
};

/* Numbers the ranges of two commands. For a chain this happens only now, and only for these two. */
static bool number_pair(struct vyre_batch_planner *planner, struct pair *pair)
{
    const struct vyre_bound_range *ranges = planner->view->ranges;
    pair->first_range = pair->first->first_range;
    pair->second_range = pair->second->first_range;
    if (!planner->view->is_chain)
        return true;
    size_t count = (size_t)pair->first->range_count + pair->second->range_count;
    if (count > UINT32_MAX ||
        vyre_intervals_begin(&planner->intervals, (uint32_t)count, NULL) != VYRE_OK)
        return false;
    if (pair->first->range_count > 0)
        vyre_intervals_add(&planner->intervals, ranges + pair->first_range,
                           pair->first->range_count);
    if (pair->second->range_count > 0)
        vyre_intervals_add(&planner->intervals, ranges + pair->second_range,
                           pair->second->range_count);
    pair->first_range = 0;
    pair->second_range = pair->first->range_count;
    return vyre_intervals_finish(&planner->intervals, NULL) == VYRE_OK;
}

static bool begin_touched(struct vyre_batch_planner *planner)
{
    uint32_t count = planner->intervals.interval_count;
    if (vyre_room_reserve(&planner->touched, &planner->allocator, count, 0, NULL) != VYRE_OK)
        return false;
    if (count > 0)
        memset(planner->touched.memory, 0, count);
    return true;
}

/* Marks what a command of arm 0 or 1 accesses. Its ranges were added from `first_range` on. */
static void touch(struct vyre_batch_planner *planner, const struct vyre_command *command,
                  uint32_t first_range, uint32_t arm)
{
    const struct vyre_bound_range *ranges = planner->view->ranges;
    unsigned char *touched = planner->touched.memory;
    for (uint32_t i = 0; i < command->range_count; i++) {
        struct vyre_interval_run run = vyre_intervals_run(&planner->intervals, first_range + i);
        unsigned bits = (unsigned)ranges[command->first_range + i].access & VYRE_ACCESS_READWRITE;
        for (uint32_t at = run.first; at <= run.last; at++)
            touched[at] = (unsigned char)(touched[at] | bits << arm * ARM_BITS);
    }
}

/* The intervals marked with `bit`: inline if they fit, else in `memory`. */
static bool fill_set(const struct vyre_batch_planner *planner, unsigned bit, uint32_t *memory,
                     struct vyre_slot_set *out_set)
{
    const unsigned char *touched = planner->touched.memory;
    uint32_t interval_count = planner->intervals.interval_count;
    size_t count = 0;
    for (uint32_t i = 0; i < interval_count; i++)
        count += (touched[i] & bit) != 0;
    vyre_slot_set_init(out_set, count > VYRE_SLOT_SET_INLINE ? memory : NULL, count);
    for (uint32_t i = 0; i < interval_count; i++) {
        if ((touched[i] & bit) && vyre_slot_set_add(out_set, i, NULL) != VYRE_OK)
            return false;
    }
    return true;
}

/* The sets of one arm; `memory` has room for interval_count slots each. */
static bool fill_arm(const struct vyre_batch_planner *planner, uint32_t arm, uint32_t *memory,
                     struct vyre_arm *out_arm)
{
    unsigned read_bit = (unsigned)VYRE_ACCESS_READ << arm * ARM_BITS;
    unsigned write_bit = (unsigned)VYRE_ACCESS_WRITE << arm * ARM_BITS;
    uint32_t *write_memory = memory ? memory + planner->intervals.interval_count : NULL;
    return fill_set(planner, read_bit, memory, &out_arm->reads) &&
           fill_set(planner, write_bit, write_memory, &out_arm->writes);
}

static const struct vyre_plan_segment *first_wide_segment(const struct vyre_batch_plan *plan)
{
    for (uint32_t i = 0; i < plan->segment_count; i++) {
        if (plan->segments[i].arm_count >= 2)
            return &plan->segments[i];
    }
    return NULL;
}

static void touch_segment(struct vyre_batch_planner *planner, const struct vyre_batch_plan *plan,
                          const struct vyre_plan_segment *segment)
{
    for (uint32_t i = 0; i < segment->command_count; i++) {
        uint32_t index = segment->first_command + i;
        const struct vyre_command *command = &planner->view->commands[index];
        if (plan->nodes[index].arm < 2)
            touch(planner, command, command->first_range, plan->nodes[index].arm);
    }
}

/* Marks the two arms that the plan would ask about. */
static bool touch_arms(struct vyre_batch_planner *planner, const struct vyre_batch_plan *plan)
{
    const struct vyre_plan_segment *segment = first_wide_segment(plan);
    if (segment) {
        if (!begin_touched(planner))
            return false;
        touch_segment(planner, plan, segment);
        return true;
    }
    struct pair pair = {.first = &planner->view->commands[0],
                        .second = &planner->view->commands[1]};
    if (!number_pair(planner, &pair) || !begin_touched(planner))
        return false;
    touch(planner, pair.first, pair.first_range, 0);
    touch(planner, pair.second, pair.second_range, 1);
    return true;
}

bool vyre_batch_planner_arms(struct vyre_batch_planner *planner, const struct vyre_batch_plan *plan,
                             struct vyre_arm *out_first, struct vyre_arm *out_second)
{
    memset(out_first, 0, sizeof *out_first);
    memset(out_second, 0, sizeof *out_second);
    if (plan->node_count < 2 || !touch_arms(planner, plan))
        return false;
    size_t half = 2 * (size_t)planner->intervals.interval_count;
    if (vyre_room_reserve(&planner->arm_slots, &planner->allocator, 2 * half, 0, NULL) != VYRE_OK)
        return false;
    uint32_t *memory = planner->arm_slots.memory;
    return fill_arm(planner, 0, memory, out_first) &&
           fill_arm(planner, 1, memory ? memory + half : NULL, out_second);
}

/* The first upload of at least one byte after a dispatch, and the dispatch. */
static bool find_copy(const struct vyre_batch_view *view, uint32_t command_count, struct pair *pair)
{
    *pair = (struct pair){0};
    for (uint32_t i = 0; i < command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        if (command->type == VYRE_COMMAND_DISPATCH)
            pair->first = command;
        if (pair->first && command->type == VYRE_COMMAND_UPLOAD &&
            view->ranges[command->first_range].size_bytes > 0) {
            pair->second = command;
            return true;
        }
    }
    return false;
}

bool vyre_batch_planner_copy(struct vyre_batch_planner *planner, const struct vyre_batch_plan *plan,
                             uint32_t *out_slot, struct vyre_arm *out_arm)
{
    struct pair pair;
    *out_slot = 0;
    memset(out_arm, 0, sizeof *out_arm);
    if (!find_copy(planner->view, plan->node_count, &pair) || !number_pair(planner, &pair) ||
        !begin_touched(planner))
        return false;
    size_t slots = 2 * (size_t)planner->intervals.interval_count;
    if (vyre_room_reserve(&planner->copy_slots, &planner->allocator, slots, 0, NULL) != VYRE_OK)
        return false;
    touch(planner, pair.first, pair.first_range, 0);

    const unsigned char *touched = planner->touched.memory;
    struct vyre_interval_run run = vyre_intervals_run(&planner->intervals, pair.second_range);
    uint32_t slot = run.first;
    while (slot < run.last && touched[slot] == 0)
        slot++;
    *out_slot = touched[slot] != 0 ? slot : run.first;
    return fill_arm(planner, 0, planner->copy_slots.memory, out_arm);
}
