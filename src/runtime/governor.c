/*
 * governor.c: makes one choice: compares, chooses, and keeps what later choices need.
 *
 *   cost of a candidate over n more batches = fixed (unless ready) + n x per batch
 *   per batch = the measured mean, else calibrated overhead + what execution is expected to take
 *
 * governor_predict.c computes these, governor_pick.c picks, and governor_learn.c learns from
 * measurements. What is learned about a shape is kept in shapes.h.
 */
#include "runtime/governor.h"

#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* A settled shape is compared again after 1 part in CHECK_PART of the batches seen, within limits. */
#define CHECK_PART  32u
#define CHECK_LIMIT 256u
/* After this many samples the mean of a candidate moves only if its cost does. */
#define PACE_COUNT 16u

void vyre_governor_init(struct vyre_governor *governor, struct vyre_shapes *shapes,
                        uint32_t explore_bps)
{
    *governor = (struct vyre_governor){.shapes = shapes, .explore_bps = explore_bps};
    if (explore_bps > VYRE_GOVERNOR_EXPLORE_MAX)
        governor->explore_bps = VYRE_GOVERNOR_EXPLORE_MAX;
}

static void count(struct vyre_governor *governor, struct vyre_shape *shape)
{
    governor->shapes->seen_count += shape->seen == 0;
    shape->seen += shape->seen < UINT32_MAX;
    governor->counters.seen++;
}

struct vyre_shape *vyre_governor_see(struct vyre_governor *governor, struct vyre_hash128 key)
{
    struct vyre_shape *shape = vyre_shapes_use(governor->shapes, key);
    count(governor, shape);
    return shape;
}

void vyre_governor_see_again(struct vyre_governor *governor, struct vyre_shape *shape)
{
    vyre_shapes_use_again(governor->shapes, shape);
    count(governor, shape);
}

/* Why a candidate was not chosen; for the chosen one, why it was. */
static enum vyre_why why_of(const struct vyre_governor_round *round, uint32_t i,
                            const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_governor_view *base = &round->views[pick->base];
    double cost = view->cost + view->update;
    double usual = base->cost + base->update;
    if (i == pick->candidate)
        return pick->why;
    if (!view->feasible)
        return (enum vyre_why)round->facts[i].why;
    if (round->shape->tracks[i].flags & VYRE_TRACK_PENDING)
        return VYRE_WHY_IN_TRIAL;
    if (cost >= usual)
        return view->known ? VYRE_WHY_SLOWER_MEASURED : VYRE_WHY_SLOWER_PREDICTED;
    return view->known && view->fixed <= 0 ? VYRE_WHY_MARGIN : VYRE_WHY_FIXED_TOO_SLOW;
}

static void report(const struct vyre_governor_round *round, const struct vyre_governor_pick *pick,
                   struct vyre_governor_choice *out)
{
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        const struct vyre_candidate_track *track = &round->shape->tracks[i];
        struct vyre_decision_candidate *row = &out->candidates[i];
        *row = (struct vyre_decision_candidate){
            .count = track->count,
            .measured_ns = vyre_whole_ns(track->mean_ns),
            .why = (uint8_t)why_of(round, i, pick),
        };
        if (!view->feasible)
            continue;
        row->state = view->known ? VYRE_CANDIDATE_MEASURED : VYRE_CANDIDATE_PREDICTED;
        row->predicted_ns = vyre_whole_ns(view->fixed / round->repeats + view->cost + view->update);
    }
    const struct vyre_governor_view *chosen = &round->views[pick->candidate];
    out->candidate = (uint8_t)pick->candidate;
    out->why = (uint8_t)pick->why;
    out->evidence = (uint8_t)pick->evidence;
    out->settled = false;
    out->candidate_count = round->count;
    out->predicted_ns = chosen->fixed + chosen->cost + chosen->update;
    out->update_ns = chosen->update;
}

static void settle(struct vyre_shape *shape, const struct vyre_governor_round *round,
                   const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_view *chosen = &round->views[pick->candidate];
    bool same = shape->chosen && shape->current == pick->candidate;
    shape->current = (uint8_t)pick->candidate;
    shape->chosen = true;
    shape->current_ns = chosen->cost + chosen->update;
    shape->current_update_ns = chosen->update;
    if (!same) {
        shape->pace_ns = shape->tracks[pick->candidate].mean_ns;
        shape->recent_ns = shape->pace_ns;
    }
    if (!same || shape->anchor_ns <= 0)
        shape->anchor_ns = shape->tracks[pick->candidate].count ? chosen->cost : 0;
    shape->settled_why = (uint8_t)pick->why;
    shape->settled_evidence = (uint8_t)pick->evidence;
    shape->settled_hint = round->batch->repeat_hint;
    shape->settled_updates = round->batch->update_count;
    uint32_t gap = shape->seen / CHECK_PART;
    if (gap > CHECK_LIMIT)
        gap = CHECK_LIMIT;
    shape->check_at = shape->seen < UINT32_MAX - gap - 1 ? shape->seen + 1 + gap : UINT32_MAX;
}

/* Notes what learning needs from this comparison. */
static void note(struct vyre_shape *shape, const struct vyre_governor_round *round,
                 const struct vyre_governor_pick *pick)
{
    shape->candidate_count = (uint8_t)round->count;
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        struct vyre_candidate_track *track = &shape->tracks[i];
        bool worse = view->known && view->feasible && i != pick->base;
        if (!view->feasible)
            continue;
        if (!(track->flags & VYRE_TRACK_STALE))
            track->overhead_ns = (float)view->raw_overhead;
        if (!round->facts[i].ready)
            track->fixed_ns = (float)round->facts[i].fixed_ns;
        track->expect_ns = view->known || !view->taught ? 0 : (float)view->cost;
        track->flags &= (uint8_t)~VYRE_TRACK_DROPPED;
        if (worse)
            track->flags |= VYRE_TRACK_DROPPED;
    }
}

static void probe(struct vyre_governor *governor, const struct vyre_shape *shape,
                  const struct vyre_governor_round *round, const struct vyre_governor_pick *pick)
{
    uint32_t i = pick->candidate;
    struct vyre_governor_probe *record = &governor->probes[i];
    if (governor->execution[i].count || round->facts[i].ready ||
        vyre_governor_probed(governor, shape, i) || record->serial == shape->serial)
        return;
    record->serial = shape->serial;
    record->since = governor->counters.seen;
}

/* The time that the announced batches of the shape will take. */
static void announce(struct vyre_governor *governor, struct vyre_shape *shape,
                     const struct vyre_governor_round *round, const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_view *base = &round->views[pick->base];
    double coming = round->batch->repeat_hint ? round->repeats * (base->cost + base->update) : 0;
    governor->announced_ns += coming - shape->coming_ns;
    shape->coming_ns = coming;
}

/*
 * The mean of the current candidate moved a little. A varying clock affects all candidates, so the
 * others are assumed to have moved with it until they are measured again.
 */
static void keep_pace(struct vyre_shape *shape)
{
    double mean_ns = shape->tracks[shape->current].mean_ns;
    double factor = shape->pace_ns > 0 ? mean_ns / shape->pace_ns : 1;
    if (!shape->chosen || mean_ns <= 0)
        return;
    shape->pace_ns = mean_ns;
    if (shape->tracks[shape->current].count < PACE_COUNT)
        return; /* the mean moves by itself */
    for (uint32_t i = 0; i < shape->candidate_count; i++) {
        if (i != shape->current && factor < GOVERNOR_PACE && factor * GOVERNOR_PACE > 1)
            shape->tracks[i].mean_ns *= factor;
    }
}

void vyre_governor_choose(struct vyre_governor *governor, struct vyre_shape *shape,
                          const struct vyre_candidate_facts *facts, uint32_t count,
                          const struct vyre_governor_batch *batch,
                          struct vyre_governor_choice *out_choice)
{
    struct vyre_governor_round round = {
        .governor = governor,
        .shape = shape,
        .facts = facts,
        .batch = batch,
        .count = count < VYRE_CANDIDATES_MAX ? count : VYRE_CANDIDATES_MAX,
        .repeats = vyre_governor_repeats(shape, batch->repeat_hint),
    };
    keep_pace(shape);
    for (uint32_t i = 0; i < round.count; i++)
        vyre_governor_look(&round, i);
    struct vyre_governor_pick pick = vyre_governor_pick_one(&round);
    governor->counters.compared++;
    report(&round, &pick, out_choice);
    out_choice->shape = vyre_shape_refer(shape);
    note(shape, &round, &pick);
    probe(governor, shape, &round, &pick);
    announce(governor, shape, &round, &pick);
    governor->counters.doubted_ns += pick.doubted;
    shape->tracks[pick.candidate].doubted_ns = (float)pick.doubted;
    if (vyre_why_is_try(pick.why)) {
        shape->tracks[pick.candidate].flags |= VYRE_TRACK_PENDING;
        governor->trying = (struct vyre_governor_try){
            .serial = shape->serial,
            .since = governor->counters.seen,
            .candidate = (uint8_t)pick.candidate,
        };
        governor->counters.trials += pick.why != VYRE_WHY_EXPLORE;
        governor->counters.explorations += pick.why == VYRE_WHY_EXPLORE;
        shape->check_at = 0;
    } else {
        settle(shape, &round, &pick);
    }
}
