/*
 * slot_set_test.c: the invariants of slot sets, and their answers against brute force.
 */
#include <vyre/slot_set.h>

#include "support/arm.h"
#include "support/random.h"
#include "support/test.h"

/* The set holds exactly the different slots of `expected`, which ascend, and keeps its invariants.
 */
static void assert_holds(const struct vyre_slot_set *set, const uint32_t *expected, size_t count)
{
    assert_int_equal(set->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(vyre_slot_set_slots(set)[i], expected[i]);
    /* Lanes that hold no slot repeat the first one. */
    for (size_t i = count; count > 0 && !set->memory && i < VYRE_SLOT_SET_INLINE; i++)
        assert_int_equal(set->inline_slots[i], expected[0]);
}

static void add_any_order_keeps_the_slots_sorted_and_single(void **state)
{
    (void)state;
    static const uint32_t given[] = {7, 3, 7, UINT32_MAX, 0, 3, 64, 0, UINT32_MAX, 7};
    static const uint32_t expected[] = {0, 3, 7, 64, UINT32_MAX};
    struct vyre_slot_set set = {0};
    assert_holds(&set, NULL, 0);
    for (size_t i = 0; i < COUNT_OF(given); i++)
        assert_int_equal(vyre_slot_set_add(&set, given[i], NULL), VYRE_OK);
    assert_holds(&set, expected, COUNT_OF(expected));
}

static void add_ninth_slot_to_an_inline_set_is_full(void **state)
{
    (void)state;
    static const uint32_t expected[] = {10, 11, 12, 13, 14, 15, 16, 17};
    struct vyre_slot_set set;
    vyre_slot_set_init(&set, NULL, 1000);
    for (uint32_t slot = 17; slot >= 10; slot--)
        assert_int_equal(vyre_slot_set_add(&set, slot, NULL), VYRE_OK);

    struct vyre_diag diag = {0};
    static const uint32_t refused[] = {9, 18, 74, 0, UINT32_MAX};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        vyre_diag_reset(&diag);
        assert_diag(vyre_slot_set_add(&set, refused[i], &diag), diag, VYRE_DIAG_SLOT_SET_FULL);
        assert_int_equal(vyre_slot_set_add(&set, refused[i], NULL), VYRE_LIMIT);
        assert_holds(&set, expected, COUNT_OF(expected));
    }
    /* What is in already fits. */
    for (uint32_t slot = 10; slot <= 17; slot++)
        assert_int_equal(vyre_slot_set_add(&set, slot, NULL), VYRE_OK);
    assert_holds(&set, expected, COUNT_OF(expected));
}

static void add_to_callers_memory_is_full_at_its_capacity(void **state)
{
    (void)state;
    uint32_t memory[13];
    memset(memory, 0x5a, sizeof memory);
    struct vyre_slot_set set;
    vyre_slot_set_init(&set, memory, 12);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(vyre_slot_set_add(&set, (i * 5) % 12, NULL), VYRE_OK);
    struct vyre_diag diag = {0};
    assert_diag(vyre_slot_set_add(&set, 12, &diag), diag, VYRE_DIAG_SLOT_SET_FULL);
    assert_int_equal(set.count, 12);
    assert_ptr_equal(vyre_slot_set_slots(&set), memory);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(memory[i], i);
    assert_int_equal(memory[12], 0x5a5a5a5a);
}

static void add_to_memory_of_no_capacity_is_full(void **state)
{
    (void)state;
    uint32_t memory[1] = {77};
    struct vyre_slot_set set;
    vyre_slot_set_init(&set, memory, 0);
    assert_int_equal(vyre_slot_set_add(&set, 1, NULL), VYRE_LIMIT);
    assert_int_equal(memory[0], 77);
    assert_false(vyre_slot_set_contains(&set, 77));
}

static void add_success_leaves_the_diagnostic(void **state)
{
    (void)state;
    struct vyre_diag diag;
    memset(&diag, 0x5a, sizeof diag);
    struct vyre_diag before = diag;
    struct vyre_slot_set set = {0};
    assert_int_equal(vyre_slot_set_add(&set, 1, &diag), VYRE_OK);
    assert_memory_equal(&diag, &before, sizeof diag);
}

static void clear_filled_set_is_empty_and_keeps_its_memory(void **state)
{
    (void)state;
    uint32_t memory[20];
    struct vyre_slot_set set;
    vyre_slot_set_init(&set, memory, 20);
    for (uint32_t slot = 0; slot < 20; slot++)
        assert_int_equal(vyre_slot_set_add(&set, slot, NULL), VYRE_OK);
    vyre_slot_set_clear(&set);
    assert_holds(&set, NULL, 0);
    for (uint32_t slot = 0; slot < 20; slot++) {
        assert_false(vyre_slot_set_contains(&set, slot));
        assert_int_equal(vyre_slot_set_add(&set, slot, NULL), VYRE_OK);
    }
    assert_int_equal(vyre_slot_set_add(&set, 20, NULL), VYRE_LIMIT);
}

static void assign_any_order_replaces_the_contents(void **state)
{
    (void)state;
    static const uint32_t given[] = {9, 1, 9, 5, 1, 1, 66};
    static const uint32_t expected[] = {1, 5, 9, 66};
    struct vyre_slot_set set = {0};
    assert_int_equal(vyre_slot_set_add(&set, 1000, NULL), VYRE_OK);
    assert_int_equal(vyre_slot_set_assign(&set, given, COUNT_OF(given), NULL), VYRE_OK);
    assert_holds(&set, expected, COUNT_OF(expected));
    assert_int_equal(vyre_slot_set_assign(&set, NULL, 0, NULL), VYRE_OK);
    assert_holds(&set, NULL, 0);
}

static void assign_too_many_is_full_and_changes_nothing(void **state)
{
    (void)state;
    static const uint32_t many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const uint32_t kept[] = {42};
    struct vyre_slot_set set = {0};
    assert_int_equal(vyre_slot_set_add(&set, 42, NULL), VYRE_OK);
    struct vyre_diag diag = {0};
    assert_diag(vyre_slot_set_assign(&set, many, 9, &diag), diag, VYRE_DIAG_SLOT_SET_FULL);
    assert_holds(&set, kept, 1);
    assert_int_equal(vyre_slot_set_assign(&set, many, 8, &diag), VYRE_OK);
    assert_holds(&set, many, 1);
}

static void assign_own_memory_sorts_in_place(void **state)
{
    (void)state;
    uint32_t memory[] = {5, 4, 5, 1};
    static const uint32_t expected[] = {1, 4, 5};
    struct vyre_slot_set set;
    vyre_slot_set_init(&set, memory, COUNT_OF(memory));
    assert_int_equal(vyre_slot_set_assign(&set, memory, COUNT_OF(memory), NULL), VYRE_OK);
    assert_holds(&set, expected, COUNT_OF(expected));
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void fill_random_sets_hold_what_was_given(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(41);
    for (int i = 0; i < 50000; i++) {
        struct random_set source;
        struct vyre_slot_set set;
        random_set_fill(&rng, &source, &set);
        uint32_t expected[RANDOM_SLOTS_MAX];
        size_t count = 0;
        memcpy(expected, source.raw, source.raw_count * sizeof expected[0]);
        qsort(expected, source.raw_count, sizeof expected[0], compare_u32);
        for (size_t j = 0; j < source.raw_count; j++) {
            if (count == 0 || expected[count - 1] != expected[j])
                expected[count++] = expected[j];
        }
        assert_holds(&set, expected, count);
    }
}

static void contains_random_sets_agrees_with_brute_force(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(42);
    for (int i = 0; i < 20000; i++) {
        struct random_set source;
        struct vyre_slot_set set;
        random_set_fill(&rng, &source, &set);
        for (uint32_t slot = 0; slot < 45; slot++)
            assert_int_equal(vyre_slot_set_contains(&set, slot), random_set_has(&source, slot));
        for (size_t j = 0; j < source.raw_count; j++) {
            assert_true(vyre_slot_set_contains(&set, source.raw[j]));
            uint32_t other = source.raw[j] ^ 64;
            assert_int_equal(vyre_slot_set_contains(&set, other), random_set_has(&source, other));
        }
    }
}

static void intersects_random_sets_agrees_with_brute_force(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(43);
    int met = 0, rounds = 100000;
    for (int i = 0; i < rounds; i++) {
        struct random_set source_a, source_b;
        struct vyre_slot_set a, b;
        random_set_fill(&rng, &source_a, &a);
        random_set_fill(&rng, &source_b, &b);
        uint32_t smallest, slot = 77;
        bool meet = random_sets_meet(&source_a, &source_b, &smallest);
        assert_int_equal(vyre_slot_set_intersects(&a, &b, &slot), meet);
        if (meet)
            assert_int_equal(slot, smallest);
        assert_int_equal(vyre_slot_set_intersects(&b, &a, NULL), meet);
        met += meet;
    }
    assert_in_range(met, rounds / 10, rounds - rounds / 10);
}

/* One set many times the other's size: a different way through the same question. */
static void intersects_sets_of_unlike_size_agrees_with_brute_force(void **state)
{
    (void)state;
    enum { LARGE = 2000, ROUNDS = 3000 };
    static uint32_t large_memory[LARGE], present[LARGE * 4];
    struct rng rng = rng_seeded(44);
    int met = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct vyre_slot_set large, small = {0};
        vyre_slot_set_init(&large, large_memory, LARGE);
        memset(present, 0, sizeof present);
        size_t count = rng_below(&rng, LARGE);
        uint32_t slot = (uint32_t)rng_below(&rng, 8);
        while (large.count < count && slot < COUNT_OF(present)) {
            assert_int_equal(vyre_slot_set_add(&large, slot, NULL), VYRE_OK);
            present[slot] = 1;
            slot += 1 + (uint32_t)rng_below(&rng, 7);
        }
        bool meet = false;
        uint32_t smallest = 0;
        for (uint64_t j = rng_below(&rng, VYRE_SLOT_SET_INLINE + 1); j > 0; j--) {
            uint32_t few = (uint32_t)rng_below(&rng, COUNT_OF(present));
            assert_int_equal(vyre_slot_set_add(&small, few, NULL), VYRE_OK);
            if (present[few] && (!meet || few < smallest)) {
                smallest = few;
                meet = true;
            }
        }
        uint32_t found = 77;
        assert_int_equal(vyre_slot_set_intersects(&small, &large, &found), meet);
        assert_true(!meet || found == smallest);
        found = 77;
        assert_int_equal(vyre_slot_set_intersects(&large, &small, &found), meet);
        assert_true(!meet || found == smallest);
        met += meet;
    }
    assert_in_range(met, ROUNDS / 20, ROUNDS - ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_any_order_keeps_the_slots_sorted_and_single),
        cmocka_unit_test(add_ninth_slot_to_an_inline_set_is_full),
        cmocka_unit_test(add_to_callers_memory_is_full_at_its_capacity),
        cmocka_unit_test(add_to_memory_of_no_capacity_is_full),
        cmocka_unit_test(add_success_leaves_the_diagnostic),
        cmocka_unit_test(clear_filled_set_is_empty_and_keeps_its_memory),
        cmocka_unit_test(assign_any_order_replaces_the_contents),
        cmocka_unit_test(assign_too_many_is_full_and_changes_nothing),
        cmocka_unit_test(assign_own_memory_sorts_in_place),
        cmocka_unit_test(fill_random_sets_hold_what_was_given),
        cmocka_unit_test(contains_random_sets_agrees_with_brute_force),
        cmocka_unit_test(intersects_random_sets_agrees_with_brute_force),
        cmocka_unit_test(intersects_sets_of_unlike_size_agrees_with_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
