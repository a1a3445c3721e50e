/*
 * decide.c: chooses the mode of a batch in auto. This is where a decision is made.
 *
 *   facts      which candidates can run the batch, and at which cost       facts.c
 *   verdict    what the six policies ask for, given these costs            verdict.c
 *   governor   the verdict, until measurements contradict it               governor.c
 *
 * A settled shape skips all three. The number of repeats is the user's hint, or else how often the
 * shape was seen so far.
 */
#include "runtime/decide.h"

#include "runtime/facts.h"
#include "runtime/shape_keys.h"
#include "runtime/verdict.h"

/* If the end of this many batches in a row went unobserved, auto uses predictions alone. */
#define MISSED_LIMIT 4

/* The shape's entry, counted as seen once more. A body that is submitted again already knows it. */
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

/* Candidates that must be built first are out for this batch. */
static void leave_out(struct vyre_candidate_facts *facts)
{
    facts->feasible = false;
    facts->unbuilt = false;
    facts->ready = false;
    facts->why = VYRE_WHY_UNBUILT;
}

/*
 * Compares all candidates that were not put off. If the first choice must be built, notes it for a
 * background build, and the next best runs.
 */
static void compare(struct vyre_device *device, struct vyre_governor *governor,
                    struct vyre_body *body, struct vyre_shape *shape,
                    struct vyre_governor_batch *batch, struct vyre_choice *choice)
{
    struct vyre_governor_choice *out = &choice->governed;
    struct vyre_candidate_facts facts[VYRE_CANDIDATES_MAX];
    vyre_facts_find_locked(device, body, shape, batch->update_count, facts);
    for (uint32_t i = 0; i < device->candidates.count; i++) {
        if (facts[i].feasible && (choice->put_off >> i & 1u))
            leave_out(&facts[i]);
    }
    for (;;) {
        vyre_verdict_ask_locked(device, body, facts,
                                vyre_governor_repeats(shape, batch->repeat_hint),
                                batch->repeat_hint != 0, shape);
        batch->verdict = shape->verdict.candidate;
        vyre_governor_choose(governor, shape, facts, device->candidates.count, batch, out);
        if (!facts[out->candidate].unbuilt)
            break;
        if (choice->build == 0)
            choice->build = (uint8_t)(out->candidate + 1);
        vyre_governor_withdraw(governor, out->shape, out->candidate);
        leave_out(&facts[out->candidate]);
    }
    for (uint32_t i = 0; i < out->candidate_count; i++) {
        out->candidates[i].mode = (uint8_t)device->candidates.list[i].mode;
        out->candidates[i].variant = (uint8_t)device->candidates.list[i].variant;
    }
}

static uint32_t in_flight(const struct vyre_device *device)
{
    /* Relaxed: an older value only makes windows longer. */
    return (uint32_t)(atomic_load_explicit(&device->progress.submitted, memory_order_relaxed) -
                      atomic_load_explicit(&device->progress.completed, memory_order_relaxed));
}

static void choose(struct vyre_device *device, struct vyre_governor *governor,
                   struct vyre_body *body, uint32_t repeat_hint, struct vyre_shape *shape,
                   bool may_settle, struct vyre_choice *out)
{
    struct vyre_governor_batch batch = {
        .command_count = body->view.command_count,
        .update_count = vyre_facts_updates_locked(device, body, shape),
        .repeat_hint = repeat_hint,
        .depth = in_flight(device),
        .unseen = shape->found.missed >= MISSED_LIMIT,
    };
    out->build = 0;
    if (!may_settle || !vyre_governor_settled(governor, shape, &batch, &out->governed))
        compare(device, governor, body, shape, &batch, out);
    vyre_governor_ran(governor, shape, &out->governed);
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
    out_choice->put_off = 0;
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
    out_shape->unit.seen += out_shape->unit.seen < UINT32_MAX;
    governor.counters.seen++;
    governor.trying.until = UINT64_MAX; /* an end would be the original's */
    out_choice->put_off = 0;
    choose(device, &governor, body, repeat_hint, out_shape, false, out_choice);
}

/* The entry of the body's shape, which may have been forgotten while the lock was released. */
static struct vyre_shape *find_again(struct vyre_device *device, struct vyre_body *body)
{
    struct vyre_shape *shape = vyre_shape_get(body->entry);
    return shape ? shape : see(device, body);
}

void vyre_decide_failed_locked(struct vyre_device *device, struct vyre_body *body,
                               uint32_t repeat_hint, enum vyre_status status, bool is_unproven,
                               struct vyre_choice *inout_choice)
{
    uint8_t failed = inout_choice->governed.candidate;
    vyre_governor_abandon(&device->governor, inout_choice->governed.shape, failed);
    struct vyre_shape *shape = find_again(device, body);
    vyre_facts_failed_locked(shape, failed, status == VYRE_UNSUPPORTED, is_unproven);
    inout_choice->put_off |= 1u << failed; /* whatever is found out about the others meanwhile */
    choose(device, &device->governor, body, repeat_hint, shape, false, inout_choice);
}

void vyre_decide_put_off_locked(struct vyre_device *device, struct vyre_body *body,
                                uint32_t repeat_hint, struct vyre_choice *inout_choice)
{
    uint8_t unbuilt = inout_choice->governed.candidate;
    vyre_governor_withdraw(&device->governor, inout_choice->governed.shape, unbuilt);
    inout_choice->put_off |= 1u << unbuilt;
    choose(device, &device->governor, body, repeat_hint, find_again(device, body), false,
           inout_choice);
}
