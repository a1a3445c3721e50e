/*
 * sim_schedule.c: in which order and at which virtual times a batch's commands run.
 *
 * A list scheduler: commands that the plan lets start are ready; one of them is drawn, gets the queue
 * on which it starts first, and what it held back becomes ready. What "lets start" means depends on
 * the part of the plan that the sim obeys; nothing else of the plan is looked at, so that each part
 * must be enough on its own.
 *
 *   deps     all deps of the command have run
 *   levels   all commands of lower levels have run
 *   arms     all earlier segments have run, and the command before it in its arm
 */
#include <stdlib.h>
#include <string.h>

#include "support/sim/sim_internal.h"

#define NOTHING UINT32_MAX

struct schedule {
    struct vyre_sim *sim;
    const struct vyre_batch_view *view;
    const struct vyre_batch_plan *plan; /* NULL: in order */
    uint32_t count;
    uint32_t *ready;
    uint32_t ready_count;
    uint32_t *waits;     /* deps: how many have not run */
    uint32_t *followers; /* deps: by first_follower; arms: the next command of the arm */
    uint32_t *first_follower;
    uint64_t *earliest_ns;
    uint64_t *queue_free_ns; /* compute queues, then the transfer queue */
    uint32_t group;          /* the level or segment that runs */
    uint32_t group_left;     /* commands of it that have not run */
    uint64_t latest_ns;      /* the end of all that was scheduled */
};

/* ---- What one command costs ------------------------------------------------------------------- */

static uint64_t group_cost_locked(const struct vyre_sim *sim, const struct sim_kernel *kernel)
{
    for (size_t i = 0; i < sim->kernel_cost_count; i++) {
        if (strcmp(sim->kernel_costs[i].label, kernel->label) == 0)
            return sim->kernel_costs[i].group_ns;
    }
    return sim->costs.group_ns;
}

/* Groups of a dispatch that run at the same time. */
static uint32_t parallel_of(const struct schedule *schedule, enum vyre_mode mode)
{
    uint32_t parallel = schedule->sim->desc.parallel[mode];
    return parallel ? parallel : 1;
}

static uint64_t cost_locked(const struct schedule *schedule, const struct vyre_command *command,
                            enum vyre_mode mode)
{
    struct vyre_sim *sim = schedule->sim;
    uint32_t parallel = parallel_of(schedule, mode);
    uint64_t cost_ns;
    if (command->type == VYRE_COMMAND_DISPATCH) {
        uint64_t groups = (uint64_t)command->groups[0] * command->groups[1] * command->groups[2];
        cost_ns = (groups + parallel - 1) / parallel * group_cost_locked(sim, command->kernel);
    } else {
        size_t bytes = schedule->view->ranges[command->first_range].size_bytes;
        cost_ns = sim->costs.copy_ns + bytes * sim->costs.copy_byte_ps / 1000;
    }
    return sim_vary_locked(sim, cost_ns);
}

/* ---- What is ready ---------------------------------------------------------------------------- */

static void make_ready(struct schedule *schedule, uint32_t command, uint64_t earliest_ns)
{
    if (earliest_ns > schedule->earliest_ns[command])
        schedule->earliest_ns[command] = earliest_ns;
    schedule->ready[schedule->ready_count++] = command;
}

static void start_deps(struct schedule *schedule)
{
    const struct vyre_batch_plan *plan = schedule->plan;
    for (uint32_t i = 0; i < plan->dep_count; i++)
        schedule->first_follower[plan->deps[i] + 1]++;
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->first_follower[i + 1] += schedule->first_follower[i];
    for (uint32_t i = schedule->count; i-- > 0;) {
        const struct vyre_plan_node *node = &plan->nodes[i];
        schedule->waits[i] = node->dep_count;
        for (uint32_t k = 0; k < node->dep_count; k++) {
            /* Counting down leaves first_follower one place to the left: see the + 1 above. */
            uint32_t dep = plan->deps[node->first_dep + k];
            schedule->followers[--schedule->first_follower[dep + 1]] = i;
        }
        if (node->dep_count == 0)
            make_ready(schedule, i, 0);
    }
}

static void ran_deps(struct schedule *schedule, uint32_t command, uint64_t end_ns)
{
    /* After start_deps the followers of c begin at first_follower[c + 1]. */
    uint32_t first = schedule->first_follower[command + 1];
    uint32_t last = command + 2 <= schedule->count ? schedule->first_follower[command + 2]
                                                   : schedule->plan->dep_count;
    for (uint32_t i = first; i < last; i++) {
        uint32_t follower = schedule->followers[i];
        if (end_ns > schedule->earliest_ns[follower])
            schedule->earliest_ns[follower] = end_ns;
        if (--schedule->waits[follower] == 0)
            make_ready(schedule, follower, end_ns);
    }
}

static void start_level(struct schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->plan->nodes[i].level != schedule->group)
            continue;
        make_ready(schedule, i, schedule->latest_ns);
        schedule->group_left++;
    }
}

/* Links the commands of each arm of the segment and makes the first ones ready. */
static void start_segment(struct schedule *schedule)
{
    const struct vyre_plan_segment *segment = &schedule->plan->segments[schedule->group];
    uint32_t *next_in_arm = schedule->waits; /* by arm; not used otherwise in this order */
    schedule->group_left = segment->command_count;
    for (uint32_t arm = 0; arm < segment->arm_count && arm < schedule->count; arm++)
        next_in_arm[arm] = NOTHING;
    for (uint32_t i = segment->command_count; i-- > 0;) {
        uint32_t command = segment->first_command + i;
        uint32_t arm = schedule->plan->nodes[command].arm;
        schedule->followers[command] = next_in_arm[arm];
        next_in_arm[arm] = command;
    }
    for (uint32_t arm = 0; arm < segment->arm_count && arm < schedule->count; arm++) {
        if (next_in_arm[arm] != NOTHING)
            make_ready(schedule, next_in_arm[arm], schedule->latest_ns);
    }
}

static void start(struct schedule *schedule)
{
    if (!schedule->plan) {
        make_ready(schedule, 0, 0);
        return;
    }
    switch (schedule->sim->desc.order) {
    case VYRE_SIM_ORDER_DEPS:
        start_deps(schedule);
        break;
    case VYRE_SIM_ORDER_LEVELS:
        start_level(schedule);
        break;
    case VYRE_SIM_ORDER_ARMS:
    case VYRE_SIM_ORDER_SERIAL: /* plans that were not asked for are not used */
        start_segment(schedule);
        break;
    }
}

static void ran(struct schedule *schedule, uint32_t command, uint64_t end_ns)
{
    if (end_ns > schedule->latest_ns)
        schedule->latest_ns = end_ns;
    if (!schedule->plan) {
        if (command + 1 < schedule->count)
            make_ready(schedule, command + 1, end_ns);
        return;
    }
    switch (schedule->sim->desc.order) {
    case VYRE_SIM_ORDER_DEPS:
        ran_deps(schedule, command, end_ns);
        break;
    case VYRE_SIM_ORDER_LEVELS:
        if (--schedule->group_left == 0 && ++schedule->group < schedule->plan->level_count)
            start_level(schedule);
        break;
    case VYRE_SIM_ORDER_ARMS:
    case VYRE_SIM_ORDER_SERIAL:
        if (schedule->followers[command] != NOTHING)
            make_ready(schedule, schedule->followers[command], end_ns);
        if (--schedule->group_left == 0 && ++schedule->group < schedule->plan->segment_count)
            start_segment(schedule);
        break;
    }
}

/* ---- Drawing ---------------------------------------------------------------------------------- */

/* Either any ready command, or the last in the batch: what should not be ready shows soonest so. */
static uint32_t draw(struct schedule *schedule, struct rng *rng, bool last_first)
{
    uint32_t at = (uint32_t)rng_below(rng, schedule->ready_count);
    for (uint32_t i = 0; last_first && i < schedule->ready_count; i++) {
        if (schedule->ready[i] > schedule->ready[at])
            at = i;
    }
    uint32_t command = schedule->ready[at];
    schedule->ready[at] = schedule->ready[--schedule->ready_count];
    return command;
}

static uint32_t choose_queue(const struct schedule *schedule, const struct vyre_command *command)
{
    const struct vyre_sim_desc *desc = &schedule->sim->desc;
    bool moves = command->type != VYRE_COMMAND_DISPATCH && command->type != VYRE_COMMAND_FILL;
    if (moves && desc->transfer_queue)
        return desc->compute_queues;
    uint32_t best = 0;
    for (uint32_t i = 1; i < desc->compute_queues; i++) {
        if (schedule->queue_free_ns[i] < schedule->queue_free_ns[best])
            best = i;
    }
    return best;
}

static void add_span_locked(struct vyre_sim *sim, const struct vyre_sim_span *span)
{
    if (sim->span_count == sim->span_capacity) {
        size_t capacity = sim->span_capacity ? 2 * sim->span_capacity : 256;
        capacity = capacity < sim->desc.trace_limit ? capacity : sim->desc.trace_limit;
        if (capacity == sim->span_capacity)
            return;
        struct vyre_sim_span *spans = realloc(sim->spans, capacity * sizeof *spans);
        if (!spans)
            return;
        sim->spans = spans;
        sim->span_capacity = capacity;
    }
    sim->spans[sim->span_count++] = *span;
}

static void place_locked(struct schedule *schedule, const struct sim_pending *pending,
                         uint32_t command)
{
    const struct vyre_command *what = &schedule->view->commands[command];
    uint32_t queue = choose_queue(schedule, what);
    uint64_t start_ns = schedule->queue_free_ns[queue];
    if (schedule->earliest_ns[command] > start_ns)
        start_ns = schedule->earliest_ns[command];
    struct vyre_sim_span span = {
        .sequence = pending->submission.sequence,
        .command = command,
        .queue = queue,
        .type = what->type,
        .start_ns = start_ns,
        .end_ns = start_ns + cost_locked(schedule, what, pending->submission.mode),
    };
    if (pending->submission.times && command < pending->submission.time_count)
        pending->submission.times[command] = (struct vyre_command_time){
            span.end_ns - start_ns, parallel_of(schedule, pending->submission.mode)};
    schedule->queue_free_ns[queue] = span.end_ns;
    add_span_locked(schedule->sim, &span);
    ran(schedule, command, span.end_ns);
}

/* ---- The whole -------------------------------------------------------------------------------- */

static bool schedule_init(struct schedule *schedule, size_t queue_count)
{
    size_t count = schedule->count;
    size_t dep_count = schedule->plan ? schedule->plan->dep_count : 0;
    schedule->ready = calloc(count + 1, sizeof *schedule->ready);
    schedule->waits = calloc(count + 1, sizeof *schedule->waits);
    schedule->followers = calloc(count + dep_count + 1, sizeof *schedule->followers);
    schedule->first_follower = calloc(count + 2, sizeof *schedule->first_follower);
    schedule->earliest_ns = calloc(count + 1, sizeof *schedule->earliest_ns);
    schedule->queue_free_ns = calloc(queue_count, sizeof *schedule->queue_free_ns);
    return schedule->ready && schedule->waits && schedule->followers && schedule->first_follower &&
           schedule->earliest_ns && schedule->queue_free_ns;
}

static void schedule_deinit(struct schedule *schedule)
{
    free(schedule->ready);
    free(schedule->waits);
    free(schedule->followers);
    free(schedule->first_follower);
    free(schedule->earliest_ns);
    free(schedule->queue_free_ns);
}

struct sim_times sim_schedule_locked(struct sim_device *device, const struct sim_pending *pending,
                                     uint32_t *out_order)
{
    struct vyre_sim *sim = device->sim;
    uint64_t start_ns = pending->ready_ns;
    if (device->busy_until_ns > start_ns)
        start_ns = device->busy_until_ns;
    struct schedule schedule = {
        .sim = sim,
        .view = pending->submission.view,
        .plan = pending->plan && pending->plan->memory && sim->desc.order != VYRE_SIM_ORDER_SERIAL
                    ? &pending->plan->view
                    : NULL,
        .count = pending->submission.view->command_count,
        .latest_ns = start_ns,
    };
    size_t queue_count = sim->desc.compute_queues + 1U;
    /* The same seed gives the same order, on any thread and whatever ran before. */
    struct rng rng = rng_seeded(sim->desc.seed ^ (pending->submission.sequence << 20));
    bool last_first = rng_bool(&rng);
    uint32_t done = 0;
    if (schedule_init(&schedule, queue_count)) {
        for (size_t i = 0; i < queue_count; i++)
            schedule.queue_free_ns[i] = start_ns;
        if (schedule.count > 0)
            start(&schedule);
        for (; schedule.ready_count > 0; done++) {
            out_order[done] = draw(&schedule, &rng, last_first);
            place_locked(&schedule, pending, out_order[done]);
        }
    }
    if (done != schedule.count) {
        sim_violate(sim, "plan: %u of %u commands can start", done, schedule.count);
        for (uint32_t i = 0; i < schedule.count; i++)
            out_order[i] = i;
    }
    schedule_deinit(&schedule);
    device->busy_until_ns = schedule.latest_ns;
    return (struct sim_times){start_ns, schedule.latest_ns};
}
