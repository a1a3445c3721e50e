/*
 * decide.c: which mode a batch in auto runs in: where a decision is made.
 *
 * The six policies are asked with the costs that the backend states for its kind of device. The
 * number of repeats is the user's hint, else as many as were seen of the shape so far. Replay goes
 * before persistent: both save the launches, but a recording also works while other batches run.
 */
#include "runtime/decide.h"

#include "base/checked.h"

/* D2 and D3 look at the plan, which is made once per shape. */
static void plan_shape(struct vyre_device *device, const struct vyre_body *body,
                       struct vyre_shape *shape)
{
    struct vyre_batch_plan plan;
    struct vyre_arm first, second, kernel;
    uint32_t slot;
    shape->planned = true;
    if (vyre_batch_planner_plan(&device->planner, &body->view, &plan, NULL) != VYRE_OK)
        return; /* both verdicts stay "nothing decided" */
    if (vyre_batch_planner_arms(&device->planner, &plan, &first, &second))
        shape->arms = vyre_arm_independence_decide(&first, &second);
    if (vyre_batch_planner_copy(&device->planner, &plan, &slot, &kernel))
        shape->copy = vyre_copy_overlap_decide(slot, &kernel);
}

static bool has(const struct vyre_device *device, enum vyre_ability_id ability)
{
    return device->facts.abilities[ability].value != 0;
}

/* What a plain launch costs, per command. */
static uint64_t launch_cost_ns(const struct vyre_device *device, const struct vyre_body *body)
{
    const struct vyre_launch_costs *costs = &device->facts.costs;
    return costs->plain_command_ns + (body->view.is_chain ? 0 : costs->plan_command_ns);
}

/* All six verdicts. */
static void ask(const struct vyre_device *device, const struct vyre_body *body,
                const struct vyre_shape *shape, uint32_t repeat_hint, struct vyre_bundle *out)
{
    const struct vyre_launch_costs *costs = &device->facts.costs;
    uint64_t commands = body->view.command_count;
    uint64_t launch_ns = launch_cost_ns(device, body);
    const struct vyre_persistent_kernel_input persistent = {
        .batch_size = body->view.command_count,
        .per_launch_overhead_ns = launch_ns,
        .persistent_setup_overhead_ns = costs->persistent_setup_ns,
    };
    const struct vyre_command_reuse_input reuse = {
        .repeat_count = repeat_hint ? repeat_hint : shape->seen,
        .per_launch_overhead_ns = vyre_saturating_mul_u64(commands, launch_ns),
        .record_overhead_ns = vyre_saturating_mul_u64(commands, costs->record_command_ns),
        .replay_overhead_ns = vyre_saturating_mul_u64(commands, costs->replay_command_ns),
    };
    const struct vyre_bindless_input bindless = {
        .resource_count = body->resource_max,
        .support =
            has(device, VYRE_ABILITY_BINDLESS) ? VYRE_BINDLESS_FULL : VYRE_BINDLESS_UNSUPPORTED,
    };
    /* Nothing is compiled ahead without a predictor: no hits, so the verdict holds steady. */
    const struct vyre_trace_jit_input jit = {0};
    *out = (struct vyre_bundle){
        .persistent_kernel = vyre_persistent_kernel_decide(&persistent),
        .arms = shape->arms,
        .copy = shape->copy,
        .command_reuse = vyre_command_reuse_decide(&reuse),
        .bindless = vyre_bindless_decide(&bindless),
        .trace_jit = vyre_trace_jit_decide(&jit),
    };
}

/* The mode that the verdicts ask for. */
static enum vyre_mode wanted_mode(struct vyre_device *device, struct vyre_body *body,
                                  struct vyre_shape *shape, uint32_t repeat_hint)
{
    struct vyre_bundle bundle;
    ask(device, body, shape, repeat_hint, &bundle);
    if (device->instance->audit)
        vyre_audit_record_bundle(device->instance->audit, &bundle);
    if (bundle.command_reuse.choice == VYRE_RECORD_AND_REPLAY)
        return VYRE_MODE_REPLAY;
    if (bundle.persistent_kernel.choice == VYRE_PERSISTENT_KERNEL)
        return VYRE_MODE_PERSISTENT;
    return VYRE_MODE_PLAIN;
}

/* Whether the backend can run the shape in a mode: asked once. */
static bool fits(struct vyre_device *device, const struct vyre_body *body, struct vyre_shape *shape,
                 enum vyre_mode mode)
{
    uint8_t bit = (uint8_t)(1u << mode);
    if (device->ops->batch_check && !(shape->checked & bit)) {
        shape->checked |= bit;
        if (device->ops->batch_check(device->native, &body->view, mode, 0, NULL) != VYRE_OK)
            shape->unfit |= bit;
    }
    return !(shape->unfit & bit);
}

void vyre_decide_mode_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_mode_choice *out_choice)
{
    struct vyre_shape *shape = vyre_shapes_see(&device->shapes, vyre_body_shape(body));
    if (!shape->planned)
        plan_shape(device, body, shape);
    /*
     * More repeats never turn replay into plain, and a replay that is not cheaper never becomes it:
     * then the verdicts need not be asked again, unless somebody audits them.
     */
    uint32_t repeats = repeat_hint ? repeat_hint : shape->seen;
    if (device->instance->audit || shape->settled_at == 0 || repeats < shape->settled_at) {
        shape->wanted = wanted_mode(device, body, shape, repeat_hint);
        bool never = device->facts.costs.replay_command_ns >= launch_cost_ns(device, body);
        shape->settled_at = shape->wanted == VYRE_MODE_REPLAY || never ? repeats : 0;
    }
    enum vyre_mode wanted = shape->wanted;
    out_choice->mode = wanted;
    out_choice->wanted = wanted;
    out_choice->variant = 0;
    out_choice->reason = VYRE_REASON_VERDICT;
    if (wanted == VYRE_MODE_PLAIN) {
        out_choice->reason = VYRE_REASON_CONSERVATIVE;
    } else if (!has(device,
                    wanted == VYRE_MODE_REPLAY ? VYRE_ABILITY_REPLAY : VYRE_ABILITY_PERSISTENT)) {
        out_choice->mode = VYRE_MODE_PLAIN;
        out_choice->reason = VYRE_REASON_ABILITY_ABSENT;
    } else if (!fits(device, body, shape, wanted)) {
        out_choice->mode = VYRE_MODE_PLAIN;
        out_choice->reason = VYRE_REASON_BATCH_UNFIT;
    }
}
