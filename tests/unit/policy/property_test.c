/*
 * property_test.c: what must hold for every input, on a million random ones per policy.
 *
 * Numbers come from a mixture that hits the edges of their widths; each case is also moved onto the
 * tie and one step to either side of it. References are written here from the design, with 128-bit
 * arithmetic, and share nothing with the library. A failure prints its seed, case and inputs.
 */
#include <vyre/policy.h>

#include "support/arm.h"
#include "support/random.h"
#include "support/test.h"

#ifndef VYRE_TEST_PROPERTY_CASES
#define VYRE_TEST_PROPERTY_CASES 1000000
#endif

enum { CASES = VYRE_TEST_PROPERTY_CASES };

/* Which case is being looked at, for the message. */
struct trial {
    uint64_t seed;
    int number;
    uint64_t inputs[4];
};

static void hold(const struct trial *trial, bool holds, const char *what)
{
    if (holds)
        return;
    fail_msg("%s: seed %llu case %d inputs %llu %llu %llu %llu", what,
             (unsigned long long)trial->seed, trial->number, (unsigned long long)trial->inputs[0],
             (unsigned long long)trial->inputs[1], (unsigned long long)trial->inputs[2],
             (unsigned long long)trial->inputs[3]);
}

/* Both verdicts must come up often, or the inputs prove nothing. */
static void assert_both_sides_seen(int aggressive, int cases)
{
    assert_in_range(aggressive, cases / 20, cases - cases / 20);
}

/* ---- D1 -------------------------------------------------------------------------------------- */

static bool persistent_holds(const struct trial *trial,
                             const struct vyre_persistent_kernel_input *input)
{
    wide total = (wide)input->batch_size * input->per_launch_overhead_ns;
    bool pays = input->batch_size > 1 && input->per_launch_overhead_ns != 0 &&
                total > input->persistent_setup_overhead_ns;
    struct vyre_persistent_kernel_verdict verdict = vyre_persistent_kernel_decide(input);
    hold(trial, verdict.choice == (pays ? VYRE_PERSISTENT_KERNEL : VYRE_STANDARD_LAUNCHES),
         "D1 verdict");
    hold(trial,
         wide_from(verdict.savings_ns) == (pays ? total - input->persistent_setup_overhead_ns : 0),
         "D1 savings are exact");
    hold(trial, vyre_u128_is_zero(verdict.savings_ns) == !pays,
         "D1 savings are positive exactly when aggressive");

    struct vyre_persistent_kernel_input other = *input;
    other.per_item_kernel_ns = ~input->per_item_kernel_ns;
    struct vyre_persistent_kernel_verdict again = vyre_persistent_kernel_decide(&other);
    hold(trial,
         again.choice == verdict.choice &&
             vyre_u128_compare(again.savings_ns, verdict.savings_ns) == 0,
         "D1 does not depend on the item's duration");
    return pays;
}

static void persistent_kernel_any_input_agrees_with_the_rule(void **state)
{
    (void)state;
    struct trial trial = {.seed = 101};
    struct rng rng = rng_seeded(trial.seed);
    int aggressive = 0, ties = 0;
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        struct vyre_persistent_kernel_input input = {rng_edge_u32(&rng), rng_edge_u64(&rng),
                                                     rng_edge_u64(&rng), rng_edge_u64(&rng)};
        trial.inputs[0] = input.batch_size;
        trial.inputs[1] = input.per_launch_overhead_ns;
        trial.inputs[2] = input.per_item_kernel_ns;
        trial.inputs[3] = input.persistent_setup_overhead_ns;
        aggressive += persistent_holds(&trial, &input);

        wide total = (wide)input.batch_size * input.per_launch_overhead_ns;
        if (total > UINT64_MAX || total == 0 || input.batch_size < 2)
            continue;
        ties++;
        input.persistent_setup_overhead_ns = trial.inputs[3] = (uint64_t)total;
        hold(&trial, !persistent_holds(&trial, &input), "D1 stays standard on a tie");
        input.persistent_setup_overhead_ns--;
        trial.inputs[3]--;
        hold(&trial, persistent_holds(&trial, &input), "D1 is persistent just before a tie");
    }
    assert_both_sides_seen(aggressive, CASES);
    assert_true(ties > CASES / 20);
}

/* ---- D4 -------------------------------------------------------------------------------------- */

/* Saturation by comparing with the quotient instead of multiplying. */
static uint64_t saturated(uint64_t times, uint64_t value)
{
    return times != 0 && value > UINT64_MAX / times ? UINT64_MAX : times * value;
}

static bool reuse_holds(const struct trial *trial, const struct vyre_command_reuse_input *input)
{
    bool cheaper = input->replay_overhead_ns < input->per_launch_overhead_ns;
    uint64_t gross = cheaper ? saturated(input->repeat_count,
                                         input->per_launch_overhead_ns - input->replay_overhead_ns)
                             : 0;
    bool pays = input->repeat_count > 1 && cheaper && gross > input->record_overhead_ns;
    struct vyre_command_reuse_verdict verdict = vyre_command_reuse_decide(input);
    hold(trial, verdict.choice == (pays ? VYRE_RECORD_AND_REPLAY : VYRE_PLAIN_LAUNCHES),
         "D4 verdict");
    hold(trial, verdict.savings_ns == (pays ? gross - input->record_overhead_ns : 0), "D4 savings");
    hold(trial, (verdict.savings_ns == 0) == !pays,
         "D4 savings are positive exactly when aggressive");
    return pays;
}

static void command_reuse_any_input_agrees_with_the_rule(void **state)
{
    (void)state;
    struct trial trial = {.seed = 104};
    struct rng rng = rng_seeded(trial.seed);
    int aggressive = 0, ties = 0, saturations = 0;
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        struct vyre_command_reuse_input input = {rng_edge_u32(&rng), rng_edge_u64(&rng),
                                                 rng_edge_u64(&rng), rng_edge_u64(&rng)};
        trial.inputs[0] = input.repeat_count;
        trial.inputs[1] = input.per_launch_overhead_ns;
        trial.inputs[2] = input.record_overhead_ns;
        trial.inputs[3] = input.replay_overhead_ns;
        bool pays = reuse_holds(&trial, &input);
        aggressive += pays;

        struct vyre_command_reuse_input more = input;
        uint32_t room = UINT32_MAX - input.repeat_count;
        more.repeat_count += room == 0 ? 0 : 1 + (uint32_t)rng_below(&rng, room);
        struct vyre_command_reuse_verdict with_more = vyre_command_reuse_decide(&more);
        hold(&trial, !pays || with_more.choice == VYRE_RECORD_AND_REPLAY,
             "D4: more repeats never turn replay into plain");
        hold(&trial, with_more.savings_ns >= vyre_command_reuse_decide(&input).savings_ns,
             "D4: more repeats never save less");

        if (input.repeat_count < 2 || input.replay_overhead_ns >= input.per_launch_overhead_ns)
            continue;
        ties++;
        uint64_t gross =
            saturated(input.repeat_count, input.per_launch_overhead_ns - input.replay_overhead_ns);
        saturations += gross == UINT64_MAX;
        input.record_overhead_ns = trial.inputs[2] = gross;
        hold(&trial, !reuse_holds(&trial, &input), "D4 stays plain on a tie");
        input.record_overhead_ns = trial.inputs[2] = gross - 1;
        hold(&trial, reuse_holds(&trial, &input), "D4 replays just before a tie");
    }
    assert_both_sides_seen(aggressive, CASES);
    assert_true(ties > CASES / 20);
    assert_true(saturations > CASES / 100);
}

/* ---- I2 -------------------------------------------------------------------------------------- */

static uint64_t weighted_miss(const struct vyre_trace_jit_input *input)
{
    wide weighted = (wide)input->miss_cost_ns * input->prediction_confidence_bps / 10000;
    return weighted > UINT64_MAX ? UINT64_MAX : (uint64_t)weighted;
}

static bool trace_holds(const struct trial *trial, const struct vyre_trace_jit_input *input)
{
    uint64_t weighted = weighted_miss(input);
    bool pays = input->shader_hit_count >= 8 && input->prediction_confidence_bps >= 6000 &&
                input->miss_cost_ns != 0 && weighted > input->speculative_spec_cost_ns;
    struct vyre_trace_jit_verdict verdict = vyre_trace_jit_decide(input);
    hold(trial, verdict.choice == (pays ? VYRE_SPECULATE : VYRE_HOLD_STEADY), "I2 verdict");
    hold(trial, verdict.savings_ns == (pays ? weighted - input->speculative_spec_cost_ns : 0),
         "I2 savings");
    hold(trial, (verdict.savings_ns == 0) == !pays,
         "I2 savings are positive exactly when aggressive");
    return pays;
}

/* Edges, but mostly near the thresholds. */
static uint32_t any_confidence(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return rng_edge_u32(rng);
    case 1:
        return 5998 + (uint32_t)rng_below(rng, 5);
    default:
        return (uint32_t)rng_below(rng, 10002);
    }
}

static void trace_jit_any_input_agrees_with_the_rule(void **state)
{
    (void)state;
    struct trial trial = {.seed = 105};
    struct rng rng = rng_seeded(trial.seed);
    int aggressive = 0, ties = 0;
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        uint32_t hits = rng_bool(&rng) ? rng_edge_u32(&rng) : 6 + (uint32_t)rng_below(&rng, 4);
        struct vyre_trace_jit_input input = {hits, any_confidence(&rng), rng_edge_u64(&rng),
                                             rng_edge_u64(&rng)};
        trial.inputs[0] = input.shader_hit_count;
        trial.inputs[1] = input.prediction_confidence_bps;
        trial.inputs[2] = input.speculative_spec_cost_ns;
        trial.inputs[3] = input.miss_cost_ns;
        aggressive += trace_holds(&trial, &input);

        uint64_t weighted = weighted_miss(&input);
        if (hits < 8 || input.prediction_confidence_bps < 6000 || weighted == 0)
            continue;
        ties++;
        input.speculative_spec_cost_ns = trial.inputs[2] = weighted;
        hold(&trial, !trace_holds(&trial, &input), "I2 holds on a tie");
        input.speculative_spec_cost_ns = trial.inputs[2] = weighted - 1;
        hold(&trial, trace_holds(&trial, &input), "I2 speculates just before a tie");
    }
    assert_both_sides_seen(aggressive, CASES);
    assert_true(ties > CASES / 20);
}

/* ---- D9 -------------------------------------------------------------------------------------- */

static enum vyre_bindless_choice expected_bindless(const struct vyre_bindless_input *input)
{
    if (input->resource_count < 24)
        return VYRE_TRADITIONAL_BINDINGS;
    switch (input->support) {
    case VYRE_BINDLESS_FULL:
        return VYRE_BINDLESS;
    case VYRE_BINDLESS_STATIC:
        return input->dynamic_indexing ? VYRE_TRADITIONAL_BINDINGS : VYRE_BINDLESS;
    case VYRE_BINDLESS_UNSUPPORTED:
        break;
    }
    return VYRE_TRADITIONAL_BINDINGS;
}

static bool bindless_holds(const struct trial *trial, const struct vyre_bindless_input *input)
{
    enum vyre_bindless_choice choice = vyre_bindless_decide(input).choice;
    hold(trial, choice == expected_bindless(input), "D9 verdict");
    return choice == VYRE_BINDLESS;
}

static void bindless_every_input_near_the_threshold_agrees_with_the_rule(void **state)
{
    (void)state;
    struct trial trial = {.seed = 0};
    int aggressive = 0, cases = 0;
    for (uint32_t count = 0; count <= 4096; count++) {
        for (unsigned support = 0; support < 3; support++) {
            for (unsigned dynamic = 0; dynamic < 2; dynamic++, cases++) {
                struct vyre_bindless_input input = {count, (enum vyre_bindless_support)support,
                                                    dynamic != 0};
                trial.inputs[0] = count;
                trial.inputs[1] = support;
                trial.inputs[2] = dynamic;
                aggressive += bindless_holds(&trial, &input);
            }
        }
    }
    assert_int_equal(aggressive, (4096 - 24 + 1) * 3);
}

static void bindless_any_input_agrees_with_the_rule(void **state)
{
    (void)state;
    struct trial trial = {.seed = 109};
    struct rng rng = rng_seeded(trial.seed);
    int aggressive = 0;
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        struct vyre_bindless_input input = {
            rng_edge_u32(&rng), (enum vyre_bindless_support)rng_below(&rng, 3), rng_bool(&rng)};
        trial.inputs[0] = input.resource_count;
        trial.inputs[1] = input.support;
        trial.inputs[2] = input.dynamic_indexing;
        aggressive += bindless_holds(&trial, &input);
    }
    assert_both_sides_seen(aggressive, CASES);
}

/* ---- D2 and D3 ------------------------------------------------------------------------------- */

static struct vyre_arm_verdict expected_arms(const struct random_arm *a, const struct random_arm *b)
{
    const struct random_set *pairs[3][2] = {
        {&a->writes, &b->writes}, {&a->writes, &b->reads}, {&a->reads, &b->writes}};
    static const enum vyre_conflict conflicts[3] = {
        VYRE_CONFLICT_WRITE_WRITE, VYRE_CONFLICT_READ_AFTER_WRITE, VYRE_CONFLICT_WRITE_AFTER_READ};
    for (size_t i = 0; i < 3; i++) {
        uint32_t slot;
        if (random_sets_meet(pairs[i][0], pairs[i][1], &slot))
            return (struct vyre_arm_verdict){VYRE_ARMS_SERIALIZE, conflicts[i]};
    }
    return (struct vyre_arm_verdict){VYRE_ARMS_INDEPENDENT, VYRE_CONFLICT_NONE};
}

/* The same conflict seen from the other arm. */
static enum vyre_conflict mirrored(const struct random_arm *a, const struct random_arm *b,
                                   enum vyre_conflict conflict)
{
    uint32_t slot;
    if (conflict == VYRE_CONFLICT_READ_AFTER_WRITE)
        return random_sets_meet(&a->reads, &b->writes, &slot) ? VYRE_CONFLICT_READ_AFTER_WRITE
                                                              : VYRE_CONFLICT_WRITE_AFTER_READ;
    if (conflict == VYRE_CONFLICT_WRITE_AFTER_READ)
        return VYRE_CONFLICT_READ_AFTER_WRITE;
    return conflict;
}

static void arm_independence_any_arms_agree_with_brute_force(void **state)
{
    (void)state;
    struct trial trial = {.seed = 102};
    struct rng rng = rng_seeded(trial.seed);
    int independent = 0, by_conflict[4] = {0};
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        struct random_arm a, b;
        random_arm_fill(&rng, &a);
        random_arm_fill(&rng, &b);
        struct vyre_arm_verdict expected = expected_arms(&a, &b);
        struct vyre_arm_verdict verdict = vyre_arm_independence_decide(&a.arm, &b.arm);
        hold(&trial, verdict.choice == expected.choice, "D2 choice");
        hold(&trial, verdict.conflict == expected.conflict, "D2 conflict");
        struct vyre_arm_verdict swapped = vyre_arm_independence_decide(&b.arm, &a.arm);
        hold(&trial, swapped.choice == verdict.choice, "D2 is symmetric in whether it serializes");
        hold(&trial, swapped.conflict == mirrored(&a, &b, verdict.conflict),
             "D2 names the mirrored conflict when the arms are swapped");
        independent += verdict.choice == VYRE_ARMS_INDEPENDENT;
        by_conflict[verdict.conflict]++;
    }
    assert_both_sides_seen(independent, CASES);
    for (size_t i = 1; i < COUNT_OF(by_conflict); i++)
        assert_true(by_conflict[i] > CASES / 50);
}

static void copy_overlap_any_arm_agrees_with_brute_force(void **state)
{
    (void)state;
    struct trial trial = {.seed = 103};
    struct rng rng = rng_seeded(trial.seed);
    int overlaps = 0;
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        struct random_arm kernel;
        random_arm_fill(&rng, &kernel);
        uint32_t slot = rng_edge_u32(&rng);
        if (rng_bool(&rng))
            slot %= 16;
        else if (kernel.writes.raw_count > 0 && rng_bool(&rng))
            slot = kernel.writes.raw[0] ^ (rng_bool(&rng) ? 64u : 0u);
        trial.inputs[0] = slot;
        bool touched = random_set_has(&kernel.reads, slot) || random_set_has(&kernel.writes, slot);
        enum vyre_copy_choice choice = vyre_copy_overlap_decide(slot, &kernel.arm).choice;
        hold(&trial, choice == (touched ? VYRE_COPY_SERIALIZE : VYRE_COPY_OVERLAP), "D3 verdict");
        overlaps += choice == VYRE_COPY_OVERLAP;
    }
    assert_both_sides_seen(overlaps, CASES);
}

/* ---- The bundle ------------------------------------------------------------------------------ */

static void bundle_any_input_equals_the_single_calls(void **state)
{
    (void)state;
    struct trial trial = {.seed = 110};
    struct rng rng = rng_seeded(trial.seed);
    int absent = 0;
    for (trial.number = 0; trial.number < CASES; trial.number++) {
        struct random_arm arms[3];
        for (size_t i = 0; i < 3; i++)
            random_arm_fill(&rng, &arms[i]);
        struct vyre_bundle_input input = {
            .persistent_kernel = {rng_edge_u32(&rng), rng_edge_u64(&rng), rng_edge_u64(&rng),
                                  rng_edge_u64(&rng)},
            .first_arm = &arms[0].arm,
            .second_arm = &arms[1].arm,
            .copy_arm = rng_bool(&rng) ? &arms[2].arm : NULL,
            .copy_dst_slot = (uint32_t)rng_below(&rng, 16),
            .command_reuse = {rng_edge_u32(&rng), rng_edge_u64(&rng), rng_edge_u64(&rng),
                              rng_edge_u64(&rng)},
            .bindless = {rng_edge_u32(&rng), (enum vyre_bindless_support)rng_below(&rng, 3),
                         rng_bool(&rng)},
            .trace_jit = {rng_edge_u32(&rng), any_confidence(&rng), rng_edge_u64(&rng),
                          rng_edge_u64(&rng)},
        };
        struct vyre_bundle bundle;
        vyre_bundle_decide(&input, &bundle);

        struct vyre_persistent_kernel_verdict d1 =
            vyre_persistent_kernel_decide(&input.persistent_kernel);
        hold(&trial,
             bundle.persistent_kernel.choice == d1.choice &&
                 vyre_u128_compare(bundle.persistent_kernel.savings_ns, d1.savings_ns) == 0,
             "bundle D1");
        struct vyre_arm_verdict d2 =
            vyre_arm_independence_decide(input.first_arm, input.second_arm);
        hold(&trial, bundle.arms.choice == d2.choice && bundle.arms.conflict == d2.conflict,
             "bundle D2");
        enum vyre_copy_choice d3 =
            input.copy_arm ? vyre_copy_overlap_decide(input.copy_dst_slot, input.copy_arm).choice
                           : VYRE_COPY_ABSENT;
        hold(&trial, bundle.copy.choice == d3, "bundle D3");
        absent += d3 == VYRE_COPY_ABSENT;
        struct vyre_command_reuse_verdict d4 = vyre_command_reuse_decide(&input.command_reuse);
        hold(&trial,
             bundle.command_reuse.choice == d4.choice &&
                 bundle.command_reuse.savings_ns == d4.savings_ns,
             "bundle D4");
        hold(&trial, bundle.bindless.choice == vyre_bindless_decide(&input.bindless).choice,
             "bundle D9");
        struct vyre_trace_jit_verdict i2 = vyre_trace_jit_decide(&input.trace_jit);
        hold(&trial,
             bundle.trace_jit.choice == i2.choice && bundle.trace_jit.savings_ns == i2.savings_ns,
             "bundle I2");

        struct vyre_policy_event events[VYRE_BUNDLE_EVENTS_MAX];
        size_t aggressive =
            (size_t)(d1.choice == VYRE_PERSISTENT_KERNEL) + (d4.choice == VYRE_RECORD_AND_REPLAY) +
            (bundle.bindless.choice == VYRE_BINDLESS) + (i2.choice == VYRE_SPECULATE);
        hold(&trial, vyre_bundle_events(&bundle, events) == aggressive,
             "one event per aggressive verdict");
    }
    assert_both_sides_seen(absent, CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(persistent_kernel_any_input_agrees_with_the_rule),
        cmocka_unit_test(arm_independence_any_arms_agree_with_brute_force),
        cmocka_unit_test(copy_overlap_any_arm_agrees_with_brute_force),
        cmocka_unit_test(command_reuse_any_input_agrees_with_the_rule),
        cmocka_unit_test(bindless_every_input_near_the_threshold_agrees_with_the_rule),
        cmocka_unit_test(bindless_any_input_agrees_with_the_rule),
        cmocka_unit_test(trace_jit_any_input_agrees_with_the_rule),
        cmocka_unit_test(bundle_any_input_equals_the_single_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
