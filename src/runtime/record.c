/*
 * record.c: the decision record of a submission.
 */
#include "runtime/record.h"

#include <string.h>

#include "runtime/shape_keys.h"

/* ---- Profiles --------------------------------------------------------------------------------- */

static void count_kernel(struct vyre_shape_profile *profile, const struct vyre_kernel *kernel)
{
    uint32_t i = 0;
    while (i < profile->kernel_count && profile->kernels[i].kernel != kernel)
        i++;
    if (i == VYRE_EVENT_KERNELS_MAX)
        return;
    if (i == profile->kernel_count)
        profile->kernels[profile->kernel_count++] = (struct vyre_profile_kernel){kernel, 0};
    profile->kernels[i].dispatch_count++;
}

/* The shape determines the kernels and commands, so they are counted once per shape. */
static void fill_profile(struct vyre_shape_profile *profile, const struct vyre_body *body)
{
    const struct vyre_body_kernel *kernels = body->kernels.items;
    profile->known = true;
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        const struct vyre_command *command = &body->view.commands[i];
        if ((unsigned)command->type < VYRE_COMMAND_TYPE_COUNT)
            profile->commands[command->type]++;
        if (command->type == VYRE_COMMAND_DISPATCH)
            count_kernel(profile, kernels[i].kernel);
        else if (command->type != VYRE_COMMAND_FILL)
            profile->copied_bytes += body->view.ranges[command->first_range].size_bytes;
    }
}

struct vyre_shape *vyre_record_profile_locked(struct vyre_device *device, struct vyre_body *body)
{
    struct vyre_shape *shape = body->hashed ? vyre_shape_get(body->entry) : NULL;
    if (shape) {
        vyre_shapes_use_again(&device->shapes, shape);
    } else {
        shape = vyre_shapes_use(&device->shapes, vyre_body_shape(body));
        body->entry = vyre_shape_refer(shape);
    }
    if (!shape->profile->known)
        fill_profile(shape->profile, body);
    return shape;
}

/* ---- Records ---------------------------------------------------------------------------------- */

static void fill_governed(const struct vyre_body *body, const struct vyre_governor_choice *governed,
                          struct vyre_decision_record *out)
{
    const struct vyre_shape *shape = vyre_shape_get(governed->shape);
    out->shape_lo = body->shape.lo;
    out->shape_hi = body->shape.hi;
    out->repeats_seen = shape ? shape->unit.seen : 0;
    out->settled = governed->settled;
    out->evidence = governed->evidence;
    out->predicted_ns = vyre_whole_ns(governed->predicted_ns);
    out->candidate_count = governed->candidate_count;
    memcpy(out->candidates, governed->candidates,
           governed->candidate_count * sizeof out->candidates[0]);
}

/* When a mode is first required for a shape, the candidates are those that auto would have had. */
static void fill_required_locked(struct vyre_device *device, struct vyre_body *body,
                                 struct vyre_decision_record *out)
{
    struct vyre_shape *shape = vyre_record_profile_locked(device, body);
    struct vyre_shape_profile *profile = shape->profile;
    out->shape_lo = shape->link.key.lo;
    out->shape_hi = shape->link.key.hi;
    out->repeats_seen = ++profile->required_seen;
    out->settled =
        profile->compared && profile->mode == out->mode && profile->variant == out->variant;
    if (!out->settled) {
        struct vyre_shape copy;
        struct vyre_choice next;
        vyre_decide_next_locked(device, body, out->repeat_hint, &copy, &next);
        profile->compared = true;
        profile->mode = out->mode;
        profile->variant = out->variant;
        profile->predicted_ns = 0;
        out->candidate_count = next.governed.candidate_count;
        for (uint32_t i = 0; i < out->candidate_count; i++) {
            struct vyre_decision_candidate *candidate = &out->candidates[i];
            *candidate = next.governed.candidates[i];
            bool ran = candidate->mode == out->mode && candidate->variant == out->variant;
            if (ran)
                profile->predicted_ns = candidate->predicted_ns;
            if (ran)
                candidate->why = VYRE_WHY_REQUIRED;
            else if (candidate->state != VYRE_CANDIDATE_OUT)
                candidate->why = VYRE_WHY_NOT_REQUIRED;
        }
    }
    out->predicted_ns = profile->predicted_ns;
}

void vyre_record_fill_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, const struct vyre_choice *choice, bool observed,
                             struct vyre_decision_record *out)
{
    memset(out, 0, sizeof *out);
    out->time_ns = device->measure.clock_ns;
    out->command_count = body->view.command_count;
    out->repeat_hint = repeat_hint;
    out->mode = (uint8_t)choice->mode;
    out->variant = (uint8_t)choice->variant;
    out->why = (uint8_t)choice->why;
    out->wanted = (uint8_t)choice->wanted;
    out->wanted_variant = (uint8_t)choice->wanted_variant;
    out->wanted_out = (uint8_t)choice->wanted_out;
    if (choice->is_auto)
        fill_governed(body, &choice->governed, out);
    else if (observed)
        fill_required_locked(device, body, out);
}
