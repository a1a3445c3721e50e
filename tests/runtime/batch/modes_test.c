/*
 * modes_test.c: a required mode runs or fails; auto falls back and says so; recordings are kept,
 * reused and dropped within their limits.
 */
#include "runtime/sim_fixture.h"

enum { BYTES = 256 };

static struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

/* Two commands, so that the costs of a launch are worth saving. */
static struct vyre_batch *small_batch(struct fixture *fixture, struct vyre_buffer *buffer,
                                      uint32_t word)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_fill(batch, whole(buffer), word);
    fixture_mix(fixture, batch, whole(fixture_buffer(fixture, BYTES)), whole(buffer), word);
    return batch;
}

static struct vyre_batch_result submit_auto(struct fixture *fixture, struct vyre_batch *batch,
                                            uint32_t repeat_hint)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.repeat_hint = repeat_hint};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    return fixture_result(fixture, ticket);
}

static void assert_choice(struct vyre_batch_result result, enum vyre_mode mode,
                          enum vyre_mode wanted, enum vyre_why why, enum vyre_why out)
{
    assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(mode));
    assert_string_equal(vyre_mode_name(result.wanted), vyre_mode_name(wanted));
    assert_string_equal(vyre_why_name(result.why), vyre_why_name(why));
    assert_string_equal(vyre_why_name(result.wanted_out), vyre_why_name(out));
}

/* ---- Abilities -------------------------------------------------------------------------------- */

static void open_facts_are_what_the_backend_said(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_ability ability;
    struct vyre_device_limits limits;
    struct vyre_device_info info;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.compute_queues = 3,
                                         .transfer_queue = true,
                                         .absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"},
                                         .limits = {.range_alignment = 128, .table_entries = 9}},
                 NULL);
    vyre_device_get_ability(fixture.device, VYRE_ABILITY_ARMS, &ability);
    assert_int_equal(ability.value, 3);
    assert_string_equal(ability.reason, "");
    vyre_device_get_ability(fixture.device, VYRE_ABILITY_COPY_OVERLAP, &ability);
    assert_int_equal(ability.value, 1);
    vyre_device_get_ability(fixture.device, VYRE_ABILITY_PERSISTENT, &ability);
    assert_int_equal(ability.value, 0);
    assert_string_equal(ability.reason, "no ring");
    vyre_device_get_limits(fixture.device, &limits);
    assert_int_equal(limits.range_alignment, 128);
    assert_int_equal(limits.table_entries, 9);
    assert_int_equal(limits.constants_bytes, 128);
    vyre_device_get_info(fixture.device, &info);
    assert_string_equal(info.backend, "sim");
    assert_int_equal(info.kind, VYRE_DEVICE_KIND_SIMULATED);
    fixture_close(&fixture);
}

static void submit_required_mode_absent_fails(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(
        &fixture,
        &(struct vyre_sim_desc){
            .absent =
                {[VYRE_ABILITY_REPLAY] = "no recorder", [VYRE_ABILITY_PERSISTENT] = "no ring"}},
        NULL);
    struct vyre_batch *batch = small_batch(&fixture, fixture_buffer(&fixture, BYTES), 1);
    static const struct {
        enum vyre_mode mode;
        const char *reason;
    } cases[] = {{VYRE_MODE_REPLAY, "no recorder"}, {VYRE_MODE_PERSISTENT, "no ring"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_ticket ticket = {1, 1};
        const struct vyre_submit_options options = {.mode = cases[i].mode};
        assert_diag(vyre_batch_submit(batch, &options, &ticket, &fixture.diag), fixture.diag,
                    VYRE_DIAG_SUBMIT_MODE);
        assert_contains(fixture.diag.message, cases[i].reason);
        assert_int_equal(ticket.sequence, 0);
        assert_diag(vyre_batch_warm_up(batch, cases[i].mode, &fixture.diag), fixture.diag,
                    VYRE_DIAG_SUBMIT_MODE);
    }
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 0);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 0);
    fixture_close(&fixture);
}

static void submit_auto_ability_absent_says_so(void **state)
{
    (void)state;
    for (int no_record = 0; no_record < 2; no_record++) {
        struct fixture fixture;
        uint32_t word;
        struct vyre_sim_costs costs = vyre_sim_costs_default();
        struct vyre_sim_desc desc = {.no_record = no_record, .costs = &costs};
        costs.persistent_setup_ns = 1000000000; /* out of the question */
        if (!no_record)
            desc.absent[VYRE_ABILITY_REPLAY] = "no recorder";
        fixture_open(&fixture, &desc, NULL);
        struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = small_batch(&fixture, buffer, 1);
        assert_choice(submit_auto(&fixture, batch, 1000), VYRE_MODE_PLAIN, VYRE_MODE_REPLAY,
                      VYRE_WHY_VERDICT, VYRE_WHY_ABILITY_ABSENT);
        assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
        assert_int_equal(word, 31 + 1 + 99); /* fill, then mix with zeros */
        fixture_close(&fixture);
    }
}

/* ---- Auto ------------------------------------------------------------------------------------- */

static void submit_auto_verdicts_choose(void **state)
{
    (void)state;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    struct fixture fixture;
    costs.persistent_setup_ns = 1000000000;
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = small_batch(&fixture, fixture_buffer(&fixture, BYTES), 1);
    assert_choice(submit_auto(&fixture, batch, 1), VYRE_MODE_PLAIN, VYRE_MODE_PLAIN,
                  VYRE_WHY_VERDICT, VYRE_WHY_NONE);
    assert_choice(submit_auto(&fixture, batch, 1000), VYRE_MODE_REPLAY, VYRE_MODE_REPLAY,
                  VYRE_WHY_VERDICT, VYRE_WHY_NONE);
    struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PERSISTENT);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    assert_choice(fixture_result(&fixture, ticket), VYRE_MODE_PERSISTENT, VYRE_MODE_PERSISTENT,
                  VYRE_WHY_REQUIRED, VYRE_WHY_NONE);
    fixture_close(&fixture);
}

/* Without a hint, as many repeats are expected as were seen. */
static void submit_auto_repeats_turn_to_replay(void **state)
{
    (void)state;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    struct fixture fixture;
    costs.persistent_setup_ns = 1000000000;
    costs.record_ns = 0; /* the backend states costs per command only: let that be all there is */
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = small_batch(&fixture, fixture_buffer(&fixture, BYTES), 1);
    assert_int_equal(submit_auto(&fixture, batch, 0).mode, VYRE_MODE_PLAIN);
    int plain = 1;
    while (plain < 100 && submit_auto(&fixture, batch, 0).mode == VYRE_MODE_PLAIN)
        plain++;
    assert_in_range(plain, 1, 10);
    assert_int_equal(submit_auto(&fixture, batch, 0).mode, VYRE_MODE_REPLAY);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 1);
    fixture_close(&fixture);
}

static void submit_recording_fails_auto_falls_back_required_fails(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.persistent_setup_ns = 1000000000; /* out of the question */
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = small_batch(&fixture, buffer, 2);
    vyre_sim_fail(fixture.sim, VYRE_SIM_RECORD, 1, VYRE_OUT_OF_MEMORY, -6);
    assert_choice(submit_auto(&fixture, batch, 1000), VYRE_MODE_PLAIN, VYRE_MODE_REPLAY,
                  VYRE_WHY_VERDICT, VYRE_WHY_FAILED);
    assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
    assert_int_equal(word, 2 * 31 + 2 + 99);

    struct vyre_ticket ticket = {1, 1};
    const struct vyre_submit_options options = {.mode = VYRE_MODE_REPLAY};
    vyre_sim_fail(fixture.sim, VYRE_SIM_RECORD, 1, VYRE_OUT_OF_MEMORY, -6);
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture.diag),
                     VYRE_OUT_OF_MEMORY);
    assert_int_equal(fixture.diag.native_code, -6);
    assert_int_equal(ticket.sequence, 0);
    assert_choice(submit_auto(&fixture, batch, 1000), VYRE_MODE_REPLAY, VYRE_MODE_REPLAY,
                  VYRE_WHY_VERDICT, VYRE_WHY_NONE);
    fixture_close(&fixture);
}

/* ---- Recordings ------------------------------------------------------------------------------- */

static struct vyre_device_counters counters_of(struct fixture *fixture)
{
    struct vyre_device_counters counters;
    vyre_device_get_counters(fixture->device, &counters);
    return counters;
}

static void replay_same_shape_records_once(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *in = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *first = fixture_batch(&fixture);
    struct vyre_batch *second = fixture_batch(&fixture);
    fixture_mix(&fixture, first, whole(in), whole(buffer), 1);
    fixture_mix(&fixture, second, whole(in), whole(buffer), 1);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 10; i++) {
        struct vyre_batch *batch = i % 2 ? first : second;
        vyre_batch_set_constants(batch, 0, &i, sizeof i);
        (void)fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
        expected = expected * 31 + i + 99;
    }
    assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
    assert_int_equal(word, expected); /* constants are the submission's, not the recording's */
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 1);
    struct vyre_device_counters counters = counters_of(&fixture);
    assert_int_equal(counters.recordings_made, 1);
    assert_int_equal(counters.recordings_reused, 9);
    assert_int_equal(counters.recordings_kept, 1);
    assert_int_equal(counters.by_mode[VYRE_MODE_REPLAY], 10);
    fixture_close(&fixture);
}

static void replay_past_the_limit_evicts_the_oldest(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch *batches[3];
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_MANUAL,
                                         .recording_size_bytes = 1000},
                 &(struct vyre_device_desc){.recording_limit = 2});
    for (uint32_t i = 0; i < 3; i++)
        batches[i] = small_batch(&fixture, fixture_buffer(&fixture, BYTES), i);
    /* Evicted while in flight: the sim reports it if it is destroyed too soon. */
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++)
            (void)fixture_submit(&fixture, batches[i], VYRE_MODE_REPLAY);
        assert_int_equal(counters_of(&fixture).recordings_kept, 2);
        assert_int_equal(counters_of(&fixture).recording_bytes, 2000);
        assert_int_equal(vyre_sim_run_all(fixture.sim), 3);
        assert_string_equal(vyre_sim_violation(fixture.sim), "");
    }
    struct vyre_device_counters counters = counters_of(&fixture);
    assert_int_equal(counters.recordings_made, vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD));
    assert_int_equal(counters.recordings_evicted, counters.recordings_made - 2);
    fixture_close(&fixture);
}

static void replay_past_the_bytes_evicts(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_sim_desc){.recording_size_bytes = 1000},
                 &(struct vyre_device_desc){.recording_bytes = 2500});
    for (uint32_t i = 0; i < 6; i++) {
        struct vyre_batch *batch = small_batch(&fixture, fixture_buffer(&fixture, BYTES), i);
        struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        assert_in_range(counters_of(&fixture).recording_bytes, 1000, 2500);
    }
    assert_int_equal(counters_of(&fixture).recordings_kept, 2);
    fixture_close(&fixture);
}

/* A batch that differs in more than constants and bytes has another shape; the sim compares. */
static struct vyre_slot_binding local_slot(uint32_t local_bytes)
{
    return (struct vyre_slot_binding){.slot = 1, .local_bytes = local_bytes};
}

static void replay_other_local_memory_is_another_shape(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t constant = 1;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    for (uint32_t i = 1; i <= 3; i++) {
        struct vyre_batch *batch = fixture_batch(&fixture);
        const struct vyre_slot_binding bindings[] = {{.slot = 0, .range = whole(buffer)},
                                                     local_slot(64 * i)};
        vyre_batch_dispatch(batch,
                            &(struct vyre_dispatch){.kernel = fixture.kernels[KERNEL_LOCAL],
                                                    .groups = {1, 1, 1},
                                                    .bindings = bindings,
                                                    .binding_count = 2,
                                                    .constants = &constant,
                                                    .constants_size_bytes = sizeof constant});
        (void)fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
    }
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 3);
    fixture_close(&fixture);
}

static void two_tables(const struct vyre_host_group *group)
{
    uint32_t *out = group->buffers[2].data;
    out[0] = (uint32_t)group->buffers[0].size_bytes * 1000 + (uint32_t)group->buffers[1].size_bytes;
}

static void replay_tables_cut_elsewhere_are_another_shape(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = two_tables};
    const struct vyre_binding_desc slots[] = {
        {.slot = 0, .role = VYRE_ROLE_INPUT, .table = true},
        {.slot = 1, .role = VYRE_ROLE_INPUT, .table = true},
        {.slot = 2, .role = VYRE_ROLE_OUTPUT},
    };
    const struct vyre_kernel_desc desc = {
        .payloads = &payload, .payload_count = 1, .bindings = slots, .binding_count = 3};
    struct vyre_kernel *kernel;
    struct vyre_buffer *members[3];
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    assert_int_equal(vyre_kernel_create(fixture.device, &desc, &kernel, &fixture.diag), VYRE_OK);
    for (int i = 0; i < 3; i++)
        members[i] = fixture_buffer(&fixture, BYTES);
    for (uint32_t cut = 1; cut < 3; cut++) {
        struct vyre_batch *batch = fixture_batch(&fixture);
        const struct vyre_slot_binding bindings[] = {
            {.slot = 0, .table = members, .table_count = cut},
            {.slot = 1, .table = members + cut, .table_count = 3 - cut},
            {.slot = 2, .range = whole(out)},
        };
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = bindings,
                                                           .binding_count = 3});
        (void)fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
    }
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 2);
    fixture_close(&fixture);
}

static void replay_buffer_created_anew_is_another_shape(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word;
    fixture_open(&fixture, NULL, NULL);
    for (uint32_t i = 0; i < 5; i++) {
        struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = fixture_batch(&fixture);
        fixture_set(&fixture, batch, whole(buffer), i);
        (void)fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
        assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
        assert_int_equal(word, UINT32_C(2654435761) ^ i);
        vyre_buffer_destroy(&buffer);
        vyre_batch_destroy(&batch);
    }
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 5);
    fixture_close(&fixture);
}

/* ---- Warm-up and time ------------------------------------------------------------------------- */

static void warm_up_records_and_runs_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    uint32_t word;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = small_batch(&fixture, buffer, 4);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, &fixture.diag), VYRE_OK);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag), VYRE_OK);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 1);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 0);
    assert_int_equal(fixture_download(&fixture, buffer, &word), VYRE_OK);
    assert_int_equal(word, 0);
    (void)fixture_submit(&fixture, batch, VYRE_MODE_REPLAY);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_RECORD), 1);
    vyre_sim_fail(fixture.sim, VYRE_SIM_WARM_UP, 1, VYRE_OUT_OF_MEMORY, -2);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_PERSISTENT, &fixture.diag),
                     VYRE_OUT_OF_MEMORY);
    fixture_close(&fixture);
}

static void result_timed_batch_has_the_devices_time(void **state)
{
    (void)state;
    const struct vyre_sim_costs costs = {.group_ns = 123456, .copy_ns = 1000};
    struct fixture fixture;
    struct vyre_ticket ticket;
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = fixture_batch(&fixture);
    fixture_set(&fixture, batch, whole(fixture_buffer(&fixture, BYTES)), 1);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN, .timed = true};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vyre_batch_submit(batch, &options, &ticket, NULL), VYRE_OK);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        assert_int_equal(fixture_result(&fixture, ticket).device_ns, 123456);
    }
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_facts_are_what_the_backend_said),
        cmocka_unit_test(submit_required_mode_absent_fails),
        cmocka_unit_test(submit_auto_ability_absent_says_so),
        cmocka_unit_test(submit_auto_verdicts_choose),
        cmocka_unit_test(submit_auto_repeats_turn_to_replay),
        cmocka_unit_test(submit_recording_fails_auto_falls_back_required_fails),
        cmocka_unit_test(replay_same_shape_records_once),
        cmocka_unit_test(replay_past_the_limit_evicts_the_oldest),
        cmocka_unit_test(replay_past_the_bytes_evicts),
        cmocka_unit_test(replay_other_local_memory_is_another_shape),
        cmocka_unit_test(replay_tables_cut_elsewhere_are_another_shape),
        cmocka_unit_test(replay_buffer_created_anew_is_another_shape),
        cmocka_unit_test(warm_up_records_and_runs_nothing),
        cmocka_unit_test(result_timed_batch_has_the_devices_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
