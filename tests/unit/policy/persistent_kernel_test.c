/*
 * persistent_kernel_test.c: each rule of the persistent kernel (D1 in docs/design/policies.md).
 */
#include <vyre/policy.h>

#include "support/format_check.h"
#include "support/test.h"

static struct vyre_persistent_kernel_verdict decide(uint32_t batch, uint64_t launch_ns,
                                                    uint64_t item_ns, uint64_t setup_ns)
{
    struct vyre_persistent_kernel_input input = {batch, launch_ns, item_ns, setup_ns};
    return vyre_persistent_kernel_decide(&input);
}

static void assert_standard(struct vyre_persistent_kernel_verdict verdict)
{
    assert_int_equal(verdict.choice, VYRE_STANDARD_LAUNCHES);
    assert_u128_equal(verdict.savings_ns, 0, 0);
}

static void decide_at_most_one_item_is_standard(void **state)
{
    (void)state;
    assert_standard(decide(0, UINT64_MAX, 5, 0));
    assert_standard(decide(1, UINT64_MAX, 5, 0));
    assert_int_equal(decide(2, 1, 5, 0).choice, VYRE_PERSISTENT_KERNEL);
}

static void decide_no_launch_overhead_is_standard(void **state)
{
    (void)state;
    assert_standard(decide(UINT32_MAX, 0, 5, 0));
    assert_standard(decide(2, 0, 5, UINT64_MAX));
}

static void decide_tie_is_standard(void **state)
{
    (void)state;
    assert_standard(decide(10, 100, 5, 1000));
    assert_standard(decide(10, 100, 5, 1001));
    struct vyre_persistent_kernel_verdict verdict = decide(10, 100, 5, 999);
    assert_int_equal(verdict.choice, VYRE_PERSISTENT_KERNEL);
    assert_u128_equal(verdict.savings_ns, 0, 1);
}

static void decide_tie_at_the_top_of_64_bits_is_standard(void **state)
{
    (void)state;
    assert_standard(decide(3, UINT64_MAX / 3, 0, UINT64_MAX));
    assert_u128_equal(decide(3, UINT64_MAX / 3 + 1, 0, UINT64_MAX).savings_ns, 0, 3);
}

static void decide_product_past_64_bits_is_exact(void **state)
{
    (void)state;
    struct vyre_persistent_kernel_verdict verdict = decide(UINT32_MAX, UINT64_MAX, 0, 0);
    assert_int_equal(verdict.choice, VYRE_PERSISTENT_KERNEL);
    /* (2^32 - 1) x (2^64 - 1) = 2^96 - 2^64 - 2^32 + 1 */
    assert_u128_equal(verdict.savings_ns, UINT32_MAX - 1, UINT64_MAX - UINT32_MAX + 1);
    /* A product that wraps to 0 in 64 bits. */
    verdict = decide(2, UINT64_C(1) << 63, 0, UINT64_MAX);
    assert_int_equal(verdict.choice, VYRE_PERSISTENT_KERNEL);
    assert_u128_equal(verdict.savings_ns, 0, 1);
}

static void decide_items_duration_changes_nothing(void **state)
{
    (void)state;
    static const uint64_t durations[] = {0, 1, 1000, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(durations); i++) {
        assert_standard(decide(10, 100, durations[i], 1000));
        assert_u128_equal(decide(10, 100, durations[i], 400).savings_ns, 0, 600);
    }
}

static size_t format(const void *verdict, char *out, size_t capacity)
{
    return vyre_persistent_kernel_format(verdict, out, capacity);
}

static void format_every_choice_is_its_stable_text(void **state)
{
    (void)state;
    static const struct {
        struct vyre_persistent_kernel_verdict verdict;
        const char *text;
    } cases[] = {
        {{VYRE_PERSISTENT_KERNEL_NONE, {0, 0}}, "none"},
        {{VYRE_STANDARD_LAUNCHES, {0, 0}}, "standard-launches"},
        {{VYRE_PERSISTENT_KERNEL, {4626826, 0}}, "persistent-kernel:4626826"},
        {{VYRE_PERSISTENT_KERNEL, {0, 1}}, "persistent-kernel:18446744073709551616"},
        {{VYRE_PERSISTENT_KERNEL, {UINT64_MAX, UINT64_MAX}},
         "persistent-kernel:340282366920938463463374607431768211455"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_in_range(strlen(cases[i].text), 1, VYRE_VERDICT_TEXT_BYTES - 1);
        assert_formats_as(format, &cases[i].verdict, cases[i].text);
    }
}

static size_t explain(const void *input, char *out, size_t capacity)
{
    return vyre_persistent_kernel_explain(input, out, capacity);
}

static void explain_each_reason_names_its_numbers(void **state)
{
    (void)state;
    static const struct {
        struct vyre_persistent_kernel_input input;
        const char *parts[4];
    } cases[] = {
        {{1, 777, 5, 3}, {"1"}},
        {{9, 0, 5, 3}, {"0 ns"}},
        {{10, 100, 5, 1000}, {"10", "100", "1000", "not more than"}},
        {{212, 25000, 95000, 673174}, {"212", "25000", "673174", "4626826"}},
        {{UINT32_MAX, UINT64_MAX, 0, 0},
         {"4294967295", "18446744073709551615", "79228162495817593515539431425", "more than"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_explains(explain, &cases[i].input, cases[i].parts, COUNT_OF(cases[i].parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_at_most_one_item_is_standard),
        cmocka_unit_test(decide_no_launch_overhead_is_standard),
        cmocka_unit_test(decide_tie_is_standard),
        cmocka_unit_test(decide_tie_at_the_top_of_64_bits_is_standard),
        cmocka_unit_test(decide_product_past_64_bits_is_exact),
        cmocka_unit_test(decide_items_duration_changes_nothing),
        cmocka_unit_test(format_every_choice_is_its_stable_text),
        cmocka_unit_test(explain_each_reason_names_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
