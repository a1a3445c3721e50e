/*
 * governor_pick.c: picks the candidate to run.
 *
 * If nothing is measured, the verdict runs. Otherwise the best measured candidate runs, unless the
 * verdict was not tried yet or an unmeasured candidate is worth a trial. For a trial, the execution
 * time is assumed to be one of five equally likely multiples of what is expected: far apart while
 * nothing is known, close when other shapes taught the ratio. The trial is made if the mean saving
 * over the expected repeats exceeds the mean cost. A trial that the predictions advise against is
 * made when the time spent covers it. Last comes exploration, from its own budget.
 */
#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* Another candidate must be better by this factor before the choice changes. */
#define MARGIN 0.97
/* Multiples above the expected value are closer together by this factor: much worse is rare. */
#define UPWARD 0.5f
/* A shape waits for another's finding if its batch costs less than this part of the fixed cost. */
#define WAIT_PART 0.125
/*
 * Limits for all trials together that the predictions advise against: parts of the time spent, and
 * of the announced time. With more candidates than AGAINST_COUNT, less.
 */
#define AGAINST_SEEN   0.6
#define AGAINST_HINTED 0.04
#define AGAINST_COUNT  4u
/* With a hint, such a trial must save this many times its cost if calibration is wrong. */
#define ODDS_HINTED 16.0
/* The part of the time that measuring a suspect sample again may take. */
#define SUSPECT_SEEN   1.0
#define SUSPECT_HINTED 0.02
/* Calibration may be off by this factor without a sign of it. */
#define OFF 12.0
/* At least this part of a first batch is not its fixed cost. */
#define SUNK_LEAST 0.25
/* The part of the budget for candidates that no shape of the device has tried. */
#define COMMON_PART 0.25
/* A window takes at least this long, so that the clock and the hand-over do not matter. */
#define WINDOW_NS 2000.0
/* With batches in flight, a window has at least one more for each of so many. */
#define WINDOW_DEPTH 4u
/* A look takes at most one part in so many of the batches seen. */
#define LOOK_PART 4u
/* Looks may take so many batches of the device beyond their part of all batches. */
#define LOOKED_FREE 64u
/* If shapes alternate, a window has as many batches for each, up to a limit. */
#define WINDOW_ROUNDS 2.0f
#define WINDOW_SHAPES 128u
/* The longest window, in batches. */
#define WINDOW_LIMIT 4096u

uint32_t vyre_governor_window(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_governor_view *view = &round->views[i];
    double cost = view->cost + view->update > 1 ? view->cost + view->update : 1;
    uint32_t batches = 1 + round->batch->depth / WINDOW_DEPTH;
    /* Shapes that alternate take part, each of them more than once. */
    uint32_t round_trip = (uint32_t)(round->governor->alternates * WINDOW_ROUNDS *
                                     (float)round->governor->shapes->seen_count);
    if (batches < round_trip && round->facts[i].resident)
        batches = round_trip < WINDOW_SHAPES ? round_trip : WINDOW_SHAPES;
    if (view->known && batches * cost < WINDOW_NS)
        batches = (uint32_t)(WINDOW_NS / cost) + 1;
    uint32_t looks = round->shape->tracks[i].looks;
    batches <<= looks < 3 ? looks : 3;
    return batches < WINDOW_LIMIT ? batches : WINDOW_LIMIT;
}

uint32_t vyre_governor_length(const struct vyre_governor_round *round, uint32_t window)
{
    /* If shapes alternate, ending too early makes what is resident leave, and the try was in vain. */
    bool alternate = round->governor->alternates > VYRE_GOVERNOR_STREAM;
    return (alternate ? WINDOW_PATIENCE : 1) * (window + round->batch->depth);
}

/* One try at a time, none whose window work that comes back would not fill, and none whose end would go unobserved. */
static bool may_try(const struct vyre_governor_round *round)
{
    const struct vyre_governor *governor = round->governor;
    uint64_t returned = governor->counters.seen - governor->shapes->serials;
    bool fills = round->batch->repeat_hint || returned >= 2 * round->batch->depth;
    return fills && !round->batch->unseen && governor->trying.shape.serial == 0;
}

/*
 * Another shape is trying `i`. Until it knows, `instead` will do if it is cheap compared with the
 * fixed cost.
 */
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
    return view->fixed + round->repeats * (view->cost + view->update + view->switching);
}

/* By more than the margin, and by more than the spread of the windows explains. */
static bool is_clearly_better(const struct vyre_governor_round *round, uint32_t i, uint32_t than)
{
    double ratio = total(round, i) / total(round, than);
    const struct vyre_candidate_track *tracks = round->shape->tracks;
    bool measured = tracks[i].count && tracks[than].count;
    return ratio < MARGIN &&
           (!measured || governor_told_apart(&tracks[i], &tracks[than], ratio));
}

/*
 * The cheapest of the known ones; `count` if there is none. What runs stays unless another is
 * clearly better.
 */
static uint32_t best_known(const struct vyre_governor_round *round)
{
    uint32_t current = round->shape->current;
    bool has_current = round->shape->chosen && current < round->count &&
                       round->views[current].feasible && round->views[current].known;
    uint32_t best = has_current ? current : round->count;
    for (uint32_t i = 0; i < round->count; i++) {
        if (!round->views[i].feasible || !round->views[i].known ||
            (has_current && !is_clearly_better(round, i, current)))
            continue;
        if (best == round->count || total(round, i) < total(round, best))
            best = i;
    }
    return best;
}

/* Batches that a try takes: those of its window, and those that were in flight before. */
static double try_length(const struct vyre_governor_round *round, uint32_t i)
{
    return vyre_governor_window(round, i) + round->batch->depth;
}

/*
 * What a trial of `i` instead of `base` saves, on average over the cases, in this shape over the
 * expected repeats. If no shape has tried it yet, this includes what other shapes may save by the
 * lesson.
 */
static double trial_value(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_governor_view *with = &round->views[base];
    double usual = with->cost + with->update;
    double repeats = round->repeats;
    double length = try_length(round, i);
    double others = 0;
    double sum = 0;
    if (!round->governor->execution[i].count) {
        if (round->batch->repeat_hint)
            others = (double)round->governor->shapes->seen_count - 1;
        else
            repeats = (double)round->governor->counters.seen;
    }
    if (repeats < length)
        return 0;
    for (int step = 0; step < VYRE_GOVERNOR_CASES; step++) {
        float octaves = (float)(step - VYRE_GOVERNOR_CASES_BELOW) * view->spread;
        double doubt = step < VYRE_GOVERNOR_CASES_BELOW ? view->doubt : 1;
        if (octaves > 0)
            octaves *= UPWARD;
        double cost = view->overhead / doubt + view->expect * governor_exp(octaves);
        cost = vyre_governor_bound_cost(round, i, cost) + view->update;
        double fixed = view->fixed / doubt;
        double stay = with->fixed + (repeats - length) * usual; /* after the window */
        double go = (repeats - length) * cost;
        double saved = with->fixed + repeats * (usual - cost) - fixed;
        sum += with->fixed + repeats * usual - (fixed + length * cost + (go < stay ? go : stay));
        sum += saved > 0 ? others * saved : 0;
    }
    return sum / VYRE_GOVERNOR_CASES;
}

/*
 * Whether trials that the predictions advise against may take `more` time. All of them together are
 * limited to a part of the time spent and, if the caller announced it, of the time to come.
 */
static bool affords(const struct vyre_governor_round *round, double more)
{
    const struct vyre_governor *governor = round->governor;
    double sum = governor->counters.doubted_ns + more;
    double share = AGAINST_SEEN;
    if (round->feasible > AGAINST_COUNT)
        share *= (double)AGAINST_COUNT / round->feasible;
    double coming = governor->announced_ns - governor->shapes->forgotten_coming_ns;
    if (round->batch->repeat_hint && sum > coming * AGAINST_HINTED)
        return false;
    return sum <= governor->counters.spent_ns * share;
}

/*
 * The device knows this candidate only from batches that paid the fixed cost, so it knows it only
 * as well as calibration. If that was far too low, the rest of the fixed cost looks like execution.
 * The fixed cost is paid by now, so one more batch shows the truth. It must follow at once, because
 * what is resident may leave when another candidate runs. Returns the expected time of that batch;
 * 0: it is not worth it.
 */
static double confirming(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_candidate_track *track = &round->shape->tracks[i];
    double usual = round->views[base].cost + round->views[base].update;
    double fixed = (double)track->fixed_ns;
    double first = (double)track->first_ns;
    double rest = first - fixed > first * SUNK_LEAST ? first - fixed : first * SUNK_LEAST;
    double seen = track->count ? track->mean_ns : rest;
    bool asked = (track->flags & (VYRE_TRACK_CONFIRMED | VYRE_TRACK_STALE)) ||
                 round->governor->measured[i] || (track->count && round->shape->last != i + 1);
    bool hopeless = view->overhead / OFF >= usual || (fixed > 0 && seen - fixed * OFF >= usual);
    if (i == base || asked || hopeless || !round->facts[i].ready || (fixed <= 0 && first <= 0))
        return 0;
    return seen * try_length(round, i);
}

/*
 * A candidate that no shape has tried gets one trial, whatever calibration says about it, if that
 * is affordable: calibration may be wrong, and nothing else would show it. Returns the cost of the
 * trial; 0: it could not pay even if calibration were OFF times too high.
 */
static double trying(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_view *view = &round->views[i];
    double usual = round->views[base].cost + round->views[base].update;
    double saved =
        round->repeats * (usual - view->overhead / OFF - view->update) - view->fixed / OFF;
    double cost = view->fixed / view->off + try_length(round, i) * (view->overhead / view->off +
                                                                    view->expect + view->update);
    double odds = round->batch->repeat_hint ? ODDS_HINTED : 0;
    if (round->governor->execution[i].count || view->waiting ||
        round->shape->tracks[i].first_ns > 0 || saved < odds * cost)
        return 0;
    return cost;
}

static uint32_t best_trial(const struct vyre_governor_round *round, uint32_t base,
                           double *out_doubted)
{
    const double usual = round->views[base].cost + round->views[base].update -
                         (double)round->shape->tracks[base].back_ns;
    uint32_t best = round->count;
    double most = 0;
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        if (!view->feasible || can_wait(round, i, base) ||
            (round->shape->tracks[i].flags & VYRE_TRACK_PENDING))
            continue;
        double instead = usual * try_length(round, i);
        double cost = confirming(round, i, base);
        if (cost > 0 && affords(round, cost - instead)) {
            *out_doubted = cost > instead ? cost - instead : 0;
            return i;
        }
        if (view->known)
            continue;
        double value = trial_value(round, i, base);
        cost = trying(round, i, base);
        if (value > most) {
            most = value;
            best = i;
            *out_doubted = 0;
        } else if (best == round->count && cost > 0 && affords(round, cost - instead)) {
            best = i;
            *out_doubted = cost > instead ? cost - instead : 0;
        }
    }
    return best;
}

/*
 * Whether the fixed cost, if it is due, could be earned back at all. What no shape has tried is not
 * judged, because its calibration may be wrong.
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

/* Whether a window of `i` is due, and the budget can pay for what it takes beyond the usual. */
static bool may_look(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_shape *shape = round->shape;
    const struct vyre_governor_counters *counters = &round->governor->counters;
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_candidate_track *track = &shape->tracks[i];
    double part = round->governor->explore_bps / 10000.0;
    double usual = round->views[base].cost + round->views[base].update;
    uint32_t window = vyre_governor_window(round, i);
    if (i == base || !view->feasible || view->waiting || (track->flags & VYRE_TRACK_PENDING) ||
        shape->seen < track->look_at || shape->seen < LOOK_PART * window)
        return false;
    /* What no shape has tried is a question for the whole device. */
    double allowance = round->governor->execution[i].count
                           ? shape->spent_ns * part - shape->explored_ns
                           : counters->spent_ns * part * COMMON_PART - counters->explored_ns;
    double excess = view->fixed + (double)shape->tracks[base].back_ns +
                    try_length(round, i) * (view->cost + view->update + view->switching - usual);
    return allowance > 0 && excess <= allowance && may_pay(round, i, usual);
}

/* Of those that may be looked at, the one whose last measurement is oldest. */
static uint32_t best_exploration(const struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_shape *shape = round->shape;
    uint32_t best = round->count;
    /* A new choice runs for a window before others are looked at. */
    if (!shape->chosen || shape->current != base)
        return best;
    const struct vyre_governor_counters *counters = &round->governor->counters;
    if (counters->looked > LOOKED_FREE + counters->seen * round->governor->explore_bps / 10000)
        return best;
    for (uint32_t i = 0; i < round->count; i++) {
        if (may_look(round, i, base) &&
            (best == round->count || shape->tracks[i].last_ns < shape->tracks[best].last_ns))
            best = i;
    }
    return best;
}

/*
 * A candidate whose only sample is suspect, if measuring it again takes a small part of the time.
 */
static uint32_t suspect_one(const struct vyre_governor_round *round)
{
    const struct vyre_shape *shape = round->shape;
    double hinted = round->batch->repeat_hint ? round->repeats * SUSPECT_HINTED : 0;
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

/*
 * Nothing about the shape is measured. What the policies ask for runs, unless other shapes of the
 * device, or an earlier process, measured it and something else was cheaper.
 */
static struct vyre_governor_pick pick_unmeasured(struct vyre_governor_round *round)
{
    uint32_t verdict = round->batch->verdict;
    struct vyre_governor_pick pick = {
        .candidate = verdict, .base = verdict, .why = VYRE_WHY_VERDICT};
    if (!vyre_governor_suppose(round))
        return pick;
    bool measured = round->views[verdict].supposed;
    uint32_t best = best_known(round);
    if (measured) {
        vyre_governor_expect(round, best);
        pick.base = best;
        if (!may_try(round))
            pick.candidate = round->count;
        else
            pick.candidate = best_trial(round, best, &pick.doubted);
        pick.why = VYRE_WHY_TRIAL;
        pick.evidence = round->facts[best].execution_ns || round->facts[verdict].execution_ns
                            ? VYRE_EVIDENCE_STORE
                            : VYRE_EVIDENCE_DEVICE;
    }
    for (uint32_t i = 0; i < round->count; i++)
        round->views[i].known = false;
    if (pick.candidate < round->count)
        return pick;
    pick.candidate = best;
    pick.why = best == verdict ? VYRE_WHY_VERDICT : VYRE_WHY_PREDICTED_BEST;
    return pick;
}

/* The verdict is not measured for this shape, and no measurement contradicts it. */
static bool verdict_stands(const struct vyre_governor_round *round, uint32_t base)
{
    uint32_t verdict = round->batch->verdict;
    const struct vyre_governor_view *view = &round->views[verdict];
    return verdict != base && view->feasible && !view->known &&
           !(round->shape->tracks[verdict].flags & (VYRE_TRACK_PENDING | VYRE_TRACK_STALE)) &&
           total(round, verdict) < total(round, base);
}

/* What is worth a try now; `count` if nothing is. */
static uint32_t pick_try(struct vyre_governor_round *round, uint32_t base,
                         struct vyre_governor_pick *pick)
{
    if (!may_try(round))
        return round->count;
    uint32_t tried = suspect_one(round);
    if (tried == round->count)
        tried = best_trial(round, base, &pick->doubted);
    pick->why = VYRE_WHY_TRIAL;
    if (tried < round->count && (round->shape->tracks[tried].flags & VYRE_TRACK_STALE))
        pick->why = VYRE_WHY_DRIFT_RECHECK;
    if (tried < round->count)
        return tried;
    pick->why = VYRE_WHY_EXPLORE;
    return best_exploration(round, base);
}

/*
 * The window of a try has begun, and more of its batches are to come. Other shapes that would try
 * the same take part, so that shapes that alternate do not drain each other's work.
 */
static bool continues(struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_governor_try *trying = &round->governor->trying;
    uint32_t i = trying->candidate;
    if (trying->shape.serial == 0 || i >= round->count || !round->views[i].feasible ||
        trying->run >= trying->length)
        return false;
    if (base < round->count)
        vyre_governor_expect(round, base);
    if (trying->shape.serial == round->shape->serial)
        return true;
    if (i == base || base >= round->count || round->batch->unseen)
        return false;
    if (round->facts[i].resident && round->governor->alternates > VYRE_GOVERNOR_STREAM)
        return true;
    return round->views[i].known ? may_look(round, i, base) : trial_value(round, i, base) > 0;
}

struct vyre_governor_pick vyre_governor_pick_one(struct vyre_governor_round *round)
{
    struct vyre_governor_pick pick = {.candidate = round->count};
    uint32_t base = best_known(round);
    if (continues(round, base)) {
        pick.candidate = round->governor->trying.candidate;
        pick.base = base < round->count ? base : pick.candidate;
        pick.why = (enum vyre_why)round->governor->trying.why;
        pick.evidence = VYRE_EVIDENCE_SHAPE;
        pick.continues = true;
        return pick;
    }
    if (base == round->count) {
        pick = pick_unmeasured(round);
    } else {
        vyre_governor_expect(round, base);
        pick.base = base;
        pick.evidence = VYRE_EVIDENCE_SHAPE;
        if (verdict_stands(round, base)) {
            pick.candidate = round->batch->verdict;
            pick.why = VYRE_WHY_VERDICT;
            pick.evidence = VYRE_EVIDENCE_NONE;
        } else {
            pick.candidate = pick_try(round, base, &pick);
        }
        if (pick.candidate == round->count) {
            pick.candidate = base;
            pick.why = VYRE_WHY_MEASURED_BEST;
        }
    }
    if (round->feasible <= 1)
        pick.why = VYRE_WHY_ONLY_FEASIBLE;
    return pick;
}
