/*
 * governor_pick.c: picks the candidate to run.
 *
 * If nothing is measured, the verdict runs. Otherwise the best measured candidate runs, unless the
 * verdict was not tried yet, or a window in another candidate is worth what it costs. What is not
 * measured takes one of a few likely times, and a try is worth the mean of what each would save over
 * the expected repeats. What is measured is looked at again from a budget, ever less often.
 */
#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* The assumed execution times: this many, and how many of them are below the expected one. */
#define CASES       5
#define CASES_BELOW 2

static double each(const struct vyre_governor_round *round, uint32_t i)
{
    return round->views[i].cost + round->views[i].update;
}

uint32_t vyre_governor_window(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_governor_rules *rules = round->rules;
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_candidate_track *track = &round->unit->tracks[i];
    double cost = view->cost + view->update > 1 ? view->cost + view->update : 1;
    double batches = 1 + (uint32_t)(round->batch->depth * rules->window_depth);
    if (view->known && batches * cost < rules->window_ns)
        batches = rules->window_ns / cost + 1;
    double spread =
        round->unit->chosen ? (double)round->unit->tracks[round->unit->current].spread : 0;
    double noise = rules->clearly * spread / rules->resolve;
    double noisy = noise * noise < rules->noisy ? noise * noise : rules->noisy;
    if (batches < noisy)
        batches = noisy;
    for (uint32_t look = 0; look < track->looks; look++)
        batches *= 2;
    return (uint32_t)(batches < rules->window_limit ? batches : rules->window_limit);
}

uint32_t vyre_governor_try_length(const struct vyre_governor_round *round, uint32_t i)
{
    uint32_t due = round->facts[i].ready || round->facts[i].resident ? 0 : round->shapes - 1;
    return vyre_governor_window(round, i) + round->batch->depth + due;
}

/* One try at a time, and none whose end would go unobserved. */
static bool may_try(const struct vyre_governor_round *round)
{
    return !round->batch->unseen && !round->governor->trying.is_open;
}

static double total(const struct vyre_governor_round *round, uint32_t i)
{
    return round->views[i].fixed + round->repeats * each(round, i);
}

/* By more than the margin, and by more than the spread of the windows explains. */
static bool is_clearly_better(const struct vyre_governor_round *round, uint32_t i, uint32_t than)
{
    const struct vyre_candidate_track *tracks = round->unit->tracks;
    double ratio = total(round, i) / total(round, than);
    bool measured = tracks[i].count && tracks[than].count;
    return ratio < 1 - round->rules->margin &&
           (!measured || governor_told_apart(&tracks[i], &tracks[than], ratio, round->rules));
}

/*
 * The cheapest of the known ones; `count` if there is none. What runs stays unless another is
 * clearly better.
 */
static uint32_t best_known(const struct vyre_governor_round *round)
{
    uint32_t current = round->unit->current;
    bool has_current = round->unit->chosen && current < round->count &&
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

/* What is resident leaves when another candidate runs: coming back costs its fixed cost again. */
static double back_ns(const struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_candidate_facts *facts = &round->facts[base];
    return facts->resident && facts->ready
               ? (double)facts->fixed_ns * governor_scale(&round->governor->fixed[base])
               : 0;
}

/* A try of one candidate instead of another. */
struct attempt {
    const struct vyre_governor_round *round;
    uint32_t base;
    double length;  /* batches that it takes */
    double repeats; /* batches that gain from what it shows */
};

static struct attempt attempt_of(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    double repeats = round->repeats;
    /* What no unit has tried is a question for all of them. */
    if (!round->governor->execution[i].count && round->shapes == 1)
        repeats = round->batch->repeat_hint ? repeats * round->governor->shapes->seen_count
                                            : (double)round->governor->counters.seen;
    return (struct attempt){round, base, vyre_governor_try_length(round, i), repeats};
}

/* What it saves if a batch takes `cost` and `fixed` is paid before. */
static double case_value(const struct attempt *attempt, double cost, double fixed)
{
    const struct vyre_governor_view *with = &attempt->round->views[attempt->base];
    double usual = each(attempt->round, attempt->base);
    double after = attempt->repeats - attempt->length;
    double stay = with->fixed + after * usual + back_ns(attempt->round, attempt->base);
    double go = after * cost;
    return with->fixed + attempt->repeats * usual -
           (fixed + attempt->length * cost + (go < stay ? go : stay));
}

/* What a try of `i` instead of `base` saves over the expected repeats, on average. */
static double try_value(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_rules *rules = round->rules;
    const struct vyre_governor_view *view = &round->views[i];
    const struct attempt attempt = attempt_of(round, i, base);
    double sum = 0;
    if (attempt.repeats < attempt.length)
        return 0;
    for (int step = 0; step < CASES; step++) {
        float octaves = (float)(step - CASES_BELOW) * view->octaves;
        double too_high = step < CASES_BELOW ? view->too_high : 1;
        if (octaves > 0)
            octaves *= (float)rules->upward;
        double cost = view->overhead / too_high + view->expect * governor_exp(octaves);
        cost = vyre_governor_bound_cost(round, i, cost) + view->update;
        sum += case_value(&attempt, cost, view->fixed / too_high);
    }
    return sum / CASES;
}

/*
 * Calibration may be wrong, and only a batch can show it. Returns what one batch of `i` would take,
 * if no unit has measured it and it could pay in case calibration is `off` times too high; else 0.
 * One batch is enough to see such an error.
 */
static double check_ns(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_rules *rules = round->rules;
    const struct vyre_governor_view *view = &round->views[i];
    const struct vyre_candidate_track *track = &round->unit->tracks[i];
    double usual = each(round, base);
    double first = (double)track->first_ns * round->scale;
    double fixed = (double)track->fixed_ns * round->scale;
    if (round->governor->measured[i] || view->supposed)
        return 0;
    if (first > 0) { /* the fixed cost is paid: perhaps it was most of that batch */
        double rest =
            first - fixed > first * rules->first_rest ? first - fixed : first * rules->first_rest;
        bool hopeless = view->raw_overhead / rules->off >= usual ||
                        (fixed > 0 && rest - fixed * rules->off >= usual);
        return hopeless || view->fixed > 0 ? 0 : rest;
    }
    double known_off = view->too_high > view->too_low ? view->too_high : view->too_low;
    double saved = round->repeats * (usual - view->overhead / rules->off - view->update) -
                   view->fixed / rules->off;
    double cost = (view->fixed + view->overhead) / known_off + view->expect + view->update;
    double odds = round->batch->repeat_hint ? rules->odds : 0;
    return round->governor->execution[i].count || saved < odds * cost ? 0 : cost;
}

/*
 * Whether such checks may take `more` time. All of them together are limited to a part of the time
 * spent and, if the caller announced it, of the time to come.
 */
static bool affords(const struct vyre_governor_round *round, uint32_t base, double more)
{
    const struct vyre_governor *governor = round->governor;
    double sum = governor->checked_ns + (more > 0 ? more : 0);
    double coming =
        round->repeats * governor->shapes->seen_count / round->shapes * each(round, base);
    if (round->batch->repeat_hint && sum > coming * round->rules->checks_hinted)
        return false;
    double seen = (double)governor->counters.seen;
    double first = seen > round->rules->checks_first ? round->rules->checks_first / seen : 1;
    double part = first * round->rules->checks / round->feasible;
    return sum <= governor->counters.spent_ns * (part + governor->explore_bps / 10000.0);
}

/*
 * Another unit has paid for the candidate, and will soon know what it is worth. Until then, as long
 * as waiting costs less than paying once more, the others wait.
 */
static bool can_wait(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor *governor = round->governor;
    double since = (double)(governor->counters.seen - governor->asked_at[i]);
    return !governor->measured[i] && governor->asked[i] &&
           governor->asked[i] != round->shape->serial &&
           round->views[i].fixed > since * each(round, base);
}

static uint32_t best_trial(const struct vyre_governor_round *round, uint32_t base,
                           struct vyre_governor_pick *pick)
{
    uint32_t best = round->count;
    double most = 0;
    for (uint32_t i = 0; i < round->count; i++) {
        const struct vyre_governor_view *view = &round->views[i];
        if (i == base || !view->feasible || round->unit->seen < round->unit->tracks[i].look_at ||
            can_wait(round, i, base))
            continue;
        double value = view->known ? 0 : try_value(round, i, base);
        double check = check_ns(round, i, base);
        double excess = check + back_ns(round, base) - each(round, base);
        if (value > most) {
            most = value;
            best = i;
            pick->is_check = false;
            pick->excess = 0;
        } else if (best == round->count && check > 0 && affords(round, base, excess)) {
            best = i;
            pick->is_check = true;
            pick->excess = excess > 0 ? excess : 0;
        }
    }
    return best;
}

/*
 * Whether the fixed cost, if it is due, could be earned back if the candidate became faster. If only the batch
 * that paid it before is known, that one may have been far off.
 */
static bool may_pay(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor_view *view = &round->views[i];
    bool estimated = round->unit->tracks[i].flags & VYRE_TRACK_ESTIMATED;
    double faster = estimated ? round->rules->off : governor_exp((float)round->rules->stale);
    double least = view->cost / faster + view->update;
    return view->fixed <= 0 || round->repeats * (each(round, base) - least) > view->fixed;
}

/* What a window of `i` takes beyond the usual, the way back included. */
static double look_excess_ns(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    return round->views[i].fixed + back_ns(round, base) +
           vyre_governor_try_length(round, i) * (each(round, i) - each(round, base));
}

static bool is_due(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_unit *unit = round->unit;
    const struct vyre_governor_view *view = &round->views[i];
    return i != base && view->feasible && view->known && unit->seen >= unit->tracks[i].look_at &&
           unit->seen * round->rules->look_part >= vyre_governor_try_length(round, i) &&
           may_pay(round, i, base);
}

/* Whether it measured better, though not clearly, and the batches to come would repay the look. */
static bool pays_back(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    double gain = each(round, base) - each(round, i);
    return round->governor->explore_bps > 0 && gain > round->rules->margin * each(round, base) &&
           round->repeats * gain > look_excess_ns(round, i, base);
}

/*
 * Of those that are due, one that pays for itself. Otherwise the one that is due for longest, else the
 * cheapest. If the budget cannot pay for it yet, the others wait: else cheap looks would spend what an
 * expensive one needs. They do not wait for one that takes more than the whole budget so far.
 */
static uint32_t best_look(const struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_unit *unit = round->unit;
    double budget_ns = unit->spent_ns * round->governor->explore_bps / 10000.0;
    double left_ns = budget_ns - unit->explored_ns;
    uint32_t best = round->count;
    /* A new choice runs for a window before others are looked at. */
    if (!unit->chosen || unit->current != base)
        return best;
    for (uint32_t i = 0; i < round->count; i++) {
        if (!is_due(round, i, base))
            continue;
        if (pays_back(round, i, base))
            return i;
        if (look_excess_ns(round, i, base) > budget_ns)
            continue;
        uint32_t since = unit->tracks[i].look_at;
        if (best == round->count || since < unit->tracks[best].look_at ||
            (since == unit->tracks[best].look_at && each(round, i) < each(round, best)))
            best = i;
    }
    bool affords =
        best < round->count && left_ns > 0 && look_excess_ns(round, best, base) <= left_ns;
    return affords ? best : round->count;
}

/*
 * Nothing about the unit is measured. What the policies ask for runs, unless other units of the
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
        pick.candidate = may_try(round) ? best_trial(round, best, &pick) : round->count;
        pick.why = VYRE_WHY_TRIAL;
        pick.evidence = round->facts[best].execution_ns || round->facts[verdict].execution_ns
                            ? VYRE_EVIDENCE_STORE
                            : VYRE_EVIDENCE_DEVICE;
    }
    for (uint32_t i = 0; i < round->count; i++)
        round->views[i].known = false;
    pick.opens = pick.candidate < round->count && vyre_why_is_try(pick.why);
    if (pick.candidate < round->count)
        return pick;
    pick.candidate = best;
    pick.why = best == verdict ? VYRE_WHY_VERDICT : VYRE_WHY_PREDICTED_BEST;
    return pick;
}

/* The verdict is not measured for this unit, and no measurement contradicts it. */
static bool verdict_stands(const struct vyre_governor_round *round, uint32_t base)
{
    uint32_t verdict = round->batch->verdict;
    const struct vyre_governor_view *view = &round->views[verdict];
    return verdict != base && view->feasible && !view->known && !can_wait(round, verdict, base) &&
           !(round->unit->tracks[verdict].flags & VYRE_TRACK_STALE) &&
           total(round, verdict) < total(round, base);
}

/* What is worth a try now; `count` if nothing is. */
static uint32_t pick_try(struct vyre_governor_round *round, uint32_t base,
                         struct vyre_governor_pick *pick)
{
    if (!may_try(round))
        return round->count;
    uint32_t tried = best_trial(round, base, pick);
    pick->why = VYRE_WHY_TRIAL;
    if (tried < round->count && (round->unit->tracks[tried].flags & VYRE_TRACK_STALE))
        pick->why = VYRE_WHY_DRIFT_RECHECK;
    if (tried < round->count)
        return tried;
    pick->why = VYRE_WHY_EXPLORE;
    return best_look(round, base);
}

/* The window of a try has begun, and more of its batches are to come. */
static bool continues(const struct vyre_governor_round *round)
{
    const struct vyre_governor *governor = round->governor;
    const struct vyre_governor_try *trying = &governor->trying;
    bool ours = trying->is_stream ? round->unit == &governor->stream
                                  : trying->shape.serial == round->shape->serial;
    return trying->is_open && ours && trying->run < trying->length &&
           trying->candidate < round->count && round->views[trying->candidate].feasible;
}

struct vyre_governor_pick vyre_governor_pick_one(struct vyre_governor_round *round)
{
    struct vyre_governor_pick pick = {.candidate = round->count};
    uint32_t base = best_known(round);
    if (base < round->count)
        vyre_governor_expect(round, base);
    if (continues(round)) {
        pick.candidate = round->governor->trying.candidate;
        pick.base = base < round->count ? base : pick.candidate;
        pick.why = (enum vyre_why)round->governor->trying.why;
        /* The policies may ask for another one by now. */
        if (pick.why == VYRE_WHY_VERDICT && pick.candidate != round->batch->verdict)
            pick.why = VYRE_WHY_TRIAL;
        pick.evidence = VYRE_EVIDENCE_SHAPE;
        pick.continues = true;
        return pick;
    }
    if (base == round->count) {
        pick = pick_unmeasured(round);
    } else {
        pick.base = base;
        pick.evidence = VYRE_EVIDENCE_SHAPE;
        if (verdict_stands(round, base)) {
            pick.candidate = round->batch->verdict;
            pick.why = VYRE_WHY_VERDICT;
            pick.evidence = VYRE_EVIDENCE_NONE;
            pick.opens = may_try(round);
        } else {
            pick.candidate = pick_try(round, base, &pick);
            pick.opens = pick.candidate < round->count;
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
