/*
 * program.c: a batch cut into tasks.
 */
#include "backend/cpu/program.h"

#include <string.h>

#include "backend/cpu/kernel.h"
#include "backend/cpu/run.h"
#include "base/memory.h"

/* memcpy and fill: about 8 bytes per ns here. */
#define BYTES_PER_NS 8
/* The assumed cost of a group of a kernel that was never run. */
#define UNKNOWN_GROUP_NS 1000
/* How much of a split command goes into the large parts. */
#define LARGE_PART_PERCENT 80
/* What arms take is added up in 32 bits: up to four minutes. */
#define ARM_UNIT_NS 64

struct vyre_cpu_program *vyre_cpu_program_create(const struct vyre_allocator *allocator)
{
    struct vyre_cpu_program *program =
        vyre_memory_allocate(allocator, sizeof *program, _Alignof(struct vyre_cpu_program));
    if (program)
        program->allocator = *allocator;
    return program;
}

void vyre_cpu_program_destroy(struct vyre_cpu_program *program)
{
    if (!program)
        return;
    vyre_memory_free(&program->allocator, program->tasks,
                     program->task_capacity * sizeof *program->tasks,
                     _Alignof(struct vyre_cpu_task));
    vyre_memory_free(&program->allocator, program->order,
                     program->order_capacity * sizeof *program->order, _Alignof(uint32_t));
    struct vyre_allocator allocator = program->allocator;
    vyre_memory_free(&allocator, program, sizeof *program, _Alignof(struct vyre_cpu_program));
}

size_t vyre_cpu_program_size(const struct vyre_cpu_program *program)
{
    return sizeof *program + program->task_capacity * sizeof *program->tasks +
           program->order_capacity * sizeof *program->order;
}

uint64_t vyre_cpu_command_cost_ns(const struct vyre_batch_view *view,
                                  const struct vyre_command *command, bool *out_known)
{
    *out_known = true;
    if (command->type != VYRE_COMMAND_DISPATCH)
        return view->ranges[command->first_range].size_bytes / BYTES_PER_NS;
    uint64_t groups = vyre_cpu_command_groups(command);
    uint64_t cost = vyre_cpu_kernel_cost_ns(command->kernel, groups);
    *out_known = cost != 0 || groups == 0;
    return *out_known ? cost : groups * UNKNOWN_GROUP_NS;
}

/* ---- Building --------------------------------------------------------------------------------- */

struct builder {
    struct vyre_cpu_program *program;
    const struct vyre_batch_view *view;
    const struct vyre_batch_plan *plan; /* NULL: a chain */
    const struct vyre_cpu_grain *grain;
    uint32_t run_first; /* commands collected for a run task */
    uint32_t run_count;
    bool failed;
};

static bool grow(const struct vyre_allocator *allocator, void **items, uint32_t *capacity,
                 uint32_t wanted, size_t item_bytes, size_t alignment)
{
    if (wanted <= *capacity)
        return true;
    uint32_t larger = *capacity ? *capacity : 8;
    while (larger < wanted)
        larger *= 2;
    void *grown = vyre_memory_allocate(allocator, larger * item_bytes, alignment);
    if (!grown)
        return false;
    if (*capacity > 0)
        memcpy(grown, *items, *capacity * item_bytes);
    vyre_memory_free(allocator, *items, *capacity * item_bytes, alignment);
    *items = grown;
    *capacity = larger;
    return true;
}

static void add_task(struct builder *builder, const struct vyre_cpu_task *task)
{
    struct vyre_cpu_program *program = builder->program;
    void *items = program->tasks;
    if (!grow(&program->allocator, &items, &program->task_capacity, program->task_count + 1,
              sizeof *task, _Alignof(struct vyre_cpu_task))) {
        builder->failed = true;
        return;
    }
    program->tasks = items;
    program->tasks[program->task_count++] = *task;
}

/* Room for so many more items of `order`; NULL when out of memory. */
static uint32_t *grow_order(struct builder *builder, uint32_t count)
{
    struct vyre_cpu_program *program = builder->program;
    void *items = program->order;
    if (!grow(&program->allocator, &items, &program->order_capacity, program->order_count + count,
              sizeof(uint32_t), _Alignof(uint32_t))) {
        builder->failed = true;
        return NULL;
    }
    program->order = items;
    return program->order + program->order_count;
}

/* Ends the run that is being collected. */
static void flush_run(struct builder *builder)
{
    if (builder->run_count == 0)
        return;
    const struct vyre_cpu_task task = {.first = builder->run_first,
                                       .count = builder->run_count,
                                       .wait_for = builder->program->task_count};
    add_task(builder, &task);
    builder->run_count = 0;
}

static void gather(struct builder *builder, uint32_t command)
{
    if (builder->run_count == 0)
        builder->run_first = command;
    builder->run_count++;
}

/* Whether dividing `cost` over the participants saves more than the barriers around it cost. */
static bool pays(const struct builder *builder, uint64_t cost_ns)
{
    uint64_t participants = builder->grain->participants;
    return participants > 1 &&
           cost_ns - cost_ns / participants > VYRE_CPU_WORTH_BARRIERS * builder->grain->barrier_ns;
}

/* Adds groups [begin, end) of a command as a task. */
static void add_part(struct builder *builder, uint32_t command, uint32_t wait_for, uint64_t begin,
                     uint64_t end)
{
    const struct vyre_cpu_task task = {
        .first = command, .count = 1, .wait_for = wait_for, .group_begin = begin, .group_end = end};
    if (begin < end)
        add_task(builder, &task);
}

/*
 * One large part for each participant, then one small one. The large parts keep the data where it
 * was at the last launch; the small ones compensate for participants that come late.
 */
static void split(struct builder *builder, uint32_t command, uint64_t groups)
{
    uint64_t participants = builder->grain->participants;
    uint64_t large = groups * LARGE_PART_PERCENT / 100;
    flush_run(builder);
    uint32_t wait_for = builder->program->task_count;
    for (uint64_t i = 0; i < participants; i++)
        add_part(builder, command, wait_for, large * i / participants,
                 large * (i + 1) / participants);
    uint64_t rest = groups - large;
    for (uint64_t i = 0; i < participants; i++)
        add_part(builder, command, wait_for, large + rest * i / participants,
                 large + rest * (i + 1) / participants);
}

/* A stretch of commands that must run in order: large ones are split, small ones collected. */
static void build_chain(struct builder *builder, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct vyre_command *command = &builder->view->commands[i];
        bool known;
        uint64_t cost = vyre_cpu_command_cost_ns(builder->view, command, &known);
        uint64_t groups = vyre_cpu_command_groups(command);
        if (groups > 1 && pays(builder, cost))
            split(builder, i, groups);
        else
            gather(builder, i);
    }
}

/* One task per arm of a segment. The arms' commands are listed arm by arm, by counting sort. */
static void build_arms(struct builder *builder, const struct vyre_plan_segment *segment)
{
    struct vyre_cpu_program *program = builder->program;
    flush_run(builder);
    uint32_t wait_for = program->task_count;
    uint32_t base = program->order_count;
    if (!grow_order(builder, segment->command_count))
        return;
    for (uint32_t arm = 0; arm < segment->arm_count && !builder->failed; arm++) {
        const struct vyre_cpu_task task = {.wait_for = wait_for, .ordered = true};
        add_task(builder, &task);
    }
    if (builder->failed)
        return;
    const struct vyre_plan_node *nodes = builder->plan->nodes + segment->first_command;
    struct vyre_cpu_task *tasks = program->tasks + wait_for;
    for (uint32_t i = 0; i < segment->command_count; i++)
        tasks[nodes[i].arm].count++;
    uint32_t next = base;
    for (uint32_t arm = 0; arm < segment->arm_count; arm++) {
        tasks[arm].first = next;
        next += tasks[arm].count;
        tasks[arm].count = 0;
    }
    for (uint32_t i = 0; i < segment->command_count; i++) {
        struct vyre_cpu_task *task = &tasks[nodes[i].arm];
        program->order[task->first + task->count++] = segment->first_command + i;
    }
    program->order_count = next;
}

/* The expected time of the segment with its commands one after another, each split if that pays. */
static uint64_t chain_ns(const struct builder *builder, const struct vyre_plan_segment *segment)
{
    const struct vyre_command *commands = &builder->view->commands[segment->first_command];
    uint64_t participants = builder->grain->participants;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < segment->command_count; i++) {
        bool known;
        uint64_t cost = vyre_cpu_command_cost_ns(builder->view, &commands[i], &known);
        uint64_t groups = vyre_cpu_command_groups(&commands[i]);
        uint64_t ways = groups < participants ? groups : participants;
        bool is_split = groups > 1 && pays(builder, cost);
        sum += is_split ? cost / ways + VYRE_CPU_WORTH_BARRIERS * builder->grain->barrier_ns : cost;
    }
    return sum;
}

/*
 * The expected time of the segment with its arms side by side: that of the longest, or of as many rounds of mean
 * length as the participants need. UINT64_MAX when out of memory.
 */
static uint64_t arms_ns(struct builder *builder, const struct vyre_plan_segment *segment,
                        uint64_t total_ns)
{
    uint32_t *sums = grow_order(builder, segment->arm_count); /* build_arms overwrites them */
    if (!sums)
        return UINT64_MAX;
    memset(sums, 0, segment->arm_count * sizeof *sums);
    uint64_t longest = 0;
    for (uint32_t i = segment->first_command; i < segment->first_command + segment->command_count;
         i++) {
        bool known;
        const struct vyre_command *command = &builder->view->commands[i];
        uint64_t cost = vyre_cpu_command_cost_ns(builder->view, command, &known) / ARM_UNIT_NS;
        uint32_t *sum = &sums[builder->plan->nodes[i].arm];
        *sum = cost < UINT32_MAX - *sum ? *sum + (uint32_t)cost : UINT32_MAX;
        longest = *sum > longest ? *sum : longest;
    }
    uint64_t participants = builder->grain->participants;
    uint64_t rounds = (segment->arm_count + participants - 1) / participants;
    uint64_t all = total_ns / segment->arm_count * rounds;
    return longest * ARM_UNIT_NS > all ? longest * ARM_UNIT_NS : all;
}

/* Whether arms side by side are better than the commands one after another. */
static bool choose_arms(struct builder *builder, const struct vyre_plan_segment *segment)
{
    uint64_t total = 0;
    if (segment->arm_count < 2)
        return false;
    for (uint32_t i = 0; i < segment->command_count; i++) {
        bool known;
        total += vyre_cpu_command_cost_ns(
            builder->view, &builder->view->commands[segment->first_command + i], &known);
    }
    return pays(builder, total) && arms_ns(builder, segment, total) <= chain_ns(builder, segment);
}

bool vyre_cpu_program_build(struct vyre_cpu_program *program, const struct vyre_batch_view *view,
                            const struct vyre_batch_plan *plan, const struct vyre_cpu_grain *grain)
{
    struct builder builder = {.program = program, .view = view, .plan = plan, .grain = grain};
    program->task_count = 0;
    program->order_count = 0;
    if (!plan) {
        build_chain(&builder, 0, view->command_count);
    } else {
        for (uint32_t s = 0; s < plan->segment_count && !builder.failed; s++) {
            const struct vyre_plan_segment *segment = &plan->segments[s];
            if (choose_arms(&builder, segment))
                build_arms(&builder, segment);
            else
                build_chain(&builder, segment->first_command, segment->command_count);
        }
    }
    flush_run(&builder);
    if (builder.failed)
        program->task_count = 0;
    return !builder.failed;
}
