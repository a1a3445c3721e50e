/*
 * command_reuse_test.c: each rule of command reuse (D4 in docs/design/policies.md).
 */
#include <vyre/policy.h>

#include "support/format_check.h"
#include "support/test.h"

static struct vyre_command_reuse_verdict decide(uint32_t repeat, uint64_t launch_ns,
                                                uint64_t record_ns, uint64_t replay_ns)
{
    struct vyre_command_reuse_input input = {repeat, launch_ns, record_ns, replay_ns};
    return vyre_command_reuse_decide(&input);
}

static void assert_plain(struct vyre_command_reuse_verdict verdict)
{
    assert_int_equal(verdict.choice, VYRE_PLAIN_LAUNCHES);
    assert_int_equal(verdict.savings_ns, 0);
}

static void assert_replay(struct vyre_command_reuse_verdict verdict, uint64_t savings_ns)
{
    assert_int_equal(verdict.choice, VYRE_RECORD_AND_REPLAY);
    assert_int_equal(verdict.savings_ns, savings_ns);
}

static void decide_at_most_one_repeat_is_plain(void **state)
{
    (void)state;
    assert_plain(decide(0, UINT64_MAX, 0, 0));
    assert_plain(decide(1, UINT64_MAX, 0, 0));
    assert_replay(decide(2, 5, 0, 0), 10);
}

static void decide_replay_not_cheaper_is_plain(void **state)
{
    (void)state;
    assert_plain(decide(UINT32_MAX, 100, 0, 100));
    assert_plain(decide(UINT32_MAX, 100, 0, 101));
    assert_plain(decide(UINT32_MAX, 0, 0, UINT64_MAX));
    assert_plain(decide(UINT32_MAX, 0, 0, 0));
    assert_replay(decide(UINT32_MAX, 100, 0, 99), UINT32_MAX);
}

static void decide_tie_is_plain(void **state)
{
    (void)state;
    assert_plain(decide(10, 100, 900, 10));
    assert_plain(decide(10, 100, 901, 10));
    assert_replay(decide(10, 100, 899, 10), 1);
}

static void decide_saturated_product_is_kept_at_the_maximum(void **state)
{
    (void)state;
    assert_replay(decide(2, UINT64_C(1) << 63, 0, 0), UINT64_MAX);
    assert_replay(decide(2, UINT64_C(1) << 63, 1, 0), UINT64_MAX - 1);
    assert_replay(decide(UINT32_MAX, UINT64_MAX, UINT64_MAX - 1, 0), 1);
    /* A product beyond 64 bits is clamped first and compared then. */
    assert_plain(decide(UINT32_MAX, UINT64_MAX, UINT64_MAX, 0));
}

static size_t format(const void *verdict, char *out, size_t capacity)
{
    return vyre_command_reuse_format(verdict, out, capacity);
}

static void format_every_choice_is_its_stable_text(void **state)
{
    (void)state;
    static const struct {
        struct vyre_command_reuse_verdict verdict;
        const char *text;
    } cases[] = {
        {{VYRE_COMMAND_REUSE_NONE, 0}, "none"},
        {{VYRE_PLAIN_LAUNCHES, 0}, "plain-launches"},
        {{VYRE_RECORD_AND_REPLAY, 1}, "record-and-replay:1"},
        {{VYRE_RECORD_AND_REPLAY, UINT64_MAX}, "record-and-replay:18446744073709551615"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_in_range(strlen(cases[i].text), 1, VYRE_VERDICT_TEXT_BYTES - 1);
        assert_formats_as(format, &cases[i].verdict, cases[i].text);
    }
}

static size_t explain(const void *input, char *out, size_t capacity)
{
    return vyre_command_reuse_explain(input, out, capacity);
}

static void explain_each_reason_names_its_numbers(void **state)
{
    (void)state;
    static const struct {
        struct vyre_command_reuse_input input;
        const char *parts[5];
    } cases[] = {
        {{1, 777, 5, 3}, {"1"}},
        {{50, 4000, 5, 4500}, {"4000", "4500", "not less than"}},
        {{10, 100, 900, 10}, {"10", "100", "900", "not more than"}},
        {{30, 700, 5000, 20}, {"30", "700", "5000", "20", "15400"}},
        {{2, UINT64_MAX, 17, 0}, {"18446744073709551615", "17", "18446744073709551598"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_explains(explain, &cases[i].input, cases[i].parts, COUNT_OF(cases[i].parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_at_most_one_repeat_is_plain),
        cmocka_unit_test(decide_replay_not_cheaper_is_plain),
        cmocka_unit_test(decide_tie_is_plain),
        cmocka_unit_test(decide_saturated_product_is_kept_at_the_maximum),
        cmocka_unit_test(format_every_choice_is_its_stable_text),
        cmocka_unit_test(explain_each_reason_names_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
