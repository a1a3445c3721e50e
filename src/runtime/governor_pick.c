/*
 * governor_pick.c: which candidate runs.
 *
 * Nothing measured: the least predicted cost. Otherwise the best of the measured, unless an
 * unmeasured candidate is worth a trial: its execution is supposed to be one of five equally likely
 * multiples of what is expected (wide apart while nothing is known, close when other shapes taught
 * the ratio), and the trial is made when the mean of what it saves over the expected repeats exceeds
 * the mean of what it costs. Last comes exploration, from its budget.
 */
#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* Another candidate must be better by this much before the choice moves. */
#define MARGIN 0.97
/* Multiples above what is expected are so much closer together: worse by far is rare. */
#define UPWARD 0.5f
/* A finding is waited for where the batch costs less than this part of the fixed cost. */
#define WAIT_PART 0.125
/* Parts of the time spent, or of the time to come, that confirming a candidate may take. */
#define CONFIRM_SEEN   0.05
#define CONFIRM_HINTED 0.02
/* ... that the one trial of an unpromising one may take */
#define TRY_SEEN   0.05
#define TRY_HINTED 0.005
/* ... and that measuring a suspect sample again may take. */
#define SUSPECT_SEEN 1.0
/* Part of the budget that may go into candidates that no shape of the device has tried. */
#define COMMON_PART 0.25
/* One exploration in so many batches of a shape may change nothing. */
#define EXPLORE_GAP 64u

/* Another shape is trying `i`: until it knows, `instead` does if it is cheap beside the fixed cost. */
static bool can_wait(const struct vyre_governor_round *round, uint32_t i, uint32_t instead)
{
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_governor_view *other = &round->views[instead];
    return view->waiting && !other->waiting &&
           other->fixed + other->cost + other->update < view->fixed * WAIT_PART;
}

static double total(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_governor_view *view = &round->views[i];
    return view->fixed + round->repeats * (view->cost + view->update);
}

/* The cheapest of the known ones; count when there is none. */
static uint32_t best_known(const struct vyre_governor_round *round)
{
    uint32_t best = round->count;
    for (uint32_t i = 0; i < round->count; i++) {
        if (!round->views[i].feasible || !round->views[i].known)
            continue;
        if (best == round->count || total(round, i) < total(round, best))
            best = i;
    }
    uint32_t current = round->shape->current;
    bool has_current = round->shape->chosen && current < round->count &&
                       round->views[current].feasible && round->views[current].known;
    if (has_current && best != current && total(round, best) >= MARGIN * total(round, current))
        return current;
    return best;
}

/*
 * What a trial of `i` instead of `base` saves, on average over the cases: in this shape over the
 * expected repeats; and if no shape has tried it yet, also what the others may save by the lesson.
 */
static double trial_value(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_governor_view *with = &round->views[base];
    double usual = with->cost + with->update;
    double repeats = round->repeats;
    double others = 0;
    double sum = 0;
    if (!round->governor->execution[i].count) {
        if (round->batch->repeat_hint)
            others = (double)round->governor->counters.shapes_kept - 1;
        else
            repeats = (double)round->governor->counters.seen;
    }
    for (int step = 0; step < VYRE_GOVERNOR_CASES; step++) {
        float octaves = (float)(step - VYRE_GOVERNOR_CASES_BELOW) * view->spread;
        double doubt = step < VYRE_GOVERNOR_CASES_BELOW ? view->doubt : 1;
        if (octaves > 0)
            octaves *= UPWARD;
        double cost = view->overhead / doubt + view->expect * governor_exp(octaves);
        cost = vyre_governor_bound_cost(round, i, cost) + view->update;
        double fixed = view->fixed / doubt;
        double stay = with->fixed + (repeats - 1) * usual; /* from the next batch on */
        double go = (repeats - 1) * cost;
        double saved = with->fixed + repeats * (usual - cost) - fixed;
        sum += with->fixed + repeats * usual - (fixed + cost + (go < stay ? go : stay));
        sum += saved > 0 ? others * saved : 0;
    }
    return sum / VYRE_GOVERNOR_CASES;
}

/*
 * A candidate of which the device knows only batches that paid the fixed cost, thus only as well as
 * calibration: worth one more batch when that is a small part of what is spent anyway.
 */
static bool worth_confirming(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor *governor = round->governor;
    const struct vyre_candidate_track *track = &round->shape->tracks[i];
    double usual = round->views[base].cost + round->views[base].update;
    double least = round->views[i].overhead / round->views[i].doubt;
    double budget = governor->counters.spent_ns * CONFIRM_SEEN;
    if (round->batch->repeat_hint)
        budget = round->repeats * usual * (double)governor->counters.shapes_kept * CONFIRM_HINTED;
    return i != base && !governor->measured[i] && (track->flags & VYRE_TRACK_ESTIMATED) &&
           round->facts[i].ready && least < usual && (double)track->first_ns <= budget;
}

/*
 * A candidate that no shape has tried gets its one trial, whatever calibration says of it, when that
 * is a small part of the time: calibration may be wrong, and nothing else would show it.
 */
static bool worth_one_try(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor *governor = round->governor;
    const struct vyre_governor_view *view = &round->views[i];
    double usual = round->views[base].cost + round->views[base].update;
    double budget = governor->counters.spent_ns * TRY_SEEN;
    if (round->batch->repeat_hint)
        budget = round->repeats * usual * (double)governor->counters.shapes_kept * TRY_HINTED;
    return !governor->execution[i].count && !view->waiting &&
           !(round->shape->tracks[i].first_ns > 0) &&
           view->fixed + view->cost + view->update <= budget;
}

static uint32_t best_trial(const struct vyre_governor_round *round, uint32_t base)
{
    uint32_t best = round->count;
    double most = 0;
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        if (!view->feasible || can_wait(round, i, base) ||
            (round->shape->tracks[i].flags & VYRE_TRACK_PENDING))
            continue;
        if (worth_confirming(round, i, base))
            return i;
        if (view->known)
            continue;
        double value = trial_value(round, i, base);
        if (value > most) {
            most = value;
            best = i;
        } else if (best == round->count && worth_one_try(round, i, base)) {
            best = i;
        }
    }
    return best;
}

/*
 * Whether the fixed cost, where it is due, could be earned back at all. What no shape has tried is
 * not judged: its calibration may be wrong.
 */
static bool may_pay(const struct vyre_governor_round *round, uint32_t i, double usual)
{
    const struct vyre_governor_view *view = &round->views[i];
    float octaves = view->known ? -VYRE_GOVERNOR_SPREAD_STALE
                                : -(float)(VYRE_GOVERNOR_CASES_BELOW)*view->spread;
    double variable = view->known ? view->cost : view->expect;
    double constant = view->known ? 0 : view->overhead / view->doubt;
    double least = constant + variable * governor_exp(octaves) + view->update;
    return view->fixed <= 0 || !round->governor->execution[i].count ||
           round->repeats * (usual - least) > view->fixed / view->doubt;
}

/* Of those that the budget can pay, the one whose last measurement is oldest. */
static uint32_t best_exploration(const struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_governor_shape *shape = round->shape;
    const struct vyre_governor_counters *counters = &round->governor->counters;
    double part = round->governor->options.explore_bps / 10000.0;
    double own = shape->spent_ns * part - shape->explored_ns;
    double common = counters->spent_ns * part * COMMON_PART - counters->explored_ns;
    double usual = round->views[base].cost + round->views[base].update;
    uint32_t best = round->count;
    if (own <= 0 && common <= 0)
        return best;
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        if (i == base || !view->feasible || (shape->tracks[i].flags & VYRE_TRACK_PENDING))
            continue;
        double excess = view->fixed + view->cost + view->update - usual;
        /* What no shape has tried is a question of the whole device. */
        double allowance = round->governor->execution[i].count ? own : common;
        if (excess > allowance || allowance <= 0 || view->waiting || !may_pay(round, i, usual) ||
            shape->tracks[i].fails > shape->seen / EXPLORE_GAP)
            continue;
        if (best == round->count || shape->tracks[i].last_ns < shape->tracks[best].last_ns)
            best = i;
    }
    return best;
}

/* The least predicted cost, unless it can wait for another shape's finding. */
static uint32_t least_predicted(const struct vyre_governor_round *round)
{
    uint32_t best = round->count;
    for (uint32_t i = 0; i < round->count; i++) {
        if (!round->views[i].feasible)
            continue;
        if (best == round->count || can_wait(round, best, i) ||
            (total(round, i) < total(round, best) && !can_wait(round, i, best)))
            best = i;
    }
    return best < round->count ? best : 0;
}

/* A candidate whose only sample is suspect, where measuring it again is a small part of the time. */
static uint32_t suspect_one(const struct vyre_governor_round *round)
{
    const struct vyre_governor_shape *shape = round->shape;
    double hinted = round->batch->repeat_hint ? round->repeats * CONFIRM_HINTED : 0;
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        const struct vyre_candidate_track *track = &shape->tracks[i];
        double best = shape->chosen ? round->views[shape->current].cost : view->cost;
        double budget = hinted > 0 ? hinted * best : shape->spent_ns * SUSPECT_SEEN;
        if (view->feasible && view->known && (track->flags & VYRE_TRACK_SUSPECT) &&
            !(track->flags & VYRE_TRACK_PENDING) && view->fixed <= 0 && view->cost <= budget)
            return i;
    }
    return round->count;
}

static uint32_t feasible_count(const struct vyre_governor_round *round)
{
    uint32_t feasible = 0;
    for (uint32_t i = 0; i < round->count; i++)
        feasible += round->views[i].feasible;
    return feasible;
}

static struct vyre_governor_pick pick_unmeasured(struct vyre_governor_round *round)
{
    struct vyre_governor_pick pick = {.why = VYRE_WHY_PREDICTED_BEST};
    if (vyre_governor_suppose(round)) {
        pick.base = best_known(round);
        vyre_governor_expect(round, pick.base);
        pick.candidate = best_trial(round, pick.base);
        if (pick.candidate == round->count)
            pick.candidate = pick.base;
        for (uint32_t i = 0; i < round->count; i++)
            round->views[i].known = false;
    } else {
        pick.candidate = pick.base = least_predicted(round);
    }
    if (round->batch->repeat_hint)
        pick.why = VYRE_WHY_HINT;
    return pick;
}

struct vyre_governor_pick vyre_governor_pick_one(struct vyre_governor_round *round)
{
    struct vyre_governor_pick pick = {.candidate = round->count};
    uint32_t base = best_known(round);
    if (base == round->count) {
        pick = pick_unmeasured(round);
    } else {
        vyre_governor_expect(round, base);
        pick.base = base;
        pick.candidate = suspect_one(round);
        if (pick.candidate == round->count)
            pick.candidate = best_trial(round, base);
        pick.why = VYRE_WHY_TRIAL;
        if (pick.candidate < round->count &&
            (round->shape->tracks[pick.candidate].flags & VYRE_TRACK_STALE))
            pick.why = VYRE_WHY_DRIFT_RECHECK;
        if (pick.candidate == round->count) {
            pick.candidate = best_exploration(round, base);
            pick.why = VYRE_WHY_EXPLORE;
        }
        if (pick.candidate == round->count) {
            pick.candidate = base;
            pick.why = VYRE_WHY_MEASURED_BEST;
        }
    }
    if (feasible_count(round) <= 1)
        pick.why = VYRE_WHY_ONLY_FEASIBLE;
    return pick;
}
