/*
 * governor.c: makes one choice: compares, chooses, and keeps what later choices need.
 *
 *   cost of a candidate over n more batches = fixed (unless ready) + n x per batch
 *   per batch = the mean of its windows, else calibrated overhead + what execution is expected to take
 *
 * governor_predict.c computes these, governor_pick.c picks, and governor_learn.c learns from
 * measurements. What is learned about a shape is kept in shapes.h.
 */
#include "runtime/governor.h"

#include <string.h>

#include "base/clock.h"
#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

const struct vyre_governor_rules vyre_governor_rules_default = {
#define X(name, value, reason) .name = (value),
    VYRE_GOVERNOR_RULES(X)
#undef X
};

void vyre_governor_init(struct vyre_governor *governor, struct vyre_shapes *shapes,
                        uint32_t explore_bps)
{
    *governor = (struct vyre_governor){
        .shapes = shapes, .rules = &vyre_governor_rules_default, .explore_bps = explore_bps};
    if (explore_bps > VYRE_GOVERNOR_EXPLORE_MAX)
        governor->explore_bps = VYRE_GOVERNOR_EXPLORE_MAX;
}

static void count(struct vyre_governor *governor, struct vyre_shape *shape)
{
    governor->shapes->seen_count += shape->unit.seen == 0;
    shape->unit.seen += shape->unit.seen < UINT32_MAX;
    governor->stream.seen += governor->stream.seen < UINT32_MAX;
    governor->counters.seen++;
    if (shape->unreturned && shape->unit.seen > 1) {
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

/*
 * Whether shapes are judged together: they alternate, and what they take cannot be kept apart,
 * because several are in flight or share what is resident. Else each is its own unit, since they may
 * differ in what is best for them.
 */
static void follow_stream(struct vyre_governor *governor, const struct vyre_shape *shape,
                          uint32_t depth)
{
    const struct vyre_governor_rules *rules = governor->rules;
    bool other = governor->last_serial && governor->last_serial != shape->serial;
    governor->last_serial = shape->serial;
    governor->alternates += ((other ? 1.0f : 0.0f) - governor->alternates) * (float)rules->recent;
    governor->depth += ((depth > 0 ? 1.0f : 0.0f) - governor->depth) * (float)rules->recent;
    double limit = governor->is_stream ? rules->stream / 2 : rules->stream;
    bool mixed = governor->shares || (double)governor->depth > limit;
    if (governor->is_stream == (mixed && (double)governor->alternates > limit))
        return;
    governor->is_stream = !governor->is_stream;
    governor->trying.is_open = false;
    governor->epoch++;
}

/* Whether a batch from before the last change, or the one that pays for it, is still in flight. */
static bool leads_in(const struct vyre_governor *governor, uint32_t depth)
{
    return governor->pays && governor->since > 0 ? depth >= governor->since
                                                 : depth > governor->since;
}

void vyre_governor_ran(struct vyre_governor *governor, const struct vyre_shape *shape,
                       struct vyre_governor_choice *choice)
{
    choice->switched = governor->last != choice->candidate + 1;
    choice->leads_in = leads_in(governor, choice->depth);
    governor->since += governor->since < UINT32_MAX;
    governor->last = (uint8_t)(choice->candidate + 1);
    follow_stream(governor, shape, choice->depth);
}

/* Why a candidate was not chosen; for the chosen one, why it was. */
static enum vyre_why why_of(const struct vyre_governor_round *round, uint32_t i,
                            const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_governor_view *base = &round->views[pick->base];
    const struct vyre_governor_try *trying = &round->governor->trying;
    if (i == pick->candidate)
        return pick->why;
    if (!round->facts[i].feasible)
        return (enum vyre_why)round->facts[i].why;
    if (!view->feasible)
        return VYRE_WHY_FIXED_TOO_SLOW;
    if (trying->is_open && trying->candidate == i)
        return VYRE_WHY_IN_TRIAL;
    if (view->cost + view->update >= base->cost + base->update)
        return view->known ? VYRE_WHY_SLOWER_MEASURED : VYRE_WHY_SLOWER_PREDICTED;
    return view->known && view->fixed <= 0 ? VYRE_WHY_MARGIN : VYRE_WHY_FIXED_TOO_SLOW;
}

/* So many standard errors of a candidate's mean as make a difference clear. */
static uint32_t error_bps(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_unit *unit = round->unit;
    float other = unit->chosen ? unit->tracks[unit->current].spread : 0;
    float square = governor_error(&unit->tracks[i], other, round->rules);
    float error = square > 0 ? governor_root(square) * (float)round->rules->clearly * 10000.0f : 0;
    return error < 10000.0f ? (uint32_t)error : 10000u;
}

static void report(const struct vyre_governor_round *round, const struct vyre_governor_pick *pick,
                   struct vyre_governor_choice *out)
{
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        const struct vyre_candidate_track *track = &round->unit->tracks[i];
        struct vyre_decision_candidate *row = &out->candidates[i];
        *row = (struct vyre_decision_candidate){
            .count = track->count,
            .measured_ns = vyre_whole_ns(track->mean_ns * round->scale),
            .why = (uint8_t)why_of(round, i, pick),
            .windows = track->windows,
            .error_bps = track->count ? error_bps(round, i) : 10000,
            .look_at = i == pick->base ? 0 : track->look_at,
        };
        if (!view->feasible)
            continue;
        row->state = view->known ? VYRE_CANDIDATE_MEASURED : VYRE_CANDIDATE_PREDICTED;
        row->predicted_ns = vyre_whole_ns(view->fixed / round->repeats + view->cost + view->update);
    }
    const struct vyre_governor_view *chosen = &round->views[pick->candidate];
    const struct vyre_unit *unit = round->unit;
    out->candidate = (uint8_t)pick->candidate;
    out->why = (uint8_t)pick->why;
    out->evidence = (uint8_t)pick->evidence;
    out->settled = false;
    out->changed = unit->chosen && !vyre_why_is_try(pick->why) && unit->current != pick->candidate;
    out->candidate_count = round->count;
    out->predicted_ns = chosen->fixed / round->shapes + chosen->cost + chosen->update;
    out->update_ns = chosen->update;
    bool is_founded = round->facts[pick->candidate].work_ns > 0 ||
                      (pick->candidate != pick->base && pick->candidate == round->batch->verdict);
    out->expected_ns = is_founded ? out->predicted_ns : 0;
}

/* Notes what learning needs from this comparison. */
static void note(struct vyre_unit *unit, const struct vyre_governor_round *round)
{
    unit->candidate_count = (uint8_t)round->count;
    for (uint32_t i = 0; i < round->count; i++) {
        struct vyre_candidate_track *track = &unit->tracks[i];
        if (!round->views[i].feasible)
            continue;
        if (!(track->flags & VYRE_TRACK_STALE))
            track->overhead_ns = (float)(round->views[i].raw_overhead / round->scale);
        if (!round->facts[i].ready)
            track->fixed_ns = (float)((double)round->facts[i].fixed_ns / round->scale);
    }
}

/* What runs for the unit from now on. */
static void choose_for_unit(struct vyre_governor *governor, struct vyre_unit *unit,
                            const struct vyre_governor_round *round, uint32_t candidate)
{
    struct vyre_candidate_track *track = &unit->tracks[candidate];
    bool same = unit->chosen && unit->current == candidate;
    /* Another shape of the stream runs what this one cannot. */
    if (unit == &governor->stream && unit->chosen && !same && !round->views[unit->current].feasible)
        return;
    if (!same) {
        /* The last choice is measured again soon: perhaps only the pace of the machine changed. */
        uint32_t soon = vyre_governor_window(round, candidate);
        if (unit->chosen && unit->seen < UINT32_MAX - soon)
            unit->tracks[unit->current].look_at = unit->seen + soon;
        unit->changed_at = unit->seen;
        unit->current = (uint8_t)candidate;
        unit->chosen = true;
        unit->pace_ns = track->mean_ns;
        unit->recent_ns = track->mean_ns;
        governor->since = 0;
        if (unit == &governor->stream)
            governor->epoch++;
    }
    if (!same || unit->anchor_ns <= 0)
        unit->anchor_ns = track->count ? track->mean_ns : 0;
    track->window = vyre_governor_window(round, candidate);
}

static void settle(struct vyre_governor *governor, struct vyre_unit *unit, struct vyre_shape *shape,
                   const struct vyre_governor_round *round, const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_view *chosen = &round->views[pick->candidate];
    choose_for_unit(governor, unit, round, pick->candidate);
    shape->settled = (uint8_t)pick->candidate;
    shape->settled_ns = chosen->cost + chosen->update;
    shape->settled_update_ns = chosen->update;
    shape->settled_why = (uint8_t)pick->why;
    shape->settled_evidence = (uint8_t)pick->evidence;
    shape->settled_hint = round->batch->repeat_hint;
    shape->settled_updates = round->batch->update_count;
    shape->epoch = governor->epoch;
    double gap = shape->unit.seen * governor->rules->check_part;
    if (gap > governor->rules->check_limit)
        gap = governor->rules->check_limit;
    shape->check_at = shape->unit.seen + 1 + (uint32_t)gap;
    if (shape->check_at < shape->unit.seen)
        shape->check_at = UINT32_MAX;
}

/* The mean that a candidate is assumed to have at another pace of the machine. */
static double mean_at_pace(const struct vyre_governor_rules *rules,
                           const struct vyre_candidate_track *track, double factor)
{
    double mean_ns = track->mean_ns * factor;
    double most_ns = (double)track->taken_ns * rules->pace;
    double least_ns = (double)track->taken_ns / rules->pace;
    return mean_ns > most_ns ? most_ns : mean_ns < least_ns ? least_ns : mean_ns;
}

/*
 * The mean of the current candidate moved a little. A varying clock affects all candidates, so the
 * others are assumed to have moved with it until they are measured again.
 */
static void keep_pace(const struct vyre_governor *governor, struct vyre_unit *unit)
{
    const struct vyre_governor_rules *rules = governor->rules;
    double mean_ns = unit->tracks[unit->current].mean_ns;
    double factor = unit->pace_ns > 0 ? mean_ns / unit->pace_ns : 1;
    if (!unit->chosen || mean_ns <= 0)
        return;
    unit->pace_ns = mean_ns;
    if (unit->tracks[unit->current].windows < rules->memory || factor >= rules->pace ||
        factor * rules->pace <= 1)
        return; /* the mean moves by itself, or the costs have changed */
    for (uint32_t i = 0; i < unit->candidate_count; i++) {
        if (i != unit->current)
            unit->tracks[i].mean_ns = mean_at_pace(rules, &unit->tracks[i], factor);
    }
}

static void begin_try(struct vyre_governor *governor, struct vyre_unit *unit,
                      struct vyre_shape *shape, const struct vyre_governor_round *round,
                      const struct vyre_governor_pick *pick)
{
    const struct vyre_governor_rules *rules = governor->rules;
    struct vyre_candidate_track *track = &unit->tracks[pick->candidate];
    uint32_t length = pick->is_check ? 1 : vyre_governor_try_length(round, pick->candidate);
    governor->trying = (struct vyre_governor_try){
        .is_open = true,
        .is_stream = unit == &governor->stream,
        .shape = vyre_shape_refer(shape),
        .until =
            governor->counters.seen + (uint64_t)(rules->patience * (length + round->batch->depth)),
        .length = length + (uint32_t)rules->cold - (pick->is_check ? 0 : round->batch->depth),
        .run = pick->is_check || round->batch->depth == 0,
        .depth = round->batch->depth,
        .is_check = pick->is_check,
        .candidate = (uint8_t)pick->candidate,
        .why = (uint8_t)pick->why,
    };
    track->window = pick->is_check ? 1 : vyre_governor_window(round, pick->candidate);
    track->open = 0;
    track->open_ns = 0;
    track->raw_ns = 0;
    governor->since = pick->is_check ? UINT32_MAX : 0;
    governor->epoch += unit == &governor->stream;
    governor->counters.trials += pick->why == VYRE_WHY_TRIAL || pick->why == VYRE_WHY_DRIFT_RECHECK;
    governor->counters.explorations += pick->why == VYRE_WHY_EXPLORE;
}

/*
 * Ends the try if it is not going to be measured: all its batches were submitted, then as many again,
 * and as many as were in flight.
 */
static void watch_try(struct vyre_governor *governor, uint32_t depth)
{
    struct vyre_governor_try *trying = &governor->trying;
    uint64_t seen = governor->counters.seen;
    if (!trying->is_open)
        return;
    if (trying->run >= trying->length && !trying->is_over) {
        trying->is_over = true;
        trying->until = seen + trying->length + depth + 1;
    }
    if (seen > trying->until)
        vyre_governor_end_try(governor);
}

void vyre_governor_choose(struct vyre_governor *governor, struct vyre_shape *shape,
                          const struct vyre_candidate_facts *facts, uint32_t count,
                          const struct vyre_governor_batch *batch,
                          struct vyre_governor_choice *out_choice)
{
    struct vyre_unit *unit = governor->is_stream ? &governor->stream : &shape->unit;
    double overhead = (double)facts[0].per_batch_ns +
                      (double)facts[0].per_command_ns * (double)batch->command_count;
    shape->weight_ns = overhead + facts[0].work_ns > 1 ? overhead + facts[0].work_ns : 1;
    double repeats = vyre_governor_repeats(shape, batch->repeat_hint);
    uint32_t shapes = governor->is_stream ? governor->shapes->seen_count : 1;
    struct vyre_governor_round round = {
        .governor = governor,
        .rules = governor->rules,
        .unit = unit,
        .shape = shape,
        .facts = facts,
        .batch = batch,
        .scale = governor->is_stream ? shape->weight_ns : 1,
        .count = count < VYRE_CANDIDATES_MAX ? count : VYRE_CANDIDATES_MAX,
        .shapes = shapes,
        .repeats = repeats * shapes,
    };
    watch_try(governor, batch->depth);
    keep_pace(governor, unit);
    governor->shares = false;
    for (uint32_t i = 0; i < round.count; i++) {
        vyre_governor_look(&round, i);
        governor->shares |= facts[i].feasible && facts[i].resident;
    }
    struct vyre_governor_pick pick = vyre_governor_pick_one(&round);
    governor->counters.compared++;
    report(&round, &pick, out_choice);
    out_choice->shape = vyre_shape_refer(shape);
    out_choice->depth = batch->depth;
    note(unit, &round);
    if (unit != &shape->unit)
        note(&shape->unit, &round);
    if (shape->unit.seen <= 1 && !batch->repeat_hint && !shape->unreturned &&
        !facts[pick.candidate].resident && round.views[pick.candidate].fixed > 0) {
        shape->unreturned = true;
        governor->unreturned++;
    }
    if (!governor->measured[pick.candidate] && round.views[pick.candidate].fixed > 0 &&
        round.repeats > 1) {
        governor->asked[pick.candidate] = shape->serial;
        governor->asked_at[pick.candidate] = governor->counters.seen;
    }
    if (pick.continues) {
        bool counts = !leads_in(governor, batch->depth);
        governor->trying.run += counts;
        governor->trying.until += !counts;
        shape->check_at = 0;
    } else if (pick.opens) {
        governor->checked_ns += pick.excess;
        begin_try(governor, unit, shape, &round, &pick);
        shape->check_at = 0;
    } else {
        settle(governor, unit, shape, &round, &pick);
    }
    if (governor->since == 0)
        governor->pays = !facts[pick.candidate].ready && round.views[pick.candidate].fixed > 0;
}
