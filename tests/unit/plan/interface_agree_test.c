/*
 * interface_agree_test.c: declarations against reflections.
 */
#include "support/test.h"

#include "plan/interface_agree.h"

/* Slots 0 to read, 3 to write, 7 to do both, 9 uniform. */
static struct vyre_kernel_interface reflection(void)
{
    return (struct vyre_kernel_interface){
        .has_bindings = true,
        .has_constants = true,
        .has_local_size = true,
        .binding_count = 4,
        .bindings = {{.slot = 0, .access = VYRE_ACCESS_READ},
                     {.slot = 3, .access = VYRE_ACCESS_WRITE},
                     {.slot = 7, .access = VYRE_ACCESS_READWRITE},
                     {.slot = 9, .role = VYRE_ROLE_UNIFORM, .access = VYRE_ACCESS_READ}},
        .constant_count = 2,
        .constants = {VYRE_SCALAR_U32, VYRE_SCALAR_F64},
        .constants_size_bytes = 16,
        .local_size = {64, 2, 1},
    };
}

static enum vyre_status agree(const struct vyre_binding_desc *bindings, size_t count,
                              struct vyre_diag *diag)
{
    struct vyre_kernel_interface reflected = reflection();
    struct vyre_kernel_desc desc = {
        .label = "kernel", .bindings = bindings, .binding_count = count};
    memset(diag, 0, sizeof *diag);
    return vyre_interface_agree(&desc, &reflected, diag);
}

#define READS0                                \
    {                                         \
        .slot = 0, .access = VYRE_ACCESS_READ \
    }
#define WRITES3                                \
    {                                          \
        .slot = 3, .access = VYRE_ACCESS_WRITE \
    }
#define BOTH7                                      \
    {                                              \
        .slot = 7, .access = VYRE_ACCESS_READWRITE \
    }
#define UNIFORM9                             \
    {                                        \
        .slot = 9, .role = VYRE_ROLE_UNIFORM \
    }

static void agree_same_or_wider_is_ok(void **state)
{
    (void)state;
    struct vyre_diag diag;
    const struct vyre_binding_desc same[] = {WRITES3, BOTH7, UNIFORM9, READS0};
    assert_int_equal(agree(same, 4, &diag), VYRE_OK);
    const struct vyre_binding_desc wider[] = {
        {.slot = 0, .role = VYRE_ROLE_INPUT_OUTPUT},
        {.slot = 3, .role = VYRE_ROLE_PERSISTENT},
        BOTH7,
        {.slot = 9, .access = VYRE_ACCESS_READ},
        {.slot = 11, .role = VYRE_ROLE_SHARED, .element_count = 64},
    };
    assert_int_equal(agree(wider, 5, &diag), VYRE_OK);
    assert_int_equal(agree(NULL, 0, &diag), VYRE_OK);
}

static void agree_narrower_is_refused(void **state)
{
    (void)state;
    struct vyre_diag diag;
    const struct vyre_binding_desc writes0[] = {
        {.slot = 0, .access = VYRE_ACCESS_WRITE, .label = "x"}, WRITES3, BOTH7, UNIFORM9};
    assert_diag(agree(writes0, 4, &diag), diag, VYRE_DIAG_INTERFACE_ACCESS);
    assert_contains(diag.message, "slot 0");
    assert_string_equal(diag.label, "x");
    const struct vyre_binding_desc reads7[] = {
        READS0, WRITES3, {.slot = 7, .role = VYRE_ROLE_INPUT}, UNIFORM9};
    assert_diag(agree(reads7, 4, &diag), diag, VYRE_DIAG_INTERFACE_ACCESS);
    assert_string_equal(diag.label, "kernel");
    const struct vyre_binding_desc writes7[] = {
        READS0, WRITES3, {.slot = 7, .role = VYRE_ROLE_OUTPUT}, UNIFORM9};
    assert_diag(agree(writes7, 4, &diag), diag, VYRE_DIAG_INTERFACE_ACCESS);
    const struct vyre_binding_desc reads3[] = {
        READS0, {.slot = 3, .access = VYRE_ACCESS_READ}, BOTH7, UNIFORM9};
    assert_diag(agree(reads3, 4, &diag), diag, VYRE_DIAG_INTERFACE_ACCESS);
}

static void agree_other_slots_is_refused(void **state)
{
    (void)state;
    struct vyre_diag diag;
    const struct vyre_binding_desc three[] = {READS0, WRITES3, BOTH7};
    assert_diag(agree(three, 3, &diag), diag, VYRE_DIAG_INTERFACE_SLOT);
    assert_contains(diag.message, "slot 9");
    assert_contains(diag.fix, "slot 9");
    const struct vyre_binding_desc five[] = {
        READS0, WRITES3, BOTH7, UNIFORM9, {.slot = 4, .access = VYRE_ACCESS_READ}};
    assert_diag(agree(five, 5, &diag), diag, VYRE_DIAG_INTERFACE_SLOT);
    assert_contains(diag.message, "slot 4");
    assert_contains(diag.fix, "slot 4"); /* the one to remove, not those to declare */
    assert_null(strstr(diag.fix, "Declare"));
}

static void agree_other_kind_is_refused(void **state)
{
    (void)state;
    struct vyre_diag diag;
    const struct vyre_binding_desc shared[] = {
        {.slot = 0, .role = VYRE_ROLE_SHARED}, WRITES3, BOTH7, UNIFORM9};
    assert_diag(agree(shared, 4, &diag), diag, VYRE_DIAG_INTERFACE_KIND);
    const struct vyre_binding_desc uniform[] = {
        READS0, WRITES3, {.slot = 7, .role = VYRE_ROLE_UNIFORM}, UNIFORM9};
    assert_diag(agree(uniform, 4, &diag), diag, VYRE_DIAG_INTERFACE_KIND);
    const struct vyre_binding_desc table[] = {
        READS0, WRITES3, BOTH7, {.slot = 9, .access = VYRE_ACCESS_READ, .table = true}};
    assert_diag(agree(table, 4, &diag), diag, VYRE_DIAG_INTERFACE_KIND);

    struct vyre_kernel_interface local = {
        .has_bindings = true, .binding_count = 1, .bindings = {{.role = VYRE_ROLE_SHARED}}};
    const struct vyre_binding_desc buffer = READS0;
    struct vyre_kernel_desc desc = {.bindings = &buffer, .binding_count = 1};
    assert_diag(vyre_interface_agree(&desc, &local, &diag), diag, VYRE_DIAG_INTERFACE_KIND);
}

static void agree_table_is_not_compared_by_access(void **state)
{
    (void)state;
    struct vyre_diag diag;
    const struct vyre_binding_desc tables[] = {
        {.slot = 0, .access = VYRE_ACCESS_WRITE, .table = true},
        WRITES3,
        {.slot = 7, .access = VYRE_ACCESS_READ, .table = true},
        UNIFORM9};
    assert_int_equal(agree(tables, 4, &diag), VYRE_OK);
}

static void agree_bad_role_is_refused(void **state)
{
    (void)state;
    struct vyre_diag diag;
    const struct vyre_binding_desc bad[] = {{.slot = 0}, WRITES3, BOTH7, UNIFORM9};
    assert_diag(agree(bad, 4, &diag), diag, VYRE_DIAG_BINDING_ROLE_UNKNOWN);
}

static void agree_constants_compares_sizes(void **state)
{
    (void)state;
    struct vyre_diag diag = {0};
    const enum vyre_scalar same[] = {VYRE_SCALAR_I32, VYRE_SCALAR_U64};
    const enum vyre_scalar swapped[] = {VYRE_SCALAR_F64, VYRE_SCALAR_U32};
    const enum vyre_scalar four[] = {VYRE_SCALAR_U32, VYRE_SCALAR_U32, VYRE_SCALAR_U32,
                                     VYRE_SCALAR_U32};
    const struct {
        const enum vyre_scalar *constants;
        size_t count;
        uint32_t reflected_count, reflected_size;
        bool fine;
    } cases[] = {
        {same, 2, 2, 16, true},    {swapped, 2, 2, 16, false}, {four, 4, 2, 16, false},
        {same, 1, 2, 16, false},   {NULL, 0, 2, 16, true},     {four, 4, 0, 16, true},
        {swapped, 2, 0, 12, true}, {swapped, 2, 0, 16, true},  {swapped, 2, 0, 8, false},
        {four, 3, 0, 12, true},    {four, 3, 0, 16, false},    {four, 1, 0, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_kernel_interface reflected = reflection();
        reflected.constant_count = cases[i].reflected_count;
        reflected.constants_size_bytes = cases[i].reflected_size;
        struct vyre_kernel_desc desc = {.constants = cases[i].constants,
                                        .constant_count = cases[i].count};
        enum vyre_status status = vyre_interface_agree(&desc, &reflected, &diag);
        if (cases[i].fine)
            assert_int_equal(status, VYRE_OK);
        else
            assert_diag(status, diag, VYRE_DIAG_INTERFACE_CONSTANTS);
        reflected.has_constants = false;
        assert_int_equal(vyre_interface_agree(&desc, &reflected, &diag), VYRE_OK);
    }
}

static void agree_local_size_compares(void **state)
{
    (void)state;
    struct vyre_diag diag = {0};
    const struct {
        uint32_t size[3];
        bool fine;
    } cases[] = {{{0, 0, 0}, true},   {{64, 2, 0}, true},  {{64, 2, 1}, true},
                 {{64, 0, 0}, false}, {{64, 2, 2}, false}, {{0, 2, 1}, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_kernel_interface reflected = reflection();
        struct vyre_kernel_desc desc = {0};
        memcpy(desc.local_size, cases[i].size, sizeof desc.local_size);
        enum vyre_status status = vyre_interface_agree(&desc, &reflected, &diag);
        if (cases[i].fine)
            assert_int_equal(status, VYRE_OK);
        else
            assert_diag(status, diag, VYRE_DIAG_INTERFACE_LOCAL_SIZE);
        reflected.has_local_size = false;
        assert_int_equal(vyre_interface_agree(&desc, &reflected, &diag), VYRE_OK);
    }
}

static void agree_unknown_reflection_is_ok(void **state)
{
    (void)state;
    struct vyre_diag diag = {0};
    struct vyre_kernel_interface nothing = {0};
    const struct vyre_binding_desc bindings[] = {READS0};
    struct vyre_kernel_desc desc = {
        .bindings = bindings, .binding_count = 1, .local_size = {3, 3, 3}};
    assert_int_equal(vyre_interface_agree(&desc, &nothing, &diag), VYRE_OK);
}

static void layout_pads_as_c_does(void **state)
{
    (void)state;
    uint32_t alignment;
    const enum vyre_scalar mixed[] = {VYRE_SCALAR_U32, VYRE_SCALAR_F64, VYRE_SCALAR_I32};
    assert_int_equal(vyre_scalars_layout(mixed, 3, &alignment), sizeof(struct {
                         uint32_t a;
                         double b;
                         int32_t c;
                     }));
    assert_int_equal(alignment, 8);
    assert_int_equal(vyre_scalars_layout(mixed, 1, &alignment), 4);
    assert_int_equal(alignment, 4);
    assert_int_equal(vyre_scalars_layout(mixed, 0, &alignment), 0);
    enum vyre_scalar many[33];
    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = VYRE_SCALAR_F32;
    assert_int_equal(vyre_scalars_layout(many, 32, &alignment), 128);
    assert_int_equal(vyre_scalars_layout(many, 33, &alignment), UINT32_MAX);
    many[0] = VYRE_SCALAR_NONE;
    assert_int_equal(vyre_scalars_layout(many, 1, &alignment), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_same_or_wider_is_ok),
        cmocka_unit_test(agree_narrower_is_refused),
        cmocka_unit_test(agree_other_slots_is_refused),
        cmocka_unit_test(agree_other_kind_is_refused),
        cmocka_unit_test(agree_table_is_not_compared_by_access),
        cmocka_unit_test(agree_bad_role_is_refused),
        cmocka_unit_test(agree_constants_compares_sizes),
        cmocka_unit_test(agree_local_size_compares),
        cmocka_unit_test(agree_unknown_reflection_is_ok),
        cmocka_unit_test(layout_pads_as_c_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
