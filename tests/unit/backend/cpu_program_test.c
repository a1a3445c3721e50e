/*
 * cpu_program_test.c: how batches with arms are cut into tasks, by what their commands cost.
 */
#include "backend/cpu/kernel.h"
#include "backend/cpu/program.h"

#include "base/memory.h"
#include "support/test.h"

enum { COMMANDS = 20, GROUPS = 100, THREADS = 2 };

/* Dispatches in one segment, each with an arm and a cost. */
struct fixture {
    struct vyre_cpu_kernel kernels[COMMANDS];
    struct vyre_command commands[COMMANDS];
    struct vyre_plan_node nodes[COMMANDS];
    struct vyre_plan_segment segment;
    struct vyre_batch_view view;
    struct vyre_batch_plan plan;
    struct vyre_cpu_program *program;
};

static void set_up(struct fixture *f, uint32_t threads, uint32_t count, uint32_t groups,
                   const uint32_t *arms, const uint64_t *costs_us)
{
    const struct vyre_cpu_grain grain = {.participants = threads, .barrier_ns = 100};
    struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    memset(f, 0, sizeof *f);
    for (uint32_t i = 0; i < count; i++) {
        (void)vyre_cpu_kernel_learn(&f->kernels[i], groups, costs_us[i] * 1000);
        f->commands[i] = (struct vyre_command){
            .type = VYRE_COMMAND_DISPATCH, .kernel = &f->kernels[i], .groups = {groups, 1, 1}};
        f->nodes[i].arm = arms[i];
        f->segment.arm_count =
            arms[i] + 1 > f->segment.arm_count ? arms[i] + 1 : f->segment.arm_count;
    }
    f->segment.command_count = count;
    f->view = (struct vyre_batch_view){.commands = f->commands, .command_count = count};
    f->plan = (struct vyre_batch_plan){
        .nodes = f->nodes, .segments = &f->segment, .node_count = count, .segment_count = 1};
    f->program = vyre_cpu_program_create(&allocator);
    assert_non_null(f->program);
    assert_true(vyre_cpu_program_build(f->program, &f->view, &f->plan, &grain));
}

static uint32_t ordered_tasks(const struct fixture *f)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->program->task_count; i++)
        count += f->program->tasks[i].ordered;
    return count;
}

static void equal_arms_run_side_by_side(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, 4, GROUPS, (const uint32_t[]){0, 1, 0, 1},
           (const uint64_t[]){200, 150, 200, 250});
    assert_int_equal(f.program->task_count, 2);
    assert_int_equal(ordered_tasks(&f), 2);
    assert_int_equal(f.program->order[f.program->tasks[1].first], 1);
    assert_int_equal(f.program->order[f.program->tasks[1].first + 1], 3);
    vyre_cpu_program_destroy(f.program);
}

/* No command is half of the work, but one arm is nearly all of it. */
static void unequal_arms_are_split(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, 3, GROUPS, (const uint32_t[]){0, 0, 1}, (const uint64_t[]){230, 220, 10});
    assert_int_equal(ordered_tasks(&f), 0);
    assert_in_range(f.program->task_count, 2 * 2 * THREADS, 64);
    assert_int_equal(f.program->tasks[0].group_begin, 0);
    assert_in_range(f.program->tasks[0].group_end, 1, GROUPS / THREADS);
    vyre_cpu_program_destroy(f.program);
}

/* With one group a command cannot be split: what can run beside it does. */
static void unequal_arms_of_single_groups_run_side_by_side(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, 3, 1, (const uint32_t[]){0, 0, 1}, (const uint64_t[]){230, 220, 50});
    assert_int_equal(f.program->task_count, 2);
    assert_int_equal(ordered_tasks(&f), 2);
    vyre_cpu_program_destroy(f.program);
}

/* On 16 threads a command of two groups can only be halved. */
static void commands_of_few_groups_run_side_by_side(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t arms[20];
    uint64_t costs[20];
    for (uint32_t i = 0; i < 20; i++) {
        arms[i] = i / 2;
        costs[i] = 50;
    }
    set_up(&f, 16, 20, 2, arms, costs);
    assert_int_equal(f.program->task_count, 10);
    assert_int_equal(ordered_tasks(&f), 10);
    vyre_cpu_program_destroy(f.program);
}

/* Two threads need two rounds for three arms: the third would run alone. */
static void odd_arm_is_split(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, 3, GROUPS, (const uint32_t[]){0, 1, 2}, (const uint64_t[]){100, 100, 100});
    assert_int_equal(ordered_tasks(&f), 0);
    vyre_cpu_program_destroy(f.program);
}

static void arms_of_seconds_are_compared(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, 2, 1000000, (const uint32_t[]){0, 1}, (const uint64_t[]){9000000, 1000000});
    assert_int_equal(ordered_tasks(&f), 0);
    vyre_cpu_program_destroy(f.program);
}

static void small_arms_are_one_task(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, THREADS, 4, GROUPS, (const uint32_t[]){0, 1, 2, 3}, (const uint64_t[]){0, 0, 0, 0});
    assert_int_equal(f.program->task_count, 1);
    assert_int_equal(f.program->tasks[0].count, 4);
    vyre_cpu_program_destroy(f.program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_arms_run_side_by_side),
        cmocka_unit_test(unequal_arms_are_split),
        cmocka_unit_test(unequal_arms_of_single_groups_run_side_by_side),
        cmocka_unit_test(commands_of_few_groups_run_side_by_side),
        cmocka_unit_test(odd_arm_is_split),
        cmocka_unit_test(arms_of_seconds_are_compared),
        cmocka_unit_test(small_arms_are_one_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
