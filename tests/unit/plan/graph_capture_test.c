/*
 * graph_capture_test.c: what each role counts, captures of several kernels, and overflow.
 */
#include <vyre/graph_capture.h>

#include "support/test.h"

enum { MEMORY = 16 };

/* A plan of one binding per letter, as the golden tables write roles. */
static struct vyre_binding_plan plan_of(const char *roles, struct vyre_binding memory[MEMORY])
{
    static const char letters[] = "IOBUSP";
    struct vyre_binding_desc descs[MEMORY];
    size_t count = strlen(roles);
    assert_in_range(count, 0, MEMORY);
    for (size_t i = 0; i < count; i++)
        descs[i] = (struct vyre_binding_desc){
            .slot = (uint32_t)(100 - i),
            .role = (enum vyre_role)(strchr(letters, roles[i]) - letters + 1)};
    struct vyre_binding_plan plan;
    assert_int_equal(vyre_binding_plan_build(descs, count, memory, MEMORY, &plan, NULL), VYRE_OK);
    return plan;
}

static void assert_capture(const struct vyre_graph_capture_plan *capture, size_t inputs,
                           size_t outputs, size_t readbacks, bool safe)
{
    assert_int_equal(capture->input_device_capacity, inputs);
    assert_int_equal(capture->output_device_capacity, outputs);
    assert_int_equal(capture->output_readback_capacity, readbacks);
    assert_int_equal(capture->kernel_pointer_capacity, inputs + outputs);
    assert_int_equal(capture->kernel_argument_capacity, inputs + outputs + 1);
    assert_int_equal(capture->resident_input_replay_safe, safe);
}

static void build_each_role_counts_in_its_tables(void **state)
{
    (void)state;
    static const struct {
        const char *roles;
        size_t inputs, outputs, readbacks;
        bool safe;
    } cases[] = {
        {"", 0, 0, 0, true},   {"I", 1, 0, 0, true},  {"O", 0, 1, 1, true},
        {"B", 1, 0, 1, false}, {"U", 1, 0, 0, true},  {"S", 0, 0, 0, true},
        {"P", 0, 1, 0, true},  {"SS", 0, 0, 0, true}, {"IOBUSP", 3, 2, 2, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_binding memory[MEMORY];
        struct vyre_binding_plan plan = plan_of(cases[i].roles, memory);
        struct vyre_graph_capture_plan capture;
        memset(&capture, 0x5a, sizeof capture);
        assert_int_equal(vyre_graph_capture_plan_build(&plan, &capture, NULL), VYRE_OK);
        assert_capture(&capture, cases[i].inputs, cases[i].outputs, cases[i].readbacks,
                       cases[i].safe);
    }
}

static void extend_second_kernel_adds_and_keeps_one_argument(void **state)
{
    (void)state;
    struct vyre_binding first_memory[MEMORY], second_memory[MEMORY];
    struct vyre_binding_plan first = plan_of("IOP", first_memory);
    struct vyre_binding_plan second = plan_of("UUSO", second_memory);
    struct vyre_graph_capture_plan capture;
    assert_int_equal(vyre_graph_capture_plan_build(&first, &capture, NULL), VYRE_OK);
    assert_capture(&capture, 1, 2, 1, true);
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &second, NULL), VYRE_OK);
    assert_capture(&capture, 3, 3, 2, true);
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &second, NULL), VYRE_OK);
    assert_capture(&capture, 5, 4, 3, true);
}

static void extend_unsafe_once_stays_unsafe(void **state)
{
    (void)state;
    struct vyre_binding safe_memory[MEMORY], unsafe_memory[MEMORY];
    struct vyre_binding_plan safe = plan_of("IO", safe_memory);
    struct vyre_binding_plan unsafe = plan_of("B", unsafe_memory);
    struct vyre_graph_capture_plan capture;
    assert_int_equal(vyre_graph_capture_plan_build(&safe, &capture, NULL), VYRE_OK);
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &unsafe, NULL), VYRE_OK);
    assert_capture(&capture, 2, 1, 2, false);
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &safe, NULL), VYRE_OK);
    assert_capture(&capture, 3, 2, 3, false);
}

static void extend_empty_plan_changes_nothing(void **state)
{
    (void)state;
    struct vyre_binding memory[MEMORY];
    struct vyre_binding_plan plan = plan_of("IOU", memory), empty = {0};
    struct vyre_graph_capture_plan capture;
    assert_int_equal(vyre_graph_capture_plan_build(&plan, &capture, NULL), VYRE_OK);
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &empty, NULL), VYRE_OK);
    assert_capture(&capture, 2, 1, 1, true);
}

/* The way to begin that the header gives: an empty plan first, then every kernel by extend. */
static void extend_from_an_empty_plan_adds_up(void **state)
{
    (void)state;
    struct vyre_binding memory[MEMORY];
    struct vyre_binding_plan plan = plan_of("IOUSP", memory), empty = {0};
    struct vyre_graph_capture_plan capture;
    assert_int_equal(vyre_graph_capture_plan_build(&empty, &capture, NULL), VYRE_OK);
    assert_capture(&capture, 0, 0, 0, true);
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &plan, NULL), VYRE_OK);
    assert_capture(&capture, 2, 2, 1, true);
}

static void extend_full_table_fails_by_name_and_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        struct vyre_graph_capture_plan capture;
        const char *roles; /* the last binding is the one too many */
        const char *table;
    } cases[] = {
        {{SIZE_MAX - 1, 0, 0, 2, 3, true}, "II", "input device"},
        {{0, SIZE_MAX - 1, 0, 2, 3, true}, "PP", "output device"},
        {{0, 0, SIZE_MAX - 1, 2, 3, true}, "OB", "readback"},
        {{0, 0, 0, SIZE_MAX - 1, SIZE_MAX, true}, "IU", "pointer"},
        {{0, 0, 0, SIZE_MAX - 1, SIZE_MAX, true}, "I", "argument"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct vyre_binding memory[MEMORY];
        struct vyre_binding_plan plan = plan_of(cases[i].roles, memory);
        struct vyre_graph_capture_plan capture = cases[i].capture;
        struct vyre_diag diag = {0};
        assert_diag(vyre_graph_capture_plan_extend(&capture, &plan, &diag), diag,
                    VYRE_DIAG_PLAN_OVERFLOW);
        /* The design asks for these words. */
        assert_contains(diag.message, "graph capture binding plan");
        assert_contains(diag.message, cases[i].table);
        assert_contains(diag.fix, "smaller graph shape");
        assert_int_equal(capture.input_device_capacity, cases[i].capture.input_device_capacity);
        assert_int_equal(capture.output_device_capacity, cases[i].capture.output_device_capacity);
        assert_int_equal(capture.output_readback_capacity,
                         cases[i].capture.output_readback_capacity);
        assert_int_equal(capture.kernel_pointer_capacity, cases[i].capture.kernel_pointer_capacity);
        assert_int_equal(capture.kernel_argument_capacity,
                         cases[i].capture.kernel_argument_capacity);
        assert_true(capture.resident_input_replay_safe);
        assert_int_equal(vyre_graph_capture_plan_extend(&capture, &plan, NULL), VYRE_LIMIT);
    }
}

static void extend_to_exactly_the_maximum_fits(void **state)
{
    (void)state;
    struct vyre_binding memory[MEMORY];
    struct vyre_binding_plan plan = plan_of("BO", memory);
    struct vyre_graph_capture_plan capture = {SIZE_MAX - 1, SIZE_MAX - 1, SIZE_MAX - 2,
                                              SIZE_MAX - 3, SIZE_MAX - 2, true};
    assert_int_equal(vyre_graph_capture_plan_extend(&capture, &plan, NULL), VYRE_OK);
    assert_int_equal(capture.input_device_capacity, SIZE_MAX);
    assert_int_equal(capture.output_device_capacity, SIZE_MAX);
    assert_int_equal(capture.output_readback_capacity, SIZE_MAX);
    assert_int_equal(capture.kernel_pointer_capacity, SIZE_MAX - 1);
    assert_int_equal(capture.kernel_argument_capacity, SIZE_MAX);
    assert_false(capture.resident_input_replay_safe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_each_role_counts_in_its_tables),
        cmocka_unit_test(extend_second_kernel_adds_and_keeps_one_argument),
        cmocka_unit_test(extend_unsafe_once_stays_unsafe),
        cmocka_unit_test(extend_empty_plan_changes_nothing),
        cmocka_unit_test(extend_from_an_empty_plan_adds_up),
        cmocka_unit_test(extend_full_table_fails_by_name_and_changes_nothing),
        cmocka_unit_test(extend_to_exactly_the_maximum_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
