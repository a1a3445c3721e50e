/*
 * decide.c: in which mode a batch in auto runs: where a decision is made.
 *
 *   facts      which candidates can run the batch, and at which cost       facts.c
 *   verdict    what the six policies ask for, by these costs               verdict.c
 *   governor   the verdict, until what was measured speaks against it      governor.c
 *
 * A settled shape skips all three. The number of repeats is the user's hint, else as many as were seen of
 * the shape so far.
 */
#include "runtime/decide.h"

#include "runtime/facts.h"
#include "runtime/shape_keys.h"
#include "runtime/verdict.h"

/* From so many batches in a row whose end nobody saw, auto goes by predictions alone. */
#define MISSED_LIMIT 4

/* The shape's entry, counted as seen once more. A body that is submitted again finds it at once. */
static struct vyre_shape *see(struct vyre_device *device, struct vyre_body *body)
{
    struct vyre_shape *shape = body->hashed ? vyre_shape_get(body->entry) : NULL;
    if (shape) {
        vyre_governor_see_again(&device->governor, shape);
        return shape;
    }
    shape = vyre_governor_see(&device->governor, vyre_body_shape(body));
    body->entry = vyre_shape_refer(shape);
    return shape;
}

/*
 * Nobody sees how long batches of this shape take: the caller does something else until they are
 * over. Then there is nothing to be learned from trying, and the best prediction stands.
 */
static void settle_unseen(struct vyre_governor *governor, struct vyre_governor_choice *governed)
{
    uint32_t best = governed->candidate;
    for (uint32_t i = 0; i < governed->candidate_count; i++) {
        const struct vyre_decision_candidate *row = &governed->candidates[i];
        if (row->state != VYRE_CANDIDATE_OUT &&
            row->predicted_ns < governed->candidates[best].predicted_ns)
            best = i;
    }
    if (best == governed->candidate && !vyre_why_is_try((enum vyre_why)governed->why))
        return;
    vyre_governor_abandon(governor, governed->shape, governed->candidate);
    governed->candidates[governed->candidate].why = VYRE_WHY_DEARER_PREDICTED;
    governed->candidates[best].why = VYRE_WHY_PREDICTED_BEST;
    governed->candidate = (uint8_t)best;
    governed->why = VYRE_WHY_PREDICTED_BEST;
    governed->predicted_ns = (double)governed->candidates[best].predicted_ns;
    governed->update_ns = 0.0;
}

/* Compares all candidates. */
static void compare(struct vyre_device *device, struct vyre_governor *governor,
                    struct vyre_body *body, struct vyre_shape *shape,
                    struct vyre_governor_batch *batch, struct vyre_governor_choice *out)
{
    struct vyre_candidate_facts facts[VYRE_CANDIDATES_MAX];
    vyre_facts_find_locked(device, body, shape, batch->update_count, facts);
    vyre_verdict_ask_locked(device, body, facts,
                            batch->repeat_hint ? batch->repeat_hint : shape->seen,
                            batch->repeat_hint != 0, shape);
    batch->verdict = shape->verdict.candidate;
    vyre_governor_choose(governor, shape, facts, device->candidates.count, batch, out);
    if (shape->found.missed >= MISSED_LIMIT)
        settle_unseen(governor, out);
    for (uint32_t i = 0; i < out->candidate_count; i++) {
        out->candidates[i].mode = (uint8_t)device->candidates.list[i].mode;
        out->candidates[i].variant = (uint8_t)device->candidates.list[i].variant;
    }
}

static void choose(struct vyre_device *device, struct vyre_governor *governor,
                   struct vyre_body *body, uint32_t repeat_hint, struct vyre_shape *shape,
                   bool may_settle, struct vyre_choice *out)
{
    struct vyre_governor_batch batch = {
        .command_count = body->view.command_count,
        .update_count = vyre_facts_updates_locked(device, body, shape),
        .repeat_hint = repeat_hint,
    };
    if (!may_settle || !vyre_governor_settled(shape, &batch, &out->governed))
        compare(device, governor, body, shape, &batch, &out->governed);
    const struct vyre_shape_verdict *verdict = &shape->verdict;
    const struct vyre_candidate *chosen = &device->candidates.list[out->governed.candidate];
    const struct vyre_candidate *wanted = &device->candidates.list[verdict->wanted];
    out->mode = chosen->mode;
    out->variant = chosen->variant;
    out->wanted = wanted->mode;
    out->wanted_variant = wanted->variant;
    out->wanted_out = (enum vyre_why)verdict->out;
    out->why = (enum vyre_why)out->governed.why;
    out->is_auto = true;
}

void vyre_decide_locked(struct vyre_device *device, struct vyre_body *body, uint32_t repeat_hint,
                        struct vyre_choice *out_choice)
{
    struct vyre_shape *shape = see(device, body);
    choose(device, &device->governor, body, repeat_hint, shape, true, out_choice);
    if (device->instance->audit)
        vyre_audit_record_bundle(device->instance->audit, &shape->verdict.bundle);
}

void vyre_decide_next_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_shape *out_shape,
                             struct vyre_choice *out_choice)
{
    struct vyre_governor governor = device->governor;
    const struct vyre_shape *known = vyre_shapes_find(&device->shapes, vyre_body_shape(body));
    *out_shape = (struct vyre_shape){.link.key = vyre_body_shape(body), .serial = UINT64_MAX};
    if (known)
        *out_shape = *known;
    out_shape->seen += out_shape->seen < UINT32_MAX;
    governor.counters.seen++;
    choose(device, &governor, body, repeat_hint, out_shape, false, out_choice);
}

/* The choice is taken back: the batch runs plainly, and so its record will say. */
static void run_plainly(struct vyre_device *device, enum vyre_why why, struct vyre_choice *choice)
{
    struct vyre_governor_choice *governed = &choice->governed;
    struct vyre_shape *shape = vyre_shape_get(governed->shape);
    uint32_t out = governed->candidate;
    vyre_governor_abandon(&device->governor, governed->shape, governed->candidate);
    if (shape) /* it may be forgotten while the batch was built or proven */
        vyre_governor_reopen(shape);
    choice->wanted = choice->mode;
    choice->wanted_variant = choice->variant;
    choice->wanted_out = why;
    choice->mode = VYRE_MODE_PLAIN;
    choice->variant = 0;
    choice->why = VYRE_WHY_ONLY_FEASIBLE;
    governed->candidate = 0;
    governed->why = VYRE_WHY_ONLY_FEASIBLE;
    governed->evidence = VYRE_EVIDENCE_NONE;
    governed->update_ns = 0.0;
    governed->predicted_ns = 0.0;
    if (governed->candidate_count > 0) {
        governed->predicted_ns = (double)governed->candidates[0].predicted_ns;
        governed->candidates[0].why = VYRE_WHY_ONLY_FEASIBLE;
        governed->candidates[out].state = VYRE_CANDIDATE_OUT;
        governed->candidates[out].why = (uint8_t)why;
    }
}

void vyre_decide_failed_locked(struct vyre_device *device, enum vyre_status status,
                               bool is_unproven, struct vyre_choice *choice)
{
    struct vyre_shape *shape = vyre_shape_get(choice->governed.shape);
    bool forever = status == VYRE_UNSUPPORTED;
    if (shape)
        vyre_facts_failed_locked(shape, choice->governed.candidate, forever, is_unproven);
    run_plainly(device,
                is_unproven ? VYRE_WHY_UNPROVEN
                : forever   ? VYRE_WHY_UNFIT
                            : VYRE_WHY_FAILED,
                choice);
}

void vyre_decide_put_off_locked(struct vyre_device *device, struct vyre_choice *choice)
{
    struct vyre_shape *shape = vyre_shape_get(choice->governed.shape);
    struct vyre_candidate_track *track = shape ? &shape->tracks[choice->governed.candidate] : NULL;
    uint16_t fails = track ? track->fails : 0;
    run_plainly(device, VYRE_WHY_UNBUILT, choice);
    if (track)
        track->fails = fails; /* it was not tried */
}
