/*
 * batch_plan.c: levels, arms and segments from deps.
 */
#include "plan/batch_plan.h"

#include <string.h>

#include "base/memory.h"

void vyre_batch_planner_init(struct vyre_batch_planner *planner,
                             const struct vyre_allocator *allocator)
{
    *planner = (struct vyre_batch_planner){.allocator = vyre_allocator_resolve(allocator)};
    vyre_intervals_init(&planner->intervals, &planner->allocator);
    vyre_hazards_init(&planner->hazards, &planner->allocator);
    vyre_room_init(&planner->nodes, sizeof(struct vyre_plan_node));
    vyre_room_init(&planner->segments, sizeof(struct vyre_plan_segment));
    vyre_room_init(&planner->chain_deps, sizeof(uint32_t));
    vyre_room_init(&planner->touched, sizeof(unsigned char));
    vyre_room_init(&planner->arm_slots, sizeof(uint32_t));
    vyre_room_init(&planner->copy_slots, sizeof(uint32_t));
}

void vyre_batch_planner_deinit(struct vyre_batch_planner *planner)
{
    vyre_intervals_deinit(&planner->intervals);
    vyre_hazards_deinit(&planner->hazards);
    vyre_room_deinit(&planner->nodes, &planner->allocator);
    vyre_room_deinit(&planner->segments, &planner->allocator);
    vyre_room_deinit(&planner->chain_deps, &planner->allocator);
    vyre_room_deinit(&planner->touched, &planner->allocator);
    vyre_room_deinit(&planner->arm_slots, &planner->allocator);
    vyre_room_deinit(&planner->copy_slots, &planner->allocator);
    planner->view = NULL;
}

/* ---- Chains ----------------------------------------------------------------------------------- */

static enum vyre_status plan_chain(struct vyre_batch_planner *planner, uint32_t command_count,
                                   struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    enum vyre_status status =
        vyre_room_reserve(&planner->chain_deps, &planner->allocator, command_count, 0, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_plan_node *nodes = planner->nodes.memory;
    struct vyre_plan_segment *segments = planner->segments.memory;
    uint32_t *deps = planner->chain_deps.memory;
    for (uint32_t i = 0; i < command_count; i++) {
        deps[i] = i;
        nodes[i] =
            (struct vyre_plan_node){.level = i, .first_dep = i > 0 ? i - 1 : 0, .dep_count = i > 0};
    }
    segments[0] = (struct vyre_plan_segment){.command_count = command_count, .arm_count = 1};
    out_plan->deps = deps;
    out_plan->segment_count = 1;
    out_plan->dep_count = command_count - 1;
    out_plan->level_count = command_count;
    return VYRE_OK;
}

/* ---- Levels, arms and segments ---------------------------------------------------------------- */

static uint32_t level_of(const struct vyre_plan_node *nodes, const uint32_t *deps, uint32_t count)
{
    uint32_t level = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[deps[i]].level >= level)
            level = nodes[deps[i]].level + 1;
    }
    return level;
}

/*
 * Puts a command into an arm of the last segment or into a new segment. Deps that were left out do
 * not matter: they are implied by others in the same arm.
 */
static void place(const struct vyre_plan_node *nodes, const uint32_t *deps, uint32_t index,
                  struct vyre_plan_node *node, struct vyre_plan_segment *segments,
                  uint32_t *segment_count)
{
    struct vyre_plan_segment *segment = &segments[*segment_count - 1];
    uint32_t arm = segment->arm_count; /* a new one */
    bool joins = false;
    for (uint32_t i = 0; i < node->dep_count && !joins; i++) {
        if (deps[i] < segment->first_command)
            continue;
        joins = arm != segment->arm_count && arm != nodes[deps[i]].arm;
        arm = nodes[deps[i]].arm;
    }
    if (joins) {
        segment++;
        *segment = (struct vyre_plan_segment){.first_command = index};
        *segment_count += 1;
        arm = 0;
    }
    if (arm == segment->arm_count)
        segment->arm_count++;
    segment->command_count++;
    node->segment = *segment_count - 1;
    node->arm = arm;
}

static enum vyre_status number_intervals(struct vyre_batch_planner *planner,
                                         const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    enum vyre_status status = vyre_intervals_begin(&planner->intervals, view->range_count, diag);
    if (status != VYRE_OK)
        return status;
    vyre_intervals_add(&planner->intervals, view->ranges, view->range_count);
    return vyre_intervals_finish(&planner->intervals, diag);
}

static enum vyre_status plan_hazards(struct vyre_batch_planner *planner,
                                     const struct vyre_batch_view *view,
                                     struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    struct vyre_hazards *hazards = &planner->hazards;
    struct vyre_plan_node *nodes = planner->nodes.memory;
    struct vyre_plan_segment *segments = planner->segments.memory;
    segments[0] = (struct vyre_plan_segment){0};
    out_plan->segment_count = 1;
    for (uint32_t i = 0; i < view->command_count; i++) {
        uint32_t first_dep = hazards->dep_count;
        enum vyre_status status =
            vyre_hazards_next(hazards, &planner->intervals, view->ranges, &view->commands[i], diag);
        if (status != VYRE_OK)
            return status;
        const uint32_t *deps = (const uint32_t *)hazards->deps.memory;
        uint32_t dep_count = hazards->dep_count - first_dep;
        if (dep_count > 0) /* without deps there may be no memory to point into */
            deps += first_dep;
        struct vyre_plan_node node = {.level = level_of(nodes, deps, dep_count),
                                      .first_dep = first_dep,
                                      .dep_count = dep_count};
        place(nodes, deps, i, &node, segments, &out_plan->segment_count);
        if (node.level >= out_plan->level_count)
            out_plan->level_count = node.level + 1;
        nodes[i] = node;
    }
    out_plan->deps = hazards->deps.memory;
    out_plan->dep_count = hazards->dep_count;
    out_plan->interval_count = planner->intervals.interval_count;
    return VYRE_OK;
}

static enum vyre_status plan_view(struct vyre_batch_planner *planner,
                                  const struct vyre_batch_view *view,
                                  struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    uint32_t count = view->command_count;
    if (count == 0)
        return VYRE_OK;
    enum vyre_status status =
        vyre_room_reserve(&planner->nodes, &planner->allocator, count, 0, diag);
    /* In the worst case every command opens a segment. */
    if (status == VYRE_OK)
        status = vyre_room_reserve(&planner->segments, &planner->allocator, count, 0, diag);
    if (status != VYRE_OK)
        return status;
    out_plan->nodes = planner->nodes.memory;
    out_plan->segments = planner->segments.memory;
    out_plan->node_count = count;
    if (view->is_chain)
        return plan_chain(planner, count, out_plan, diag);

    status = number_intervals(planner, view, diag);
    if (status == VYRE_OK)
        status =
            vyre_hazards_begin(&planner->hazards, count, planner->intervals.interval_count, diag);
    if (status == VYRE_OK)
        status = plan_hazards(planner, view, out_plan, diag);
    return status;
}

enum vyre_status vyre_batch_planner_plan(struct vyre_batch_planner *planner,
                                         const struct vyre_batch_view *view,
                                         struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    memset(out_plan, 0, sizeof *out_plan);
    planner->view = view;
    enum vyre_status status = plan_view(planner, view, out_plan, diag);
    if (status != VYRE_OK)
        memset(out_plan, 0, sizeof *out_plan);
    return status;
}
