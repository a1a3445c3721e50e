/*
 * binding_plan_test.c: what a plan accepts, how it orders and counts, and what it refuses.
 */
#include <vyre/binding_plan.h>

#include "support/plan.h"
#include "support/random.h"
#include "support/test.h"

static void assert_binding(const struct vyre_binding *binding, uint32_t slot, enum vyre_role role,
                           size_t input_index, size_t output_index)
{
    assert_int_equal(binding->slot, slot);
    assert_int_equal(binding->role, role);
    assert_int_equal(binding->input_index, input_index);
    assert_int_equal(binding->output_index, output_index);
}

static void build_no_bindings_is_an_empty_plan(void **state)
{
    (void)state;
    struct vyre_binding_plan plan;
    memset(&plan, 0x5a, sizeof plan);
    assert_int_equal(vyre_binding_plan_build(NULL, 0, NULL, 0, &plan, NULL), VYRE_OK);
    assert_int_equal(plan.binding_count, 0);
    assert_int_equal(plan.input_count, 0);
    assert_int_equal(plan.output_count, 0);
    assert_null(vyre_binding_plan_find(&plan, 0));
}

/* The example in the header. */
static void build_headers_example_sorts_and_keeps_declared_order(void **state)
{
    (void)state;
    static const struct vyre_binding_desc descs[] = {{.slot = 7, .role = VYRE_ROLE_OUTPUT},
                                                     {.slot = 2, .role = VYRE_ROLE_INPUT},
                                                     {.slot = 5, .role = VYRE_ROLE_INPUT_OUTPUT}};
    struct built built;
    build(&built, descs, COUNT_OF(descs));
    assert_int_equal(built.status, VYRE_OK);
    assert_ptr_equal(built.plan.bindings, built.memory);
    assert_int_equal(built.plan.binding_count, 3);
    assert_int_equal(built.plan.input_count, 2);
    assert_int_equal(built.plan.output_count, 2);
    assert_binding(&built.memory[0], 2, VYRE_ROLE_INPUT, 0, VYRE_NO_INDEX);
    assert_binding(&built.memory[1], 5, VYRE_ROLE_INPUT_OUTPUT, 1, 1);
    assert_binding(&built.memory[2], 7, VYRE_ROLE_OUTPUT, VYRE_NO_INDEX, 0);
}

static void build_every_role_has_its_indices(void **state)
{
    (void)state;
    static const struct {
        enum vyre_role role;
        bool has_input, has_output;
    } cases[] = {
        {VYRE_ROLE_INPUT, true, false},   {VYRE_ROLE_OUTPUT, false, true},
        {VYRE_ROLE_UNIFORM, true, false}, {VYRE_ROLE_INPUT_OUTPUT, true, true},
        {VYRE_ROLE_SHARED, false, false}, {VYRE_ROLE_PERSISTENT, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_binding_desc desc = {.slot = UINT32_MAX, .role = cases[i].role};
        struct built built;
        build(&built, &desc, 1);
        assert_int_equal(built.status, VYRE_OK);
        assert_binding(&built.memory[0], UINT32_MAX, cases[i].role,
                       cases[i].has_input ? 0 : VYRE_NO_INDEX,
                       cases[i].has_output ? 0 : VYRE_NO_INDEX);
        assert_int_equal(built.plan.input_count, cases[i].has_input);
        assert_int_equal(built.plan.output_count, cases[i].has_output);
    }
}

static void build_every_role_and_access_follows_the_table(void **state)
{
    (void)state;
    /* By role and declared access: the access that the plan has, or -1: refused. */
    static const int table[7][4] = {
        [VYRE_ROLE_INPUT] = {VYRE_ACCESS_READ, VYRE_ACCESS_READ, -1, -1},
        [VYRE_ROLE_OUTPUT] = {VYRE_ACCESS_WRITE, -1, VYRE_ACCESS_WRITE, VYRE_ACCESS_READWRITE},
        [VYRE_ROLE_INPUT_OUTPUT] = {VYRE_ACCESS_READWRITE, -1, -1, VYRE_ACCESS_READWRITE},
        [VYRE_ROLE_UNIFORM] = {VYRE_ACCESS_READ, VYRE_ACCESS_READ, -1, -1},
        [VYRE_ROLE_SHARED] = {VYRE_ACCESS_READWRITE, -1, -1, VYRE_ACCESS_READWRITE},
        [VYRE_ROLE_PERSISTENT] = {VYRE_ACCESS_READWRITE, VYRE_ACCESS_READ, VYRE_ACCESS_WRITE,
                                  VYRE_ACCESS_READWRITE},
    };
    for (int role = VYRE_ROLE_INPUT; role <= VYRE_ROLE_PERSISTENT; role++) {
        for (int access = -2; access < 40; access++) {
            struct vyre_binding_desc desc = {.slot = 3,
                                             .role = (enum vyre_role)role,
                                             .access = (enum vyre_access)access,
                                             .label = "weights"};
            struct built built;
            build(&built, &desc, 1);
            int expected = access >= 0 && access < 4 ? table[role][access] : -1;
            if (expected == -1) {
                assert_refused(&built, VYRE_DIAG_BINDING_ROLE_ACCESS);
                assert_string_equal(built.diag.label, "weights");
            } else {
                assert_int_equal(built.status, VYRE_OK);
                assert_int_equal(built.memory[0].access, expected);
            }
        }
    }
}

static void build_unknown_role_is_refused(void **state)
{
    (void)state;
    static const int roles[] = {0, -1, 7, 8, 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        struct vyre_binding_desc descs[] = {
            {.slot = 1, .role = VYRE_ROLE_INPUT},
            {.slot = 2, .role = (enum vyre_role)roles[i], .label = "odd one"}};
        struct built built;
        build(&built, descs, COUNT_OF(descs));
        assert_refused(&built, VYRE_DIAG_BINDING_ROLE_UNKNOWN);
        assert_string_equal(built.diag.label, "odd one");
        assert_int_equal(
            vyre_binding_plan_build(descs, 2, built.memory, BUILT_MAX, &built.plan, NULL),
            VYRE_INVALID);
    }
}

static void build_duplicate_slots_are_refused_wherever_they_stand(void **state)
{
    (void)state;
    for (size_t first = 0; first < 6; first++) {
        for (size_t second = first + 1; second < 6; second++) {
            struct vyre_binding_desc descs[6];
            for (size_t i = 0; i < 6; i++)
                descs[i] = (struct vyre_binding_desc){.slot = (uint32_t)(i * 7 % 6),
                                                      .role = VYRE_ROLE_INPUT};
            descs[second].slot = descs[first].slot;
            descs[second].role = VYRE_ROLE_OUTPUT;
            struct built built;
            build(&built, descs, 6);
            assert_refused(&built, VYRE_DIAG_BINDING_SLOT_DUPLICATE);
        }
    }
}

static void build_memory_too_small_is_refused(void **state)
{
    (void)state;
    struct vyre_binding_desc descs[] = {{.slot = 1, .role = VYRE_ROLE_INPUT},
                                        {.slot = 2, .role = VYRE_ROLE_INPUT}};
    struct built built;
    build(&built, descs, 0);
    built.status = vyre_binding_plan_build(descs, 2, built.memory, 1, &built.plan, &built.diag);
    assert_refused(&built, VYRE_DIAG_CAPACITY);
    built.status =
        vyre_binding_plan_build(descs, SIZE_MAX, built.memory, BUILT_MAX, &built.plan, &built.diag);
    assert_refused(&built, VYRE_DIAG_CAPACITY);
    assert_int_equal(vyre_binding_plan_build(descs, 2, built.memory, 2, &built.plan, &built.diag),
                     VYRE_OK);
}

static void build_sizes_are_products_or_open(void **state)
{
    (void)state;
    static const struct {
        size_t element_size, element_count, expected_element, expected_size;
    } cases[] = {
        {0, 0, 1, 0},
        {0, 77, 1, 77},
        {16, 0, 16, 0},
        {12, 5, 12, 60},
        {SIZE_MAX, 0, SIZE_MAX, 0},
        {SIZE_MAX, 1, SIZE_MAX, SIZE_MAX},
        {1, SIZE_MAX, 1, SIZE_MAX},
        {SIZE_MAX / 2, 2, SIZE_MAX / 2, SIZE_MAX - 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_binding_desc desc = {.role = VYRE_ROLE_INPUT,
                                         .element_size_bytes = cases[i].element_size,
                                         .element_count = cases[i].element_count,
                                         .label = "x"};
        struct built built;
        build(&built, &desc, 1);
        assert_int_equal(built.status, VYRE_OK);
        assert_int_equal(built.memory[0].element_size_bytes, cases[i].expected_element);
        assert_int_equal(built.memory[0].size_bytes, cases[i].expected_size);
        assert_ptr_equal(built.memory[0].label, desc.label);
    }
}

static void build_size_past_size_t_is_refused(void **state)
{
    (void)state;
    static const size_t cases[][2] = {{2, SIZE_MAX / 2 + 1},
                                      {SIZE_MAX, 2},
                                      {SIZE_MAX, SIZE_MAX},
                                      {(size_t)1 << 32, (size_t)1 << 32}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_binding_desc desc = {.role = VYRE_ROLE_OUTPUT,
                                         .element_size_bytes = cases[i][0],
                                         .element_count = cases[i][1],
                                         .label = "huge"};
        struct built built;
        build(&built, &desc, 1);
        assert_refused(&built, VYRE_DIAG_BINDING_SIZE_OVERFLOW);
        assert_string_equal(built.diag.label, "huge");
    }
}

/* Shuffled sparse slots, any roles: ascending, every index once and in declaration order. */
static void build_random_declarations_keep_every_invariant(void **state)
{
    (void)state;
    enum { MOST = 200 };
    static struct vyre_binding_desc descs[MOST];
    static struct vyre_binding memory[MOST];
    struct rng rng = rng_seeded(51);
    for (int round = 0; round < 2000; round++) {
        size_t count = rng_below(&rng, MOST + 1);
        uint32_t factor = (uint32_t)rng_next(&rng) | 1, offset = (uint32_t)rng_next(&rng);
        for (size_t i = 0; i < count; i++)
            descs[i] = (struct vyre_binding_desc){
                .slot = (uint32_t)i * factor + offset,
                .role = (enum vyre_role)(1 + rng_below(&rng, 6)),
                .element_size_bytes = rng_below(&rng, 9),
                .element_count = rng_below(&rng, 100),
            };
        struct vyre_binding_plan plan;
        assert_int_equal(vyre_binding_plan_build(descs, count, memory, MOST, &plan, NULL), VYRE_OK);
        assert_int_equal(plan.binding_count, count);
        for (size_t i = 1; i < count; i++)
            assert_true(plan.bindings[i - 1].slot < plan.bindings[i].slot);
        size_t inputs = 0, outputs = 0;
        for (size_t i = 0; i < count; i++) {
            const struct vyre_binding *binding = vyre_binding_plan_find(&plan, descs[i].slot);
            assert_non_null(binding);
            enum vyre_role role = descs[i].role;
            bool has_input = role == VYRE_ROLE_INPUT || role == VYRE_ROLE_INPUT_OUTPUT ||
                             role == VYRE_ROLE_UNIFORM;
            bool has_output = role == VYRE_ROLE_OUTPUT || role == VYRE_ROLE_INPUT_OUTPUT;
            assert_binding(binding, descs[i].slot, role, has_input ? inputs++ : VYRE_NO_INDEX,
                           has_output ? outputs++ : VYRE_NO_INDEX);
        }
        assert_int_equal(plan.input_count, inputs);
        assert_int_equal(plan.output_count, outputs);
    }
}

static void find_slot_outside_the_plan_is_null(void **state)
{
    (void)state;
    struct vyre_binding_desc descs[] = {{.slot = 10, .role = VYRE_ROLE_INPUT},
                                        {.slot = UINT32_MAX, .role = VYRE_ROLE_INPUT},
                                        {.slot = 0, .role = VYRE_ROLE_INPUT}};
    struct built built;
    build(&built, descs, 3);
    assert_int_equal(built.status, VYRE_OK);
    assert_null(vyre_binding_plan_find(&built.plan, 9));
    assert_null(vyre_binding_plan_find(&built.plan, 11));
    assert_null(vyre_binding_plan_find(&built.plan, UINT32_MAX - 1));
    assert_null(vyre_binding_plan_find(&built.plan, 1));
    assert_ptr_equal(vyre_binding_plan_find(&built.plan, 0), &built.memory[0]);
    assert_ptr_equal(vyre_binding_plan_find(&built.plan, 10), &built.memory[1]);
    assert_ptr_equal(vyre_binding_plan_find(&built.plan, UINT32_MAX), &built.memory[2]);
}

static void names_every_value_is_its_stable_word(void **state)
{
    (void)state;
    static const char *const roles[] = {"none",    "input",  "output",    "input-output",
                                        "uniform", "shared", "persistent"};
    for (size_t i = 0; i < COUNT_OF(roles); i++)
        assert_string_equal(vyre_role_name((enum vyre_role)i), roles[i]);
    assert_string_equal(vyre_role_name((enum vyre_role) - 1), "none");
    assert_string_equal(vyre_role_name((enum vyre_role)7), "none");
    assert_string_equal(vyre_access_name(VYRE_ACCESS_READ), "read");
    assert_string_equal(vyre_access_name(VYRE_ACCESS_WRITE), "write");
    assert_string_equal(vyre_access_name(VYRE_ACCESS_READWRITE), "readwrite");
    assert_string_equal(vyre_access_name((enum vyre_access)4), "none");
    assert_string_equal(vyre_access_name((enum vyre_access) - 1), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_no_bindings_is_an_empty_plan),
        cmocka_unit_test(build_headers_example_sorts_and_keeps_declared_order),
        cmocka_unit_test(build_every_role_has_its_indices),
        cmocka_unit_test(build_every_role_and_access_follows_the_table),
        cmocka_unit_test(build_unknown_role_is_refused),
        cmocka_unit_test(build_duplicate_slots_are_refused_wherever_they_stand),
        cmocka_unit_test(build_memory_too_small_is_refused),
        cmocka_unit_test(build_sizes_are_products_or_open),
        cmocka_unit_test(build_size_past_size_t_is_refused),
        cmocka_unit_test(build_random_declarations_keep_every_invariant),
        cmocka_unit_test(find_slot_outside_the_plan_is_null),
        cmocka_unit_test(names_every_value_is_its_stable_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
