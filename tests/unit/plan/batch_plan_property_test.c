/*
 * batch_plan_property_test.c: plans of random batches against the bytes that commands share.
 *
 * Held for every batch:
 *   a  two commands that conflict are joined by a path of deps
 *   b  every dep is a conflict, earlier than its command, and listed once, ascending
 *   c  arms of one segment are independent by D2 on the intervals of all their commands
 *   d  commands of one level do not conflict, and a level is one more than the highest of its deps
 *   e  segments are runs of commands that cover the batch, and arms are numbered densely
 *   f  a failed allocation gives OUT_OF_MEMORY and a planner that still works
 */
#include "plan/batch_plan.h"

#include "support/batch_builder.h"

enum { COMMANDS_MAX = 48, SLOTS_MAX = 4096 };

/* reach[j][i]: i comes before j by deps. */
struct reach {
    bool before[COMMANDS_MAX][COMMANDS_MAX];
};

static void fill_reach(const struct vyre_batch_plan *plan, struct reach *reach)
{
    memset(reach, 0, sizeof *reach);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct vyre_plan_node *node = &plan->nodes[i];
        for (uint32_t j = 0; j < node->dep_count; j++) {
            uint32_t dep = plan->deps[node->first_dep + j];
            reach->before[i][dep] = true;
            for (uint32_t k = 0; k < dep; k++)
                reach->before[i][k] = reach->before[i][k] || reach->before[dep][k];
        }
    }
}

static void assert_deps(const struct vyre_batch_view *view, const struct vyre_batch_plan *plan)
{
    uint32_t total = 0;
    uint32_t levels = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct vyre_plan_node *node = &plan->nodes[i];
        uint32_t level = 0;
        assert_int_equal(node->first_dep, total);
        total += node->dep_count;
        assert_in_range(total, 0, plan->dep_count);
        for (uint32_t j = 0; j < node->dep_count; j++) {
            uint32_t dep = plan->deps[node->first_dep + j];
            assert_true(dep < i);
            assert_true(j == 0 || plan->deps[node->first_dep + j - 1] < dep);
            assert_true(commands_conflict(view, dep, i));
            if (plan->nodes[dep].level >= level)
                level = plan->nodes[dep].level + 1;
        }
        assert_int_equal(node->level, level);
        levels = level >= levels ? level + 1 : levels;
    }
    assert_int_equal(plan->dep_count, total);
    assert_int_equal(plan->level_count, levels);
}

static void assert_conflicts_are_ordered(const struct vyre_batch_view *view,
                                         const struct vyre_batch_plan *plan)
{
    struct reach reach;
    fill_reach(plan, &reach);
    for (uint32_t j = 0; j < plan->node_count; j++) {
        for (uint32_t i = 0; i < j; i++) {
            if (!commands_conflict(view, i, j))
                continue;
            assert_true(reach.before[j][i]);
            assert_true(plan->nodes[i].level != plan->nodes[j].level);
        }
    }
}

/* One arm's sets, gathered here and not by the planner's own code. */
struct arm_sets {
    uint32_t slots[2][SLOTS_MAX]; /* reads, writes */
    uint32_t memory[2][SLOTS_MAX];
    size_t counts[2];
    struct vyre_arm arm;
};

static void arm_sets_add(struct arm_sets *sets, const struct vyre_intervals *intervals,
                         const struct vyre_batch_view *view, const struct vyre_command *command)
{
    for (uint32_t i = 0; i < command->range_count; i++) {
        uint32_t range = command->first_range + i;
        struct vyre_interval_run run = vyre_intervals_run(intervals, range);
        for (uint32_t slot = run.first; slot <= run.last; slot++) {
            for (unsigned kind = 0; kind < 2; kind++) {
                if (!((unsigned)view->ranges[range].access & 1u << kind))
                    continue;
                assert_in_range(sets->counts[kind], 0, SLOTS_MAX - 1);
                sets->slots[kind][sets->counts[kind]++] = slot;
            }
        }
    }
}

static void arm_sets_finish(struct arm_sets *sets)
{
    struct vyre_slot_set *both[2] = {&sets->arm.reads, &sets->arm.writes};
    for (unsigned kind = 0; kind < 2; kind++) {
        vyre_slot_set_init(both[kind], sets->memory[kind], SLOTS_MAX);
        assert_int_equal(
            vyre_slot_set_assign(both[kind], sets->slots[kind], sets->counts[kind], NULL), VYRE_OK);
    }
}

static void fill_arm_sets(struct arm_sets *sets, const struct vyre_batch_planner *planner,
                          const struct vyre_batch_view *view, const struct vyre_batch_plan *plan,
                          uint32_t segment)
{
    for (uint32_t arm = 0; arm < plan->segments[segment].arm_count; arm++)
        memset(sets[arm].counts, 0, sizeof sets[arm].counts);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i].segment == segment)
            arm_sets_add(&sets[plan->nodes[i].arm], &planner->intervals, view, &view->commands[i]);
    }
    for (uint32_t arm = 0; arm < plan->segments[segment].arm_count; arm++)
        arm_sets_finish(&sets[arm]);
}

static void assert_arms(struct arm_sets *sets, const struct vyre_batch_planner *planner,
                        const struct vyre_batch_view *view, const struct vyre_batch_plan *plan)
{
    for (uint32_t segment = 0; segment < plan->segment_count; segment++) {
        uint32_t arm_count = plan->segments[segment].arm_count;
        assert_in_range(arm_count, 1, COMMANDS_MAX);
        fill_arm_sets(sets, planner, view, plan, segment);
        for (uint32_t i = 0; i < arm_count; i++) {
            for (uint32_t j = i + 1; j < arm_count; j++)
                assert_int_equal(vyre_arm_independence_decide(&sets[i].arm, &sets[j].arm).choice,
                                 VYRE_ARMS_INDEPENDENT);
        }
    }
}

static void assert_segments(const struct vyre_batch_plan *plan)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < plan->segment_count; i++) {
        const struct vyre_plan_segment *segment = &plan->segments[i];
        uint32_t arms = 0;
        assert_int_equal(segment->first_command, next);
        assert_true(segment->command_count > 0);
        for (uint32_t j = 0; j < segment->command_count; j++, next++) {
            assert_int_equal(plan->nodes[next].segment, i);
            assert_in_range(plan->nodes[next].arm, 0, arms);
            arms += plan->nodes[next].arm == arms;
        }
        assert_int_equal(segment->arm_count, arms);
    }
    assert_int_equal(next, plan->node_count);
}

static void assert_sets_equal(const struct vyre_slot_set *a, const struct vyre_slot_set *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(vyre_slot_set_slots(a), vyre_slot_set_slots(b),
                        a->count * sizeof(uint32_t));
}

/* The planner's own answer for D2 is the first two arms of the first segment that has two. */
static void assert_question(struct arm_sets *sets, struct vyre_batch_planner *planner,
                            const struct vyre_batch_view *view, const struct vyre_batch_plan *plan)
{
    struct vyre_arm first, second;
    assert_int_equal(vyre_batch_planner_arms(planner, plan, &first, &second),
                     plan->node_count >= 2);
    for (uint32_t segment = 0; segment < plan->segment_count; segment++) {
        if (plan->segments[segment].arm_count < 2)
            continue;
        fill_arm_sets(sets, planner, view, plan, segment);
        assert_sets_equal(&first.reads, &sets[0].arm.reads);
        assert_sets_equal(&first.writes, &sets[0].arm.writes);
        assert_sets_equal(&second.reads, &sets[1].arm.reads);
        assert_sets_equal(&second.writes, &sets[1].arm.writes);
        return;
    }
    if (plan->node_count >= 2)
        assert_int_equal(vyre_arm_independence_decide(&first, &second).choice,
                         commands_conflict(view, 0, 1) ? VYRE_ARMS_SERIALIZE
                                                       : VYRE_ARMS_INDEPENDENT);
}

/* D3 on the planner's answer says whether upload and dispatch share bytes, chain or not. */
static void assert_copy(struct vyre_batch_planner *planner, const struct vyre_batch_view *view,
                        const struct vyre_batch_plan *plan)
{
    uint32_t dispatch = UINT32_MAX, upload = UINT32_MAX, slot;
    for (uint32_t i = 0; i < view->command_count && upload == UINT32_MAX; i++) {
        if (view->commands[i].type == VYRE_COMMAND_DISPATCH)
            dispatch = i;
        if (view->commands[i].type == VYRE_COMMAND_UPLOAD && dispatch != UINT32_MAX &&
            view->ranges[view->commands[i].first_range].size_bytes > 0)
            upload = i;
    }
    struct vyre_arm arm;
    bool there = vyre_batch_planner_copy(planner, plan, &slot, &arm);
    assert_int_equal(there, upload != UINT32_MAX);
    if (there)
        assert_int_equal(vyre_copy_overlap_decide(slot, &arm).choice,
                         commands_conflict(view, dispatch, upload) ? VYRE_COPY_SERIALIZE
                                                                   : VYRE_COPY_OVERLAP);
}

static struct batch_recipe random_recipe(struct rng *rng)
{
    static const uint32_t grains[] = {3, 8, 40, 300};
    return (struct batch_recipe){
        .command_count = (uint32_t)rng_below(rng, COMMANDS_MAX + 1),
        .ranges_max = 1 + (uint32_t)rng_below(rng, 4),
        .buffer_count = 1 + (uint32_t)rng_below(rng, 12),
        .grain = rng_bool(rng) ? 1 : 256,
        .grains = grains[rng_below(rng, COUNT_OF(grains))],
        .write_percent = (uint32_t)rng_below(rng, 101),
    };
}

static void plan_random_batches_keep_their_promises(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(2);
    struct batch_builder *builder = batch_builder_create();
    struct arm_sets *sets = calloc(COMMANDS_MAX, sizeof *sets);
    assert_non_null(sets);
    struct vyre_batch_planner planner;
    vyre_batch_planner_init(&planner, NULL);
    for (int round = 0; round < 6000; round++) {
        struct batch_recipe recipe = random_recipe(&rng);
        struct vyre_batch_plan plan;
        batch_random_fill(builder, &rng, &recipe);
        assert_int_equal(vyre_batch_planner_plan(&planner, &builder->view, &plan, NULL), VYRE_OK);
        assert_int_equal(plan.node_count, recipe.command_count);
        assert_segments(&plan);
        assert_deps(&builder->view, &plan);
        assert_conflicts_are_ordered(&builder->view, &plan);
        assert_arms(sets, &planner, &builder->view, &plan);
        assert_question(sets, &planner, &builder->view, &plan);
        assert_copy(&planner, &builder->view, &plan);
    }
    vyre_batch_planner_deinit(&planner);
    free(sets);
    free(builder);
}

/* A chain's questions are answered though nothing was numbered. */
static void plan_random_chains_answer_questions(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(3);
    struct batch_builder *builder = batch_builder_create();
    struct vyre_batch_planner planner;
    vyre_batch_planner_init(&planner, NULL);
    for (int round = 0; round < 2000; round++) {
        struct batch_recipe recipe = random_recipe(&rng);
        struct vyre_batch_plan plan;
        struct vyre_arm first, second;
        batch_random_fill(builder, &rng, &recipe);
        builder->view.is_chain = true;
        assert_int_equal(vyre_batch_planner_plan(&planner, &builder->view, &plan, NULL), VYRE_OK);
        assert_copy(&planner, &builder->view, &plan);
        bool there = vyre_batch_planner_arms(&planner, &plan, &first, &second);
        assert_int_equal(there, recipe.command_count >= 2);
        if (there)
            assert_int_equal(vyre_arm_independence_decide(&first, &second).choice,
                             commands_conflict(&builder->view, 0, 1) ? VYRE_ARMS_SERIALIZE
                                                                     : VYRE_ARMS_INDEPENDENT);
    }
    vyre_batch_planner_deinit(&planner);
    free(builder);
}

/* Plans once with the allocation after `left` failing; true when there was one to fail. */
static bool plan_with_failure(const struct vyre_batch_view *view, size_t left)
{
    static const struct vyre_batch_plan zeroed;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_batch_planner planner;
    struct vyre_batch_plan plan;
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    memset(&plan, 0x5a, sizeof plan);
    vyre_batch_planner_init(&planner, &face);
    counting_fail_after(&memory, left);
    enum vyre_status status = vyre_batch_planner_plan(&planner, view, &plan, &diag);
    bool has_failed = memory.refused_count > 0;
    if (has_failed) {
        assert_diag(status, diag, VYRE_DIAG_OUT_OF_MEMORY);
        assert_memory_equal(&plan, &zeroed, sizeof plan);
        struct vyre_arm first, second;
        uint32_t slot;
        assert_false(vyre_batch_planner_arms(&planner, &plan, &first, &second));
        assert_false(vyre_batch_planner_copy(&planner, &plan, &slot, &first));
    }
    counting_fail_never(&memory);
    assert_int_equal(vyre_batch_planner_plan(&planner, view, &plan, NULL), VYRE_OK);
    assert_segments(&plan);
    if (!view->is_chain)
        assert_deps(view, &plan);
    size_t taken = memory.taken_count;
    assert_int_equal(vyre_batch_planner_plan(&planner, view, &plan, NULL), VYRE_OK);
    assert_int_equal(memory.taken_count, taken);
    vyre_batch_planner_deinit(&planner);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
    return has_failed;
}

static void plan_every_allocation_fails_once(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(4);
    struct batch_builder *builder = batch_builder_create();
    size_t failures_max = 0;
    for (int round = 0; round < 60; round++) {
        struct batch_recipe recipe = random_recipe(&rng);
        recipe.command_count *= 20; /* so that arrays grow while they hold something */
        batch_random_fill(builder, &rng, &recipe);
        builder->view.is_chain = round % 6 == 5;
        size_t left = 0;
        while (plan_with_failure(&builder->view, left))
            left++;
        failures_max = left > failures_max ? left : failures_max;
    }
    assert_true(failures_max >= 12);
    free(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_random_batches_keep_their_promises),
        cmocka_unit_test(plan_random_chains_answer_questions),
        cmocka_unit_test(plan_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
