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

#include <string.h>

#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* A settled shape is compared again after 1 part in CHECK_PART of the batches seen, within limits. */
#define CHECK_PART  32u
#define CHECK_LIMIT 256u
/* After this many samples the mean of a candidate moves only if its cost does. */
#define PACE_COUNT 16u
/* What the device did lately, over about so many batches. */
#define SHARE_PART (1.0f / 16)
/* The costs of a stream are means over so many shapes at most. */
#define STREAM_SHAPES 64u
/* The stream changes to something resident that is better by this factor. */
#define STREAM_MARGIN 0.97f

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
    if (shape->unreturned && shape->seen > 1) {
        shape->unreturned = false;
        governor->unreturned--;
    }
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

void vyre_governor_ran(struct vyre_governor *governor, const struct vyre_shape *shape,
                       struct vyre_governor_choice *choice)
{
    uint8_t candidate = choice->candidate;
    float other = governor->last_serial && governor->last_serial != shape->serial ? 1.0f : 0.0f;
    choice->switched = governor->last != candidate + 1;
    governor->last = (uint8_t)(candidate + 1);
    governor->last_serial = shape->serial;
    governor->alternates += (other - governor->alternates) * SHARE_PART;
    for (uint32_t i = 0; i < shape->candidate_count; i++)
        governor->share[i] -= governor->share[i] * SHARE_PART;
    governor->share[candidate] += SHARE_PART;
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
    if (!round->facts[i].feasible)
        return (enum vyre_why)round->facts[i].why;
    if (!view->feasible)
        return VYRE_WHY_FIXED_TOO_SLOW;
    if (round->shape->tracks[i].flags & VYRE_TRACK_PENDING)
        return VYRE_WHY_IN_TRIAL;
    if (cost >= usual)
        return view->known ? VYRE_WHY_SLOWER_MEASURED : VYRE_WHY_SLOWER_PREDICTED;
    if (cost + view->switching >= usual + base->switching)
        return VYRE_WHY_SWITCHING;
    return view->known && view->fixed <= 0 ? VYRE_WHY_MARGIN : VYRE_WHY_FIXED_TOO_SLOW;
}

/* Twice the standard error of a candidate's mean. */
static uint32_t error_bps(const struct vyre_shape *shape, const struct vyre_candidate_track *track)
{
    float other = shape->chosen ? shape->tracks[shape->current].spread : 0;
    float square = governor_error(track, governor_least_spread(track, other));
    float error = square > 0 ? governor_root(square) * CLEARLY * 10000.0f : 0;
    return error < 10000.0f ? (uint32_t)error : 10000u;
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
            .windows = track->windows,
            .error_bps = track->count ? error_bps(round->shape, track) : 10000,
            .look_at = i == pick->base ? 0 : track->look_at,
        };
        if (!view->feasible)
            continue;
        row->state = view->known ? VYRE_CANDIDATE_MEASURED : VYRE_CANDIDATE_PREDICTED;
        row->predicted_ns = vyre_whole_ns(view->fixed / round->repeats + view->cost +
                                          view->update + view->switching);
    }
    const struct vyre_governor_view *chosen = &round->views[pick->candidate];
    out->candidate = (uint8_t)pick->candidate;
    out->why = (uint8_t)pick->why;
    out->evidence = (uint8_t)pick->evidence;
    out->settled = false;
    out->changed = round->shape->chosen && !vyre_why_is_try(pick->why) &&
                   round->shape->current != pick->candidate;
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
    shape->tracks[pick->candidate].window = vyre_governor_window(round, pick->candidate);
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
 * If shapes alternate, something resident serves all of them or none: a batch that runs otherwise
 * makes it leave. So it is judged for the stream, by its mean over the shapes.
 */
static void lean(struct vyre_governor *governor, const struct vyre_governor_round *round,
                 const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_view *base = &round->views[pick->base];
    uint32_t shapes = governor->shapes->seen_count;
    float weight = 1.0f / (float)(shapes < STREAM_SHAPES ? shapes : STREAM_SHAPES);
    double repeats = round->batch->repeat_hint ? round->repeats * shapes
                                               : (double)governor->counters.seen;
    uint32_t best = round->count;
    float least = 0;
    if (governor->alternates <= VYRE_GOVERNOR_STREAM) {
        governor->leans = 0;
        memset(governor->stream_ns, 0, sizeof governor->stream_ns);
        return;
    }
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        const struct vyre_governor_view *used = view->feasible ? view : base;
        float cost = (float)(used->cost + used->update);
        float *mean = &governor->stream_ns[i];
        *mean += *mean > 0 ? (cost - *mean) * weight : cost;
        if (!round->facts[i].resident && (least <= 0 || *mean < least))
            least = *mean;
    }
    for (uint32_t i = 0; i < round->count; i++) {
        bool leans = governor->leans == i + 1;
        double gain = (double)(least - governor->stream_ns[i]);
        double fixed = leans ? 0 : (double)round->facts[i].fixed_ns;
        if (!round->facts[i].resident || !governor->execution[i].count ||
            (!leans && governor->stream_ns[i] > STREAM_MARGIN * least) || gain * repeats <= fixed)
            continue;
        if (best == round->count || governor->stream_ns[i] < governor->stream_ns[best])
            best = i;
    }
    governor->leans = best < round->count ? (uint8_t)(best + 1) : 0;
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
    if (shape->tracks[shape->current].windows < PACE_COUNT)
        return; /* the mean moves by itself */
    for (uint32_t i = 0; i < shape->candidate_count; i++) {
        if (i != shape->current && factor < GOVERNOR_PACE && factor * GOVERNOR_PACE > 1)
            shape->tracks[i].mean_ns *= factor;
    }
}

/* A shape that took part in another's window may have seen no end of it. */
static void end_parts(const struct vyre_governor *governor, struct vyre_shape *shape)
{
    const struct vyre_governor_try *trying = &governor->trying;
    for (uint32_t i = 0; i < shape->candidate_count; i++) {
        if (trying->shape.serial == 0 || trying->candidate != i)
            shape->tracks[i].flags &= (uint8_t)~VYRE_TRACK_PENDING;
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
    vyre_governor_expire(governor);
    end_parts(governor, shape);
    for (uint32_t i = 0; i < round.count; i++)
        vyre_governor_look(&round, i);
    struct vyre_governor_pick pick = vyre_governor_pick_one(&round);
    governor->counters.compared++;
    report(&round, &pick, out_choice);
    out_choice->shape = vyre_shape_refer(shape);
    note(shape, &round, &pick);
    lean(governor, &round, &pick);
    probe(governor, shape, &round, &pick);
    announce(governor, shape, &round, &pick);
    if (shape->seen <= 1 && !batch->repeat_hint && !shape->unreturned &&
        round.views[pick.candidate].fixed > 0) {
        shape->unreturned = true;
        governor->unreturned++;
    }
    governor->counters.doubted_ns += pick.doubted;
    if (!pick.continues)
        shape->tracks[pick.candidate].doubted_ns = (float)pick.doubted;
    governor->counters.looked += pick.why == VYRE_WHY_EXPLORE;
    if (pick.continues) {
        struct vyre_candidate_track *track = &shape->tracks[pick.candidate];
        if (governor->trying.shape.serial != shape->serial)
            track->window = 1; /* its share of the window, batch by batch */
        track->flags |= VYRE_TRACK_PENDING;
        governor->trying.run++;
        shape->check_at = 0;
    } else if (vyre_why_is_try(pick.why)) {
        shape->tracks[pick.candidate].flags |= VYRE_TRACK_PENDING;
        uint32_t window = vyre_governor_window(&round, pick.candidate);
        governor->trying = (struct vyre_governor_try){
            .shape = vyre_shape_refer(shape),
            .until = governor->counters.seen + WINDOW_PATIENCE * (window + batch->depth),
            .window = window,
            .length = vyre_governor_length(&round, window),
            .run = 1,
            .candidate = (uint8_t)pick.candidate,
            .why = (uint8_t)pick.why,
        };
        shape->tracks[pick.candidate].window = governor->trying.window;
        governor->counters.trials += pick.why != VYRE_WHY_EXPLORE;
        governor->counters.explorations += pick.why == VYRE_WHY_EXPLORE;
        shape->check_at = 0;
    } else {
        settle(shape, &round, &pick);
    }
}
