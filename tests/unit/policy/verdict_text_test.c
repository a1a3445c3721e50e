/*
 * verdict_text_test.c: names at and outside the edges of their table, savings, ends of sentences.
 */
#include "policy/verdict_text.h"

#include "support/test.h"

static void choice_name_outside_the_table_is_none(void **state)
{
    (void)state;
    for (unsigned choice = 0; choice < 5; choice++) {
        assert_string_equal(vyre_choice_name(VYRE_POLICY_NONE, choice), "none");
        assert_string_equal(vyre_choice_name((enum vyre_policy)VYRE_POLICY_COUNT, choice), "none");
    }
    for (unsigned policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        assert_string_equal(vyre_choice_name((enum vyre_policy)policy, 0), "none");
        assert_string_equal(vyre_choice_name((enum vyre_policy)policy, 3), "none");
        assert_string_equal(vyre_choice_name((enum vyre_policy)policy, UINT32_MAX), "none");
    }
}

static void choice_name_of_a_policy_differs_by_choice(void **state)
{
    (void)state;
    for (unsigned policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        const char *conservative = vyre_choice_name((enum vyre_policy)policy, 1);
        const char *aggressive = vyre_choice_name((enum vyre_policy)policy, 2);
        assert_string_not_equal(conservative, "none");
        assert_string_not_equal(aggressive, "none");
        assert_string_not_equal(conservative, aggressive);
    }
}

static void verdict_format_outside_the_table_has_no_savings(void **state)
{
    (void)state;
    static const struct vyre_u128 savings_ns = {7, 0};
    char text[VYRE_VERDICT_TEXT_BYTES];
    for (unsigned choice = 3; choice < 6; choice++) {
        vyre_verdict_format(VYRE_POLICY_TRACE_JIT, choice, &savings_ns, text, sizeof text);
        assert_string_equal(text, "none");
    }
    vyre_verdict_format(VYRE_POLICY_TRACE_JIT, 1, &savings_ns, text, sizeof text);
    assert_string_equal(text, "hold-steady");
    vyre_verdict_format(VYRE_POLICY_TRACE_JIT, 2, NULL, text, sizeof text);
    assert_string_equal(text, "speculate");
}

static void end_sentence_names_savings_that_are_not_zero(void **state)
{
    (void)state;
    static const struct {
        struct vyre_u128 savings_ns;
        const char *text;
    } cases[] = {
        {{0, 0}, "."},
        {{1, 0}, ": it saves 1 ns."},
        {{0, 1}, ": it saves 18446744073709551616 ns."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char memory[80];
        struct vyre_text text = vyre_text_begin(memory, sizeof memory);
        vyre_verdict_end_sentence(&text, cases[i].savings_ns);
        assert_string_equal(memory, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choice_name_outside_the_table_is_none),
        cmocka_unit_test(choice_name_of_a_policy_differs_by_choice),
        cmocka_unit_test(verdict_format_outside_the_table_has_no_savings),
        cmocka_unit_test(end_sentence_names_savings_that_are_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
