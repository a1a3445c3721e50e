/*
 * execution.c: what commands take on the device, learned from sampled times of single commands.
 */
#include "runtime/execution.h"

#include <string.h>

#include "base/groups.h"
#include "runtime/body.h"
#include "runtime/governor_math.h"
#include "runtime/internal.h"

/* Sizes that differ by less than this factor share a point. */
#define SAME_SIZE 2.0
/* A longer sample moves a point by 1 part in this many, and counts at most double. */
#define LONGER_WEIGHT 8.0
/* A part that other kernels showed explains at most this much of a time. */
#define PART_MOST 0.75
/* The slope is at least this part of the time per size. */
#define SLOPE_LEAST (1.0 / 64.0)
/* At most two to this power submissions pass after altered ones without a time. */
#define UNANSWERED_MAX 4
/* Every submission of a kernel is sampled up to this one; then those of doubled numbers. */
#define EAGER_RUNS 4
#define MIB        1048576.0

/* ---- Lines ------------------------------------------------------------------------------------ */

/* Leans towards the shortest: a preempted or cold command looks slow, none looks fast. */
static void lean(double *ns, double sample_ns)
{
    double most = 2.0 * *ns;
    if (sample_ns < *ns / 2.0)
        *ns = sample_ns;
    else if (sample_ns < *ns)
        *ns = (*ns + sample_ns) / 2.0;
    else
        *ns += ((sample_ns < most ? sample_ns : most) - *ns) / LONGER_WEIGHT;
}

static bool is_same(double size, double other)
{
    return size < other * SAME_SIZE && other < size * SAME_SIZE;
}

bool vyre_execution_line_is_split(const struct vyre_execution_line *line)
{
    return line->count > 0 && !is_same(line->small.size, line->large.size);
}

/* A sample of about the size of a point, brought to that size. */
static void move(struct vyre_execution_point *point, double slope, double size, double ns)
{
    double there = ns + slope * (point->size - size);
    lean(&point->ns, there > 0.0 ? there : ns);
}

void vyre_execution_line_learn(struct vyre_execution_line *line, double size, double ns)
{
    const struct vyre_execution_point sample = {size, ns};
    if (size <= 0.0 || ns <= 0.0)
        return;
    bool split = vyre_execution_line_is_split(line);
    double slope = split ? vyre_execution_line_slope(line, 0.0) : 0.0;
    bool is_small = line->count > 0 && is_same(size, line->small.size);
    bool is_large = line->count > 0 && is_same(size, line->large.size);
    if (line->count == 0) {
        line->small = line->large = sample;
    } else if (!is_small && !is_large && size < line->small.size) {
        line->small = sample;
    } else if (!is_small && !is_large && size > line->large.size) {
        line->large = sample;
    } else if (!split) {
        lean(&line->small.ns, ns);
        line->large = line->small;
    } else {
        /* The nearer point; one in the middle is brought to the larger, which shows more. */
        move(is_small ? &line->small : &line->large, slope, size, ns);
    }
    line->count += line->count < UINT32_MAX;
}

double vyre_execution_line_slope(const struct vyre_execution_line *line, double part_ns)
{
    const struct vyre_execution_point *small = &line->small;
    const struct vyre_execution_point *large = &line->large;
    if (line->count == 0)
        return 0.0;
    double each = large->ns / large->size;
    double slope;
    if (vyre_execution_line_is_split(line)) {
        slope = (large->ns - small->ns) / (large->size - small->size);
    } else {
        double most = large->ns * PART_MOST;
        slope = (large->ns - (part_ns < most ? part_ns : most)) / large->size;
    }
    return slope > each * SLOPE_LEAST ? slope : each * SLOPE_LEAST;
}

double vyre_execution_line_part(const struct vyre_execution_line *line)
{
    if (!vyre_execution_line_is_split(line))
        return 0.0;
    double part = line->small.ns - vyre_execution_line_slope(line, 0.0) * line->small.size;
    return part > 0.0 ? part : 0.0;
}

/* ---- Asking ----------------------------------------------------------------------------------- */

static double rounds_of(uint64_t groups, uint32_t parallel)
{
    uint64_t at_once = parallel ? parallel : 1;
    return (double)(groups / at_once + (groups % at_once != 0));
}

static uint64_t amount_of(const struct vyre_batch_view *view, const struct vyre_command *command)
{
    if (command->type == VYRE_COMMAND_DISPATCH)
        return vyre_groups_total(command->groups);
    return view->ranges[command->first_range].size_bytes;
}

/* Counts the submission for the kernel, once, and says whether it is to be sampled. */
static bool is_due(struct vyre_kernel_execution *kernel, uint64_t mark, uint64_t groups)
{
    bool is_new_size = kernel->groups_most > 0 && groups > 0 &&
                       (groups / 2 > kernel->groups_most || groups < kernel->groups_least / 2);
    if (kernel->mark != mark) {
        kernel->mark = mark;
        kernel->runs += kernel->runs < UINT32_MAX;
    }
    return is_new_size || (kernel->runs > 1 && kernel->runs >= kernel->sample_at);
}

/* The next time is needed later. */
static void put_off(struct vyre_kernel_execution *kernel)
{
    if (kernel->runs < EAGER_RUNS)
        kernel->sample_at = kernel->runs + 1;
    else
        kernel->sample_at = kernel->runs < UINT32_MAX / 2 ? kernel->runs * 2 : UINT32_MAX;
}

/* The time of so many groups is known. */
static void note_size(struct vyre_kernel_execution *kernel, uint64_t groups)
{
    if (kernel->groups_most == 0 || groups < kernel->groups_least)
        kernel->groups_least = groups;
    if (groups > kernel->groups_most)
        kernel->groups_most = groups;
}

void vyre_execution_ask_locked(struct vyre_device *device, const struct vyre_body *body,
                               struct vyre_submission *submission)
{
    struct vyre_execution *execution = &device->execution;
    const struct vyre_batch_view *view = &body->view;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    uint32_t count = view->command_count < VYRE_EXECUTION_COMMANDS_MAX
                         ? view->command_count
                         : VYRE_EXECUTION_COMMANDS_MAX;
    bool due = false;
    if (!device->facts.command_times || execution->sequence != 0)
        return;
    execution->marks++;
    for (uint32_t i = 0; i < count; i++) {
        const struct vyre_command *command = &view->commands[i];
        struct vyre_kernel *kernel = kernels[i].kernel;
        uint64_t amount = amount_of(view, command);
        execution->commands[i] = (struct vyre_execution_command){
            .kernel = kernel,
            .identity = kernels[i].identity,
            .amount = amount,
            .type = command->type,
        };
        if (kernel && amount > 0 && is_due(&kernel->execution, execution->marks, amount))
            due = true;
        if (kernel && kernel->execution.runs < 2)
            execution->commands[i].amount = 0; /* its first submission teaches nothing */
    }
    if (!due || execution->marks < execution->ask_at)
        return;
    memset(execution->times, 0, count * sizeof *execution->times);
    execution->command_count = count;
    execution->sequence = submission->sequence;
    submission->times = execution->times;
    submission->time_count = count;
}

void vyre_execution_cancel_locked(struct vyre_device *device, uint64_t sequence)
{
    if (device->execution.sequence == sequence)
        device->execution.sequence = 0;
}

/* ---- Learning --------------------------------------------------------------------------------- */

/* What launching shows of the part of a dispatch that does not depend on its size. */
static double part_ns(const struct vyre_device *device)
{
    const struct vyre_execution *execution = &device->execution;
    return execution->part_ns > 0.0 ? execution->part_ns
                                    : device->candidates.list[0].costs.command_ns;
}

static double invocations_of(const struct vyre_kernel *kernel)
{
    const uint32_t *size = kernel->interface.local_size;
    double invocations = (double)size[0] * size[1] * size[2];
    return invocations > 0.0 ? invocations : 1.0;
}

static void learn_dispatch(struct vyre_device *device, struct vyre_kernel *kernel, uint64_t groups,
                           const struct vyre_command_time *time)
{
    struct vyre_execution *execution = &device->execution;
    struct vyre_execution_line *line = &kernel->execution.line;
    put_off(&kernel->execution);
    note_size(&kernel->execution, groups);
    vyre_execution_line_learn(line, rounds_of(groups, time->parallel), (double)time->ns);
    double part = vyre_execution_line_part(line);
    if (part > 0.0 && execution->part_ns > 0.0)
        lean(&execution->part_ns, part);
    else if (part > 0.0)
        execution->part_ns = part;
    double each = vyre_execution_line_slope(line, part_ns(device)) / invocations_of(kernel);
    double log = (double)governor_log(each);
    execution->kernel_count += execution->kernel_count < UINT32_MAX;
    uint32_t weight = execution->kernel_count < 16 ? execution->kernel_count : 16;
    execution->invocation_log += (log - execution->invocation_log) / weight;
}

/*
 * Whether the backend gave a time. If it gave none though the batch was altered for it, more submissions pass each
 * time before it is asked again: such a batch shows nothing about its mode.
 */
static bool is_answered(struct vyre_execution *execution, bool altered)
{
    bool answered = false;
    for (uint32_t i = 0; i < execution->command_count; i++)
        answered = answered || execution->times[i].ns != 0;
    execution->unanswered = answered || !altered ? 0 : execution->unanswered + 1;
    if (execution->unanswered > UNANSWERED_MAX)
        execution->unanswered = UNANSWERED_MAX;
    execution->ask_at = execution->marks + (UINT64_C(1) << execution->unanswered);
    return answered;
}

void vyre_execution_collect_locked(struct vyre_device *device)
{
    struct vyre_execution *execution = &device->execution;
    if (execution->sequence == 0 || !vyre_device_is_complete(device, execution->sequence))
        return;
    const struct vyre_result_entry *entry =
        &device->results.entries[execution->sequence & device->results.mask];
    bool failed = entry->sequence != execution->sequence || entry->result.status != VYRE_OK;
    execution->sequence = 0;
    if (failed || !is_answered(execution, entry->measurement.altered))
        return;
    for (uint32_t i = 0; i < execution->command_count; i++) {
        const struct vyre_execution_command *command = &execution->commands[i];
        const struct vyre_command_time *time = &execution->times[i];
        bool is_kernel = command->kernel && command->kernel->object.identity == command->identity;
        if (command->amount == 0)
            continue;
        if (is_kernel && time->ns != 0)
            learn_dispatch(device, command->kernel, command->amount, time);
        else if (is_kernel)
            put_off(&command->kernel->execution);
        else if (!command->kernel && time->ns != 0)
            vyre_execution_line_learn(&execution->transfers[command->type], (double)command->amount,
                                      (double)time->ns);
    }
}

/* ---- Predicting ------------------------------------------------------------------------------- */

/* Time per round of a kernel: its own, or what all kernels of the device take. 0: not known. */
static double round_ns(const struct vyre_device *device, const struct vyre_kernel *kernel)
{
    const struct vyre_execution *execution = &device->execution;
    if (kernel->execution.line.count > 0)
        return vyre_execution_line_slope(&kernel->execution.line, part_ns(device));
    if (execution->kernel_count == 0)
        return 0.0;
    return governor_exp((float)execution->invocation_log) * invocations_of(kernel);
}

/* A transfer, by what calibration measured, or else by what was sampled. */
static double transfer_ns(const struct vyre_device *device, const struct vyre_command *command,
                          uint64_t bytes)
{
    static const enum vyre_cost_id costs[VYRE_COMMAND_TYPE_COUNT] = {
        [VYRE_COMMAND_COPY] = VYRE_COST_COPY_MIB,
        [VYRE_COMMAND_FILL] = VYRE_COST_COPY_MIB,
        [VYRE_COMMAND_UPLOAD] = VYRE_COST_UPLOAD_MIB,
        [VYRE_COMMAND_DOWNLOAD] = VYRE_COST_DOWNLOAD_MIB,
    };
    const struct vyre_cost *cost = &device->costs.calibration.costs[costs[command->type]];
    if (cost->known)
        return cost->median_ns * (double)bytes / MIB;
    const struct vyre_execution_line *line = &device->execution.transfers[command->type];
    return vyre_execution_line_slope(line, part_ns(device)) * (double)bytes;
}

void vyre_execution_predict_modes_locked(const struct vyre_device *device,
                                         const struct vyre_body *body,
                                         double out_ns[VYRE_MODE_COUNT])
{
    const struct vyre_batch_view *view = &body->view;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    const struct vyre_kernel *last = NULL;
    double round = 0.0;
    memset(out_ns, 0, VYRE_MODE_COUNT * sizeof *out_ns);
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        uint64_t amount = amount_of(view, command);
        if (kernels[i].kernel && kernels[i].kernel != last) {
            last = kernels[i].kernel;
            round = round_ns(device, last);
        }
        double transfer = kernels[i].kernel ? 0.0 : transfer_ns(device, command, amount);
        for (int mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
            out_ns[mode] += kernels[i].kernel
                                ? round * rounds_of(amount, device->facts.parallel[mode])
                                : transfer;
    }
}

double vyre_execution_predict_locked(const struct vyre_device *device, const struct vyre_body *body)
{
    double ns[VYRE_MODE_COUNT];
    vyre_execution_predict_modes_locked(device, body, ns);
    return ns[VYRE_MODE_PLAIN];
}
