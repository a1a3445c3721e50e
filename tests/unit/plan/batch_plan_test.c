/*
 * batch_plan_test.c: plans of batches made by hand.
 */
#include "plan/batch_plan.h"

#include "support/batch_builder.h"

enum { A = 1, B = 2, C = 3 }; /* identities of buffers */

#define R  VYRE_ACCESS_READ
#define W  VYRE_ACCESS_WRITE
#define RW VYRE_ACCESS_READWRITE

struct fixture {
    struct counting_allocator memory;
    struct batch_builder *batch;
    struct vyre_batch_planner planner;
    struct vyre_batch_plan plan;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    struct vyre_allocator face = counting_allocator_face(&fixture->memory);
    fixture->batch = batch_builder_create();
    vyre_batch_planner_init(&fixture->planner, &face);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    vyre_batch_planner_deinit(&fixture->planner);
    assert_int_equal(fixture->memory.live_count, 0);
    assert_int_equal(fixture->memory.mismatch_count, 0);
    free(fixture->batch);
    free(fixture);
    return 0;
}

static void plan(struct fixture *fixture)
{
    memset(&fixture->plan, 0x5a, sizeof fixture->plan);
    assert_int_equal(
        vyre_batch_planner_plan(&fixture->planner, &fixture->batch->view, &fixture->plan, NULL),
        VYRE_OK);
    assert_int_equal(fixture->plan.node_count, fixture->batch->view.command_count);
}

static void assert_shape(const struct fixture *fixture, uint32_t segments, uint32_t deps,
                         uint32_t levels, uint32_t intervals)
{
    assert_int_equal(fixture->plan.segment_count, segments);
    assert_int_equal(fixture->plan.dep_count, deps);
    assert_int_equal(fixture->plan.level_count, levels);
    assert_int_equal(fixture->plan.interval_count, intervals);
}

static void assert_segment(const struct fixture *fixture, uint32_t segment, uint32_t first,
                           uint32_t commands, uint32_t arms)
{
    assert_int_equal(fixture->plan.segments[segment].first_command, first);
    assert_int_equal(fixture->plan.segments[segment].command_count, commands);
    assert_int_equal(fixture->plan.segments[segment].arm_count, arms);
}

static void assert_node(const struct fixture *fixture, uint32_t command, uint32_t segment,
                        uint32_t arm, uint32_t level)
{
    assert_int_equal(fixture->plan.nodes[command].segment, segment);
    assert_int_equal(fixture->plan.nodes[command].arm, arm);
    assert_int_equal(fixture->plan.nodes[command].level, level);
}

/* `expected` is a text as "0 3 4". */
static void assert_waits(const struct fixture *fixture, uint32_t command, const char *expected)
{
    const struct vyre_plan_node *node = &fixture->plan.nodes[command];
    char text[256] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < node->dep_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, i ? " %u" : "%u",
                                   fixture->plan.deps[node->first_dep + i]);
    assert_string_equal(text, expected);
}

static void plan_empty_batch_is_an_empty_plan(void **state)
{
    struct fixture *fixture = *state;
    plan(fixture);
    assert_shape(fixture, 0, 0, 0, 0);
    fixture->batch->view.is_chain = true;
    plan(fixture);
    assert_shape(fixture, 0, 0, 0, 0);
    assert_int_equal(fixture->memory.taken_count, 0);
}

static void plan_disjoint_halves_are_independent(void **state)
{
    struct fixture *fixture = *state;
    batch_dispatch(fixture->batch, A, 0, 512, W);
    batch_dispatch(fixture->batch, A, 512, 512, RW);
    plan(fixture);
    assert_shape(fixture, 1, 0, 1, 2);
    assert_segment(fixture, 0, 0, 2, 2);
    assert_node(fixture, 0, 0, 0, 0);
    assert_node(fixture, 1, 0, 1, 0);
}

/* All pairs of accesses to the same bytes. */
static void plan_two_accesses_conflict_unless_both_read(void **state)
{
    static const enum vyre_access accesses[] = {R, W, RW};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(accesses); i++) {
        for (size_t j = 0; j < COUNT_OF(accesses); j++) {
            bool conflict = accesses[i] != R || accesses[j] != R;
            batch_builder_reset(fixture->batch);
            batch_dispatch(fixture->batch, A, 0, 64, accesses[i]);
            batch_dispatch(fixture->batch, A, 63, 64, accesses[j]);
            plan(fixture);
            assert_shape(fixture, 1, conflict, conflict ? 2 : 1, 3);
            assert_segment(fixture, 0, 0, 2, conflict ? 1 : 2);
            assert_waits(fixture, 1, conflict ? "0" : "");
        }
    }
}

static void plan_other_buffer_or_no_bytes_conflict_with_nothing(void **state)
{
    struct fixture *fixture = *state;
    batch_dispatch(fixture->batch, A, 0, 64, W);
    batch_dispatch(fixture->batch, B, 0, 64, W);
    batch_dispatch(fixture->batch, A, 32, 0, W);
    batch_command(fixture->batch, VYRE_COMMAND_DISPATCH);
    plan(fixture);
    assert_shape(fixture, 1, 0, 1, 2);
    assert_segment(fixture, 0, 0, 4, 4);
}

static void plan_batch_without_any_range_is_all_arms(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++)
        batch_command(fixture->batch, VYRE_COMMAND_DISPATCH);
    plan(fixture);
    assert_shape(fixture, 1, 0, 1, 0);
    assert_segment(fixture, 0, 0, 3, 3);
    struct vyre_arm first, second;
    assert_true(vyre_batch_planner_arms(&fixture->planner, &fixture->plan, &first, &second));
    assert_int_equal(first.reads.count + first.writes.count, 0);
    assert_int_equal(second.reads.count + second.writes.count, 0);
}

/* Readers wait for the writer; the next writer waits for them and not for what they wait for. */
static void plan_write_after_reads_waits_for_readers_alone(void **state)
{
    struct fixture *fixture = *state;
    batch_dispatch(fixture->batch, A, 0, 64, W);
    batch_dispatch(fixture->batch, A, 0, 64, R);
    batch_dispatch(fixture->batch, A, 0, 64, R);
    batch_dispatch(fixture->batch, A, 0, 64, W);
    plan(fixture);
    assert_shape(fixture, 1, 4, 3, 1);
    assert_waits(fixture, 1, "0");
    assert_waits(fixture, 2, "0");
    assert_waits(fixture, 3, "1 2");
    assert_node(fixture, 3, 0, 0, 2);
}

/* As in y += a x, again and again: x was written once, and every step waits for the one before. */
static void plan_input_of_every_step_is_waited_for_once(void **state)
{
    struct fixture *fixture = *state;
    batch_upload(fixture->batch, A, 0, 64);
    batch_upload(fixture->batch, B, 0, 64);
    for (int i = 0; i < 3; i++) {
        batch_dispatch(fixture->batch, A, 0, 64, R);
        batch_range(fixture->batch, B, 0, 64, RW);
    }
    plan(fixture);
    assert_waits(fixture, 2, "0 1");
    assert_waits(fixture, 3, "2");
    assert_waits(fixture, 4, "3");
    assert_shape(fixture, 2, 4, 4, 2);
    assert_segment(fixture, 0, 0, 2, 2);
    assert_segment(fixture, 1, 2, 3, 1);
}

/* The same where a command that no other waits for keeps all floors at 0. */
static void plan_input_of_every_step_is_waited_for_once_beside_others(void **state)
{
    struct fixture *fixture = *state;
    batch_dispatch(fixture->batch, C, 0, 64, R);
    batch_upload(fixture->batch, A, 0, 64);
    batch_upload(fixture->batch, B, 0, 64);
    for (int i = 0; i < 3; i++) {
        batch_dispatch(fixture->batch, A, 0, 64, R);
        batch_range(fixture->batch, B, 0, 64, RW);
    }
    plan(fixture);
    assert_waits(fixture, 3, "1 2");
    assert_waits(fixture, 4, "3");
    assert_waits(fixture, 5, "4");
}

static void plan_partial_overlaps_conflict_where_bytes_meet(void **state)
{
    struct fixture *fixture = *state;
    batch_dispatch(fixture->batch, A, 0, 100, W);
    batch_dispatch(fixture->batch, A, 200, 100, W);
    batch_dispatch(fixture->batch, A, 100, 100, R); /* between both */
    batch_dispatch(fixture->batch, A, 299, 1, R);   /* the last byte of 1 */
    batch_dispatch(fixture->batch, A, 99, 102, R);  /* a byte of each */
    plan(fixture);
    assert_waits(fixture, 2, "");
    assert_waits(fixture, 3, "1");
    assert_waits(fixture, 4, "0 1");
    assert_segment(fixture, 0, 0, 4, 3);
    assert_segment(fixture, 1, 4, 1, 1);
}

static void plan_copies_within_a_buffer_use_both_ends(void **state)
{
    struct fixture *fixture = *state;
    batch_copy(fixture->batch, A, 0, 256, 64);
    batch_copy(fixture->batch, A, 64, 320, 64);  /* beside 0 */
    batch_copy(fixture->batch, A, 256, 512, 64); /* reads what 0 wrote */
    batch_copy(fixture->batch, A, 768, 64, 64);  /* writes what 1 read */
    plan(fixture);
    assert_waits(fixture, 1, "");
    assert_waits(fixture, 2, "0");
    assert_waits(fixture, 3, "1");
    assert_segment(fixture, 0, 0, 4, 2);
}

static void plan_same_buffer_bound_twice_is_no_conflict_with_itself(void **state)
{
    static const enum vyre_access orders[][3] = {{R, W, R}, {W, R, RW}, {R, R, W}, {W, W, W}};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        batch_builder_reset(fixture->batch);
        batch_dispatch(fixture->batch, A, 0, 128, W);
        batch_command(fixture->batch, VYRE_COMMAND_DISPATCH);
        for (size_t j = 0; j < 3; j++)
            batch_range(fixture->batch, A, j * 32, 96, orders[i][j]);
        batch_dispatch(fixture->batch, A, 0, 128, R);
        plan(fixture);
        assert_waits(fixture, 1, "0");
        assert_waits(fixture, 2, "1"); /* also where 0 wrote last: 1 waits for it */
        assert_shape(fixture, 1, 2, 3, 5);
    }
}

static void plan_fan_out_and_join_is_two_segments(void **state)
{
    struct fixture *fixture = *state;
    for (size_t step = 0; step < 4; step++) {
        for (size_t arm = 0; arm < 16; arm++)
            batch_dispatch(fixture->batch, A, arm * 64, 64, RW);
    }
    batch_dispatch(fixture->batch, A, 0, 16 * 64, RW);
    plan(fixture);
    assert_shape(fixture, 2, 3 * 16 + 16, 5, 16);
    assert_segment(fixture, 0, 0, 64, 16);
    assert_segment(fixture, 1, 64, 1, 1);
    for (uint32_t i = 0; i < 64; i++)
        assert_node(fixture, i, 0, i % 16, i / 16);
    assert_node(fixture, 64, 1, 0, 4);
    assert_waits(fixture, 64, "48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63");
}

static void plan_table_waits_for_all_members(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 40; i++)
        batch_upload(fixture->batch, 100 + i, 0, 4096);
    batch_command(fixture->batch, VYRE_COMMAND_DISPATCH);
    for (size_t i = 0; i < 40; i++)
        batch_range(fixture->batch, 139 - i, 0, 4096, R);
    batch_upload(fixture->batch, 120, 0, 16);
    plan(fixture);
    assert_shape(fixture, 2, 41, 3, 41);
    assert_int_equal(fixture->plan.nodes[40].dep_count, 40);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(fixture->plan.deps[fixture->plan.nodes[40].first_dep + i], i);
    assert_waits(fixture, 41, "40");
}

static void plan_chain_is_believed(void **state)
{
    struct fixture *fixture = *state;
    fixture->batch->view.is_chain = true;
    for (size_t i = 0; i < 5; i++)
        batch_dispatch(fixture->batch, A, 0, 64, RW);
    plan(fixture);
    assert_shape(fixture, 1, 4, 5, 0);
    assert_segment(fixture, 0, 0, 5, 1);
    assert_waits(fixture, 0, "");
    for (uint32_t i = 1; i < 5; i++) {
        const char expected[] = {(char)('0' + i - 1), '\0'};
        assert_waits(fixture, i, expected);
        assert_node(fixture, i, 0, 0, i);
    }
}

static void plan_again_allocates_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_arm first, second, copy;
    uint32_t slot;
    size_t taken = 0;
    for (int round = 0; round < 3; round++) {
        struct rng rng = rng_seeded(7);
        for (int i = 0; i < 20; i++) {
            const struct batch_recipe recipe = {1000, 3, 4, 64, 64, 40};
            batch_random_fill(fixture->batch, &rng, &recipe);
            fixture->batch->view.is_chain = i == 19;
            plan(fixture);
            assert_true(
                vyre_batch_planner_arms(&fixture->planner, &fixture->plan, &first, &second));
            assert_true(vyre_batch_planner_copy(&fixture->planner, &fixture->plan, &slot, &copy));
        }
        if (round > 0)
            assert_int_equal(fixture->memory.taken_count, taken);
        taken = fixture->memory.taken_count;
    }
}

/* Whole reads beside many pieces: a node per access would be four million. */
static void plan_whole_buffer_beside_pieces_takes_a_node_each(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 1000; i++) {
        batch_dispatch(fixture->batch, A, i * 16, 16, R);
        batch_dispatch(fixture->batch, A, 0, 2000 * 16, R);
        batch_dispatch(fixture->batch, A, (2 * i + 1) * 16, 16, W);
        batch_dispatch(fixture->batch, A, (i * 7 % 1000) * 16, 16, R);
    }
    plan(fixture);
    assert_in_range(fixture->plan.interval_count, 1500, 2000);
    assert_in_range(fixture->planner.hazards.reader_count, 3000, 4000);
    assert_in_range(fixture->memory.peak_bytes, 0, 64 << 20);
}

/* A write of a piece, a read of the whole, and again: each waits for the one before it alone. */
static void plan_pieces_written_between_whole_reads_make_a_chain(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 100; i++) {
        batch_dispatch(fixture->batch, A, i * 16, 16, W);
        batch_dispatch(fixture->batch, A, 0, 100 * 16, R);
    }
    plan(fixture);
    assert_shape(fixture, 1, 199, 200, 100);
    assert_waits(fixture, 199, "198");
}

static void arms_fewer_than_two_commands_is_false(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_arm first, second;
    plan(fixture);
    assert_false(vyre_batch_planner_arms(&fixture->planner, &fixture->plan, &first, &second));
    batch_dispatch(fixture->batch, A, 0, 64, RW);
    plan(fixture);
    assert_false(vyre_batch_planner_arms(&fixture->planner, &fixture->plan, &first, &second));
    assert_int_equal(first.reads.count, 0);
    assert_int_equal(second.writes.count, 0);
}

/* Sets of more than 8 slots live in the planner, those of both questions at the same time. */
static void arms_and_copy_large_sets_hold_together(void **state)
{
    struct fixture *fixture = *state;
    for (size_t arm = 0; arm < 2; arm++) {
        batch_command(fixture->batch, VYRE_COMMAND_DISPATCH);
        for (size_t i = 0; i < 20; i++)
            batch_range(fixture->batch, A + arm, i * 64, 32, i % 2 ? R : RW);
    }
    batch_upload(fixture->batch, B, 0, 40 * 64); /* the second dispatch, and bytes between */
    plan(fixture);
    struct vyre_arm first, second, copy;
    uint32_t slot;
    assert_true(vyre_batch_planner_arms(&fixture->planner, &fixture->plan, &first, &second));
    assert_true(vyre_batch_planner_copy(&fixture->planner, &fixture->plan, &slot, &copy));
    assert_int_equal(first.reads.count, 20);
    assert_int_equal(first.writes.count, 10);
    assert_int_equal(second.writes.count, 20 + 20); /* the upload is of that arm */
    assert_int_equal(copy.reads.count, 20);
    assert_int_equal(copy.writes.count, 10);
    assert_int_equal(vyre_arm_independence_decide(&first, &second).choice, VYRE_ARMS_INDEPENDENT);
    assert_int_equal(vyre_arm_independence_decide(&second, &copy).conflict,
                     VYRE_CONFLICT_WRITE_WRITE);
    assert_int_equal(vyre_copy_overlap_decide(slot, &copy).choice, VYRE_COPY_SERIALIZE);
}

static void arms_chain_asks_of_the_first_two_commands(void **state)
{
    struct fixture *fixture = *state;
    fixture->batch->view.is_chain = true;
    batch_upload(fixture->batch, A, 0, 64);
    batch_dispatch(fixture->batch, A, 0, 64, R);
    batch_range(fixture->batch, B, 0, 64, W);
    plan(fixture);
    struct vyre_arm first, second;
    assert_true(vyre_batch_planner_arms(&fixture->planner, &fixture->plan, &first, &second));
    struct vyre_arm_verdict verdict = vyre_arm_independence_decide(&first, &second);
    assert_int_equal(verdict.choice, VYRE_ARMS_SERIALIZE);
    assert_int_equal(verdict.conflict, VYRE_CONFLICT_READ_AFTER_WRITE);
}

static void copy_upload_without_dispatch_before_is_false(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_arm arm;
    uint32_t slot = 9;
    batch_upload(fixture->batch, A, 0, 64);
    batch_dispatch(fixture->batch, A, 0, 64, RW);
    batch_upload(fixture->batch, A, 0, 0); /* fills nothing */
    plan(fixture);
    assert_false(vyre_batch_planner_copy(&fixture->planner, &fixture->plan, &slot, &arm));
    assert_int_equal(slot, 0);
    assert_int_equal(arm.reads.count, 0);
}

/* The dispatch touches only the end of what is uploaded: that end is what D3 is asked about. */
static void copy_slot_is_the_one_that_the_nearest_dispatch_touches(void **state)
{
    struct fixture *fixture = *state;
    for (int chain = 0; chain < 2; chain++) {
        batch_builder_reset(fixture->batch);
        fixture->batch->view.is_chain = chain;
        batch_dispatch(fixture->batch, A, 0, 64, RW);
        batch_dispatch(fixture->batch, A, 48, 16, R);
        batch_command(fixture->batch, VYRE_COMMAND_FILL);
        batch_range(fixture->batch, C, 0, 64, W);
        batch_upload(fixture->batch, A, 0, 64);
        plan(fixture);
        struct vyre_arm arm;
        uint32_t slot;
        assert_true(vyre_batch_planner_copy(&fixture->planner, &fixture->plan, &slot, &arm));
        assert_int_equal(slot, 1);
        assert_int_equal(arm.reads.count, 1);
        assert_int_equal(arm.writes.count, 0);
        assert_int_equal(vyre_copy_overlap_decide(slot, &arm).choice, VYRE_COPY_SERIALIZE);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(plan_empty_batch_is_an_empty_plan),
        CASE(plan_disjoint_halves_are_independent),
        CASE(plan_two_accesses_conflict_unless_both_read),
        CASE(plan_other_buffer_or_no_bytes_conflict_with_nothing),
        CASE(plan_batch_without_any_range_is_all_arms),
        CASE(plan_write_after_reads_waits_for_readers_alone),
        CASE(plan_input_of_every_step_is_waited_for_once),
        CASE(plan_input_of_every_step_is_waited_for_once_beside_others),
        CASE(plan_partial_overlaps_conflict_where_bytes_meet),
        CASE(plan_copies_within_a_buffer_use_both_ends),
        CASE(plan_same_buffer_bound_twice_is_no_conflict_with_itself),
        CASE(plan_fan_out_and_join_is_two_segments),
        CASE(plan_table_waits_for_all_members),
        CASE(plan_chain_is_believed),
        CASE(plan_again_allocates_nothing),
        CASE(plan_whole_buffer_beside_pieces_takes_a_node_each),
        CASE(plan_pieces_written_between_whole_reads_make_a_chain),
        CASE(arms_fewer_than_two_commands_is_false),
        CASE(arms_and_copy_large_sets_hold_together),
        CASE(arms_chain_asks_of_the_first_two_commands),
        CASE(copy_upload_without_dispatch_before_is_false),
        CASE(copy_slot_is_the_one_that_the_nearest_dispatch_touches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
