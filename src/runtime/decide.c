/*
 * decide.c: in which mode a batch in auto runs: where a decision is made.
 *
 * The six policies say what should pay, by the device's costs; the governor weighs every candidate
 * by these costs and by what was measured of the shape. A settled shape skips both.
 *
 * The number of repeats is the user's hint, else as many as were seen of the shape so far.
 */
#include "runtime/decide.h"

#include <string.h>

#include "runtime/prove.h"
#include "runtime/stable_shape.h"

/* From so many batches in a row whose end nobody saw, auto goes by predictions alone. */
#define MISSED_LIMIT 4

/* ---- What is known of the shape --------------------------------------------------------------- */

/* The shape's entry, counted as seen once more. A body that is submitted again finds it at once. */
static struct vyre_governor_shape *see(struct vyre_device *device, struct vyre_body *body)
{
    struct vyre_governor_shape *shape = body->shape_entry;
    if (shape && body->hashed && shape->serial == body->shape_serial) {
        vyre_governor_see_again(&device->governor, shape);
        return shape;
    }
    shape = vyre_governor_see(&device->governor, vyre_body_shape(body));
    body->shape_entry = shape;
    body->shape_serial = shape->serial;
    return shape;
}

/* Made once per shape. */
uint32_t vyre_decide_plan_locked(struct vyre_device *device, const struct vyre_body *body,
                                 struct vyre_shape_note *note)
{
    uint32_t arms = 0;
    struct vyre_batch_plan plan;
    struct vyre_arm first, second, kernel;
    uint32_t slot;
    note->planned = true;
    if (vyre_batch_planner_plan(&device->planner, &body->view, &plan, NULL) != VYRE_OK)
        return 0; /* both verdicts stay "nothing decided" */
    if (vyre_batch_planner_arms(&device->planner, &plan, &first, &second))
        note->arms = vyre_arm_independence_decide(&first, &second);
    if (vyre_batch_planner_copy(&device->planner, &plan, &slot, &kernel))
        note->copy = vyre_copy_overlap_decide(slot, &kernel);
    for (uint32_t i = 0; i < plan.segment_count; i++)
        arms = plan.segments[i].arm_count > arms ? plan.segments[i].arm_count : arms;
    return arms;
}

/* The stable shape is computed once, when it may be of use. */
const struct vyre_learned_shape *vyre_decide_learned_locked(struct vyre_device *device,
                                                            const struct vyre_body *body,
                                                            const struct vyre_governor_shape *shape,
                                                            struct vyre_shape_note *note)
{
    bool useful = device->learnings.count > 0 || shape->seen >= VYRE_LEARNING_SEEN_MIN;
    if (!note->stable_known && useful) {
        note->has_stable = vyre_stable_shape_locked(device, body, &note->stable);
        note->stable_known = true;
    }
    return note->has_stable ? vyre_learnings_find(&device->learnings, note->stable) : NULL;
}

/* ---- The six verdicts ------------------------------------------------------------------------- */

/* The first candidate of a mode: the one without variants. Every mode has one. */
static uint32_t first_of(const struct vyre_device *device, enum vyre_mode mode)
{
    uint32_t i = 0;
    while (device->candidates.list[i].mode != mode)
        i++;
    return i;
}

static const struct vyre_candidate_costs *costs_of(const struct vyre_device *device,
                                                   enum vyre_mode mode)
{
    return &device->candidates.costs[first_of(device, mode)];
}

/* What a mode costs beyond the execution, for the whole batch. */
static uint64_t batch_cost_ns(const struct vyre_device *device, enum vyre_mode mode,
                              uint32_t commands)
{
    const struct vyre_candidate_costs *costs = costs_of(device, mode);
    return vyre_whole_ns(costs->batch_ns + costs->command_ns * commands);
}

void vyre_decide_inputs(const struct vyre_device *device, const struct vyre_body *body,
                        uint32_t repeats, struct vyre_policy_inputs *out)
{
    uint32_t commands = body->view.command_count;
    const struct vyre_candidate_costs *plain = costs_of(device, VYRE_MODE_PLAIN);
    const struct vyre_candidate_costs *replay = costs_of(device, VYRE_MODE_REPLAY);
    const struct vyre_candidate_costs *resident = costs_of(device, VYRE_MODE_PERSISTENT);
    /* Per item: what a resident kernel does not save is no overhead of the launch. */
    double saved = plain->command_ns - resident->command_ns;
    *out = (struct vyre_policy_inputs){
        .persistent_kernel =
            {
                .batch_size = commands,
                .per_launch_overhead_ns = vyre_whole_ns(saved),
                .persistent_setup_overhead_ns = vyre_whole_ns(resident->fixed_batch_ns),
            },
        .command_reuse =
            {
                .repeat_count = repeats,
                .per_launch_overhead_ns = batch_cost_ns(device, VYRE_MODE_PLAIN, commands),
                .record_overhead_ns =
                    vyre_whole_ns(replay->fixed_batch_ns + replay->fixed_command_ns * commands),
                .replay_overhead_ns = batch_cost_ns(device, VYRE_MODE_REPLAY, commands),
            },
        .bindless =
            {
                .resource_count = body->resource_max,
                .support = vyre_device_has(device, VYRE_ABILITY_BINDLESS)
                               ? VYRE_BINDLESS_FULL
                               : VYRE_BINDLESS_UNSUPPORTED,
            },
        /* Nothing is compiled ahead without a predictor: no hits, so the verdict holds steady. */
    };
}

struct vyre_bundle vyre_decide_verdicts(const struct vyre_policy_inputs *inputs,
                                        const struct vyre_shape_note *note)
{
    return (struct vyre_bundle){
        .persistent_kernel = vyre_persistent_kernel_decide(&inputs->persistent_kernel),
        .arms = note->arms,
        .copy = note->copy,
        .command_reuse = vyre_command_reuse_decide(&inputs->command_reuse),
        .bindless = vyre_bindless_decide(&inputs->bindless),
        .trace_jit = vyre_trace_jit_decide(&inputs->trace_jit),
    };
}

/* Replay goes first: it also works while other batches run. */
enum vyre_mode vyre_decide_wanted(const struct vyre_bundle *verdicts)
{
    if (verdicts->command_reuse.choice == VYRE_RECORD_AND_REPLAY)
        return VYRE_MODE_REPLAY;
    if (verdicts->persistent_kernel.choice == VYRE_PERSISTENT_KERNEL)
        return VYRE_MODE_PERSISTENT;
    return VYRE_MODE_PLAIN;
}

/* Asks the policies and leaves what they want in the note and the audit. */
static void ask(struct vyre_device *device, const struct vyre_body *body, uint32_t repeats,
                struct vyre_shape_note *note)
{
    struct vyre_policy_inputs inputs;
    vyre_decide_inputs(device, body, repeats, &inputs);
    const struct vyre_bundle verdicts = vyre_decide_verdicts(&inputs, note);
    if (device->instance->audit)
        vyre_audit_record_bundle(device->instance->audit, &verdicts);
    note->wanted = (uint8_t)vyre_decide_wanted(&verdicts);
}

/* ---- What can run, and at which cost ---------------------------------------------------------- */

/* Whether the backend can run the shape so: asked until the answer is final. */
static enum vyre_fit fit_of(struct vyre_device *device, const struct vyre_body *body,
                            struct vyre_shape_note *note, uint32_t index)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    uint16_t bit = (uint16_t)(1u << index);
    if (device->ops->batch_check && !(note->checked & bit)) {
        enum vyre_fit fit = device->ops->batch_check(device->native, &body->view, candidate->mode,
                                                     candidate->variant, NULL);
        if (fit == VYRE_FIT_UNBUILT)
            return note->unfit & bit ? VYRE_FIT_NO : fit;
        note->checked |= bit;
        note->unfit |= fit == VYRE_FIT_NO ? bit : 0;
        note->poor |= fit == VYRE_FIT_POOR ? bit : 0;
    }
    if (note->unfit & bit)
        return VYRE_FIT_NO;
    return note->poor & bit ? VYRE_FIT_POOR : VYRE_FIT_YES;
}

static bool is_being_built(const struct vyre_device *device, struct vyre_body *body, uint32_t index)
{
    return vyre_builds_has_locked(&device->builds,
                                  (struct vyre_build_token){vyre_body_shape(body), index});
}

static enum vyre_candidate_reason why_out(struct vyre_device *device, struct vyre_body *body,
                                          struct vyre_shape_note *note, uint32_t index,
                                          uint32_t updates, enum vyre_fit *out_fit)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    bool unproven = note->unproven & 1u << index;
    *out_fit = VYRE_FIT_NO;
    if (!vyre_device_has_mode(device, candidate->mode))
        return VYRE_CANDIDATE_ABILITY_ABSENT;
    /* A chain has nothing to run side by side: both variants would do the same. */
    if (candidate->variant & VYRE_VARIANT_SERIAL && body->view.is_chain)
        return VYRE_CANDIDATE_NOT_APPLICABLE;
    /* Other constants need no recording in the variant beside it. */
    if (candidate->variant & VYRE_VARIANT_DRIVER && updates > 0)
        return VYRE_CANDIDATE_NOT_APPLICABLE;
    if (note->failed & 1u << index)
        return unproven ? VYRE_CANDIDATE_UNPROVEN : VYRE_CANDIDATE_RECORDING_FAILED;
    *out_fit = fit_of(device, body, note, index);
    if (*out_fit == VYRE_FIT_POOR)
        return VYRE_CANDIDATE_NOT_APPLICABLE;
    if (*out_fit == VYRE_FIT_UNBUILT && is_being_built(device, body, index))
        return VYRE_CANDIDATE_UNBUILT;
    if (*out_fit != VYRE_FIT_NO)
        return VYRE_CANDIDATE_NONE;
    return unproven ? VYRE_CANDIDATE_UNPROVEN : VYRE_CANDIDATE_UNFIT;
}

/*
 * What a proof of the candidate's generated code would cost, as part of its setup: it runs the batch
 * twice, and here and there moves what it writes. Refused code is out.
 */
static uint64_t proof_ns(struct vyre_device *device, struct vyre_body *body,
                         struct vyre_shape_note *note, uint32_t index,
                         enum vyre_candidate_reason *inout_reason)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    const struct vyre_governor_shape *shape = body->shape_entry;
    enum vyre_proof_state state =
        vyre_proof_state_locked(device, body, candidate->mode, candidate->variant, NULL);
    if (state == VYRE_PROOF_REFUSED) {
        note->unfit |= (uint16_t)(1u << index);
        note->unproven |= (uint16_t)(1u << index);
        *inout_reason = VYRE_CANDIDATE_UNPROVEN;
    }
    return state == VYRE_PROOF_DUE && shape ? vyre_whole_ns(3.0 * shape->tracks[0].mean_ns) : 0;
}

static uint32_t bakes_of(const struct vyre_device *device, uint32_t variant)
{
    return variant & VYRE_VARIANT_DRIVER ? device->facts.driver_bakes : device->facts.bakes;
}

static bool is_ready(const struct vyre_device *device, struct vyre_body *body, uint32_t index)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    if (candidate->mode == VYRE_MODE_REPLAY)
        return vyre_recordings_has(
            &device->recordings,
            vyre_body_key(body, bakes_of(device, candidate->variant), candidate->variant));
    if (candidate->mode == VYRE_MODE_PERSISTENT)
        return vyre_device_is_served(device, &body->view);
    return true;
}

/* A learned mean without the overhead, which is known; never nothing. 0: nothing was learned. */
static uint64_t execution_ns(double mean_ns, double overhead_ns)
{
    double least = mean_ns * 0.05;
    double rest = mean_ns - overhead_ns > least ? mean_ns - overhead_ns : least;
    return mean_ns <= 0.0 ? 0 : vyre_whole_ns(rest) ? vyre_whole_ns(rest) : 1;
}

void vyre_decide_facts_locked(struct vyre_device *device, struct vyre_body *body,
                              struct vyre_shape_note *note,
                              const struct vyre_learned_shape *learned, uint32_t updates,
                              struct vyre_candidate_facts out_facts[VYRE_CANDIDATES_MAX])
{
    uint32_t commands = body->view.command_count;
    for (uint32_t i = 0; i < device->candidates.count; i++) {
        const struct vyre_candidate_costs *costs = &device->candidates.costs[i];
        enum vyre_fit fit;
        enum vyre_candidate_reason reason = why_out(device, body, note, i, updates, &fit);
        bool is_unbuilt = fit == VYRE_FIT_UNBUILT;
        uint64_t proof =
            reason == VYRE_CANDIDATE_NONE ? proof_ns(device, body, note, i, &reason) : 0;
        out_facts[i] = (struct vyre_candidate_facts){
            .feasible = reason == VYRE_CANDIDATE_NONE,
            .reason = (uint16_t)reason,
        };
        if (reason != VYRE_CANDIDATE_NONE)
            continue;
        /* Recorded again and again: what is measured of it holds the recording. */
        bool thrown_away =
            device->candidates.list[i].mode == VYRE_MODE_REPLAY && note->recorded > 1;
        out_facts[i].ready =
            proof == 0 && !is_unbuilt && (thrown_away || is_ready(device, body, i));
        out_facts[i].fixed_ns =
            proof + (is_unbuilt ? device->builds.build_ns : 0) +
            vyre_whole_ns(costs->fixed_batch_ns + costs->fixed_command_ns * commands);
        out_facts[i].per_batch_ns = vyre_whole_ns(costs->batch_ns);
        out_facts[i].per_command_ns = vyre_whole_ns(costs->command_ns);
        out_facts[i].per_update_ns = vyre_whole_ns(costs->update_ns);
        if (learned)
            out_facts[i].execution_ns = execution_ns(
                (double)learned->mean_ns[i], costs->batch_ns + costs->command_ns * commands);
    }
}

/*
 * Commands whose recording would have to be made anew because their constants changed: none where
 * nothing is baked in, or where the shape was never recorded and pays for all of it anyway.
 */
static uint32_t count_updates(const struct vyre_device *device, struct vyre_body *body,
                              const struct vyre_governor_shape *shape)
{
    uint32_t any = device->facts.bakes | device->facts.driver_bakes;
    if (!(any & VYRE_BAKES_CONSTANTS))
        return 0;
    for (uint32_t i = 0; i < device->candidates.count; i++) {
        const struct vyre_candidate *candidate = &device->candidates.list[i];
        uint32_t bakes = bakes_of(device, candidate->variant);
        const struct vyre_candidate_track *track = &shape->tracks[i];
        if (candidate->mode != VYRE_MODE_REPLAY || !(bakes & VYRE_BAKES_CONSTANTS) ||
            (track->count == 0 && track->first_ns <= 0.0f))
            continue;
        struct vyre_hash128 key = vyre_body_key(body, bakes, candidate->variant);
        return vyre_recordings_has(&device->recordings, key) ? 0 : body->view.command_count;
    }
    return 0;
}

/*
 * Nobody sees how long batches of this shape take: the caller does something else until they are
 * over. Then there is nothing to be learned from trying, and the best prediction stands.
 */
static void settle_unseen(struct vyre_device *device, struct vyre_governor_shape *shape,
                          struct vyre_governor_choice *governed)
{
    uint32_t best = governed->candidate;
    for (uint32_t i = 0; i < governed->candidate_count; i++) {
        const struct vyre_candidate_prediction *row = &governed->candidates[i];
        if (row->state != VYRE_CANDIDATE_OUT &&
            row->predicted_ns < governed->candidates[best].predicted_ns)
            best = i;
    }
    if (best == governed->candidate && !vyre_why_is_try((enum vyre_decision_why)governed->why))
        return;
    vyre_governor_abandon(&device->governor, shape, governed->serial, governed->candidate);
    governed->candidates[governed->candidate].reason = VYRE_CANDIDATE_DEARER_PREDICTED;
    governed->candidates[best].reason = VYRE_CANDIDATE_NONE;
    governed->candidate = (uint8_t)best;
    governed->why = VYRE_WHY_PREDICTED_BEST;
    governed->predicted_ns = governed->candidates[best].predicted_ns;
    governed->update_ns = 0.0;
}

/* ---- The choice ------------------------------------------------------------------------------- */

static enum vyre_mode_reason reason_of(const struct vyre_device *device,
                                       const struct vyre_shape_note *note, enum vyre_mode mode)
{
    enum vyre_mode wanted = (enum vyre_mode)note->wanted;
    if (mode == wanted)
        return mode == VYRE_MODE_PLAIN ? VYRE_REASON_CONSERVATIVE : VYRE_REASON_VERDICT;
    uint32_t i = first_of(device, wanted);
    if (!vyre_device_has_mode(device, wanted))
        return VYRE_REASON_ABILITY_ABSENT;
    if (note->unproven & 1u << i)
        return VYRE_REASON_UNPROVEN;
    if (note->failed & 1u << i)
        return VYRE_REASON_RECORDING_FAILED;
    return note->unfit & 1u << i ? VYRE_REASON_BATCH_UNFIT : VYRE_REASON_MEASURED;
}

void vyre_decide_mode_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_mode_choice *out_choice,
                             struct vyre_governor_choice *out_governed)
{
    struct vyre_governor_shape *shape = see(device, body);
    struct vyre_shape_note *note = vyre_device_shape_note(device, shape);
    const struct vyre_governor_batch batch = {
        .command_count = body->view.command_count,
        .update_count = count_updates(device, body, shape),
        .repeat_hint = repeat_hint,
    };
    bool settled = vyre_governor_settled(shape, &batch, out_governed);
    if (!settled || device->instance->audit) {
        if (!note->planned)
            (void)vyre_decide_plan_locked(device, body, note);
        ask(device, body, repeat_hint ? repeat_hint : shape->seen, note);
    }
    if (!settled) {
        if (shape->seen >= note->retry_at) {
            note->failed = 0;
            note->unproven &= note->unfit;
        }
        struct vyre_candidate_facts facts[VYRE_CANDIDATES_MAX];
        vyre_decide_facts_locked(device, body, note,
                                 vyre_decide_learned_locked(device, body, shape, note),
                                 batch.update_count, facts);
        vyre_governor_choose(&device->governor, shape, facts, device->candidates.count, &batch,
                             out_governed);
        if (note->missed >= MISSED_LIMIT)
            settle_unseen(device, shape, out_governed);
    }
    const struct vyre_candidate *chosen = &device->candidates.list[out_governed->candidate];
    *out_choice = (struct vyre_mode_choice){
        .mode = chosen->mode,
        .wanted = (enum vyre_mode)note->wanted,
        .reason = reason_of(device, note, chosen->mode),
        .variant = chosen->variant,
    };
}

bool vyre_decide_recorded_locked(struct vyre_device *device, const struct vyre_body *body)
{
    struct vyre_shape_note *note = vyre_device_shape_note(device, body->shape_entry);
    note->recorded += note->recorded < UINT32_MAX;
    return note->recorded == 1;
}

/* The choice is taken back: the batch runs plainly, and so its record will say. */
static void run_plainly(struct vyre_device *device, struct vyre_governor_shape *shape,
                        enum vyre_candidate_reason reason, struct vyre_governor_choice *governed)
{
    uint32_t out = governed->candidate;
    vyre_governor_abandon(&device->governor, shape, governed->serial, governed->candidate);
    vyre_governor_reopen(shape);
    governed->candidate = 0;
    governed->why = VYRE_WHY_ONLY_FEASIBLE;
    governed->update_ns = 0.0;
    governed->predicted_ns = 0.0;
    if (governed->candidate_count > 0) {
        governed->predicted_ns = governed->candidates[0].predicted_ns;
        governed->candidates[0].reason = VYRE_CANDIDATE_NONE;
        governed->candidates[out].state = VYRE_CANDIDATE_OUT;
        governed->candidates[out].reason = (uint16_t)reason;
    }
}

void vyre_decide_failed_locked(struct vyre_device *device, struct vyre_body *body,
                               enum vyre_status status, bool is_unproven,
                               struct vyre_governor_choice *governed)
{
    struct vyre_governor_shape *shape = body->shape_entry;
    if (shape->serial != governed->serial)
        return; /* forgotten while the batch was proven */
    struct vyre_shape_note *note = vyre_device_shape_note(device, shape);
    uint16_t bit = (uint16_t)(1u << governed->candidate);
    if (status == VYRE_UNSUPPORTED)
        note->unfit |= bit;
    else
        note->failed |= bit;
    if (is_unproven)
        note->unproven |= bit;
    note->retry_at = shape->seen < UINT32_MAX / 2 ? shape->seen * 2 : UINT32_MAX;
    run_plainly(device, shape,
                is_unproven                  ? VYRE_CANDIDATE_UNPROVEN
                : status == VYRE_UNSUPPORTED ? VYRE_CANDIDATE_UNFIT
                                             : VYRE_CANDIDATE_RECORDING_FAILED,
                governed);
}

void vyre_decide_put_off_locked(struct vyre_device *device, struct vyre_body *body,
                                struct vyre_governor_choice *governed)
{
    struct vyre_governor_shape *shape = body->shape_entry;
    struct vyre_candidate_track *track = &shape->tracks[governed->candidate];
    uint16_t fails = track->fails;
    run_plainly(device, shape, VYRE_CANDIDATE_UNBUILT, governed);
    track->fails = fails; /* it was not tried */
}
