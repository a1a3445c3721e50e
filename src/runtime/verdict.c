/*
 * verdict.c: what the six policies ask for, as a candidate.
 */
#include "runtime/verdict.h"

#include <string.h>

/* The inputs of one question to the policies. */
struct question {
    const struct vyre_candidates *candidates;
    const struct vyre_candidate_facts *facts;
    uint32_t commands;
    uint32_t repeats;
    bool hinted;
    bool serial;    /* nothing can run side by side */
    double work_ns; /* the least predicted execution of all candidates */
};

/* ---- Costs ------------------------------------------------------------------------------------ */

/*
 * What a candidate costs per batch beyond the execution in the mode that executes fastest. A mode
 * that runs fewer groups at the same time pays for that.
 */
static double each_ns(const struct question *question, uint32_t i)
{
    const struct vyre_candidate_facts *facts = &question->facts[i];
    return (double)facts->per_batch_ns + (double)facts->per_command_ns * question->commands +
           (facts->work_ns - question->work_ns);
}

static double least_work_ns(const struct question *question)
{
    double least = question->facts[0].work_ns;
    for (uint32_t i = 1; i < question->candidates->count; i++) {
        double work = question->facts[i].work_ns;
        least = work < least ? work : least;
    }
    return least;
}

/* ... and what remains to be paid. */
static double unpaid_ns(const struct question *question, uint32_t i)
{
    return question->facts[i].ready ? 0.0 : (double)question->facts[i].fixed_ns;
}

/*
 * Whether `i` is the better one of its mode: it can run, has the variant asked for, and costs less.
 */
static bool is_better(const struct question *question, uint32_t i, uint32_t than)
{
    const struct vyre_candidate *list = question->candidates->list;
    bool fit = question->facts[i].feasible;
    bool fit_than = question->facts[than].feasible;
    bool same = !(list[i].variant & VYRE_VARIANT_SERIAL) == !question->serial;
    bool same_than = !(list[than].variant & VYRE_VARIANT_SERIAL) == !question->serial;
    if (fit != fit_than)
        return fit;
    if (same != same_than)
        return same;
    return unpaid_ns(question, i) + question->repeats * each_ns(question, i) <
           unpaid_ns(question, than) + question->repeats * each_ns(question, than);
}

/* The best candidate of a mode; every mode has one. */
static uint32_t best_of(const struct question *question, enum vyre_mode mode)
{
    uint32_t count = question->candidates->count;
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
        if (question->candidates->list[i].mode == mode &&
            (best == count || is_better(question, i, best)))
            best = i;
    }
    return best;
}

/* ---- Asking ----------------------------------------------------------------------------------- */

static uint32_t items_of(const struct question *question)
{
    /*
     * Seen once without a hint: nothing says that it comes again, so a resident kernel would get no
     * work.
     */
    if (!question->hinted && question->repeats <= 1)
        return 0;
    uint64_t items = (uint64_t)question->commands * question->repeats;
    return items < UINT32_MAX ? (uint32_t)items : UINT32_MAX;
}

static void fill_inputs(const struct vyre_device *device, const struct vyre_body *body,
                        const struct question *question, struct vyre_policy_inputs *out)
{
    uint32_t plain = best_of(question, VYRE_MODE_PLAIN);
    uint32_t replay = best_of(question, VYRE_MODE_REPLAY);
    uint32_t resident = best_of(question, VYRE_MODE_PERSISTENT);
    double commands = question->commands ? question->commands : 1.0;
    memset(out, 0, sizeof *out); /* inputs are compared as bytes */
    out->persistent_kernel.batch_size = items_of(question);
    /* Per item: what a resident kernel costs too is not overhead of the launch. */
    out->persistent_kernel.per_launch_overhead_ns =
        vyre_whole_ns((each_ns(question, plain) - each_ns(question, resident)) / commands);
    out->persistent_kernel.persistent_setup_overhead_ns =
        vyre_whole_ns(unpaid_ns(question, resident));
    out->command_reuse.repeat_count = question->repeats;
    out->command_reuse.per_launch_overhead_ns = vyre_whole_ns(each_ns(question, plain));
    out->command_reuse.record_overhead_ns = vyre_whole_ns(unpaid_ns(question, replay));
    out->command_reuse.replay_overhead_ns = vyre_whole_ns(each_ns(question, replay));
    out->bindless.resource_count = body->resource_max;
    out->bindless.support = vyre_device_has(device, VYRE_ABILITY_BINDLESS)
                                ? VYRE_BINDLESS_FULL
                                : VYRE_BINDLESS_UNSUPPORTED;
}

/* Makes the plan. It must be the planner's last, because its arms are read. */
static bool plan_locked(struct vyre_device *device, struct vyre_body *body,
                        struct vyre_batch_plan *out_plan)
{
    struct vyre_batch_planner *planner = &device->planner;
    if (body->planned && planner->view == &body->view) {
        *out_plan = body->plan;
        return true;
    }
    body->planned = false;
    return vyre_body_plan(body, planner, out_plan, NULL) == VYRE_OK;
}

/* Plans the batch once per shape and asks all six policies. After that the arms are known. */
static void ask(struct vyre_device *device, struct vyre_body *body,
                const struct vyre_policy_inputs *inputs, struct vyre_shape_verdict *verdict)
{
    struct vyre_bundle_input input = {
        .persistent_kernel = inputs->persistent_kernel,
        .command_reuse = inputs->command_reuse,
        .bindless = inputs->bindless,
        .trace_jit = inputs->trace_jit,
    };
    const struct vyre_bundle before = verdict->bundle;
    struct vyre_batch_plan plan;
    struct vyre_arm first, second, kernel;
    bool planned = verdict->planned;
    if (!planned && plan_locked(device, body, &plan)) {
        if (vyre_batch_planner_arms(&device->planner, &plan, &first, &second)) {
            input.first_arm = &first;
            input.second_arm = &second;
        }
        if (vyre_batch_planner_copy(&device->planner, &plan, &input.copy_dst_slot, &kernel))
            input.copy_arm = &kernel;
        for (uint32_t i = 0; i < plan.segment_count; i++) {
            if (plan.segments[i].arm_count > verdict->arm_count)
                verdict->arm_count = plan.segments[i].arm_count;
        }
        verdict->side_by_side = plan.level_count < plan.node_count;
        verdict->planned = true;
    }
    vyre_bundle_decide(&input, &verdict->bundle);
    if (planned) {
        verdict->bundle.arms = before.arms;
        verdict->bundle.copy = before.copy;
    }
    verdict->asked = true;
    verdict->inputs = *inputs;
}

/* ---- From verdicts to a candidate ------------------------------------------------------------- */

enum vyre_mode vyre_verdict_mode(const struct vyre_bundle *verdicts)
{
    bool replays = verdicts->command_reuse.choice == VYRE_RECORD_AND_REPLAY;
    bool resides = verdicts->persistent_kernel.choice == VYRE_PERSISTENT_KERNEL;
    const struct vyre_u128 *resident_ns = &verdicts->persistent_kernel.savings_ns;
    if (replays && resides)
        replays = resident_ns->hi == 0 && resident_ns->lo <= verdicts->command_reuse.savings_ns;
    if (replays)
        return VYRE_MODE_REPLAY;
    return resides ? VYRE_MODE_PERSISTENT : VYRE_MODE_PLAIN;
}

/* What the policies ask for, without the mode that cannot run. */
static enum vyre_mode next_mode(const struct vyre_bundle *verdicts, enum vyre_mode without)
{
    struct vyre_bundle rest = *verdicts;
    if (without == VYRE_MODE_REPLAY)
        rest.command_reuse.choice = VYRE_PLAIN_LAUNCHES;
    else
        rest.persistent_kernel.choice = VYRE_STANDARD_LAUNCHES;
    return vyre_verdict_mode(&rest);
}

static void choose(struct question *question, struct vyre_shape_verdict *verdict)
{
    enum vyre_mode mode = vyre_verdict_mode(&verdict->bundle);
    question->serial = verdict->bundle.arms.choice == VYRE_ARMS_SERIALIZE &&
                       verdict->bundle.copy.choice != VYRE_COPY_OVERLAP && !verdict->side_by_side;
    uint32_t candidate = best_of(question, mode);
    verdict->wanted = (uint8_t)candidate;
    verdict->out =
        question->facts[candidate].feasible ? VYRE_WHY_NONE : question->facts[candidate].why;
    while (!question->facts[candidate].feasible && mode != VYRE_MODE_PLAIN) {
        mode = mode == vyre_verdict_mode(&verdict->bundle) ? next_mode(&verdict->bundle, mode)
                                                           : VYRE_MODE_PLAIN;
        candidate = best_of(question, mode);
    }
    verdict->candidate = (uint8_t)candidate;
}

void vyre_verdict_ask_locked(struct vyre_device *device, struct vyre_body *body,
                             const struct vyre_candidate_facts *facts, uint32_t repeats,
                             bool hinted, struct vyre_shape *shape)
{
    struct vyre_shape_verdict *verdict = &shape->verdict;
    struct question question = {
        .candidates = &device->candidates,
        .facts = facts,
        .commands = body->view.command_count,
        .repeats = repeats,
        .hinted = hinted,
    };
    question.work_ns = least_work_ns(&question);
    struct vyre_policy_inputs inputs;
    fill_inputs(device, body, &question, &inputs);
    if (!verdict->asked || memcmp(&inputs, &verdict->inputs, sizeof inputs) != 0)
        ask(device, body, &inputs, verdict);
    choose(&question, verdict); /* what can run may have changed, not only the costs */
}
