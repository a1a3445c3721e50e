/*
 * proof_test.c: generated code is proven on the caller's data before it is used; what is wrong is refused,
 * and the caller gets the driver's bytes in every case.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "sim/fixture.h"

enum { BYTES = 256, WORDS = BYTES / 4 };

static const uint32_t PERSISTENT = 1u << VYRE_MODE_PERSISTENT;

static void open(struct fixture *fixture, struct vyre_sim_desc desc,
                 const struct vyre_device_desc *device)
{
    desc.generated_modes = PERSISTENT;
    fixture_open(fixture, &desc, device);
}

/* in-out: what is wrongly restored or run once too often shows. */
static struct vyre_batch *mix_batch(struct fixture *fixture, struct vyre_buffer *buffer)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_mix(fixture, batch, (struct vyre_range){fixture_buffer(fixture, BYTES), 0, 0},
                (struct vyre_range){buffer, 64, 64}, 7);
    return batch;
}

static struct vyre_proof_counters counters(struct fixture *fixture)
{
    struct vyre_proof_counters out;
    vyre_device_count_proofs(fixture->device, &out);
    return out;
}

static void assert_bytes(struct vyre_buffer *buffer, const uint32_t *words)
{
    uint32_t read[WORDS];
    struct vyre_diag diag;
    assert_int_equal(vyre_buffer_read(buffer, 0, read, BYTES, &diag), VYRE_OK);
    assert_memory_equal(read, words, BYTES);
}

/* What `times` plain runs of mix_batch give. */
static void expect_mix(uint32_t words[WORDS], int times)
{
    struct fixture fixture;
    open(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    for (int i = 0; i < times; i++)
        assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                         VYRE_OK);
    assert_int_equal(vyre_buffer_read(buffer, 0, words, BYTES, &fixture.diag), VYRE_OK);
    fixture_close(&fixture);
}

static enum vyre_status submit(struct fixture *fixture, struct vyre_batch *batch,
                               enum vyre_mode mode, struct vyre_batch_result *out_result)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = mode, .repeat_hint = 100000};
    vyre_diag_reset(&fixture->diag);
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &fixture->diag);
    memset(out_result, 0, sizeof *out_result);
    if (status == VYRE_OK) {
        assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
        *out_result = fixture_result(fixture, ticket);
    }
    return status;
}

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
        open(&fixture, (struct vyre_sim_desc){.completion = ways[way]}, NULL);
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
    open(&fixture, (struct vyre_sim_desc){0}, NULL);
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
    open(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY}, NULL);
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
    open(&fixture, (struct vyre_sim_desc){0}, &(struct vyre_device_desc){.no_proof = true});
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
    static const size_t behind[] = {0, 1, 100}; /* inside the output, and past its end */
    for (size_t i = 0; i < COUNT_OF(behind); i++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        struct vyre_refusal refusal;
        uint32_t before[WORDS];
        open(&fixture, (struct vyre_sim_desc){.wrong_label = "mix", .wrong_behind = behind[i]},
             NULL);
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
    costs.record_ns = 1000000000; /* so that a resident kernel looks best by far */
    open(&fixture, (struct vyre_sim_desc){.wrong_label = "mix", .costs = &costs}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    bool unproven = false;
    for (int i = 0; i < 40; i++) {
        struct vyre_batch_result result;
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_AUTO, &result), VYRE_OK);
        assert_int_not_equal(result.mode, VYRE_MODE_PERSISTENT);
        if (result.reason == VYRE_REASON_UNPROVEN) {
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
    open(&fixture, (struct vyre_sim_desc){.wrong_label = "mix"}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    assert_int_equal(vyre_device_refusals(fixture.device, &refusal, 1), 1);
    fixture_close(&fixture);

    open(&fixture, (struct vyre_sim_desc){.wrong_label = "mix"}, NULL);
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
    open(&fixture, (struct vyre_sim_desc){0}, NULL);
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

/* ---- What cannot be told ---------------------------------------------------------------------- */

static void submit_order_dependent_bytes_are_not_compared(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    open(&fixture, (struct vyre_sim_desc){.unstable_label = "mix"}, NULL);
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
    open(&fixture,
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
    open(&fixture, (struct vyre_sim_desc){0}, &limits);
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
    struct vyre_batch_result result;
    open(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    vyre_sim_fail_running(fixture.sim, 1, VYRE_DRIVER, 77);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_TICKET_FAILED);
    assert_int_equal(counters(&fixture).proven, 0);
    /* Nothing of it is left: the next one is as good as the first. */
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    fixture_close(&fixture);
}

static void submit_loss_while_proving_is_told(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        open(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_LAZY}, NULL);
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
        costs.record_ns = 1000000000;
        open(&fixture, (struct vyre_sim_desc){.costs = &costs}, NULL);
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

static void submit_uploads_that_depend_on_downloads_are_not_proven(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    static uint32_t shared[16];
    open(&fixture, (struct vyre_sim_desc){0}, NULL);
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
    costs.record_ns = 1000000000;
    costs.persistent_setup_ns = costs.persistent_item_ns = costs.persistent_round_trip_ns = 1;
    costs.group_ns = 5000;
    const struct vyre_device_desc limits = {.proof_ns = 1};
    open(&fixture, (struct vyre_sim_desc){.costs = &costs}, &limits);
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
    open(&fixture, (struct vyre_sim_desc){.wrong_label = "mix"}, NULL);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), VYRE_OK);
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    assert_diag(vyre_batch_check_mode(batch, VYRE_MODE_PERSISTENT, 0, &fixture.diag), fixture.diag,
                VYRE_DIAG_PROOF_DIFFERS);
    fixture_close(&fixture);
}

/* ---- Other threads ---------------------------------------------------------------------------- */

struct from_callback {
    struct vyre_batch *batch;
    enum vyre_status status;
    struct vyre_diag diag;
};

static void submit_again(void *user, struct vyre_ticket ticket,
                         const struct vyre_batch_result *result)
{
    struct from_callback *inner = user;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PERSISTENT};
    (void)ticket;
    (void)result;
    inner->status = vyre_batch_submit(inner->batch, &options, NULL, &inner->diag);
}

static void submit_inside_a_callback_does_not_wait_for_itself(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_ticket ticket;
    open(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct from_callback inner = {.batch = mix_batch(&fixture, buffer), .status = VYRE_OK};
    struct vyre_batch *outer = fixture_batch(&fixture);
    fixture_set(&fixture, outer, (struct vyre_range){buffer, 0, 0}, 1);
    const struct vyre_submit_options options = {
        .mode = VYRE_MODE_PLAIN, .on_complete = submit_again, .user = &inner};
    assert_int_equal(vyre_batch_submit(outer, &options, &ticket, &fixture.diag), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    fixture_close_device(&fixture); /* waits for the callback */
    assert_diag(inner.status, inner.diag, VYRE_DIAG_PROOF_LIMIT);
    fixture_open_device(&fixture);
    fixture_close(&fixture);
}

/* What a kernel does, once, while it runs: on the sim's thread, beside the one that proves. */
struct deed {
    void (*act)(struct deed *deed);
    int at; /* in the so-manieth run */
    int runs;
    struct vyre_buffer **victim;
    struct vyre_buffer *mapped;
    pthread_t thread;
    bool has_thread;
};
static struct deed deed;

static void do_deed(const struct vyre_host_group *group)
{
    uint32_t *out = group->buffers[0].data;
    out[0] += 3;
    if (++deed.runs == deed.at && deed.act)
        deed.act(&deed);
}

static void destroy_victim(struct deed *this)
{
    vyre_buffer_destroy(this->victim);
}

static void *map_and_write(void *argument)
{
    struct deed *this = argument;
    void *bytes = NULL;
    struct vyre_diag diag;
    if (vyre_buffer_map(this->mapped, &bytes, &diag) == VYRE_OK)
        ((uint32_t *)bytes)[WORDS - 1] = 0xabcdef01;
    return NULL;
}

static void start_mapping(struct deed *this)
{
    this->has_thread = pthread_create(&this->thread, NULL, map_and_write, this) == 0;
}

/* Writes word 16 of `out`; names `in` as well, which no one reads. */
static struct vyre_batch *deed_batch(struct fixture *fixture, struct vyre_buffer *out,
                                     struct vyre_buffer *in)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = do_deed};
    const struct vyre_binding_desc bindings[] = {
        {.slot = 0, .role = VYRE_ROLE_INPUT_OUTPUT, .element_size_bytes = 4},
        {.slot = 1, .role = VYRE_ROLE_INPUT, .element_size_bytes = 4},
    };
    const struct vyre_kernel_desc desc = {.label = "deed",
                                          .payloads = &payload,
                                          .payload_count = 1,
                                          .bindings = bindings,
                                          .binding_count = 2};
    struct vyre_kernel *kernel;
    assert_int_equal(vyre_kernel_create(fixture->device, &desc, &kernel, &fixture->diag), VYRE_OK);
    const struct vyre_slot_binding slots[] = {{.slot = 0, .range = {out, 64, 64}},
                                              {.slot = 1, .range = {in, 0, 0}}};
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_dispatch(
        batch, &(struct vyre_dispatch){
                   .kernel = kernel, .groups = {1, 1, 1}, .bindings = slots, .binding_count = 2});
    return batch;
}

static void submit_object_destroyed_while_proving_is_stale_and_restored(void **state)
{
    (void)state;
    static const enum vyre_mode modes[] = {VYRE_MODE_PERSISTENT, VYRE_MODE_AUTO};
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        for (int at = 1; at <= 2; at++) {
            struct fixture fixture;
            struct vyre_batch_result result;
            uint32_t words[WORDS];
            static const uint32_t zeros[WORDS];
            struct vyre_sim_costs costs = vyre_sim_costs_default();
            costs.record_ns = 1000000000;
            costs.persistent_setup_ns = costs.persistent_item_ns = 1;
            costs.persistent_round_trip_ns = 1;
            open(&fixture,
                 (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD, .costs = &costs},
                 NULL);
            struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
            struct vyre_buffer *in = fixture_buffer(&fixture, BYTES);
            struct vyre_batch *batch = deed_batch(&fixture, out, in);
            deed = (struct deed){.act = destroy_victim, .at = at, .victim = &in};
            assert_diag(submit(&fixture, batch, modes[m], &result), fixture.diag,
                        VYRE_DIAG_BATCH_STALE);
            assert_int_equal(vyre_buffer_read(out, 0, words, BYTES, &fixture.diag), VYRE_OK);
            assert_memory_equal(words, zeros, BYTES);
            fixture_close(&fixture);
        }
    }
}

static void map_while_proving_waits_for_the_proof(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    uint32_t word = 0;
    open(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD}, NULL);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = deed_batch(&fixture, out, fixture_buffer(&fixture, BYTES));
    deed = (struct deed){.act = start_mapping, .at = 1, .mapped = out};
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_true(deed.has_thread);
    assert_int_equal(pthread_join(deed.thread, NULL), 0);
    assert_int_equal(vyre_buffer_read(out, BYTES - 4, &word, 4, &fixture.diag), VYRE_OK);
    assert_int_equal(word, 0xabcdef01);
    assert_int_equal(counters(&fixture).refused, 0);
    fixture_close(&fixture);
}

struct stream {
    struct fixture *fixture;
    struct vyre_batch *batch;
    _Atomic bool stop;
};

static void *submit_without_end(void *argument)
{
    struct stream *stream = argument;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN};
    struct vyre_diag diag;
    while (!atomic_load(&stream->stop)) {
        if (vyre_batch_submit(stream->batch, &options, NULL, &diag) != VYRE_OK)
            break;
    }
    return NULL;
}

/* The stream ends only when the proof is made: one that waits for a pause would wait for ever. */
static void submit_beside_a_stream_is_proven(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    pthread_t thread;
    open(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD},
         &(struct vyre_device_desc){.in_flight_limit = 4});
    struct stream stream = {.fixture = &fixture, .batch = fixture_batch(&fixture)};
    fixture_set(&fixture, stream.batch, (struct vyre_range){fixture_buffer(&fixture, BYTES), 0, 0},
                1);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(pthread_create(&thread, NULL, submit_without_end, &stream), 0);
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    atomic_store(&stream.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
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
        cmocka_unit_test(submit_loss_while_proving_is_told),
        cmocka_unit_test(submit_inside_a_callback_does_not_wait_for_itself),
        cmocka_unit_test(submit_restore_that_fails_gives_no_wrong_byte),
        cmocka_unit_test(submit_uploads_that_depend_on_downloads_are_not_proven),
        cmocka_unit_test(submit_long_batch_is_proven_only_when_required),
        cmocka_unit_test(check_mode_of_refused_code_says_so),
        cmocka_unit_test(submit_object_destroyed_while_proving_is_stale_and_restored),
        cmocka_unit_test(map_while_proving_waits_for_the_proof),
        cmocka_unit_test(submit_beside_a_stream_is_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
