/*
 * account_test.c: the lengths that a plan accepts, and what it adds up from them.
 */
#include <vyre/binding_plan.h>

#include "support/plan.h"
#include "support/test.h"

/* Input 0 is fixed at 40 bytes, input 1 open in elements of 8, input 2 open in bytes. */
static void build_inputs_plan(struct built *built)
{
    static const struct vyre_binding_desc descs[] = {
        {.slot = 9,
         .role = VYRE_ROLE_INPUT,
         .element_size_bytes = 4,
         .element_count = 10,
         .label = "fixed"},
        {.slot = 4, .role = VYRE_ROLE_OUTPUT, .element_size_bytes = 4, .element_count = 3},
        {.slot = 1, .role = VYRE_ROLE_INPUT_OUTPUT, .element_size_bytes = 8, .label = "open"},
        {.slot = 2, .role = VYRE_ROLE_SHARED, .element_count = 100},
        {.slot = 0, .role = VYRE_ROLE_UNIFORM, .label = "bytes"},
    };
    build(built, descs, COUNT_OF(descs));
    assert_int_equal(built->status, VYRE_OK);
}

static void check_inputs_right_lengths_are_ok(void **state)
{
    (void)state;
    struct built built;
    build_inputs_plan(&built);
    static const size_t cases[][3] = {{40, 8, 1}, {40, 8000, 77}, {40, SIZE_MAX - 7, SIZE_MAX}};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(vyre_binding_plan_check_inputs(&built.plan, cases[i], 3, NULL), VYRE_OK);
    struct vyre_binding_plan empty = {0};
    assert_int_equal(vyre_binding_plan_check_inputs(&empty, NULL, 0, NULL), VYRE_OK);
}

static void check_inputs_wrong_count_is_refused(void **state)
{
    (void)state;
    struct built built;
    build_inputs_plan(&built);
    static const size_t lengths[] = {40, 8, 1, 1};
    static const size_t counts[] = {0, 1, 2, 4, SIZE_MAX};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        vyre_diag_reset(&built.diag);
        assert_diag(vyre_binding_plan_check_inputs(&built.plan, lengths, counts[i], &built.diag),
                    built.diag, VYRE_DIAG_BINDING_INPUT_COUNT);
    }
}

static void check_inputs_wrong_length_is_refused_by_label(void **state)
{
    (void)state;
    struct built built;
    build_inputs_plan(&built);
    static const struct {
        size_t lengths[3];
        const char *label;
    } cases[] = {
        {{39, 8, 1}, "fixed"}, {{41, 8, 1}, "fixed"},       {{0, 8, 1}, "fixed"},
        {{80, 8, 1}, "fixed"}, {{40, 0, 1}, "open"},        {{40, 7, 1}, "open"},
        {{40, 9, 1}, "open"},  {{40, SIZE_MAX, 1}, "open"}, {{40, 8, 0}, "bytes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        vyre_diag_reset(&built.diag);
        assert_diag(vyre_binding_plan_check_inputs(&built.plan, cases[i].lengths, 3, &built.diag),
                    built.diag, VYRE_DIAG_BINDING_INPUT_LENGTH);
        assert_string_equal(built.diag.label, cases[i].label);
        assert_int_equal(vyre_binding_plan_check_inputs(&built.plan, cases[i].lengths, 3, NULL),
                         VYRE_INVALID);
    }
}

static void account_mixed_plan_adds_up(void **state)
{
    (void)state;
    struct built built;
    build_inputs_plan(&built);
    static const size_t lengths[] = {40, 800, 7};
    struct vyre_transfer_account account;
    memset(&account, 0x5a, sizeof account);
    assert_int_equal(vyre_binding_plan_account(&built.plan, lengths, &account, NULL), VYRE_OK);
    assert_int_equal(account.upload_count, 3);
    assert_int_equal(account.upload_bytes, 40 + 800 + 7);
    assert_int_equal(account.readback_count, 2);
    assert_int_equal(account.readback_bytes, 12 + 800);
    assert_int_equal(account.device_bytes, 40 + 12 + 800 + 7);
    assert_int_equal(account.shared_bytes, 100);
}

static void account_closed_plan_needs_no_lengths(void **state)
{
    (void)state;
    static const struct vyre_binding_desc descs[] = {
        {.slot = 1, .role = VYRE_ROLE_PERSISTENT, .element_count = 1000},
        {.slot = 2, .role = VYRE_ROLE_INPUT, .element_count = 10},
        {.slot = 3, .role = VYRE_ROLE_SHARED, .element_count = 5},
        {.slot = 4, .role = VYRE_ROLE_SHARED, .element_count = 6},
    };
    struct built built;
    build(&built, descs, COUNT_OF(descs));
    assert_int_equal(built.status, VYRE_OK);
    struct vyre_transfer_account account;
    assert_int_equal(vyre_binding_plan_account(&built.plan, NULL, &account, NULL), VYRE_OK);
    assert_int_equal(account.upload_count, 1);
    assert_int_equal(account.upload_bytes, 10);
    assert_int_equal(account.readback_count, 0);
    assert_int_equal(account.readback_bytes, 0);
    assert_int_equal(account.device_bytes, 1010);
    assert_int_equal(account.shared_bytes, 11);
}

static void account_open_binding_without_input_counts_no_bytes(void **state)
{
    (void)state;
    static const struct vyre_binding_desc descs[] = {
        {.slot = 1, .role = VYRE_ROLE_OUTPUT, .element_size_bytes = 4},
        {.slot = 2, .role = VYRE_ROLE_PERSISTENT},
        {.slot = 3, .role = VYRE_ROLE_SHARED, .element_size_bytes = 16},
    };
    struct built built;
    build(&built, descs, COUNT_OF(descs));
    assert_int_equal(built.status, VYRE_OK);
    struct vyre_transfer_account account;
    assert_int_equal(vyre_binding_plan_account(&built.plan, NULL, &account, NULL), VYRE_OK);
    assert_int_equal(account.readback_count, 1);
    assert_int_equal(account.readback_bytes, 0);
    assert_int_equal(account.device_bytes, 0);
    assert_int_equal(account.shared_bytes, 0);
}

static void account_open_input_without_lengths_is_refused(void **state)
{
    (void)state;
    static const struct vyre_transfer_account zeroed;
    struct built built;
    build_inputs_plan(&built);
    struct vyre_transfer_account account;
    memset(&account, 0x5a, sizeof account);
    assert_diag(vyre_binding_plan_account(&built.plan, NULL, &account, &built.diag), built.diag,
                VYRE_DIAG_ARGUMENT_NULL);
    assert_string_equal(built.diag.label, "bytes"); /* the open input at the lowest slot */
    assert_memory_equal(&account, &zeroed, sizeof zeroed);
    assert_int_equal(vyre_binding_plan_account(&built.plan, NULL, &account, NULL), VYRE_INVALID);
}

static void account_empty_plan_is_zero(void **state)
{
    (void)state;
    static const struct vyre_transfer_account zeroed;
    struct vyre_binding_plan empty = {0};
    struct vyre_transfer_account account;
    memset(&account, 0x5a, sizeof account);
    assert_int_equal(vyre_binding_plan_account(&empty, NULL, &account, NULL), VYRE_OK);
    assert_memory_equal(&account, &zeroed, sizeof zeroed);
}

/* Two bindings of the largest size overflow the sum; one fits exactly. */
static void account_overflow_names_the_table_and_zeroes(void **state)
{
    (void)state;
    static const struct {
        enum vyre_role first, second;
        const char *table;
    } cases[] = {
        {VYRE_ROLE_SHARED, VYRE_ROLE_SHARED, "shared"},
        {VYRE_ROLE_PERSISTENT, VYRE_ROLE_INPUT, "device"},
        {VYRE_ROLE_INPUT, VYRE_ROLE_UNIFORM, "device"},
        {VYRE_ROLE_OUTPUT, VYRE_ROLE_OUTPUT, "device"},
    };
    static const struct vyre_transfer_account zeroed;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_binding_desc descs[] = {
            {.slot = 1, .role = cases[i].first, .element_count = SIZE_MAX},
            {.slot = 2, .role = cases[i].second, .element_count = 1}};
        struct built built;
        struct vyre_transfer_account account;
        build(&built, descs, 1);
        assert_int_equal(vyre_binding_plan_account(&built.plan, NULL, &account, NULL), VYRE_OK);
        build(&built, descs, 2);
        memset(&account, 0x5a, sizeof account);
        assert_diag(vyre_binding_plan_account(&built.plan, NULL, &account, &built.diag), built.diag,
                    VYRE_DIAG_PLAN_OVERFLOW);
        assert_contains(built.diag.message, cases[i].table);
        assert_memory_equal(&account, &zeroed, sizeof zeroed);
        assert_int_equal(vyre_binding_plan_account(&built.plan, NULL, &account, NULL), VYRE_LIMIT);
    }
}

static void account_overflow_through_open_lengths_is_refused(void **state)
{
    (void)state;
    static const struct vyre_binding_desc descs[] = {{.slot = 1, .role = VYRE_ROLE_INPUT},
                                                     {.slot = 2, .role = VYRE_ROLE_INPUT}};
    struct built built;
    build(&built, descs, 2);
    struct vyre_transfer_account account;
    static const size_t fits[] = {SIZE_MAX - 5, 5}, overflows[] = {SIZE_MAX - 5, 6};
    assert_int_equal(vyre_binding_plan_account(&built.plan, fits, &account, NULL), VYRE_OK);
    assert_int_equal(account.upload_bytes, SIZE_MAX);
    assert_diag(vyre_binding_plan_account(&built.plan, overflows, &account, &built.diag),
                built.diag, VYRE_DIAG_PLAN_OVERFLOW);
    assert_int_equal(account.upload_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_inputs_right_lengths_are_ok),
        cmocka_unit_test(check_inputs_wrong_count_is_refused),
        cmocka_unit_test(check_inputs_wrong_length_is_refused_by_label),
        cmocka_unit_test(account_mixed_plan_adds_up),
        cmocka_unit_test(account_closed_plan_needs_no_lengths),
        cmocka_unit_test(account_open_binding_without_input_counts_no_bytes),
        cmocka_unit_test(account_open_input_without_lengths_is_refused),
        cmocka_unit_test(account_empty_plan_is_zero),
        cmocka_unit_test(account_overflow_names_the_table_and_zeroes),
        cmocka_unit_test(account_overflow_through_open_lengths_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
