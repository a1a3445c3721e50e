/*
 * memory_test.c: which allocator a desc's value stands for, and what it is asked.
 */
#include "base/memory.h"

#include "support/counting_allocator.h"
#include "support/test.h"

static void resolve_zeroed_or_null_works_at_every_alignment(void **state)
{
    (void)state;
    struct vyre_allocator zeroed = {0};
    const struct vyre_allocator *given[] = {NULL, &zeroed};
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        struct vyre_allocator resolved = vyre_allocator_resolve(given[i]);
        for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
            unsigned char *bytes = vyre_memory_allocate(&resolved, 100, alignment);
            assert_non_null(bytes);
            assert_int_equal((uintptr_t)bytes % alignment, 0);
            for (size_t j = 0; j < 100; j++)
                assert_int_equal(bytes[j], 0);
            vyre_memory_free(&resolved, bytes, 100, alignment);
        }
    }
}

static void resolve_given_allocator_is_itself(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    struct vyre_allocator resolved = vyre_allocator_resolve(&face);
    assert_ptr_equal(resolved.user, face.user);
    assert_true(resolved.allocate == face.allocate);
    assert_true(resolved.deallocate == face.deallocate);
}

static void allocate_own_allocator_is_zeroed_and_balanced(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    unsigned char *bytes = vyre_memory_allocate(&face, 300, 128);
    assert_non_null(bytes);
    for (size_t j = 0; j < 300; j++)
        assert_int_equal(bytes[j], 0);
    assert_int_equal(memory.live_bytes, 300);
    vyre_memory_free(&face, bytes, 300, 128);
    vyre_memory_free(&face, NULL, 300, 128);
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
}

static void allocate_failing_allocator_gives_null(void **state)
{
    (void)state;
    struct counting_allocator memory = {.fails = true};
    struct vyre_allocator face = counting_allocator_face(&memory);
    assert_null(vyre_memory_allocate(&face, 1, 1));
    assert_int_equal(memory.refused_count, 1);
}

static void grow_doubles_keeps_and_zeroes(void **state)
{
    (void)state;
    struct counting_allocator memory = {0};
    struct vyre_allocator face = counting_allocator_face(&memory);
    uint32_t *items = NULL;
    uint32_t capacity = 0;
    for (uint32_t count = 0; count < 100; count++) {
        uint32_t was = capacity;
        items = vyre_memory_grow(&face, items, count, &capacity, sizeof *items, _Alignof(uint32_t));
        assert_non_null(items);
        assert_int_equal(capacity, count < was ? was : was ? 2 * was : 8);
        for (uint32_t i = 0; i < capacity; i++)
            assert_int_equal(items[i], i < count ? i + 1 : 0);
        items[count] = count + 1;
    }
    memory.fails = true;
    assert_null(
        vyre_memory_grow(&face, items, capacity, &capacity, sizeof *items, _Alignof(uint32_t)));
    assert_int_equal(items[99], 100);
    vyre_memory_free(&face, items, capacity * sizeof *items, _Alignof(uint32_t));
    assert_int_equal(memory.live_count, 0);
    assert_int_equal(memory.mismatch_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolve_zeroed_or_null_works_at_every_alignment),
        cmocka_unit_test(resolve_given_allocator_is_itself),
        cmocka_unit_test(allocate_own_allocator_is_zeroed_and_balanced),
        cmocka_unit_test(allocate_failing_allocator_gives_null),
        cmocka_unit_test(grow_doubles_keeps_and_zeroes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
