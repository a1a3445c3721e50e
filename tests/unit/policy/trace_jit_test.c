/*
 * trace_jit_test.c: each rule of trace JIT (I2 in docs/design/policies.md).
 */
#include <vyre/policy.h>

#include "support/format_check.h"
#include "support/test.h"

static struct vyre_trace_jit_verdict decide(uint32_t hits, uint32_t confidence_bps,
                                            uint64_t cost_ns, uint64_t miss_ns)
{
    struct vyre_trace_jit_input input = {hits, confidence_bps, cost_ns, miss_ns};
    return vyre_trace_jit_decide(&input);
}

static void assert_hold(struct vyre_trace_jit_verdict verdict)
{
    assert_int_equal(verdict.choice, VYRE_HOLD_STEADY);
    assert_int_equal(verdict.savings_ns, 0);
}

static void assert_speculate(struct vyre_trace_jit_verdict verdict, uint64_t savings_ns)
{
    assert_int_equal(verdict.choice, VYRE_SPECULATE);
    assert_int_equal(verdict.savings_ns, savings_ns);
}

static void decide_too_few_hits_hold(void **state)
{
    (void)state;
    assert_hold(decide(0, 10000, 0, 1000));
    assert_hold(decide(7, 10000, 0, 1000));
    assert_speculate(decide(8, 10000, 0, 1000), 1000);
}

static void decide_too_little_confidence_holds(void **state)
{
    (void)state;
    assert_hold(decide(100, 0, 0, 1000));
    assert_hold(decide(100, 5999, 0, UINT64_MAX));
    assert_speculate(decide(100, 6000, 0, 1000), 600);
}

static void decide_free_miss_holds(void **state)
{
    (void)state;
    assert_hold(decide(100, 10000, 0, 0));
    assert_hold(decide(UINT32_MAX, UINT32_MAX, 0, 0));
}

static void decide_tie_holds(void **state)
{
    (void)state;
    assert_hold(decide(8, 8000, 800, 1000));
    assert_hold(decide(8, 8000, 801, 1000));
    assert_speculate(decide(8, 8000, 799, 1000), 1);
}

static void decide_weighted_is_rounded_down(void **state)
{
    (void)state;
    assert_hold(decide(8, 9999, 0, 1)); /* 0.9999 -> 0 */
    assert_speculate(decide(8, 9999, 0, 2), 1);
    assert_speculate(decide(8, 6001, 0, 9999), 6000); /* 6000.3999 */
    assert_speculate(decide(8, 7777, 0, 10001), 7777);
}

static void decide_product_past_64_bits_is_exact(void **state)
{
    (void)state;
    assert_speculate(decide(8, 10000, 0, UINT64_MAX), UINT64_MAX);
    assert_speculate(decide(8, 9999, 0, UINT64_MAX), UINT64_C(18444899399302180659));
    assert_speculate(decide(8, 6000, 1, UINT64_MAX), UINT64_C(11068046444225730968));
}

static void decide_confidence_above_one_is_clamped_to_64_bits(void **state)
{
    (void)state;
    assert_speculate(decide(8, 20000, 500, 1000), 1500);
    assert_speculate(decide(8, 10001, 0, UINT64_MAX), UINT64_MAX);
    assert_speculate(decide(8, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX), 1);
    assert_hold(decide(8, UINT32_MAX, UINT64_MAX, UINT64_MAX));
}

static size_t format(const void *verdict, char *out, size_t capacity)
{
    return vyre_trace_jit_format(verdict, out, capacity);
}

static void format_every_choice_is_its_stable_text(void **state)
{
    (void)state;
    static const struct {
        struct vyre_trace_jit_verdict verdict;
        const char *text;
    } cases[] = {
        {{VYRE_TRACE_JIT_NONE, 0}, "none"},
        {{VYRE_HOLD_STEADY, 0}, "hold-steady"},
        {{VYRE_SPECULATE, 42}, "speculate:42"},
        {{VYRE_SPECULATE, UINT64_MAX}, "speculate:18446744073709551615"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_formats_as(format, &cases[i].verdict, cases[i].text);
}

static size_t explain(const void *input, char *out, size_t capacity)
{
    return vyre_trace_jit_explain(input, out, capacity);
}

static void explain_each_reason_names_its_numbers(void **state)
{
    (void)state;
    static const struct {
        struct vyre_trace_jit_input input;
        const char *parts[5];
    } cases[] = {
        {{7, 9000, 5, 3000}, {"7", "8"}},
        {{9, 5999, 5, 3000}, {"5999", "6000"}},
        {{9, 9000, 5, 0}, {"0 ns"}},
        {{9, 8000, 800, 1000}, {"8000", "1000", "800", "not more than"}},
        {{9, 9000, 123, 70000}, {"9000", "70000", "63000", "123", "62877"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_explains(explain, &cases[i].input, cases[i].parts, COUNT_OF(cases[i].parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_too_few_hits_hold),
        cmocka_unit_test(decide_too_little_confidence_holds),
        cmocka_unit_test(decide_free_miss_holds),
        cmocka_unit_test(decide_tie_holds),
        cmocka_unit_test(decide_weighted_is_rounded_down),
        cmocka_unit_test(decide_product_past_64_bits_is_exact),
        cmocka_unit_test(decide_confidence_above_one_is_clamped_to_64_bits),
        cmocka_unit_test(format_every_choice_is_its_stable_text),
        cmocka_unit_test(explain_each_reason_names_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
