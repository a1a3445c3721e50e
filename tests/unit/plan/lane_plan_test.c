/*
 * lane_plan_test.c: random batches on lanes.
 *
 * Held for every batch that is spread:
 *   a  every command is in exactly one step, or the host's
 *   b  steps have lanes that there are, and hold commands in an order that keeps their deps
 *   c  a dep in another step is ordered before by lanes and waits alone
 *   d  what goes ahead is on the transfer lane, first, and waits for nothing
 */
#include "plan/lane_plan.h"

#include "plan/batch_plan.h"
#include "support/batch_builder.h"

enum { COMMANDS_MAX = 32, STEPS_MAX = COMMANDS_MAX * VYRE_LANES_MAX + 2 };

struct fixture {
    struct batch_builder *builder;
    struct vyre_batch_planner planner;
    struct vyre_batch_plan plan;
    struct vyre_lane_plan lanes;
};

static void open_fixture(struct fixture *fixture)
{
    *fixture = (struct fixture){.builder = batch_builder_create()};
    vyre_batch_planner_init(&fixture->planner, NULL);
    fixture->lanes.allocator = fixture->planner.allocator;
}

static void close_fixture(struct fixture *fixture)
{
    vyre_lane_plan_deinit(&fixture->lanes);
    vyre_batch_planner_deinit(&fixture->planner);
    free(fixture->builder);
}

static void plan(struct fixture *fixture)
{
    assert_int_equal(
        vyre_batch_planner_plan(&fixture->planner, &fixture->builder->view, &fixture->plan, NULL),
        VYRE_OK);
    assert_true(vyre_lane_plan_begin(&fixture->lanes, &fixture->plan));
}

/* before[j][i]: step i has ended when step j begins. */
static bool before[STEPS_MAX][STEPS_MAX];

static void fill_before(const struct vyre_lane_plan *lanes)
{
    memset(before, 0, sizeof before);
    for (uint32_t j = 0; j < lanes->step_count; j++) {
        const struct vyre_planned_step *step = &lanes->steps[j];
        for (uint32_t i = 0; i < j; i++) {
            const struct vyre_planned_step *other = &lanes->steps[i];
            bool waits = other->group < step->group && (step->waits >> other->lane & 1u);
            if (other->lane != step->lane && !waits)
                continue;
            before[j][i] = true;
            for (uint32_t k = 0; k < i; k++)
                before[j][k] = before[j][k] || before[i][k];
        }
    }
}

static void assert_steps(const struct fixture *fixture, const struct vyre_lanes *lanes,
                         uint32_t place[COMMANDS_MAX])
{
    const struct vyre_lane_plan *plan = &fixture->lanes;
    bool seen[COMMANDS_MAX] = {false};
    uint32_t total = 0;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct vyre_planned_step *step = &plan->steps[i];
        assert_true(step->lane < lanes->compute + lanes->transfer);
        assert_int_equal(step->first, total);
        for (uint32_t k = 0; k < step->count; k++) {
            uint32_t command = plan->order[total];
            assert_int_equal(plan->step_of[command], i);
            assert_false(seen[command]);
            seen[command] = true;
            place[command] = total;
            total++;
        }
        if (step->ahead) {
            assert_int_equal(i, 0);
            assert_int_equal(step->lane, lanes->compute);
            assert_int_equal(step->waits, 0);
        }
    }
    for (uint32_t i = 0; i < fixture->plan.node_count; i++)
        total += plan->step_of[i] == VYRE_STEP_HOST;
    assert_int_equal(total, fixture->plan.node_count);
}

static void assert_deps(const struct fixture *fixture, const uint32_t place[COMMANDS_MAX])
{
    const struct vyre_lane_plan *plan = &fixture->lanes;
    fill_before(plan);
    for (uint32_t i = 0; i < fixture->plan.node_count; i++) {
        const struct vyre_plan_node *node = &fixture->plan.nodes[i];
        for (uint32_t k = 0; k < node->dep_count; k++) {
            uint32_t dep = fixture->plan.deps[node->first_dep + k];
            if (plan->step_of[dep] == VYRE_STEP_HOST)
                continue;
            if (plan->step_of[dep] == plan->step_of[i])
                assert_true(place[dep] < place[i]);
            else
                assert_true(before[plan->step_of[i]][plan->step_of[dep]]);
        }
    }
}

/* What a backend says of uploads that wait for nothing. */
static void take_uploads(struct fixture *fixture, struct rng *rng)
{
    for (uint32_t i = 0; i < fixture->plan.node_count; i++) {
        if (fixture->builder->commands[i].type != VYRE_COMMAND_UPLOAD ||
            fixture->plan.nodes[i].dep_count > 0)
            continue;
        if (rng_below(rng, 3) == 0)
            fixture->lanes.step_of[i] = VYRE_STEP_HOST;
        else
            fixture->lanes.ahead[i] = rng_bool(rng);
    }
}

static void random_batches_keep_their_order(void **state)
{
    (void)state;
    struct fixture fixture;
    struct rng rng = rng_seeded(20261116);
    uint32_t spread = 0;
    uint32_t used = 0;
    open_fixture(&fixture);
    for (int round = 0; round < 3000; round++) {
        const struct batch_recipe recipe = {
            .command_count = 1 + (uint32_t)rng_below(&rng, COMMANDS_MAX - 1),
            .ranges_max = 3,
            .buffer_count = 1 + (uint32_t)rng_below(&rng, 12),
            .grain = 4,
            .grains = 16,
            .write_percent = (uint32_t)rng_below(&rng, 101),
        };
        const struct vyre_lanes lanes = {.compute = 1 + (uint32_t)rng_below(&rng, 4),
                                         .transfer = rng_bool(&rng)};
        const struct vyre_lane_tuning tuning = {.split_groups = rng_below(&rng, 3) * 20,
                                                .ahead_bytes = rng_below(&rng, 3) * 20};
        uint32_t place[COMMANDS_MAX] = {0};
        batch_random_fill(fixture.builder, &rng, &recipe);
        for (uint32_t i = 0; i < recipe.command_count; i++)
            for (int k = 0; k < 3; k++)
                fixture.builder->commands[i].groups[k] = (uint32_t)rng_below(&rng, 4);
        plan(&fixture);
        take_uploads(&fixture, &rng);
        if (!vyre_lane_plan_make(&fixture.lanes, &fixture.builder->view, &fixture.plan, &lanes,
                                 &tuning))
            continue;
        spread++;
        for (uint32_t i = 0; i < fixture.lanes.step_count; i++)
            used |= 1u << fixture.lanes.steps[i].lane;
        assert_steps(&fixture, &lanes, place);
        assert_deps(&fixture, place);
    }
    assert_true(spread > 300);
    assert_int_equal(used, (1u << VYRE_LANES_MAX) - 1);
    close_fixture(&fixture);
}

/* Two arms of unlike weight, twice: the lane with less to do gets the next one. */
static void arms_go_to_the_lane_with_least_to_do(void **state)
{
    (void)state;
    static const uint32_t groups[] = {100, 30, 40, 20};
    static const uint32_t wanted[] = {0, 1, 1, 1};
    const struct vyre_lanes lanes = {.compute = 2};
    const struct vyre_lane_tuning tuning = {.split_groups = 90};
    struct fixture fixture;
    open_fixture(&fixture);
    for (uint32_t i = 0; i < COUNT_OF(groups); i++) {
        uint32_t index = batch_dispatch(fixture.builder, i + 1, 0, 64, VYRE_ACCESS_WRITE);
        const uint32_t sizes[3] = {groups[i], 1, 1};
        memcpy(fixture.builder->commands[index].groups, sizes, sizeof sizes);
    }
    plan(&fixture);
    assert_true(vyre_lane_plan_make(&fixture.lanes, &fixture.builder->view, &fixture.plan, &lanes,
                                    &tuning));
    for (uint32_t i = 0; i < COUNT_OF(groups); i++)
        assert_int_equal(fixture.lanes.steps[fixture.lanes.step_of[i]].lane, wanted[i]);
    /* One group more to take off lane 0, and it is not worth it. */
    const struct vyre_lane_tuning more = {.split_groups = 91};
    assert_true(vyre_lane_plan_begin(&fixture.lanes, &fixture.plan));
    assert_false(
        vyre_lane_plan_make(&fixture.lanes, &fixture.builder->view, &fixture.plan, &lanes, &more));
    close_fixture(&fixture);
}

static void begin_without_memory_fails_and_recovers(void **state)
{
    (void)state;
    for (size_t left = 0; left < 2; left++) {
        struct fixture fixture;
        struct counting_allocator memory = {0};
        counting_fail_after(&memory, left);
        open_fixture(&fixture);
        fixture.lanes.allocator = counting_allocator_face(&memory);
        batch_dispatch(fixture.builder, 1, 0, 64, VYRE_ACCESS_WRITE);
        assert_int_equal(
            vyre_batch_planner_plan(&fixture.planner, &fixture.builder->view, &fixture.plan, NULL),
            VYRE_OK);
        assert_false(vyre_lane_plan_begin(&fixture.lanes, &fixture.plan));
        assert_true(vyre_lane_plan_begin(&fixture.lanes, &fixture.plan));
        close_fixture(&fixture);
        assert_int_equal(memory.live_count, 0);
        assert_int_equal(memory.mismatch_count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_keep_their_order),
        cmocka_unit_test(arms_go_to_the_lane_with_least_to_do),
        cmocka_unit_test(begin_without_memory_fails_and_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
