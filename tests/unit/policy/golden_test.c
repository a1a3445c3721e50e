/*
 * golden_test.c: every row of the golden tables through the library.
 */
#include <vyre/binding_plan.h>
#include <vyre/graph_capture.h>
#include <vyre/policy.h>

#include "support/table.h"
#include "support/test.h"

#ifndef VYRE_TEST_GOLDEN_DIR
#error "the build says where the golden tables are"
#endif

enum { SLOTS_MAX = 256, ROLES_MAX = 4096 };

/* "row 17: " in front of what differs. */
static void assert_row(const struct table *table, const char *actual, const char *expected)
{
    if (strcmp(actual, expected) != 0)
        fail_msg("row %zu: \"%s\", expected \"%s\"", table->row_count, actual, expected);
}

static void persistent_kernel_golden_rows_agree(void **state)
{
    (void)state;
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "persistent_kernel.csv");
    while (table_next(&table)) {
        struct vyre_persistent_kernel_input input = {
            table_u32(&table, "batch_size"), table_u64(&table, "per_launch_overhead_ns"),
            table_u64(&table, "per_item_kernel_ns"),
            table_u64(&table, "persistent_setup_overhead_ns")};
        struct vyre_persistent_kernel_verdict verdict = vyre_persistent_kernel_decide(&input);
        const char *expected = table_text(&table, "verdict");
        bool persistent = strcmp(expected, "persistent-kernel") == 0;
        char text[VYRE_VERDICT_TEXT_BYTES], display[256];
        vyre_persistent_kernel_format(&verdict, text, sizeof text);
        snprintf(display, sizeof display, "%s%s%s", expected, persistent ? ":" : "",
                 persistent ? table_text(&table, "savings_ns") : "");
        assert_row(&table, text, display);
        assert_true(wide_from(verdict.savings_ns) == table_wide(&table, "savings_ns"));
        assert_int_equal(verdict.choice == VYRE_PERSISTENT_KERNEL, persistent);
    }
    assert_int_equal(table.row_count, 2000);
    table_close(&table);
}

/* A set of a table's column in the caller's memory. */
static void read_set(const struct table *table, const char *column, uint32_t memory[SLOTS_MAX],
                     struct vyre_slot_set *set)
{
    uint32_t slots[SLOTS_MAX];
    size_t count = table_slots(table, column, slots, SLOTS_MAX);
    vyre_slot_set_init(set, memory, SLOTS_MAX);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(vyre_slot_set_add(set, slots[i], NULL), VYRE_OK);
}

static void arm_independence_golden_rows_agree(void **state)
{
    (void)state;
    static uint32_t memory[4][SLOTS_MAX];
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "arm_independence.csv");
    while (table_next(&table)) {
        struct vyre_arm a, b;
        read_set(&table, "reads_a", memory[0], &a.reads);
        read_set(&table, "writes_a", memory[1], &a.writes);
        read_set(&table, "reads_b", memory[2], &b.reads);
        read_set(&table, "writes_b", memory[3], &b.writes);
        struct vyre_arm_verdict verdict = vyre_arm_independence_decide(&a, &b);
        char text[VYRE_VERDICT_TEXT_BYTES];
        vyre_arm_independence_format(&verdict, text, sizeof text);
        assert_row(&table, text, table_text(&table, "verdict"));
    }
    assert_int_equal(table.row_count, 2000);
    table_close(&table);
}

static void copy_overlap_golden_rows_agree(void **state)
{
    (void)state;
    static uint32_t memory[2][SLOTS_MAX];
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "copy_overlap.csv");
    while (table_next(&table)) {
        struct vyre_arm kernel;
        read_set(&table, "reads", memory[0], &kernel.reads);
        read_set(&table, "writes", memory[1], &kernel.writes);
        struct vyre_copy_verdict verdict =
            vyre_copy_overlap_decide(table_u32(&table, "copy_dst_slot"), &kernel);
        char text[VYRE_VERDICT_TEXT_BYTES];
        vyre_copy_overlap_format(&verdict, text, sizeof text);
        assert_row(&table, text, table_text(&table, "verdict"));
    }
    assert_int_equal(table.row_count, 2000);
    table_close(&table);
}

static void command_reuse_golden_rows_agree(void **state)
{
    (void)state;
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "command_reuse.csv");
    while (table_next(&table)) {
        struct vyre_command_reuse_input input = {
            table_u32(&table, "repeat_count"), table_u64(&table, "per_launch_overhead_ns"),
            table_u64(&table, "record_overhead_ns"), table_u64(&table, "replay_overhead_ns")};
        struct vyre_command_reuse_verdict verdict = vyre_command_reuse_decide(&input);
        char text[VYRE_VERDICT_TEXT_BYTES];
        vyre_command_reuse_format(&verdict, text, sizeof text);
        assert_row(&table, text, table_text(&table, "display"));
    }
    assert_int_equal(table.row_count, 2000);
    table_close(&table);
}

static enum vyre_bindless_support read_support(const struct table *table)
{
    const char *text = table_text(table, "support");
    if (strcmp(text, "full") == 0)
        return VYRE_BINDLESS_FULL;
    if (strcmp(text, "static") == 0)
        return VYRE_BINDLESS_STATIC;
    assert_string_equal(text, "unsupported");
    return VYRE_BINDLESS_UNSUPPORTED;
}

static void bindless_golden_rows_agree(void **state)
{
    (void)state;
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "bindless.csv");
    while (table_next(&table)) {
        uint32_t dynamic = table_u32(&table, "dynamic_indexing");
        assert_in_range(dynamic, 0, 1);
        struct vyre_bindless_input input = {table_u32(&table, "resource_count"),
                                            read_support(&table), dynamic == 1};
        struct vyre_bindless_verdict verdict = vyre_bindless_decide(&input);
        char text[VYRE_VERDICT_TEXT_BYTES];
        vyre_bindless_format(&verdict, text, sizeof text);
        assert_row(&table, text, table_text(&table, "verdict"));
    }
    assert_int_equal(table.row_count, 500);
    table_close(&table);
}

static void trace_jit_golden_rows_agree(void **state)
{
    (void)state;
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "trace_jit.csv");
    while (table_next(&table)) {
        struct vyre_trace_jit_input input = {
            table_u32(&table, "shader_hit_count"), table_u32(&table, "prediction_confidence_bps"),
            table_u64(&table, "speculative_spec_cost_ns"), table_u64(&table, "miss_cost_ns")};
        struct vyre_trace_jit_verdict verdict = vyre_trace_jit_decide(&input);
        char text[VYRE_VERDICT_TEXT_BYTES];
        vyre_trace_jit_format(&verdict, text, sizeof text);
        assert_row(&table, text, table_text(&table, "display"));
    }
    assert_int_equal(table.row_count, 2000);
    table_close(&table);
}

static enum vyre_role role_of(char letter)
{
    static const char letters[] = "IOBUSP"; /* in the order of enum vyre_role */
    const char *found = strchr(letters, letter);
    assert_non_null(found);
    return (enum vyre_role)(found - letters + 1);
}

static void graph_capture_golden_rows_agree(void **state)
{
    (void)state;
    static struct vyre_binding_desc descs[ROLES_MAX];
    static struct vyre_binding bindings[ROLES_MAX];
    struct table table;
    table_open(&table, VYRE_TEST_GOLDEN_DIR, "graph_capture.csv");
    while (table_next(&table)) {
        const char *roles = table_text(&table, "roles");
        size_t count = strcmp(roles, "-") == 0 ? 0 : strlen(roles);
        assert_in_range(count, 0, ROLES_MAX);
        for (size_t i = 0; i < count; i++) {
            /* An odd factor: every slot is different, and they come in no order. */
            uint32_t slot = (uint32_t)i * UINT32_C(2654435761);
            descs[i] = (struct vyre_binding_desc){.slot = slot, .role = role_of(roles[i])};
        }
        struct vyre_binding_plan plan;
        struct vyre_graph_capture_plan capture;
        assert_int_equal(vyre_binding_plan_build(descs, count, bindings, ROLES_MAX, &plan, NULL),
                         VYRE_OK);
        assert_int_equal(vyre_graph_capture_plan_build(&plan, &capture, NULL), VYRE_OK);
        char actual[256], expected[256];
        snprintf(actual, sizeof actual, "%zu,%zu,%zu,%zu,%zu,%d", capture.input_device_capacity,
                 capture.output_device_capacity, capture.output_readback_capacity,
                 capture.kernel_pointer_capacity, capture.kernel_argument_capacity,
                 capture.resident_input_replay_safe);
        snprintf(expected, sizeof expected, "%s,%s,%s,%s,%s,%s",
                 table_text(&table, "input_device_capacity"),
                 table_text(&table, "output_device_capacity"),
                 table_text(&table, "output_readback_capacity"),
                 table_text(&table, "kernel_pointer_capacity"),
                 table_text(&table, "kernel_argument_capacity"),
                 table_text(&table, "resident_input_replay_safe"));
        assert_row(&table, actual, expected);
    }
    assert_int_equal(table.row_count, 500);
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(persistent_kernel_golden_rows_agree),
        cmocka_unit_test(arm_independence_golden_rows_agree),
        cmocka_unit_test(copy_overlap_golden_rows_agree),
        cmocka_unit_test(command_reuse_golden_rows_agree),
        cmocka_unit_test(bindless_golden_rows_agree),
        cmocka_unit_test(trace_jit_golden_rows_agree),
        cmocka_unit_test(graph_capture_golden_rows_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
