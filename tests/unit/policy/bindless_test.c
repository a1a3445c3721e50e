/*
 * bindless_test.c: each rule of bindless (D9 in docs/design/policies.md).
 */
#include <vyre/policy.h>

#include "support/format_check.h"
#include "support/test.h"

static enum vyre_bindless_choice decide(uint32_t count, enum vyre_bindless_support support,
                                        bool dynamic)
{
    struct vyre_bindless_input input = {count, support, dynamic};
    return vyre_bindless_decide(&input).choice;
}

static void decide_round_the_threshold_follows_the_table(void **state)
{
    (void)state;
    static const struct {
        enum vyre_bindless_support support;
        bool dynamic;
        enum vyre_bindless_choice at_threshold;
    } cases[] = {
        {VYRE_BINDLESS_UNSUPPORTED, false, VYRE_TRADITIONAL_BINDINGS},
        {VYRE_BINDLESS_UNSUPPORTED, true, VYRE_TRADITIONAL_BINDINGS},
        {VYRE_BINDLESS_STATIC, false, VYRE_BINDLESS},
        {VYRE_BINDLESS_STATIC, true, VYRE_TRADITIONAL_BINDINGS},
        {VYRE_BINDLESS_FULL, false, VYRE_BINDLESS},
        {VYRE_BINDLESS_FULL, true, VYRE_BINDLESS},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum vyre_bindless_support support = cases[i].support;
        bool dynamic = cases[i].dynamic;
        for (uint32_t count = 0; count < 24; count++)
            assert_int_equal(decide(count, support, dynamic), VYRE_TRADITIONAL_BINDINGS);
        for (uint32_t count = 24; count < 100; count++)
            assert_int_equal(decide(count, support, dynamic), cases[i].at_threshold);
        assert_int_equal(decide(UINT32_MAX, support, dynamic), cases[i].at_threshold);
    }
}

static size_t format(const void *verdict, char *out, size_t capacity)
{
    return vyre_bindless_format(verdict, out, capacity);
}

static void format_every_choice_is_its_stable_text(void **state)
{
    (void)state;
    struct vyre_bindless_verdict verdict = {VYRE_BINDLESS_NONE};
    assert_formats_as(format, &verdict, "none");
    verdict.choice = VYRE_TRADITIONAL_BINDINGS;
    assert_formats_as(format, &verdict, "traditional-bindings");
    verdict.choice = VYRE_BINDLESS;
    assert_formats_as(format, &verdict, "bindless");
}

static size_t explain(const void *input, char *out, size_t capacity)
{
    return vyre_bindless_explain(input, out, capacity);
}

static void explain_each_support_names_count_threshold_and_support(void **state)
{
    (void)state;
    static const struct {
        struct vyre_bindless_input input;
        const char *parts[4];
    } cases[] = {
        {{777, VYRE_BINDLESS_UNSUPPORTED, false}, {"777", "24", "no bindless", "not dynamic"}},
        {{23, VYRE_BINDLESS_STATIC, true}, {"23", "24", "static", "is dynamic"}},
        {{UINT32_MAX, VYRE_BINDLESS_FULL, true}, {"4294967295", "24", "full", "dynamic"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_explains(explain, &cases[i].input, cases[i].parts, COUNT_OF(cases[i].parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_round_the_threshold_follows_the_table),
        cmocka_unit_test(format_every_choice_is_its_stable_text),
        cmocka_unit_test(explain_each_support_names_count_threshold_and_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
