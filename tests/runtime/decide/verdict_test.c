/*
 * verdict_test.c: what the policies ask for runs until something is measured; a decision has one record
 * for all its readers; and what two batches have in common.
 */
#include <string.h>

#include "runtime/batch.h"
#include "runtime/internal.h"
#include "runtime/shape_keys.h"
#include "runtime/sim_fixture.h"
#include "support/random.h"

enum { BYTES = 256 };

static struct vyre_batch_result run(struct fixture *fixture, struct vyre_batch *batch,
                                    uint32_t hint)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.repeat_hint = hint};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    return fixture_result(fixture, ticket);
}

/* ---- The rule --------------------------------------------------------------------------------- */

static uint64_t some_cost(struct rng *rng)
{
    return 1 + rng_below(rng, UINT64_C(1) << rng_below(rng, 21));
}

static struct vyre_sim_costs random_costs(struct rng *rng)
{
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.submit_ns = some_cost(rng);
    costs.submit_command_ns = some_cost(rng);
    costs.record_ns = some_cost(rng);
    costs.record_command_ns = some_cost(rng);
    costs.replay_ns = some_cost(rng);
    costs.replay_command_ns = some_cost(rng);
    costs.persistent_setup_ns = some_cost(rng);
    costs.persistent_item_ns = some_cost(rng);
    costs.persistent_round_trip_ns = some_cost(rng);
    return costs;
}

/* By the costs that the explanation shows: the larger saving, over the repeats announced. */
static enum vyre_mode expected(const struct vyre_explanation *said)
{
    const struct vyre_persistent_kernel_input *resident = &said->persistent_kernel;
    const struct vyre_command_reuse_input *reuse = &said->command_reuse;
    double stays = (double)resident->batch_size * (double)resident->per_launch_overhead_ns -
                   (double)resident->persistent_setup_overhead_ns;
    double replays = (double)reuse->repeat_count * ((double)reuse->per_launch_overhead_ns -
                                                    (double)reuse->replay_overhead_ns) -
                     (double)reuse->record_overhead_ns;
    stays = resident->batch_size > 1 ? stays : 0;
    replays = reuse->repeat_count > 1 ? replays : 0;
    if (stays <= 0 && replays <= 0)
        return VYRE_MODE_PLAIN;
    return stays > replays ? VYRE_MODE_PERSISTENT : VYRE_MODE_REPLAY;
}

static void a_shape_without_measurements_runs_what_the_policies_ask(void **state)
{
    (void)state;
    static const uint32_t hints[] = {0, 1, 2, 10, 1000, 1000000};
    struct rng rng = rng_seeded(11);
    uint32_t by_mode[VYRE_MODE_COUNT] = {0};
    for (int draw = 0; draw < 300; draw++) {
        struct fixture fixture;
        struct vyre_explanation said;
        const struct vyre_sim_costs costs = random_costs(&rng);
        const uint32_t hint = hints[rng_below(&rng, COUNT_OF(hints))];
        fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
        struct vyre_batch *batch =
            fixture_mixes(&fixture, 1 + (uint32_t)rng_below(&rng, 30), BYTES);
        assert_int_equal(vyre_batch_explain(batch, hint, &said, &fixture.diag), VYRE_OK);
        struct vyre_batch_result result = run(&fixture, batch, hint);
        assert_string_equal(vyre_mode_name(said.wanted), vyre_mode_name(expected(&said)));
        assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(said.wanted));
        assert_int_equal(result.why, VYRE_WHY_VERDICT);
        if (hint == 0)
            assert_int_equal(result.mode, VYRE_MODE_PLAIN);
        by_mode[result.mode]++;
        fixture_close(&fixture);
    }
    for (int mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
        assert_true(by_mode[mode] > 20);
}

/* What is paid already is no cost any more: recorded ahead, replay asks for itself from the first repeat. */
static void a_cost_that_is_paid_is_not_asked_for(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_explanation said;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"}}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    assert_int_equal(vyre_batch_explain(batch, 2, &said, &fixture.diag), VYRE_OK);
    assert_true(said.command_reuse.record_overhead_ns > 0);
    assert_int_equal(vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, &fixture.diag), VYRE_OK);
    assert_int_equal(vyre_batch_explain(batch, 2, &said, &fixture.diag), VYRE_OK);
    assert_int_equal(said.command_reuse.record_overhead_ns, 0);
    fixture_close(&fixture);
}

/* What was measured of the shape overrules the policies, and the record says so. */
static void a_record_names_what_overruled_the_policies(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_record record;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.persistent_setup_ns = 1000000000;
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    /* The backend states its costs per command; a batch costs more than these say. */
    costs.replay_ns = 5000000;
    vyre_sim_set_costs(fixture.sim, &costs);
    assert_int_equal(run(&fixture, batch, 10000).mode, VYRE_MODE_REPLAY);
    for (int i = 0; i < 100; i++)
        (void)run(&fixture, batch, 10000);
    vyre_sim_advance(fixture.sim, 1000000000); /* a record is due again */
    struct vyre_batch_result result = run(&fixture, batch, 10000);
    struct vyre_decision_counters counters;
    vyre_device_count_decisions(fixture.device, &counters);
    assert_int_equal(vyre_device_read_decisions(fixture.device, counters.decided, &record, 1), 1);
    assert_int_equal(result.mode, VYRE_MODE_PLAIN);
    assert_int_equal(result.wanted, VYRE_MODE_REPLAY);
    assert_int_equal(result.why, VYRE_WHY_MEASURED_BEST);
    assert_int_equal(result.wanted_out, VYRE_WHY_NONE);
    assert_int_equal(record.wanted, VYRE_MODE_REPLAY);
    assert_int_equal(record.evidence, VYRE_EVIDENCE_SHAPE);
    fixture_close(&fixture);
}

/* No call sees the ends of the batches: nothing is measured, so the verdict stands. */
static void what_is_not_measured_runs_what_the_policies_ask(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_decision_counters counters;
    struct vyre_decision_record record;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.submit_command_ns = 1000;
    costs.replay_command_ns = 1;
    costs.record_command_ns = 900000;
    costs.persistent_setup_ns = 40000;
    fixture_open(&fixture,
                 &(struct vyre_sim_desc){.costs = &costs, .completion = VYRE_SIM_COMPLETE_LAZY},
                 &(struct vyre_device_desc){.decision_limit = 1024});
    struct vyre_batch *batch = fixture_mixes(&fixture, 8, BYTES);
    for (int i = 0; i < 60; i++) {
        struct vyre_ticket ticket;
        const struct vyre_submit_options options = {.repeat_hint = 50, .timed = true};
        assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture.diag), VYRE_OK);
        vyre_sim_advance(fixture.sim, 1000000000); /* the caller does something else */
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        struct vyre_batch_result result = fixture_result(&fixture, ticket);
        vyre_device_count_decisions(fixture.device, &counters);
        assert_int_equal(vyre_device_read_decisions(fixture.device, counters.decided, &record, 1),
                         1);
        assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(result.wanted));
        assert_int_equal(result.why, VYRE_WHY_VERDICT);
        assert_int_equal(result.wanted_out, VYRE_WHY_NONE);
        assert_int_equal(record.evidence, VYRE_EVIDENCE_NONE);
        vyre_sim_end_residency(fixture.sim, VYRE_RESIDENCY_IDLE);
    }
    fixture_close(&fixture);
}

/* Other costs are other questions: the policies are asked again at the next batch. */
static void new_costs_ask_the_policies_again(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_explanation said;
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.persistent_setup_ns = UINT64_C(1000000000000000);
    fixture_open(&fixture, &(struct vyre_sim_desc){.costs = &costs}, NULL);
    struct vyre_batch *batch = fixture_mixes(&fixture, 4, BYTES);
    for (int i = 0; i < 2000; i++)
        (void)run(&fixture, batch, 0);
    assert_int_equal(run(&fixture, batch, 0).wanted, VYRE_MODE_REPLAY);
    struct vyre_calibration calibration = {.taken_s = 1};
    calibration.costs[VYRE_COST_REPLAY_BATCH] = (struct vyre_cost){
        .known = true, .samples = 9, .min_ns = 1000000000, .median_ns = 1000000000};
    assert_int_equal(vyre_device_set_calibration(fixture.device, &calibration, &fixture.diag),
                     VYRE_OK);
    struct vyre_batch_result result = run(&fixture, batch, 0);
    assert_int_equal(vyre_batch_explain(batch, 0, &said, &fixture.diag), VYRE_OK);
    assert_int_equal(result.wanted, VYRE_MODE_PLAIN);
    assert_int_equal(said.wanted, VYRE_MODE_PLAIN);
    fixture_close(&fixture);
}

/* ---- Records ---------------------------------------------------------------------------------- */

enum { MOST = 600 };

struct seen {
    size_t count;
    struct vyre_decision_record records[MOST];
};

static void take(void *user, const struct vyre_event *event)
{
    struct seen *seen = user;
    if (event->type == VYRE_EVENT_BATCH_COMPLETED && seen->count < MOST)
        seen->records[seen->count++] = *event->as.batch_completed->decision;
}

/* The ring and the observer read the same record, in auto and in required modes. */
static void a_decision_has_one_record(void **state)
{
    (void)state;
    static struct seen seen;
    static struct vyre_decision_record kept[MOST];
    struct fixture fixture;
    const struct vyre_observer observer = {sizeof observer, &seen, take};
    memset(&seen, 0, sizeof seen);
    fixture_open_in(&fixture, NULL, &(struct vyre_device_desc){.decision_limit = 1024},
                    &(struct vyre_instance_desc){.observer = &observer});
    struct vyre_batch *batches[2] = {fixture_mixes(&fixture, 3, BYTES),
                                     fixture_mixes(&fixture, 12, BYTES)};
    for (int i = 0; i < 500; i++) {
        static const enum vyre_mode modes[] = {VYRE_MODE_AUTO, VYRE_MODE_AUTO, VYRE_MODE_REPLAY,
                                               VYRE_MODE_PLAIN};
        struct vyre_ticket ticket = fixture_submit(&fixture, batches[i % 2], modes[i / 2 % 4]);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    }
    assert_int_equal(vyre_device_wait_idle(fixture.device, VYRE_FOREVER, &fixture.diag), VYRE_OK);
    assert_int_equal(seen.count, 500);
    size_t count = vyre_device_read_decisions(fixture.device, 1, kept, MOST);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const struct vyre_decision_record *other = &seen.records[kept[i].sequence - 1];
        assert_int_equal(other->sequence, kept[i].sequence);
        assert_memory_equal(&kept[i], other, sizeof kept[i]);
    }
    fixture_close(&fixture);
}

/* ---- Keys ------------------------------------------------------------------------------------- */

struct keys {
    struct vyre_hash128 exact, template, family;
};

static struct keys keys_of(struct fixture *fixture, struct vyre_batch *batch)
{
    struct keys keys = {.exact = vyre_body_shape(batch->body)};
    vyre_lock_acquire(&fixture->device->lock);
    assert_true(vyre_shape_template_locked(fixture->device, batch->body, &keys.template));
    assert_true(vyre_shape_family_locked(fixture->device, batch->body, &keys.family));
    vyre_lock_release(&fixture->device->lock);
    return keys;
}

static struct vyre_batch *mix_of(struct fixture *fixture, struct vyre_buffer *in,
                                 struct vyre_buffer *out, uint32_t constant)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_mix(fixture, batch, (struct vyre_range){.buffer = in},
                (struct vyre_range){.buffer = out}, constant);
    fixture_mix(fixture, batch, (struct vyre_range){.buffer = out},
                (struct vyre_range){.buffer = in}, constant);
    return batch;
}

static void the_three_keys_tell_apart_what_they_should(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_buffer *buffers[6];
    for (int i = 0; i < 4; i++)
        buffers[i] = fixture_buffer(&fixture, BYTES);
    buffers[4] = fixture_buffer(&fixture, 4 * BYTES);
    buffers[5] = fixture_buffer(&fixture, 4 * BYTES);
    struct keys first = keys_of(&fixture, mix_of(&fixture, buffers[0], buffers[1], 1));
    struct keys constant = keys_of(&fixture, mix_of(&fixture, buffers[0], buffers[1], 2));
    struct keys other = keys_of(&fixture, mix_of(&fixture, buffers[2], buffers[3], 1));
    struct keys larger = keys_of(&fixture, mix_of(&fixture, buffers[4], buffers[5], 1));
    struct keys alias = keys_of(&fixture, mix_of(&fixture, buffers[0], buffers[0], 1));
    /* Constants are no part of any key. */
    assert_true(vyre_hash128_equal(first.exact, constant.exact));
    assert_true(vyre_hash128_equal(first.template, constant.template));
    /* Other buffers: another shape, the same template. */
    assert_false(vyre_hash128_equal(first.exact, other.exact));
    assert_true(vyre_hash128_equal(first.template, other.template));
    assert_true(vyre_hash128_equal(first.family, other.family));
    /* Other sizes: another template, the same family. */
    assert_false(vyre_hash128_equal(first.template, larger.template));
    assert_true(vyre_hash128_equal(first.family, larger.family));
    /* Other hazards: another family. */
    assert_false(vyre_hash128_equal(first.family, alias.family));
    assert_false(vyre_hash128_equal(first.template, first.family));
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shape_without_measurements_runs_what_the_policies_ask),
        cmocka_unit_test(a_cost_that_is_paid_is_not_asked_for),
        cmocka_unit_test(a_record_names_what_overruled_the_policies),
        cmocka_unit_test(what_is_not_measured_runs_what_the_policies_ask),
        cmocka_unit_test(new_costs_ask_the_policies_again),
        cmocka_unit_test(a_decision_has_one_record),
        cmocka_unit_test(the_three_keys_tell_apart_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
