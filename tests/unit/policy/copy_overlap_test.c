/*
 * copy_overlap_test.c: each rule of copy overlap (D3 in docs/design/policies.md).
 */
#include <vyre/policy.h>

#include "support/arm.h"
#include "support/format_check.h"
#include "support/test.h"

static void decide_touched_slot_serializes(void **state)
{
    (void)state;
    struct vyre_arm kernel = arm_of(SLOTS(1, 5), SLOTS(5, UINT32_MAX));
    assert_int_equal(vyre_copy_overlap_decide(1, &kernel).choice, VYRE_COPY_SERIALIZE);
    assert_int_equal(vyre_copy_overlap_decide(5, &kernel).choice, VYRE_COPY_SERIALIZE);
    assert_int_equal(vyre_copy_overlap_decide(UINT32_MAX, &kernel).choice, VYRE_COPY_SERIALIZE);
}

static void decide_other_slot_overlaps(void **state)
{
    (void)state;
    struct vyre_arm kernel = arm_of(SLOTS(1, 5), SLOTS(5, UINT32_MAX));
    struct vyre_arm empty = {0};
    assert_int_equal(vyre_copy_overlap_decide(0, &kernel).choice, VYRE_COPY_OVERLAP);
    assert_int_equal(vyre_copy_overlap_decide(65, &kernel).choice, VYRE_COPY_OVERLAP);
    assert_int_equal(vyre_copy_overlap_decide(63, &kernel).choice, VYRE_COPY_OVERLAP);
    assert_int_equal(vyre_copy_overlap_decide(0, &empty).choice, VYRE_COPY_OVERLAP);
}

static void decide_cleared_kernel_overlaps(void **state)
{
    (void)state;
    struct vyre_arm kernel = arm_of(SLOTS(1, 5), SLOTS(6));
    vyre_slot_set_clear(&kernel.reads);
    vyre_slot_set_clear(&kernel.writes);
    for (uint32_t slot = 0; slot < 8; slot++)
        assert_int_equal(vyre_copy_overlap_decide(slot, &kernel).choice, VYRE_COPY_OVERLAP);
}

static size_t format(const void *verdict, char *out, size_t capacity)
{
    return vyre_copy_overlap_format(verdict, out, capacity);
}

static void format_every_choice_is_its_stable_text(void **state)
{
    (void)state;
    struct vyre_copy_verdict verdict = {VYRE_COPY_SERIALIZE};
    assert_formats_as(format, &verdict, "serialize");
    verdict.choice = VYRE_COPY_OVERLAP;
    assert_formats_as(format, &verdict, "overlap");
    verdict.choice = VYRE_COPY_ABSENT;
    char text[VYRE_VERDICT_TEXT_BYTES];
    assert_in_range(vyre_copy_overlap_format(&verdict, text, sizeof text), 1, sizeof text - 1);
    assert_string_not_equal(text, "serialize");
    assert_string_not_equal(text, "overlap");
}

struct copy {
    uint32_t slot;
    struct vyre_arm kernel;
};

static size_t explain(const void *value, char *out, size_t capacity)
{
    const struct copy *copy = value;
    return vyre_copy_overlap_explain(copy->slot, &copy->kernel, out, capacity);
}

static void explain_each_case_names_the_slot_and_the_access(void **state)
{
    (void)state;
    struct vyre_arm kernel = arm_of(SLOTS(111, 222), SLOTS(222, 333));
    static const struct {
        uint32_t slot;
        const char *parts[2];
    } cases[] = {{111, {"111", "reads"}},
                 {222, {"222", "reads and writes"}},
                 {333, {"333", "writes"}},
                 {4000000444, {"4000000444", "neither"}}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct copy copy = {cases[i].slot, kernel};
        assert_explains(explain, &copy, cases[i].parts, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_touched_slot_serializes),
        cmocka_unit_test(decide_other_slot_overlaps),
        cmocka_unit_test(decide_cleared_kernel_overlaps),
        cmocka_unit_test(format_every_choice_is_its_stable_text),
        cmocka_unit_test(explain_each_case_names_the_slot_and_the_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
