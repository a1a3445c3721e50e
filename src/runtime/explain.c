/*
 * explain.c: how a batch would run, and why.
 *
 * The same functions decide as for a submit, on copies of what the governor knows about the shape,
 * so that asking changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include <vyre/explain.h>

#include "runtime/explain.h"
#include "runtime/record.h"

/* `stated_ns` is what takes the place of a lost figure; `stated`: the backend states something. */
static enum vyre_origin origin_of(const struct vyre_device *device, enum vyre_cost_id cost,
                                  uint64_t stated_ns, bool stated)
{
    if (!vyre_candidates_take_stated(&device->costs.calibration.costs[cost], (double)stated_ns))
        return VYRE_ORIGIN_CALIBRATED;
    return stated ? VYRE_ORIGIN_STATED : VYRE_ORIGIN_NONE;
}

static void fill_origins(const struct vyre_device *device, uint32_t repeat_hint,
                         struct vyre_explanation *out)
{
    const struct vyre_launch_costs *stated = &device->facts.costs;
    out->plain_origin = origin_of(device, VYRE_COST_PLAIN_COMMAND,
                                  stated->plain_command_ns + stated->plan_command_ns,
                                  stated->plain_command_ns != 0);
    out->replay_origin = origin_of(device, VYRE_COST_REPLAY_COMMAND, stated->replay_command_ns,
                                   stated->record_command_ns != 0);
    out->persistent_origin = origin_of(device, VYRE_COST_PERSISTENT_COMMAND,
                                       stated->replay_command_ns, stated->persistent_setup_ns != 0);
    out->repeats_origin = repeat_hint ? VYRE_ORIGIN_HINT : VYRE_ORIGIN_OBSERVED;
}

/* The smallest n > 1 with n x gain > cost. */
static uint32_t turning_point(uint64_t gain_ns, uint64_t cost_ns)
{
    if (gain_ns == 0)
        return VYRE_REPEATS_NEVER;
    uint64_t least = cost_ns / gain_ns + 1;
    least = least > 1 ? least : 2;
    return least < VYRE_REPEATS_NEVER ? (uint32_t)least : VYRE_REPEATS_NEVER;
}

static void fill_turning_points(struct vyre_explanation *out)
{
    const struct vyre_command_reuse_input *reuse = &out->command_reuse;
    const struct vyre_persistent_kernel_input *resident = &out->persistent_kernel;
    uint64_t gain_ns = reuse->per_launch_overhead_ns > reuse->replay_overhead_ns
                           ? reuse->per_launch_overhead_ns - reuse->replay_overhead_ns
                           : 0;
    out->replay_from_repeats = turning_point(gain_ns, reuse->record_overhead_ns);
    out->persistent_from_commands =
        turning_point(resident->per_launch_overhead_ns, resident->persistent_setup_overhead_ns);
}

/* Whether auto leaves out persistent mode, and why. */
static bool is_left_out(struct vyre_device *device, const struct vyre_body *body,
                        struct vyre_diag *out_reason)
{
    enum vyre_fit fit = VYRE_FIT_YES;
    if (device->ops->batch_check)
        fit = device->ops->batch_check(device->native, &body->view, VYRE_MODE_PERSISTENT, 0,
                                       out_reason);
    return fit == VYRE_FIT_NO || fit == VYRE_FIT_POOR;
}

void vyre_explain_locked(struct vyre_device *device, struct vyre_body *body, uint32_t repeat_hint,
                         struct vyre_explanation *out)
{
    struct vyre_shape shape;
    struct vyre_choice next;
    struct vyre_diag reason;
    memset(out, 0, sizeof *out);
    vyre_diag_reset(&reason);
    vyre_decide_next_locked(device, body, repeat_hint, &shape, &next);
    vyre_record_fill_locked(device, body, repeat_hint, &next, false, &out->next);
    const struct vyre_shape_verdict *verdict = &shape.verdict;
    out->repeats_seen = shape.unit.seen - 1; /* as the next submit would count, itself included */
    out->next.repeats_seen = shape.unit.seen;
    out->arm_count = verdict->arm_count;
    out->persistent_kernel = verdict->inputs.persistent_kernel;
    out->command_reuse = verdict->inputs.command_reuse;
    out->bindless = verdict->inputs.bindless;
    out->trace_jit = verdict->inputs.trace_jit;
    out->verdicts = verdict->bundle;
    out->wanted = next.wanted;
    fill_origins(device, repeat_hint, out);
    fill_turning_points(out);
    const struct vyre_ability *resident = &device->facts.abilities[VYRE_ABILITY_PERSISTENT];
    if (resident->value == 0)
        memcpy(out->unfit_reason, resident->reason, sizeof out->unfit_reason);
    else if (is_left_out(device, body, &reason))
        snprintf(out->unfit_reason, sizeof out->unfit_reason, "%.*s", VYRE_REASON_BYTES - 1,
                 reason.message);
}

enum vyre_status vyre_batch_explain(struct vyre_batch *batch, uint32_t repeat_hint,
                                    struct vyre_explanation *out, struct vyre_diag *diag)
{
    struct vyre_device *device = batch->object.device;
    memset(out, 0, sizeof *out);
    enum vyre_status status = vyre_batch_status(batch, diag);
    if (status == VYRE_OK && vyre_device_is_lost(device))
        status = vyre_device_lost_status(device, diag);
    if (status != VYRE_OK)
        return status;
    vyre_lock_acquire(&device->lock);
    vyre_measure_collect_locked(device);
    status = vyre_batch_check_locked(device, batch->body, diag);
    if (status == VYRE_OK)
        vyre_explain_locked(device, batch->body, repeat_hint, out);
    vyre_lock_release(&device->lock);
    return status;
}
