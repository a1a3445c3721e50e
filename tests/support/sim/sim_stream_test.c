/*
 * sim_stream_test.c: the sim's streams: when submissions end, and when that is reported.
 *
 * A submission costs 100 on the host and 250 on the device, unless a case says otherwise.
 */
#include "support/sim/direct.h"

static struct vyre_sim_costs stream_costs(void)
{
    return (struct vyre_sim_costs){
        .submit_ns = 100,
        .persistent_setup_ns = 5000,
        .persistent_round_trip_ns = 10,
        .on_device = {[VYRE_MODE_PLAIN] = {.batch_ns = 200, .command_ns = 50},
                      [VYRE_MODE_PERSISTENT] = {.batch_ns = 20}},
    };
}

static void open_stream(struct direct *direct, struct direct_batch *batch,
                        struct vyre_sim_desc desc)
{
    const struct vyre_sim_costs costs = stream_costs();
    desc.costs = &costs;
    direct_open(direct, &desc);
    direct_batch_begin(batch);
    direct_batch_increment(direct, batch, 0, 1);
}

static void submit_many(struct direct *direct, struct direct_batch *batch, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(direct_submit(direct, batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
}

static void assert_ends(const struct direct *direct, const uint64_t *ends_ns, size_t count)
{
    assert_int_equal(direct->completion_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(direct->completions[i].sequence, i + 1);
        assert_int_equal(direct->completed_ns[i], ends_ns[i]);
    }
}

static void on_time_host_and_device_overlap(void **state)
{
    (void)state;
    static const uint64_t ends_ns[] = {350, 600, 850, 1100};
    struct direct direct;
    struct direct_batch batch;
    open_stream(&direct, &batch, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_ON_TIME});
    submit_many(&direct, &batch, 4);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 400);
    assert_ends(&direct, ends_ns, 1);
    direct.ops->wait(direct.device, 2, VYRE_FOREVER);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 600);
    vyre_sim_advance(direct.sim, 300);
    assert_ends(&direct, ends_ns, 3);
    direct.ops->wait(direct.device, 4, 100);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 1000);
    assert_ends(&direct, ends_ns, 3);
    direct.ops->wait(direct.device, 4, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 4);
    assert_int_equal(direct.bytes[0][0], 0); /* kernels do not run */
    direct_close(&direct);
}

static void found_reports_all_that_ended_when_a_call_waits(void **state)
{
    (void)state;
    static const uint64_t ends_ns[] = {900, 900, 900, 1100};
    struct direct direct;
    struct direct_batch batch;
    open_stream(&direct, &batch, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_FOUND});
    assert_true(direct.facts.completes_lazily);
    submit_many(&direct, &batch, 4);
    vyre_sim_advance(direct.sim, 500);
    assert_int_equal(direct.completion_count, 0);
    direct.ops->wait(direct.device, 1, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 3);
    direct.ops->wait(direct.device, 4, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 4);
    direct_close(&direct);
}

static void report_every_ends_whole_groups(void **state)
{
    (void)state;
    static const uint64_t ends_ns[] = {600, 600, 1100, 1100, 1350};
    struct direct direct;
    struct direct_batch batch;
    open_stream(&direct, &batch,
                (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_ON_TIME, .report_every = 2});
    submit_many(&direct, &batch, 5);
    vyre_sim_advance(direct.sim, 99); /* 599 */
    assert_int_equal(direct.completion_count, 0);
    direct.ops->wait(direct.device, 1, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 2);
    direct.ops->wait(direct.device, 3, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 4);
    direct.ops->wait(direct.device, 5, VYRE_FOREVER); /* no sixth comes */
    assert_ends(&direct, ends_ns, 5);
    direct_close(&direct);
}

static void report_period_rounds_up(void **state)
{
    (void)state;
    static const uint64_t ends_ns[] = {1000, 1000, 1000, 2000};
    struct direct direct;
    struct direct_batch batch;
    open_stream(
        &direct, &batch,
        (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_ON_TIME, .report_period_ns = 1000});
    submit_many(&direct, &batch, 4);
    direct.ops->wait(direct.device, 1, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 3);
    direct.ops->wait(direct.device, 4, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 4);
    direct_close(&direct);
}

static void switch_drains_and_pays_setup_again(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    open_stream(&direct, &batch,
                (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_FOUND,
                                       .modes_exclude = true,
                                       .switch_drains = true});
    submit_many(&direct, &batch, 2); /* until 600 */
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    assert_int_equal(direct.completion_count, 2);
    assert_int_equal(direct.completed_ns[1], 600);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 600 + 5000 + 10);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 5620); /* until 5650 */
    submit_many(&direct, &batch, 1);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 5750); /* until 6000 */
    assert_int_equal(direct.completion_count, 4);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 6000 + 5000 + 10);
    direct.ops->wait(direct.device, 6, VYRE_FOREVER);
    direct_close(&direct);
}

static void idle_leave_pays_setup_again(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    struct vyre_residency residency;
    open_stream(
        &direct, &batch,
        (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_ON_TIME, .idle_leave_ns = 1000});
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    vyre_sim_advance(direct.sim, 1019);
    direct.ops->residency(direct.device, NULL, &residency);
    assert_true(residency.serves);
    vyre_sim_advance(direct.sim, 1);
    direct.ops->residency(direct.device, NULL, &residency);
    assert_false(residency.serves);
    assert_int_equal(residency.why, VYRE_RESIDENCY_IDLE);
    uint64_t before_ns = vyre_sim_now_ns(direct.sim);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    assert_int_equal(vyre_sim_now_ns(direct.sim) - before_ns, 5010);
    direct.ops->wait(direct.device, 2, VYRE_FOREVER);
    direct_close(&direct);
}

static struct vyre_sim_pace slower_each_time(void *user, uint64_t sequence, uint64_t start_ns)
{
    *(uint64_t *)user = start_ns;
    return (struct vyre_sim_pace){.factor = (double)sequence, .added_ns = sequence == 1 ? 7 : 0};
}

static void pace_scales_launch_and_execution(void **state)
{
    (void)state;
    static const uint64_t ends_ns[] = {357, 857};
    uint64_t asked_ns;
    struct direct direct;
    struct direct_batch batch;
    open_stream(&direct, &batch,
                (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_ON_TIME,
                                       .pace = slower_each_time,
                                       .pace_user = &asked_ns});
    submit_many(&direct, &batch, 2);
    assert_int_equal(asked_ns, 357);
    assert_int_equal(vyre_sim_now_ns(direct.sim), 300);
    direct.ops->wait(direct.device, 2, VYRE_FOREVER);
    assert_ends(&direct, ends_ns, 2);
    direct_close(&direct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_time_host_and_device_overlap),
        cmocka_unit_test(found_reports_all_that_ended_when_a_call_waits),
        cmocka_unit_test(report_every_ends_whole_groups),
        cmocka_unit_test(report_period_rounds_up),
        cmocka_unit_test(switch_drains_and_pays_setup_again),
        cmocka_unit_test(idle_leave_pays_setup_again),
        cmocka_unit_test(pace_scales_launch_and_execution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
