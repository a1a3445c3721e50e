/*
 * facts.c: which candidates can run a batch, and at which cost.
 */
#include "runtime/facts.h"

#include "runtime/prove.h"
#include "runtime/shape_keys.h"

/* A shape's template is computed once the shape was seen this often. */
#define TEMPLATE_SEEN_MIN 4
/* A batch of more kernels than this is not expected to be built as a whole. */
#define KERNELS_MAX 64

/* ---- Whether it can run ----------------------------------------------------------------------- */

/*
 * Whether the backend can run the shape this way. A no is final, but a build may be thrown away
 * again.
 */
static enum vyre_fit fit_of(struct vyre_device *device, const struct vyre_body *body,
                            struct vyre_shape_found *found, uint32_t index)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    uint16_t bit = (uint16_t)(1u << index);
    if (found->unfit & bit)
        return VYRE_FIT_NO;
    if (!device->ops->batch_check)
        return VYRE_FIT_YES;
    enum vyre_fit fit = device->ops->batch_check(device->native, &body->view, candidate->mode,
                                                 candidate->variant, NULL);
    found->unfit |= fit == VYRE_FIT_NO ? bit : 0;
    return fit;
}

static bool is_being_built(const struct vyre_device *device, struct vyre_body *body, uint32_t index)
{
    return vyre_builds_has_locked(&device->builds,
                                  (struct vyre_build_token){vyre_body_shape(body), index});
}

/* How many kernels the batch has, counted up to KERNELS_MAX. */
static uint32_t count_kernels(const struct vyre_body *body)
{
    const struct vyre_body_kernel *kernels = body->kernels.items;
    const struct vyre_kernel *different[KERNELS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->view.command_count && count < KERNELS_MAX; i++) {
        uint32_t at = 0;
        while (at < count && different[at] != kernels[i].kernel)
            at++;
        if (kernels[i].kernel && at == count)
            different[count++] = kernels[i].kernel;
    }
    return count;
}

/*
 * Something is missing although as many builds were made as the batch has kernels, so the backend
 * does not keep what it builds. The next build then waits until the shape was seen twice as often.
 */
static bool put_off_unkept(struct vyre_shape *shape, const struct vyre_body *body, uint32_t index)
{
    struct vyre_shape_found *found = &shape->found;
    if (found->builds == 0 || found->builds < count_kernels(body))
        return false;
    found->builds--;
    found->unkept |= (uint16_t)(1u << index);
    vyre_facts_failed_locked(shape, index, false, false);
    return true;
}

static enum vyre_why why_out(struct vyre_device *device, struct vyre_body *body,
                             struct vyre_shape *shape, uint32_t index, uint32_t updates,
                             enum vyre_fit *out_fit)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    struct vyre_shape_found *found = &shape->found;
    bool unproven = found->unproven & 1u << index;
    *out_fit = VYRE_FIT_NO;
    if (!vyre_device_has_mode(device, candidate->mode))
        return VYRE_WHY_ABILITY_ABSENT;
    /* A chain has nothing to run side by side, so both variants would do the same. */
    if (candidate->variant & VYRE_VARIANT_SERIAL && body->view.is_chain)
        return VYRE_WHY_NOT_APPLICABLE;
    /* With changed constants, the variant without the driver needs no new recording. */
    if (candidate->variant & VYRE_VARIANT_DRIVER && updates > 0)
        return VYRE_WHY_NOT_APPLICABLE;
    if (found->failed & found->unkept & 1u << index)
        return VYRE_WHY_UNBUILT;
    if (found->failed & 1u << index)
        return unproven ? VYRE_WHY_UNPROVEN : VYRE_WHY_FAILED;
    *out_fit = fit_of(device, body, found, index);
    if (*out_fit == VYRE_FIT_POOR)
        return VYRE_WHY_POOR_FIT;
    if (*out_fit == VYRE_FIT_UNBUILT &&
        (is_being_built(device, body, index) || put_off_unkept(shape, body, index)))
        return VYRE_WHY_UNBUILT;
    if (*out_fit != VYRE_FIT_NO)
        return VYRE_WHY_NONE;
    return unproven ? VYRE_WHY_UNPROVEN : VYRE_WHY_UNFIT;
}

/* ---- What it costs ---------------------------------------------------------------------------- */

/* The time of plain launches of the shape: measured, or else at least what calibration knows. */
static double plain_ns(const struct vyre_device *device, const struct vyre_body *body,
                       const struct vyre_shape *shape)
{
    const struct vyre_candidate_costs *costs = &device->candidates.list[0].costs;
    double known = shape->unit.tracks[0].mean_ns;
    return known > 0.0 ? known : costs->batch_ns + costs->command_ns * body->view.command_count;
}

/*
 * What a proof of the candidate's generated code would cost, as part of its setup: it runs the
 * batch twice and copies what the batch writes back and forth. Refused code is out.
 */
static uint64_t proof_ns(struct vyre_device *device, struct vyre_body *body,
                         struct vyre_shape *shape, uint32_t index, enum vyre_why *inout_why)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    enum vyre_proof_state state =
        vyre_proof_state_locked(device, body, candidate->mode, candidate->variant, NULL);
    if (state == VYRE_PROOF_REFUSED) {
        shape->found.unfit |= (uint16_t)(1u << index);
        shape->found.unproven |= (uint16_t)(1u << index);
        *inout_why = VYRE_WHY_UNPROVEN;
    }
    return state == VYRE_PROOF_DUE ? vyre_whole_ns(3.0 * plain_ns(device, body, shape)) : 0;
}

uint32_t vyre_facts_bakes(const struct vyre_device *device, uint32_t variant)
{
    return variant & VYRE_VARIANT_DRIVER ? device->facts.driver_bakes : device->facts.bakes;
}

static bool is_ready(const struct vyre_device *device, struct vyre_body *body, uint32_t index)
{
    const struct vyre_candidate *candidate = &device->candidates.list[index];
    if (candidate->mode == VYRE_MODE_REPLAY)
        return vyre_recordings_has(
            &device->recordings,
            vyre_body_key(body, vyre_facts_bakes(device, candidate->variant), candidate->variant));
    if (candidate->mode == VYRE_MODE_PERSISTENT)
        return vyre_device_is_served(device, &body->view);
    return true;
}

/* A learned mean without the known overhead, but at least 1. 0: nothing was learned. */
static uint64_t execution_ns(double mean_ns, double overhead_ns)
{
    double least = mean_ns * 0.05;
    double rest = mean_ns - overhead_ns > least ? mean_ns - overhead_ns : least;
    return mean_ns <= 0.0 ? 0 : vyre_whole_ns(rest) ? vyre_whole_ns(rest) : 1;
}

/*
 * What another process learned about the work, or NULL. Computes the template once it may be
 * useful.
 */
static const struct vyre_shape_template *learned_locked(struct vyre_device *device,
                                                        const struct vyre_body *body,
                                                        struct vyre_shape *shape)
{
    struct vyre_shape_found *found = &shape->found;
    bool useful = device->shapes.template_count > 0 || shape->unit.seen >= TEMPLATE_SEEN_MIN;
    if (!found->template_known && useful) {
        found->has_template = vyre_shape_template_locked(device, body, &found->template_key);
        found->template_known = true;
    }
    return found->has_template ? vyre_shapes_find_template(&device->shapes, found->template_key)
                               : NULL;
}

void vyre_facts_find_locked(struct vyre_device *device, struct vyre_body *body,
                            struct vyre_shape *shape, uint32_t updates,
                            struct vyre_candidate_facts out_facts[VYRE_CANDIDATES_MAX])
{
    const struct vyre_shape_template *learned = learned_locked(device, body, shape);
    uint32_t commands = body->view.command_count;
    double work_ns[VYRE_MODE_COUNT];
    vyre_execution_predict_modes_locked(device, body, work_ns);
    if (shape->unit.seen >= shape->found.retry_at) {
        shape->found.failed = 0;
        shape->found.unkept = 0;
        shape->found.unproven &= shape->found.unfit;
    }
    for (uint32_t i = 0; i < device->candidates.count; i++) {
        const struct vyre_candidate *candidate = &device->candidates.list[i];
        const struct vyre_candidate_costs *costs = &candidate->costs;
        enum vyre_fit fit;
        enum vyre_why why = why_out(device, body, shape, i, updates, &fit);
        bool is_unbuilt = fit == VYRE_FIT_UNBUILT;
        uint64_t proof = why == VYRE_WHY_NONE ? proof_ns(device, body, shape, i, &why) : 0;
        /* It is recorded again and again, so its measurements include the recording. */
        bool thrown_away = candidate->mode == VYRE_MODE_REPLAY && shape->found.recorded > 1;
        out_facts[i] = (struct vyre_candidate_facts){
            .feasible = why == VYRE_WHY_NONE,
            .unbuilt = why == VYRE_WHY_NONE && is_unbuilt,
            .why = (uint8_t)why,
            .ready = why == VYRE_WHY_NONE && proof == 0 && !is_unbuilt &&
                     (thrown_away || is_ready(device, body, i)),
            .resident = candidate->mode == VYRE_MODE_PERSISTENT,
            .fixed_ns = proof + (is_unbuilt ? device->builds.build_ns : 0) +
                        vyre_whole_ns(costs->fixed_batch_ns + costs->fixed_command_ns * commands),
            .per_batch_ns = vyre_whole_ns(costs->batch_ns),
            .per_command_ns = vyre_whole_ns(costs->command_ns),
            .per_update_ns = vyre_whole_ns(costs->update_ns),
            .work_ns = work_ns[candidate->mode],
        };
        if (learned)
            out_facts[i].execution_ns = execution_ns(
                (double)learned->mean_ns[i], costs->batch_ns + costs->command_ns * commands);
    }
}

uint32_t vyre_facts_updates_locked(const struct vyre_device *device, struct vyre_body *body,
                                   const struct vyre_shape *shape)
{
    uint32_t any = device->facts.bakes | device->facts.driver_bakes;
    if (!(any & VYRE_BAKES_CONSTANTS))
        return 0;
    for (uint32_t i = 0; i < device->candidates.count; i++) {
        const struct vyre_candidate *candidate = &device->candidates.list[i];
        uint32_t bakes = vyre_facts_bakes(device, candidate->variant);
        const struct vyre_candidate_track *track = &shape->unit.tracks[i];
        if (candidate->mode != VYRE_MODE_REPLAY || !(bakes & VYRE_BAKES_CONSTANTS) ||
            (track->count == 0 && track->first_ns <= 0.0f))
            continue;
        struct vyre_hash128 key = vyre_body_key(body, bakes, candidate->variant);
        return vyre_recordings_has(&device->recordings, key) ? 0 : body->view.command_count;
    }
    return 0;
}

void vyre_facts_failed_locked(struct vyre_shape *shape, uint32_t candidate, bool forever,
                              bool is_unproven)
{
    struct vyre_shape_found *found = &shape->found;
    uint16_t bit = (uint16_t)(1u << candidate);
    if (forever)
        found->unfit |= bit;
    else
        found->failed |= bit;
    if (is_unproven)
        found->unproven |= bit;
    found->retry_at = shape->unit.seen < UINT32_MAX / 2 ? shape->unit.seen * 2 : UINT32_MAX;
}
