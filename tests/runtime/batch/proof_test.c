/*
 * proof_test.c: generated code is proven on the caller's data before it is used; what is wrong is refused,
 * and the caller gets the driver's bytes in every case.
 */
#include "runtime/batch/proof_fixture.h"
#include "support/counting_allocator.h"

/* ---- Right code ------------------------------------------------------------------------------- */

static void submit_right_code_is_proven_once(void **state)
{
    (void)state;
    static const enum vyre_sim_completion ways[] = {
        VYRE_SIM_COMPLETE_IN_SUBMIT, VYRE_SIM_COMPLETE_LAZY, VYRE_SIM_COMPLETE_THREAD};
    uint32_t words[WORDS];
    expect_mix(words, 3);
    for (size_t way = 0; way < COUNT_OF(ways); way++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        struct vyre_device_counters seen;
        open_proving(&fixture, (struct vyre_sim_desc){.completion = ways[way]}, NULL);
        struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = mix_batch(&fixture, buffer);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
            assert_int_equal(result.mode, VYRE_MODE_PERSISTENT);
        }
        assert_bytes(buffer, words);
        assert_int_equal(counters(&fixture).proven, 1);
        assert_int_equal(counters(&fixture).refused, 0);
        /* One plain run and one as generated, beside the caller's three, which alone are counted. */
        assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 5);
        vyre_device_get_counters(fixture.device, &seen);
        assert_int_equal(seen.submitted, 3);
        assert_int_equal(seen.completed, 3);
        assert_int_equal(seen.by_mode[VYRE_MODE_PLAIN], 0);
        fixture_close(&fixture);
    }
}

static void submit_another_class_of_groups_is_proven_again(void **state)
{
    (void)state;
    static const uint32_t groups[][3] = {{1, 1, 1}, {2, 1, 1}, {16, 1, 1},  {17, 1, 1},
                                         {4, 4, 1}, {4, 1, 4}, {256, 1, 1}, {257, 1, 1}};
    static const uint64_t proofs[] = {1, 2, 2, 3, 4, 5, 5, 6};
    struct fixture fixture;
    struct vyre_batch_result result;
    open_proving(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_buffer *in = fixture_buffer(&fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        struct vyre_batch *batch = fixture_batch(&fixture);
        const uint32_t constant = 3;
        const struct vyre_slot_binding bindings[] = {{.slot = 0, .range = {.buffer = in}},
                                                     {.slot = 5, .range = {.buffer = out}}};
        const struct vyre_dispatch dispatch = {
            .kernel = fixture.kernels[KERNEL_MIX],
            .groups = {groups[i][0], groups[i][1], groups[i][2]},
            .bindings = bindings,
            .binding_count = 2,
            .constants = &constant,
            .constants_size_bytes = sizeof constant,
        };
        vyre_batch_dispatch(batch, &dispatch);
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
        assert_int_equal(counters(&fixture).proven, proofs[i]);
    }
    fixture_close(&fixture);
}

static void submit_downloads_come_from_the_batch_itself(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_ticket ticket;
    uint32_t words[16], again[16], out[16];
    open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    vyre_batch_download(batch, (struct vyre_range){buffer, 64, 64}, out);
    memset(out, 0xee, sizeof out);
    memcpy(again, out, sizeof out);
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PERSISTENT};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture.diag), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    assert_memory_equal(out, again, sizeof out); /* nothing before the wait */
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    assert_int_equal(vyre_buffer_read(buffer, 64, words, 64, &fixture.diag), VYRE_OK);
    assert_memory_equal(out, words, sizeof out);
    fixture_close(&fixture);
}

static void submit_no_proof_runs_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    open_proving(&fixture, (struct vyre_sim_desc){0}, &(struct vyre_device_desc){.no_proof = true});
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 1);
    assert_int_equal(counters(&fixture).proven, 0);
    fixture_close(&fixture);
}

/* ---- Wrong code ------------------------------------------------------------------------------- */

static void submit_wrong_code_required_fails_and_changes_nothing(void **state)
{
    (void)state;
    /* Inside the output, past its end, and before it. */
    static const ptrdiff_t behind[] = {0, 1, 100, -64, -100};
    for (size_t i = 0; i < COUNT_OF(behind); i++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        struct vyre_refusal refusal;
        uint32_t before[WORDS];
        open_proving(&fixture,
                     (struct vyre_sim_desc){.wrong_label = "mix", .wrong_behind = behind[i]}, NULL);
        struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = mix_batch(&fixture, buffer);
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_PLAIN, &result), VYRE_OK);
        assert_int_equal(vyre_buffer_read(buffer, 0, before, BYTES, &fixture.diag), VYRE_OK);
        for (int k = 0; k < 2; k++) {
            assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                        VYRE_DIAG_PROOF_DIFFERS);
            assert_bytes(buffer, before);
        }
        assert_int_equal(counters(&fixture).refused, 1); /* the second time nothing runs */
        assert_int_equal(vyre_device_refusals(fixture.device, &refusal, 1), 1);
        assert_string_equal(refusal.kernel, "mix");
        assert_int_not_equal(refusal.reason[0], '\0');
        fixture_close(&fixture);
    }
}

static void submit_wrong_code_in_auto_gives_the_drivers_bytes(void **state)
{
    (void)state;
    uint32_t words[WORDS];
    expect_mix(words, 40);
    struct fixture fixture;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.persistent_setup_ns = 1;
    costs.persistent_item_ns = 1;
    costs.persistent_round_trip_ns = 1;
    costs.record_ns = costs.record_command_ns =
        1000000000; /* so that a resident kernel looks best by far */
    open_proving(&fixture, (struct vyre_sim_desc){.wrong_label = "mix", .costs = &costs}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    bool unproven = false;
    for (int i = 0; i < 40; i++) {
        struct vyre_batch_result result;
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_AUTO, &result), VYRE_OK);
        assert_int_not_equal(result.mode, VYRE_MODE_PERSISTENT);
        if (result.wanted_out == VYRE_WHY_UNPROVEN) {
            unproven = true;
            assert_int_equal(result.wanted, VYRE_MODE_PERSISTENT);
        }
    }
    assert_bytes(buffer, words);
    assert_true(unproven);
    assert_int_equal(counters(&fixture).refused, 1);
    fixture_close(&fixture);
}

static void import_refusal_is_refused_without_a_run(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    struct vyre_refusal refusal;
    open_proving(&fixture, (struct vyre_sim_desc){.wrong_label = "mix"}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    assert_int_equal(vyre_device_refusals(fixture.device, &refusal, 1), 1);
    fixture_close(&fixture);

    open_proving(&fixture, (struct vyre_sim_desc){.wrong_label = "mix"}, NULL);
    batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(vyre_device_import_refusal(fixture.device, &refusal, &fixture.diag), VYRE_OK);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 0);
    fixture_close(&fixture);
}

static void refusals_past_the_limit_forget_the_oldest(void **state)
{
    (void)state;
    struct fixture fixture;
    static struct vyre_refusal refusals[VYRE_REFUSALS_MAX + 1];
    open_proving(&fixture, (struct vyre_sim_desc){0}, NULL);
    for (uint64_t i = 1; i <= 3 * VYRE_REFUSALS_MAX; i++) {
        const struct vyre_refusal refusal = {.code = {i, i}, .kernel = "k", .reason = "r"};
        assert_int_equal(vyre_device_import_refusal(fixture.device, &refusal, &fixture.diag),
                         VYRE_OK);
    }
    assert_int_equal(vyre_device_refusals(fixture.device, refusals, VYRE_REFUSALS_MAX + 1),
                     VYRE_REFUSALS_MAX);
    assert_int_equal(refusals[0].code.lo, 2 * VYRE_REFUSALS_MAX + 1);
    assert_diag(
        vyre_device_import_refusal(fixture.device, &(struct vyre_refusal){0}, &fixture.diag),
        fixture.diag, VYRE_DIAG_ARGUMENT_RANGE);
    fixture_close(&fixture);
}

/* ---- What cannot be compared ------------------------------------------------------------------ */

static void submit_order_dependent_bytes_are_not_compared(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    open_proving(&fixture, (struct vyre_sim_desc){.unstable_label = "mix"}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    assert_int_equal(counters(&fixture).unstable, 1);
    fixture_close(&fixture);
}

static void submit_wrong_beside_order_dependent_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    open_proving(
        &fixture,
        (struct vyre_sim_desc){.unstable_label = "mix", .wrong_label = "mix", .wrong_behind = 1},
        NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    fixture_close(&fixture);
}

static void submit_too_many_bytes_is_put_off_until_a_smaller_batch(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    const struct vyre_device_desc limits = {.proof_bytes = 16384};
    open_proving(&fixture, (struct vyre_sim_desc){0}, &limits);
    struct vyre_buffer *large = fixture_buffer(&fixture, 32768);
    struct vyre_buffer *small = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = fixture_batch(&fixture);
    struct vyre_batch *smaller = fixture_batch(&fixture);
    fixture_mix(&fixture, batch, (struct vyre_range){small, 0, 0}, (struct vyre_range){large, 0, 0},
                1);
    fixture_mix(&fixture, smaller, (struct vyre_range){small, 0, 64},
                (struct vyre_range){small, 128, 64}, 1);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_LIMIT);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 0);
    assert_int_equal(counters(&fixture).put_off, 1);
    assert_int_equal(submit(&fixture, smaller, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(result.mode, VYRE_MODE_PERSISTENT);
    assert_int_equal(counters(&fixture).proven, 1);
    fixture_close(&fixture);
}

static void submit_failing_run_is_the_batchs_own_failure(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_device_counters seen;
    struct vyre_batch_result result;
    open_proving(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    vyre_sim_fail_running(fixture.sim, 1, VYRE_DRIVER, 77);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_TICKET_FAILED);
    assert_int_equal(counters(&fixture).proven, 0);
    vyre_device_get_counters(fixture.device, &seen);
    assert_int_equal(seen.submitted, 0); /* the caller's batch never began */
    assert_int_equal(seen.failed, 0);
    /* Nothing of it is left: the next one is as good as the first. */
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    fixture_close(&fixture);
}

static void submit_loss_while_proving_is_reported(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY}, NULL);
        struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
        vyre_sim_lose_at(fixture.sim, nth);
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_DEVICE_LOST);
        fixture_close_device(&fixture);
        fixture_open_device(&fixture);
        fixture_close(&fixture);
    }
}

static void submit_restore_that_fails_gives_no_wrong_byte(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 3; nth++) {
        struct fixture fixture;
        struct vyre_ticket ticket;
        uint32_t words[WORDS], right[WORDS];
        expect_mix(right, 1);
        struct vyre_sim_costs costs = vyre_sim_costs_default();
        costs.record_ns = costs.record_command_ns = 1000000000;
        open_proving(&fixture, (struct vyre_sim_desc){.costs = &costs}, NULL);
        struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = mix_batch(&fixture, buffer);
        const struct vyre_submit_options options = {.repeat_hint = 100000};
        vyre_sim_fail(fixture.sim, VYRE_SIM_BUFFER_WRITE, nth, VYRE_DRIVER, 5);
        enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &fixture.diag);
        if (status == VYRE_OK)
            status = fixture_wait(&fixture, ticket);
        vyre_sim_fail(fixture.sim, VYRE_SIM_BUFFER_WRITE, 0, VYRE_OK, 0);
        if (status == VYRE_OK &&
            vyre_buffer_read(buffer, 0, words, BYTES, &fixture.diag) == VYRE_OK)
            assert_memory_equal(words, right, BYTES);
        fixture_close(&fixture);
    }
}

/* A proof is no part of what the batch behind it costs, however short it was. */
static void submit_behind_its_proof_is_measured_without_it(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    struct vyre_explanation said;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.submit_ns = 50000;
    costs.record_ns = costs.record_command_ns = 1000000000;
    costs.group_ns = 10;
    costs.persistent_setup_ns = 10000;
    costs.persistent_item_ns = costs.persistent_round_trip_ns = 10;
    open_proving(&fixture, (struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_AUTO, &result), VYRE_OK);
    assert_int_equal(result.mode, VYRE_MODE_PERSISTENT);
    assert_in_range(counters(&fixture).time_ns, 20000, 500000);
    for (int i = 0; i < 4; i++) /* the first batches of a kernel are not taken as its cost */
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_AUTO, &result), VYRE_OK);
    assert_int_equal(vyre_batch_explain(batch, 100000, &said, &fixture.diag), VYRE_OK);
    for (uint32_t i = 0; i < said.next.candidate_count; i++) {
        if (said.next.candidates[i].mode == VYRE_MODE_PERSISTENT)
            assert_in_range(said.next.candidates[i].measured_ns, 1, 2000);
    }
    fixture_close(&fixture);
}

static void count_batches(void *user, const struct vyre_event *event)
{
    *(int *)user += event->type == VYRE_EVENT_BATCH_COMPLETED;
}

/* The runs of a proof are no batches of the caller's, also when the device is lost in one. */
static void lost_while_proving_observers_see_the_callers_batches_only(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    struct vyre_device_counters device;
    int seen = 0;
    const struct vyre_observer observer = {sizeof observer, &seen, count_batches};
    fixture_open_in(&fixture,
                    &(struct vyre_sim_desc){.generated_modes = 1u << VYRE_MODE_PERSISTENT}, NULL,
                    &(struct vyre_instance_desc){.observer = &observer});
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PLAIN, &result), VYRE_OK);
    vyre_sim_lose_at(fixture.sim, 2);
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_DEVICE_LOST);
    vyre_device_get_counters(fixture.device, &device);
    assert_int_equal(device.submitted, 1);
    fixture_close(&fixture);
    assert_int_equal(seen, 1);
}

/* What no batch has defined could come out either way. */
static void submit_undefined_bytes_are_not_proven(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    static const uint32_t zeros[WORDS];
    open_proving(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    vyre_sim_fail_running(fixture.sim, 1, VYRE_DRIVER, 77);
    assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                     VYRE_DRIVER);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_LIMIT);
    assert_contains(fixture.diag.message, "undefined");
    assert_contains(fixture.diag.fix, "Write");
    assert_int_equal(counters(&fixture).put_off, 1);
    assert_int_equal(vyre_buffer_write(buffer, 0, zeros, BYTES, &fixture.diag), VYRE_OK);
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    fixture_close(&fixture);
}

/* Each allocation of a first submit fails once: nothing is lost, and the next submit is proven. */
static void submit_without_memory_changes_nothing(void **state)
{
    (void)state;
    uint32_t words[WORDS];
    static const uint32_t zeros[WORDS];
    bool met_the_end = false;
    uint32_t failures = 0;
    expect_mix(words, 1);
    for (unsigned long long nth = 1; !met_the_end; nth++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        struct counting_allocator allocator = {0};
        const struct vyre_instance_desc instance = {.allocator =
                                                        counting_allocator_face(&allocator)};
        const struct vyre_sim_desc sim = {.generated_modes = 1u << VYRE_MODE_PERSISTENT};
        fixture_open_in(&fixture, &sim, NULL, &instance);
        struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = mix_batch(&fixture, buffer);
        counting_fail_after(&allocator, nth - 1);
        enum vyre_status status = submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result);
        met_the_end = atomic_load(&allocator.refused_count) == 0;
        counting_fail_never(&allocator);
        if (status != VYRE_OK) {
            assert_diag(status, fixture.diag, VYRE_DIAG_OUT_OF_MEMORY);
            assert_bytes(buffer, zeros);
            failures++;
            assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
        }
        assert_bytes(buffer, words);
        fixture_close(&fixture);
        assert_int_equal(atomic_load(&allocator.live_count), 0);
        assert_int_equal(atomic_load(&allocator.mismatch_count), 0);
    }
    assert_true(failures >= 3); /* the saved bytes, the extents, the copy of the batch */
}

static void submit_uploads_that_depend_on_downloads_are_not_proven(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    static uint32_t shared[16];
    open_proving(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    vyre_batch_download(batch, (struct vyre_range){buffer, 64, 64}, shared);
    vyre_batch_upload_borrowed(batch, (struct vyre_range){buffer, 0, 64}, shared);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_LIMIT);
    assert_int_equal(vyre_sim_calls(fixture.sim, VYRE_SIM_SUBMIT), 0);
    fixture_close(&fixture);
}

static void submit_long_batch_is_proven_only_when_required(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.record_ns = costs.record_command_ns = 1000000000;
    costs.persistent_setup_ns = costs.persistent_item_ns = costs.persistent_round_trip_ns = 1;
    costs.group_ns = 5000;
    const struct vyre_device_desc limits = {.proof_ns = 1};
    open_proving(&fixture, (struct vyre_sim_desc){.costs = &costs}, &limits);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    for (int i = 0; i < 8; i++) {
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_AUTO, &result), VYRE_OK);
        assert_int_not_equal(result.mode, VYRE_MODE_PERSISTENT);
    }
    assert_true(counters(&fixture).put_off > 0);
    assert_int_equal(counters(&fixture).proven, 0);
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    fixture_close(&fixture);
}

static void check_mode_of_refused_code_says_so(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    open_proving(&fixture, (struct vyre_sim_desc){.wrong_label = "mix"}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), VYRE_OK);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    assert_diag(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_right_code_is_proven_once),
        cmocka_unit_test(submit_another_class_of_groups_is_proven_again),
        cmocka_unit_test(submit_downloads_come_from_the_batch_itself),
        cmocka_unit_test(submit_no_proof_runs_at_once),
        cmocka_unit_test(submit_wrong_code_required_fails_and_changes_nothing),
        cmocka_unit_test(submit_wrong_code_in_auto_gives_the_drivers_bytes),
        cmocka_unit_test(import_refusal_is_refused_without_a_run),
        cmocka_unit_test(refusals_past_the_limit_forget_the_oldest),
        cmocka_unit_test(submit_order_dependent_bytes_are_not_compared),
        cmocka_unit_test(submit_wrong_beside_order_dependent_is_refused),
        cmocka_unit_test(submit_too_many_bytes_is_put_off_until_a_smaller_batch),
        cmocka_unit_test(submit_failing_run_is_the_batchs_own_failure),
        cmocka_unit_test(submit_loss_while_proving_is_reported),
        cmocka_unit_test(submit_restore_that_fails_gives_no_wrong_byte),
        cmocka_unit_test(submit_behind_its_proof_is_measured_without_it),
        cmocka_unit_test(lost_while_proving_observers_see_the_callers_batches_only),
        cmocka_unit_test(submit_undefined_bytes_are_not_proven),
        cmocka_unit_test(submit_without_memory_changes_nothing),
        cmocka_unit_test(submit_uploads_that_depend_on_downloads_are_not_proven),
        cmocka_unit_test(submit_long_batch_is_proven_only_when_required),
        cmocka_unit_test(check_mode_of_refused_code_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
