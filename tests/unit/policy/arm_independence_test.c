/*
 * arm_independence_test.c: each rule of arm independence (D2 in docs/design/policies.md).
 */
#include <vyre/policy.h>

#include "support/arm.h"
#include "support/format_check.h"
#include "support/test.h"

static void assert_verdict(const struct vyre_arm *first, const struct vyre_arm *second,
                           enum vyre_conflict conflict)
{
    struct vyre_arm_verdict verdict = vyre_arm_independence_decide(first, second);
    assert_int_equal(verdict.choice,
                     conflict == VYRE_CONFLICT_NONE ? VYRE_ARMS_INDEPENDENT : VYRE_ARMS_SERIALIZE);
    assert_int_equal(verdict.conflict, conflict);
}

static void decide_empty_or_disjoint_arms_are_independent(void **state)
{
    (void)state;
    struct vyre_arm empty = {0};
    struct vyre_arm busy = arm_of(SLOTS(1, 2), SLOTS(3, UINT32_MAX));
    struct vyre_arm apart = arm_of(SLOTS(5, 6), SLOTS(7, 0));
    assert_verdict(&empty, &empty, VYRE_CONFLICT_NONE);
    assert_verdict(&empty, &busy, VYRE_CONFLICT_NONE);
    assert_verdict(&busy, &empty, VYRE_CONFLICT_NONE);
    assert_verdict(&busy, &apart, VYRE_CONFLICT_NONE);
}

static void decide_two_reads_are_independent(void **state)
{
    (void)state;
    struct vyre_arm first = arm_of(SLOTS(1, 2, 3), SLOTS(10));
    struct vyre_arm second = arm_of(SLOTS(1, 2, 3), SLOTS(11));
    assert_verdict(&first, &second, VYRE_CONFLICT_NONE);
}

static void decide_slots_alike_modulo_64_are_independent(void **state)
{
    (void)state;
    struct vyre_arm first = arm_of(SLOTS(65), SLOTS(0, 1));
    struct vyre_arm second = arm_of(SLOTS(64, 129), SLOTS(128, 193));
    assert_verdict(&first, &second, VYRE_CONFLICT_NONE);
}

static void decide_each_conflict_alone_is_found(void **state)
{
    (void)state;
    struct vyre_arm writes = arm_of(NO_SLOTS, SLOTS(4, 9));
    struct vyre_arm writes_too = arm_of(SLOTS(1), SLOTS(9));
    struct vyre_arm reads = arm_of(SLOTS(9, 12), SLOTS(3));
    assert_verdict(&writes, &writes_too, VYRE_CONFLICT_WRITE_WRITE);
    assert_verdict(&writes, &reads, VYRE_CONFLICT_READ_AFTER_WRITE);
    assert_verdict(&reads, &writes, VYRE_CONFLICT_WRITE_AFTER_READ);
}

static void decide_several_conflicts_name_the_first_kind(void **state)
{
    (void)state;
    struct vyre_arm first = arm_of(SLOTS(1), SLOTS(2, 3));
    struct vyre_arm all = arm_of(SLOTS(2), SLOTS(1, 3));
    assert_verdict(&first, &all, VYRE_CONFLICT_WRITE_WRITE);
    struct vyre_arm no_write_write = arm_of(SLOTS(2), SLOTS(1));
    assert_verdict(&first, &no_write_write, VYRE_CONFLICT_READ_AFTER_WRITE);
}

static void decide_arm_against_itself_conflicts_when_it_writes(void **state)
{
    (void)state;
    struct vyre_arm reader = arm_of(SLOTS(1, 2), NO_SLOTS);
    struct vyre_arm writer = arm_of(SLOTS(1, 2), SLOTS(2));
    assert_verdict(&reader, &reader, VYRE_CONFLICT_NONE);
    assert_verdict(&writer, &writer, VYRE_CONFLICT_WRITE_WRITE);
}

/* `count` slots that begin at `first`, in a set; the one at `at` becomes `slot`. */
static struct vyre_slot_set run_of(uint32_t first, size_t count, size_t at, uint32_t slot)
{
    struct vyre_slot_set set = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t next = i == at ? slot : first + (uint32_t)i;
        assert_int_equal(vyre_slot_set_add(&set, next, NULL), VYRE_OK);
    }
    return set;
}

/* Inline sets of every size, the shared slot at every place: the lowest, the highest, between. */
static void decide_one_shared_slot_is_found_at_any_place(void **state)
{
    (void)state;
    static const uint32_t shared[] = {0, 105, 205, UINT32_MAX};
    for (size_t count = 0; count < 8 * 8 * COUNT_OF(shared); count++) {
        size_t of_first = 1 + count % 8, of_second = 1 + count / 8 % 8;
        uint32_t slot = shared[count / 64];
        for (size_t at = 0; at <= of_first; at++) {
            for (size_t other = 0; other <= of_second; other++) {
                struct vyre_arm first = {.writes = run_of(101, of_first, at, slot)};
                struct vyre_arm second = {.writes = run_of(201, of_second, other, slot)};
                bool met = vyre_slot_set_contains(&first.writes, slot) &&
                           vyre_slot_set_contains(&second.writes, slot);
                assert_verdict(&first, &second,
                               met ? VYRE_CONFLICT_WRITE_WRITE : VYRE_CONFLICT_NONE);
            }
        }
    }
}

static void decide_cleared_sets_are_independent(void **state)
{
    (void)state;
    struct vyre_arm writer = arm_of(SLOTS(1, 2), SLOTS(3, 4, 5, 6, 7));
    struct vyre_arm cleared = writer, emptied = writer;
    vyre_slot_set_clear(&cleared.reads);
    vyre_slot_set_clear(&cleared.writes);
    assert_int_equal(vyre_slot_set_assign(&emptied.reads, NULL, 0, NULL), VYRE_OK);
    assert_int_equal(vyre_slot_set_assign(&emptied.writes, NULL, 0, NULL), VYRE_OK);
    assert_verdict(&writer, &cleared, VYRE_CONFLICT_NONE);
    assert_verdict(&cleared, &writer, VYRE_CONFLICT_NONE);
    assert_verdict(&writer, &emptied, VYRE_CONFLICT_NONE);
    assert_verdict(&cleared, &cleared, VYRE_CONFLICT_NONE);
    assert_int_equal(vyre_slot_set_add(&cleared.writes, 9, NULL), VYRE_OK);
    assert_verdict(&writer, &cleared, VYRE_CONFLICT_NONE);
}

static size_t format(const void *verdict, char *out, size_t capacity)
{
    return vyre_arm_independence_format(verdict, out, capacity);
}

static void format_every_choice_is_its_stable_text(void **state)
{
    (void)state;
    static const struct {
        struct vyre_arm_verdict verdict;
        const char *text;
    } cases[] = {
        {{VYRE_ARMS_NONE, VYRE_CONFLICT_NONE}, "none"},
        {{VYRE_ARMS_INDEPENDENT, VYRE_CONFLICT_NONE}, "independent"},
        {{VYRE_ARMS_SERIALIZE, VYRE_CONFLICT_WRITE_WRITE}, "serialize:write-write"},
        {{VYRE_ARMS_SERIALIZE, VYRE_CONFLICT_READ_AFTER_WRITE}, "serialize:read-after-write"},
        {{VYRE_ARMS_SERIALIZE, VYRE_CONFLICT_WRITE_AFTER_READ}, "serialize:write-after-read"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_in_range(strlen(cases[i].text), 1, VYRE_VERDICT_TEXT_BYTES - 1);
        assert_formats_as(format, &cases[i].verdict, cases[i].text);
    }
}

struct pair {
    struct vyre_arm first;
    struct vyre_arm second;
};

static size_t explain(const void *value, char *out, size_t capacity)
{
    const struct pair *pair = value;
    return vyre_arm_independence_explain(&pair->first, &pair->second, out, capacity);
}

static void explain_each_conflict_names_its_slot(void **state)
{
    (void)state;
    struct vyre_arm writer = arm_of(NO_SLOTS, SLOTS(4000000123));
    struct vyre_arm reader = arm_of(SLOTS(4000000123), NO_SLOTS);
    static const char *const slot[] = {"4000000123"};
    struct pair both_write = {writer, writer}, write_read = {writer, reader},
                read_write = {reader, writer}, apart = {reader, reader};
    assert_explains(explain, &both_write, slot, 1);
    assert_explains(explain, &write_read, slot, 1);
    assert_explains(explain, &read_write, slot, 1);
    assert_explains(explain, &apart, NULL, 0);
}

static void explain_several_shared_slots_names_the_smallest(void **state)
{
    (void)state;
    struct vyre_arm first = arm_of(NO_SLOTS, SLOTS(UINT32_MAX, 7000, 606, 55));
    struct vyre_arm second = arm_of(NO_SLOTS, SLOTS(7000, UINT32_MAX, 606, 505));
    static const char *const slot[] = {"606"};
    struct pair pair = {first, second};
    assert_explains(explain, &pair, slot, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decide_empty_or_disjoint_arms_are_independent),
        cmocka_unit_test(decide_two_reads_are_independent),
        cmocka_unit_test(decide_slots_alike_modulo_64_are_independent),
        cmocka_unit_test(decide_each_conflict_alone_is_found),
        cmocka_unit_test(decide_several_conflicts_name_the_first_kind),
        cmocka_unit_test(explain_several_shared_slots_names_the_smallest),
        cmocka_unit_test(decide_arm_against_itself_conflicts_when_it_writes),
        cmocka_unit_test(decide_one_shared_slot_is_found_at_any_place),
        cmocka_unit_test(decide_cleared_sets_are_independent),
        cmocka_unit_test(format_every_choice_is_its_stable_text),
        cmocka_unit_test(explain_each_conflict_names_its_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
