/*
 * sim_test.c: the sim notices mistakes: wrong plans change bytes, breaches of the contract are kept, and
 * virtual time is what the costs say.
 */
#include "support/sim/direct.h"

static const enum vyre_sim_order orders[] = {VYRE_SIM_ORDER_DEPS, VYRE_SIM_ORDER_LEVELS,
                                             VYRE_SIM_ORDER_ARMS};

/* fill 0; copy 0 to 1; fill 0 again; copy 1 to 2: every kind of hazard. */
static void build_chain(const struct direct *direct, struct direct_batch *batch)
{
    direct_batch_begin(batch);
    direct_batch_fill(direct, batch, 0, 0x11111111);
    direct_batch_copy(direct, batch, 0, 1);
    direct_batch_fill(direct, batch, 0, 0x22222222);
    direct_batch_copy(direct, batch, 1, 2);
}

static bool chain_is_serial(const struct direct *direct)
{
    return direct->bytes[0][5] == 0x22 && direct->bytes[1][5] == 0x11 &&
           direct->bytes[2][5] == 0x11;
}

static size_t count_serial(enum vyre_sim_order order, bool untie, size_t seeds)
{
    size_t serial = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct direct direct;
        struct direct_batch batch;
        direct_open(&direct, &(struct vyre_sim_desc){.seed = seed, .order = order});
        build_chain(&direct, &batch);
        if (untie)
            direct_batch_untie(&batch);
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
        assert_int_equal(direct.completion_count, 1);
        assert_string_equal(vyre_sim_violation(direct.sim), "");
        serial += chain_is_serial(&direct);
        direct_close(&direct);
    }
    return serial;
}

static void submit_right_plan_bytes_serial(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(orders); i++)
        assert_int_equal(count_serial(orders[i], false, 64), 64);
}

/* With 4! orders about 1 in 24 of the random ones is serial, and no last-first one. */
static void submit_wrong_plan_bytes_differ(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(orders); i++)
        assert_in_range(count_serial(orders[i], true, 64), 0, 16);
}

/* Each order obeys its part of the plan and no other. */
static void submit_one_part_wrong_only_its_order_differs(void **state)
{
    (void)state;
    for (size_t part = 0; part < COUNT_OF(orders); part++) {
        for (size_t i = 0; i < COUNT_OF(orders); i++) {
            size_t serial = 0;
            for (uint64_t seed = 0; seed < 32; seed++) {
                struct direct direct;
                struct direct_batch batch;
                direct_open(&direct, &(struct vyre_sim_desc){.seed = seed, .order = orders[i]});
                build_chain(&direct, &batch);
                struct direct_batch right = batch;
                direct_batch_untie(&batch);
                for (uint32_t c = 0; c < 4; c++) {
                    if (orders[part] != VYRE_SIM_ORDER_DEPS) {
                        batch.nodes[c].first_dep = right.nodes[c].first_dep;
                        batch.nodes[c].dep_count = right.nodes[c].dep_count;
                    }
                    if (orders[part] != VYRE_SIM_ORDER_LEVELS)
                        batch.nodes[c].level = right.nodes[c].level;
                    if (orders[part] != VYRE_SIM_ORDER_ARMS)
                        batch.nodes[c].arm = 0;
                }
                batch.plan.dep_count = right.plan.dep_count;
                batch.plan.level_count = right.plan.level_count;
                assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
                serial += chain_is_serial(&direct);
                direct_close(&direct);
            }
            if (part == i)
                assert_in_range(serial, 0, 16);
            else
                assert_int_equal(serial, 32);
        }
    }
}

/* ---- Time ------------------------------------------------------------------------------------- */

static void clock_plain_replay_persistent_cost_what_was_set(void **state)
{
    (void)state;
    const struct vyre_sim_costs costs = {
        .submit_ns = 1000000,
        .submit_command_ns = 100000,
        .record_ns = 70000,
        .record_command_ns = 1000,
        .replay_ns = 20000,
        .replay_command_ns = 500,
        .persistent_setup_ns = 9000000,
        .persistent_item_ns = 30,
        .persistent_round_trip_ns = 4000,
        .group_ns = 7,
    };
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, &(struct vyre_sim_desc){.costs = &costs});
    direct_batch_begin(&batch);
    direct_batch_increment(&direct, &batch, 0, 10);
    direct_batch_increment(&direct, &batch, 0, 10);
    uint64_t now = vyre_sim_now_ns(direct.sim);
    assert_int_equal(now, 0);

    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    now += 1000000 + 2 * 100000 + 2 * 70;
    assert_int_equal(vyre_sim_now_ns(direct.sim), now);
    assert_int_equal(direct.completions[0].device_ns, 140);

    void *recording = direct_record(&direct, &batch);
    now += 70000 + 2 * 1000;
    assert_int_equal(vyre_sim_now_ns(direct.sim), now);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_REPLAY, recording), VYRE_OK);
    now += 20000 + 2 * 500 + 140;
    assert_int_equal(vyre_sim_now_ns(direct.sim), now);
    direct.ops->recording_destroy(direct.device, recording);

    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    now += 9000000 + 4000 + 2 * 30 + 140;
    assert_int_equal(vyre_sim_now_ns(direct.sim), now);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    now += 4000 + 2 * 30 + 140;
    assert_int_equal(vyre_sim_now_ns(direct.sim), now);

    assert_true(vyre_sim_set_kernel_cost(direct.sim, "increment", 100));
    struct vyre_sim_costs changed = vyre_sim_costs(direct.sim);
    changed.report_launch = true;
    vyre_sim_set_costs(direct.sim, &changed);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PERSISTENT, NULL), VYRE_OK);
    assert_int_equal(direct.completions[4].device_ns, 4000 + 2 * 30 + 2000);
    assert_int_equal(direct.bytes[0][0], 10);
    assert_string_equal(vyre_sim_violation(direct.sim), "");
    direct_close(&direct);
}

static void clock_noise_varies_within_its_reach(void **state)
{
    (void)state;
    const struct vyre_sim_costs costs = {.submit_ns = 10000, .noise_percent = 20};
    struct direct direct;
    struct direct_batch batch;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    direct_open(&direct, &(struct vyre_sim_desc){.costs = &costs, .seed = 5});
    direct_batch_begin(&batch);
    direct_batch_fill(&direct, &batch, 0, 1);
    for (int i = 0; i < 200; i++) {
        uint64_t before = vyre_sim_now_ns(direct.sim);
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
        uint64_t cost = vyre_sim_now_ns(direct.sim) - before;
        least = cost < least ? cost : least;
        most = cost > most ? cost : most;
    }
    assert_in_range(least, 8000, 8500);
    assert_in_range(most, 11500, 12000);
    direct_close(&direct);
}

static void trace_independent_commands_overlap_on_queues(void **state)
{
    (void)state;
    const struct vyre_sim_costs costs = {.group_ns = 1000, .copy_ns = 1500};
    unsigned char upload[DIRECT_BUFFER_BYTES] = {0};
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct direct direct;
        struct direct_batch batch;
        struct vyre_sim_span spans[4];
        direct_open(&direct, &(struct vyre_sim_desc){.costs = &costs,
                                                     .compute_queues = 2,
                                                     .transfer_queue = true,
                                                     .order = orders[i]});
        assert_int_equal(direct.facts.abilities[VYRE_ABILITY_ARMS].value, 2);
        assert_int_equal(direct.facts.abilities[VYRE_ABILITY_COPY_OVERLAP].value, 1);
        direct_batch_begin(&batch);
        direct_batch_increment(&direct, &batch, 0, 1);
        direct_batch_increment(&direct, &batch, 1, 1);
        direct_batch_upload(&direct, &batch, 2, upload);
        direct_batch_untie(&batch);
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
        assert_int_equal(vyre_sim_trace(direct.sim, spans, 4), 3);
        for (int k = 0; k < 3; k++) {
            bool uploads = spans[k].type == VYRE_COMMAND_UPLOAD;
            assert_int_equal(spans[k].start_ns, 0);
            assert_int_equal(spans[k].end_ns, uploads ? 1500 : 1000);
            assert_int_equal(spans[k].queue == 2, uploads);
            assert_true(spans[k].queue != spans[(k + 1) % 3].queue);
        }
        assert_int_equal(direct.completions[0].device_ns, 1500);
        direct_close(&direct);
    }
}

/* ---- Completion and faults -------------------------------------------------------------------- */

static void step_manual_completes_in_order_as_asked(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL});
    direct_batch_begin(&batch);
    direct_batch_increment(&direct, &batch, 0, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    assert_int_equal(vyre_sim_in_flight(direct.sim), 5);
    assert_int_equal(direct.bytes[0][0], 0);
    assert_int_equal(vyre_sim_step(direct.sim, 2), 2);
    assert_int_equal(direct.bytes[0][0], 2);
    assert_int_equal(direct.completion_count, 2);
    assert_int_equal(direct.completions[1].sequence, 2);
    assert_int_equal(vyre_sim_run_all(direct.sim), 3);
    assert_int_equal(vyre_sim_in_flight(direct.sim), 0);
    direct_close(&direct);
}

static void fail_nth_call_fails_once(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, NULL);
    direct_batch_begin(&batch);
    direct_batch_increment(&direct, &batch, 0, 1);
    vyre_sim_fail(direct.sim, VYRE_SIM_SUBMIT, 2, VYRE_LIMIT, 42);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_LIMIT);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    assert_int_equal(vyre_sim_calls(direct.sim, VYRE_SIM_SUBMIT), 3);
    assert_int_equal(direct.bytes[0][0], 2);

    vyre_sim_fail_running(direct.sim, 1, VYRE_DRIVER, -5);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    assert_int_equal(direct.completions[2].status, VYRE_DRIVER);
    assert_int_equal(direct.completions[2].native_code, -5);
    assert_string_equal(vyre_sim_violation(direct.sim), "");
    direct_close(&direct);
}

static void lose_at_reports_once_and_completes_no_more(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL});
    direct_batch_begin(&batch);
    direct_batch_increment(&direct, &batch, 0, 1);
    vyre_sim_lose_at(direct.sim, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    assert_int_equal(vyre_sim_run_all(direct.sim), 1);
    assert_int_equal(direct.lost_count, 1);
    vyre_sim_lose_now(direct.sim);
    assert_int_equal(direct.lost_count, 1);
    assert_int_equal(direct.completion_count, 1);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_DEVICE_LOST);
    direct_close(&direct);
}

static void hang_holds_back_until_released(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, NULL);
    direct_batch_begin(&batch);
    direct_batch_increment(&direct, &batch, 0, 1);
    vyre_sim_hang_at(direct.sim, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    assert_int_equal(direct.completion_count, 1);
    direct.ops->wait(direct.device, 3, 1000000);
    assert_int_equal(direct.completion_count, 1);
    vyre_sim_unhang(direct.sim);
    direct.ops->wait(direct.device, 3, VYRE_FOREVER);
    assert_int_equal(direct.completion_count, 3);
    direct_close(&direct);
}

/* ---- Violations ------------------------------------------------------------------------------- */

/* Each breaks the contract in one way; the batch is the chain, the plan the right one. */
static void break_sequence(struct direct *direct, struct direct_batch *batch)
{
    (void)batch;
    direct->sequence = 4;
}

static void break_level(struct direct *direct, struct direct_batch *batch)
{
    (void)direct;
    batch->nodes[2].level = 1;
}

static void break_segment(struct direct *direct, struct direct_batch *batch)
{
    (void)direct;
    batch->segments[0].command_count = 3;
}

static void break_dep(struct direct *direct, struct direct_batch *batch)
{
    (void)direct;
    batch->deps[1] = 2; /* command 2 waits for itself */
}

static void break_access(struct direct *direct, struct direct_batch *batch)
{
    (void)direct;
    batch->ranges[0].access = VYRE_ACCESS_DEFAULT;
}

static void break_words(struct direct *direct, struct direct_batch *batch)
{
    (void)direct;
    batch->words[0] = 1;
}

static void submit_broken_contract_is_kept(void **state)
{
    (void)state;
    static const struct {
        void (*breaks)(struct direct *direct, struct direct_batch *batch);
        const char *violation;
    } cases[] = {
        {break_sequence, "submission 5 after 0"}, {break_level, "level 1"},
        {break_segment, "segments cover 3"},      {break_dep, "command 2 depends on 2"},
        {break_access, "without access"},         {break_words, "kept the backend's words"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct direct direct;
        struct direct_batch batch;
        direct_open(&direct, &(struct vyre_sim_desc){.order = VYRE_SIM_ORDER_LEVELS});
        build_chain(&direct, &batch);
        cases[i].breaks(&direct, &batch);
        assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
        assert_contains(vyre_sim_violation(direct.sim), cases[i].violation);
        direct_close(&direct);
    }
}

static void destroy_in_use_is_kept(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL});
    build_chain(&direct, &batch);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_PLAIN, NULL), VYRE_OK);
    direct.ops->buffer_destroy(direct.device, direct.buffers[2]);
    assert_contains(vyre_sim_violation(direct.sim), "buffer_destroy while submission 1 uses it");
    vyre_sim_lose_now(direct.sim); /* it cannot run any more */
    const struct vyre_buffer_desc desc = {.size_bytes = DIRECT_BUFFER_BYTES};
    void *address;
    assert_int_equal(
        direct.ops->buffer_create(direct.device, &desc, &direct.buffers[2], &address, NULL),
        VYRE_OK);
    direct_close(&direct);
}

static void replay_of_another_shape_is_kept(void **state)
{
    (void)state;
    struct direct direct;
    struct direct_batch batch;
    direct_open(&direct, NULL);
    build_chain(&direct, &batch);
    void *recording = direct_record(&direct, &batch);
    batch.ranges[1].offset_bytes = 32;
    batch.ranges[1].size_bytes = batch.ranges[2].size_bytes = 32;
    memset(batch.words, 0, sizeof batch.words);
    assert_int_equal(direct_submit(&direct, &batch, VYRE_MODE_REPLAY, recording), VYRE_OK);
    assert_contains(vyre_sim_violation(direct.sim), "another shape");
    direct.ops->recording_destroy(direct.device, recording);
    direct_close(&direct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_right_plan_bytes_serial),
        cmocka_unit_test(submit_wrong_plan_bytes_differ),
        cmocka_unit_test(submit_one_part_wrong_only_its_order_differs),
        cmocka_unit_test(clock_plain_replay_persistent_cost_what_was_set),
        cmocka_unit_test(clock_noise_varies_within_its_reach),
        cmocka_unit_test(trace_independent_commands_overlap_on_queues),
        cmocka_unit_test(step_manual_completes_in_order_as_asked),
        cmocka_unit_test(fail_nth_call_fails_once),
        cmocka_unit_test(lose_at_reports_once_and_completes_no_more),
        cmocka_unit_test(hang_holds_back_until_released),
        cmocka_unit_test(submit_broken_contract_is_kept),
        cmocka_unit_test(destroy_in_use_is_kept),
        cmocka_unit_test(replay_of_another_shape_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
