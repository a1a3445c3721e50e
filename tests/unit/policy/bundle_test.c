/*
 * bundle_test.c: one call for all six policies, and exactly the events that the design lists.
 */
#include <vyre/policy.h>

#include "support/arm.h"
#include "support/test.h"

/* Everything pays, the arms are apart, no copy is queued. */
static struct vyre_bundle_input aggressive_input(const struct vyre_arm *arm)
{
    return (struct vyre_bundle_input){
        .persistent_kernel = {212, 25000, 95000, 673174},
        .first_arm = arm,
        .second_arm = arm,
        .command_reuse = {30, 700, 5000, 20},
        .bindless = {24, VYRE_BINDLESS_FULL, true},
        .trace_jit = {9, 9000, 123, 70000},
    };
}

/* Ties and thresholds missed by one. */
static struct vyre_bundle_input conservative_input(const struct vyre_arm *arm)
{
    return (struct vyre_bundle_input){
        .persistent_kernel = {10, 100, 5, 1000},
        .first_arm = arm,
        .second_arm = arm,
        .command_reuse = {10, 100, 900, 10},
        .bindless = {23, VYRE_BINDLESS_FULL, false},
        .trace_jit = {9, 8000, 800, 1000},
    };
}

static struct vyre_bundle decide(const struct vyre_bundle_input *input)
{
    struct vyre_bundle bundle;
    memset(&bundle, 0x5a, sizeof bundle);
    vyre_bundle_decide(input, &bundle);
    return bundle;
}

static void decide_all_pays_gives_all_six(void **state)
{
    (void)state;
    struct vyre_arm reader = arm_of(SLOTS(1, 2), NO_SLOTS);
    struct vyre_bundle_input input = aggressive_input(&reader);
    input.copy_arm = &reader;
    input.copy_dst_slot = 3;
    struct vyre_bundle bundle = decide(&input);
    assert_int_equal(bundle.persistent_kernel.choice, VYRE_PERSISTENT_KERNEL);
    assert_u128_equal(bundle.persistent_kernel.savings_ns, 0, 4626826);
    assert_int_equal(bundle.arms.choice, VYRE_ARMS_INDEPENDENT);
    assert_int_equal(bundle.copy.choice, VYRE_COPY_OVERLAP);
    assert_int_equal(bundle.command_reuse.choice, VYRE_RECORD_AND_REPLAY);
    assert_int_equal(bundle.command_reuse.savings_ns, 15400);
    assert_int_equal(bundle.bindless.choice, VYRE_BINDLESS);
    assert_int_equal(bundle.trace_jit.choice, VYRE_SPECULATE);
    assert_int_equal(bundle.trace_jit.savings_ns, 62877);
}

static void decide_nothing_pays_gives_conservative_verdicts(void **state)
{
    (void)state;
    struct vyre_arm writer = arm_of(NO_SLOTS, SLOTS(4));
    struct vyre_bundle_input input = conservative_input(&writer);
    input.copy_arm = &writer;
    input.copy_dst_slot = 4;
    struct vyre_bundle bundle = decide(&input);
    assert_int_equal(bundle.persistent_kernel.choice, VYRE_STANDARD_LAUNCHES);
    assert_int_equal(bundle.arms.choice, VYRE_ARMS_SERIALIZE);
    assert_int_equal(bundle.arms.conflict, VYRE_CONFLICT_WRITE_WRITE);
    assert_int_equal(bundle.copy.choice, VYRE_COPY_SERIALIZE);
    assert_int_equal(bundle.command_reuse.choice, VYRE_PLAIN_LAUNCHES);
    assert_int_equal(bundle.bindless.choice, VYRE_TRADITIONAL_BINDINGS);
    assert_int_equal(bundle.trace_jit.choice, VYRE_HOLD_STEADY);
}

static void decide_no_copy_queued_is_absent(void **state)
{
    (void)state;
    struct vyre_arm writer = arm_of(NO_SLOTS, SLOTS(0));
    struct vyre_bundle_input input = aggressive_input(&writer);
    assert_int_equal(decide(&input).copy.choice, VYRE_COPY_ABSENT);
    input.copy_dst_slot = 9; /* means nothing without a copy */
    assert_int_equal(decide(&input).copy.choice, VYRE_COPY_ABSENT);
}

static void assert_event(const struct vyre_policy_event *event, enum vyre_policy policy,
                         enum vyre_policy_action action, enum vyre_policy_detail detail,
                         uint64_t saved_ns)
{
    assert_int_equal(event->policy, policy);
    assert_int_equal(event->action, action);
    assert_int_equal(event->detail, detail);
    assert_u128_equal(event->saved_ns, 0, saved_ns);
}

static void events_all_aggressive_are_the_four_in_order(void **state)
{
    (void)state;
    struct vyre_arm arm = {0};
    struct vyre_bundle_input input = aggressive_input(&arm);
    struct vyre_bundle bundle = decide(&input);
    struct vyre_policy_event events[VYRE_BUNDLE_EVENTS_MAX];
    assert_int_equal(vyre_bundle_events(&bundle, events), 4);
    assert_event(&events[0], VYRE_POLICY_PERSISTENT_KERNEL, VYRE_ACTION_QUEUE_BATCH,
                 VYRE_DETAIL_LAUNCH_OVERHEAD, 4626826);
    assert_event(&events[1], VYRE_POLICY_COMMAND_REUSE, VYRE_ACTION_RECORD_AND_REPLAY,
                 VYRE_DETAIL_REPEAT_SHAPE, 15400);
    assert_event(&events[2], VYRE_POLICY_BINDLESS, VYRE_ACTION_DESCRIPTOR_ARRAY,
                 VYRE_DETAIL_RESOURCE_COUNT_THRESHOLD, 0);
    assert_event(&events[3], VYRE_POLICY_TRACE_JIT, VYRE_ACTION_SPECULATE,
                 VYRE_DETAIL_PREDICTED_SHAPE, 62877);
}

static void events_conservative_bundle_leaves_none(void **state)
{
    (void)state;
    struct vyre_arm arm = {0};
    struct vyre_bundle_input input = conservative_input(&arm);
    input.copy_arm = &arm; /* the arms are independent and the copy overlaps: no event either */
    struct vyre_bundle bundle = decide(&input);
    assert_int_equal(bundle.arms.choice, VYRE_ARMS_INDEPENDENT);
    assert_int_equal(bundle.copy.choice, VYRE_COPY_OVERLAP);
    struct vyre_policy_event events[VYRE_BUNDLE_EVENTS_MAX];
    assert_int_equal(vyre_bundle_events(&bundle, events), 0);
    memset(&bundle, 0, sizeof bundle);
    assert_int_equal(vyre_bundle_events(&bundle, events), 0);
}

static void events_every_subset_keeps_the_order(void **state)
{
    (void)state;
    static const enum vyre_policy order[] = {VYRE_POLICY_PERSISTENT_KERNEL,
                                             VYRE_POLICY_COMMAND_REUSE, VYRE_POLICY_BINDLESS,
                                             VYRE_POLICY_TRACE_JIT};
    for (unsigned subset = 0; subset < 16; subset++) {
        struct vyre_bundle bundle = {
            .persistent_kernel = {subset & 1 ? VYRE_PERSISTENT_KERNEL : VYRE_STANDARD_LAUNCHES,
                                  {1, 0}},
            .command_reuse = {subset & 2 ? VYRE_RECORD_AND_REPLAY : VYRE_PLAIN_LAUNCHES, 1},
            .bindless = {subset & 4 ? VYRE_BINDLESS : VYRE_TRADITIONAL_BINDINGS},
            .trace_jit = {subset & 8 ? VYRE_SPECULATE : VYRE_HOLD_STEADY, 1},
        };
        struct vyre_policy_event events[VYRE_BUNDLE_EVENTS_MAX];
        size_t count = vyre_bundle_events(&bundle, events), expected = 0;
        for (unsigned bit = 0; bit < 4; bit++) {
            if (subset & 1u << bit) {
                assert_in_range(expected, 0, count - 1);
                assert_int_equal(events[expected++].policy, order[bit]);
            }
        }
        assert_int_equal(count, expected);
    }
}

static void events_savings_past_64_bits_stay_whole(void **state)
{
    (void)state;
    struct vyre_bundle bundle = {.persistent_kernel = {VYRE_PERSISTENT_KERNEL, {5, 6}}};
    struct vyre_policy_event events[VYRE_BUNDLE_EVENTS_MAX];
    assert_int_equal(vyre_bundle_events(&bundle, events), 1);
    assert_u128_equal(events[0].saved_ns, 6, 5);
}

static void names_every_value_is_its_stable_word(void **state)
{
    (void)state;
    static const char *const policies[] = {"none",         "persistent_kernel", "arm_independence",
                                           "copy_overlap", "command_reuse",     "bindless",
                                           "trace_jit"};
    static const char *const actions[] = {"none", "queue_batch", "record_and_replay",
                                          "descriptor_array", "speculate"};
    static const char *const details[] = {"none", "launch_overhead", "repeat_shape",
                                          "resource_count_threshold", "predicted_shape"};
    assert_int_equal(COUNT_OF(policies), VYRE_POLICY_COUNT);
    for (size_t i = 0; i < COUNT_OF(policies); i++)
        assert_string_equal(vyre_policy_name((enum vyre_policy)i), policies[i]);
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        assert_string_equal(vyre_policy_action_name((enum vyre_policy_action)i), actions[i]);
    for (size_t i = 0; i < COUNT_OF(details); i++)
        assert_string_equal(vyre_policy_detail_name((enum vyre_policy_detail)i), details[i]);
    static const int outside[] = {-1, 100, INT32_MAX};
    for (size_t i = 0; i < COUNT_OF(outside); i++) {
        assert_string_equal(vyre_policy_name((enum vyre_policy)outside[i]), "none");
        assert_string_equal(vyre_policy_action_name((enum vyre_policy_action)outside[i]), "none");
        assert_string_equal(vyre_policy_detail_name((enum vyre_policy_detail)outside[i]), "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_all_pays_gives_all_six),
        cmocka_unit_test(decide_nothing_pays_gives_conservative_verdicts),
        cmocka_unit_test(decide_no_copy_queued_is_absent),
        cmocka_unit_test(events_all_aggressive_are_the_four_in_order),
        cmocka_unit_test(events_conservative_bundle_leaves_none),
        cmocka_unit_test(events_every_subset_keeps_the_order),
        cmocka_unit_test(events_savings_past_64_bits_stay_whole),
        cmocka_unit_test(names_every_value_is_its_stable_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
