/*
 * lane_plan.c: see lane_plan.h.
 */
#include "plan/lane_plan.h"

#include <string.h>

#include "base/groups.h"
#include "base/memory.h"

/* A transfer of this many bytes weighs as much as one group of a dispatch. */
#define BYTES_PER_GROUP 4096

/* The state of one call. */
struct maker {
    struct vyre_lane_plan *out;
    const struct vyre_batch_view *view;
    const struct vyre_batch_plan *plan;
    const struct vyre_lanes *lanes;
    const struct vyre_lane_tuning *tuning;
    uint64_t *weights;  /* by arm of the current segment */
    uint32_t *arm_lane; /* the same */
    uint32_t main_step; /* the step that the next commands of lane 0 may join */
    uint32_t before;    /* lanes of the group before, which the next one waits for */
    uint32_t group;
    bool split;
};

/* ---- Memory ----------------------------------------------------------------------------------- */

/* In words: weights (two each), lanes of arms, order, steps of commands, flags, ends of levels. */
static size_t words_of(const struct vyre_batch_plan *plan)
{
    return (size_t)plan->node_count * 6 + plan->level_count + 1;
}

void vyre_lane_plan_deinit(struct vyre_lane_plan *out)
{
    vyre_memory_free(&out->allocator, out->memory, out->memory_capacity * sizeof *out->memory,
                     _Alignof(uint64_t));
    vyre_memory_free(&out->allocator, out->steps, out->step_capacity * sizeof *out->steps,
                     _Alignof(struct vyre_planned_step));
    out->memory = NULL;
    out->steps = NULL;
    out->memory_capacity = out->step_capacity = 0;
}

static bool reserve(struct vyre_lane_plan *out, size_t words, size_t steps)
{
    if (words <= out->memory_capacity && steps <= out->step_capacity)
        return true;
    vyre_lane_plan_deinit(out);
    words += words / 2;
    steps += steps / 2;
    out->memory =
        vyre_memory_allocate(&out->allocator, words * sizeof *out->memory, _Alignof(uint64_t));
    out->memory_capacity = out->memory ? words : 0;
    out->steps = vyre_memory_allocate(&out->allocator, steps * sizeof *out->steps,
                                      _Alignof(struct vyre_planned_step));
    out->step_capacity = out->steps ? steps : 0;
    return out->memory && out->steps;
}

bool vyre_lane_plan_begin(struct vyre_lane_plan *out, const struct vyre_batch_plan *plan)
{
    size_t nodes = plan->node_count;
    if (!reserve(out, words_of(plan), (size_t)plan->segment_count * VYRE_LANES_MAX + 2))
        return false;
    out->order = out->memory + nodes * 3;
    out->step_of = out->memory + nodes * 4;
    out->ahead = (bool *)(out->memory + nodes * 5);
    out->step_count = 0;
    memset(out->ahead, 0, nodes * sizeof *out->ahead);
    for (uint32_t i = 0; i < nodes; i++)
        out->step_of[i] = VYRE_STEP_NONE;
    return true;
}

/* ---- Steps ------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const struct maker *maker, uint32_t index)
{
    return maker->view->ranges[maker->view->commands[index].first_range].size_bytes;
}

static uint64_t weight_of(const struct maker *maker, uint32_t index)
{
    const struct vyre_command *command = &maker->view->commands[index];
    uint64_t bytes = command->type == VYRE_COMMAND_DISPATCH ? 0 : bytes_of(maker, index);
    if (command->type != VYRE_COMMAND_DISPATCH)
        return bytes == 0 ? 0 : 1 + bytes / BYTES_PER_GROUP;
    return vyre_groups_total(command->groups);
}

static uint32_t add_step(struct maker *maker, uint32_t lane, bool ahead)
{
    struct vyre_lane_plan *out = maker->out;
    out->steps[out->step_count] = (struct vyre_planned_step){.lane = lane,
                                                             .waits = maker->before & ~(1u << lane),
                                                             .group = maker->group,
                                                             .ahead = ahead};
    return out->step_count++;
}

static void take_uploads(struct maker *maker)
{
    struct vyre_lane_plan *out = maker->out;
    uint64_t bytes = 0;
    for (uint32_t i = 0; maker->lanes->transfer && i < maker->plan->node_count; i++)
        bytes += out->ahead[i] ? bytes_of(maker, i) : 0;
    if (bytes == 0 || bytes < maker->tuning->ahead_bytes)
        return;
    uint32_t step = add_step(maker, maker->lanes->compute, true);
    for (uint32_t i = 0; i < maker->plan->node_count; i++) {
        if (out->ahead[i])
            out->step_of[i] = step;
    }
    maker->before = 1u << maker->lanes->compute;
    maker->group++;
    maker->split = true;
}

/* ---- Segments --------------------------------------------------------------------------------- */

/*
 * Weighs the arms of a segment. Those with transfers only go to the transfer lane, if that is worth
 * it.
 */
static void weigh(struct maker *maker, const struct vyre_plan_segment *segment)
{
    const uint32_t transfers = maker->lanes->transfer ? maker->lanes->compute : 0;
    uint64_t bytes = 0;
    memset(maker->weights, 0, segment->arm_count * sizeof *maker->weights);
    for (uint32_t arm = 0; arm < segment->arm_count; arm++)
        maker->arm_lane[arm] = transfers;
    for (uint32_t i = 0; i < segment->command_count; i++) {
        uint32_t index = segment->first_command + i;
        uint32_t arm = maker->plan->nodes[index].arm;
        if (maker->out->step_of[index] != VYRE_STEP_NONE)
            continue;
        maker->weights[arm] += weight_of(maker, index);
        if (maker->view->commands[index].type == VYRE_COMMAND_DISPATCH)
            maker->arm_lane[arm] = 0;
    }
    for (uint32_t i = 0; i < segment->command_count; i++) {
        uint32_t index = segment->first_command + i;
        uint32_t arm = maker->plan->nodes[index].arm;
        if (maker->out->step_of[index] == VYRE_STEP_NONE && maker->arm_lane[arm] != 0)
            bytes += bytes_of(maker, index);
    }
    for (uint32_t arm = 0; bytes < maker->tuning->ahead_bytes && arm < segment->arm_count; arm++)
        maker->arm_lane[arm] = 0;
}

/* Gives each arm that computes to the lane with the least work. Returns what lane 0 is spared. */
static uint64_t spread(struct maker *maker, uint32_t arm_count)
{
    uint64_t loads[VYRE_COMPUTE_LANES_MAX] = {0};
    uint64_t spared = 0;
    for (uint32_t arm = 0; arm < arm_count; arm++) {
        if (maker->arm_lane[arm] != 0 || maker->weights[arm] == 0)
            continue;
        uint32_t best = 0;
        for (uint32_t lane = 1; lane < maker->lanes->compute; lane++)
            best = loads[lane] < loads[best] ? lane : best;
        loads[best] += maker->weights[arm];
        maker->arm_lane[arm] = best;
        spared += best > 0 ? maker->weights[arm] : 0;
    }
    return spared;
}

/* Back to lane 0: the work of the other compute lanes is not worth it. */
static void gather(struct maker *maker, uint32_t arm_count)
{
    for (uint32_t arm = 0; arm < arm_count; arm++) {
        if (maker->arm_lane[arm] < maker->lanes->compute)
            maker->arm_lane[arm] = 0;
    }
}

/* Whether the transfer lane and some other one would both have work. */
static bool overlaps_transfers(const struct maker *maker, uint32_t arm_count)
{
    bool transfers = false, others = false;
    for (uint32_t arm = 0; arm < arm_count; arm++) {
        if (maker->weights[arm] == 0)
            continue;
        bool there = maker->lanes->transfer && maker->arm_lane[arm] == maker->lanes->compute;
        transfers |= there;
        others |= !there;
    }
    return transfers && others;
}

static void write_segment(struct maker *maker, const struct vyre_plan_segment *segment, bool split)
{
    struct vyre_lane_plan *out = maker->out;
    uint32_t steps[VYRE_LANES_MAX];
    uint32_t used = 0;
    for (uint32_t lane = 0; lane < VYRE_LANES_MAX; lane++)
        steps[lane] = VYRE_STEP_NONE;
    if (!split)
        steps[0] = maker->main_step;
    for (uint32_t i = 0; i < segment->command_count; i++) {
        uint32_t index = segment->first_command + i;
        uint32_t lane = split ? maker->arm_lane[maker->plan->nodes[index].arm] : 0;
        if (out->step_of[index] != VYRE_STEP_NONE)
            continue;
        if (steps[lane] == VYRE_STEP_NONE)
            steps[lane] = add_step(maker, lane, false);
        out->step_of[index] = steps[lane];
        used |= 1u << lane;
    }
    if (used == 0)
        return;
    maker->before = used;
    maker->group++;
    maker->main_step = split ? VYRE_STEP_NONE : steps[0];
}

static void take_segment(struct maker *maker, const struct vyre_plan_segment *segment)
{
    bool split = false;
    if (segment->arm_count > 1) {
        weigh(maker, segment);
        bool transfers = overlaps_transfers(maker, segment->arm_count);
        uint64_t spared = spread(maker, segment->arm_count);
        bool computes = spared > 0 && spared >= maker->tuning->split_groups;
        if (!computes)
            gather(maker, segment->arm_count);
        split = transfers || computes;
    }
    maker->split |= split;
    write_segment(maker, segment, split);
}

/* ---- Order ------------------------------------------------------------------------------------ */

void vyre_order_by_level(const struct vyre_batch_plan *plan, uint32_t *out_order,
                         uint32_t *out_ends)
{
    memset(out_ends, 0, ((size_t)plan->level_count + 1) * sizeof *out_ends);
    /* Counted one level ahead, so that each level's begin moves to its end while it is filled. */
    for (uint32_t i = 0; i < plan->node_count; i++)
        out_ends[plan->nodes[i].level + 1]++;
    for (uint32_t level = 1; level <= plan->level_count; level++)
        out_ends[level] += out_ends[level - 1];
    for (uint32_t i = 0; i < plan->node_count; i++)
        out_order[out_ends[plan->nodes[i].level]++] = i;
}

/* Commands by level, and then by step, keeping the order of levels. */
static void sort(struct maker *maker)
{
    struct vyre_lane_plan *out = maker->out;
    const struct vyre_batch_plan *plan = maker->plan;
    uint32_t *by_level = maker->arm_lane; /* not needed any more */
    uint32_t *ends = out->memory + (size_t)plan->node_count * 6;
    vyre_order_by_level(plan, by_level, ends);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (out->step_of[i] < out->step_count)
            out->steps[out->step_of[i]].count++;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < out->step_count; i++) {
        out->steps[i].first = first;
        first += out->steps[i].count;
        out->steps[i].count = 0;
    }
    for (uint32_t i = 0; i < plan->node_count; i++) {
        uint32_t index = out->step_of[by_level[i]];
        if (index >= out->step_count)
            continue;
        struct vyre_planned_step *step = &out->steps[index];
        out->order[step->first + step->count++] = by_level[i];
    }
}

bool vyre_lane_plan_make(struct vyre_lane_plan *out, const struct vyre_batch_view *view,
                         const struct vyre_batch_plan *plan, const struct vyre_lanes *lanes,
                         const struct vyre_lane_tuning *tuning)
{
    struct maker maker = {
        .out = out,
        .view = view,
        .plan = plan,
        .lanes = lanes,
        .tuning = tuning,
        .weights = (uint64_t *)(void *)out->memory,
        .arm_lane = out->memory + (size_t)plan->node_count * 2,
        .main_step = VYRE_STEP_NONE,
    };
    take_uploads(&maker);
    for (uint32_t i = 0; i < plan->segment_count; i++)
        take_segment(&maker, &plan->segments[i]);
    if (maker.split)
        sort(&maker);
    return maker.split;
}
