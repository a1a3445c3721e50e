/*
 * governor_predict.c: what each candidate is expected to cost.
 *
 * Calibration gives the fixed cost and the overhead; measurements on this device correct both.
 * Execution comes from this unit if it was measured, else from another candidate of this unit, by
 * the ratio that other units had, else from the times of single kernels (execution.h) or from other
 * units.
 */
#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* The factor for a logarithm; ordinary noise counts as none. */
static double free_doubt(float log, const struct vyre_governor_rules *rules)
{
    return log > (float)rules->doubt ? governor_exp(log) : 1;
}

static double first_of(const struct vyre_governor_round *round, uint32_t i)
{
    return (double)round->unit->tracks[i].first_ns * round->scale;
}

static double fixed_of(const struct vyre_governor_round *round, uint32_t i)
{
    return (double)round->unit->tracks[i].fixed_ns * round->scale *
           governor_scale(&round->governor->fixed[i]);
}

/*
 * Only the batch that paid the fixed cost is known. If that cost is the smaller part of it and was
 * checked on this device, the rest is as good as a measurement.
 */
static void look_at_first(const struct vyre_governor_round *round, uint32_t i,
                          struct vyre_governor_view *view)
{
    double first = first_of(round, i);
    double fixed = fixed_of(round, i);
    double rest = first - fixed;
    double least = first - fixed * round->rules->fixed_error * view->too_low;
    view->known = rest > 0 && least >= rest * round->rules->first_rest;
    view->cost = view->known ? rest : 0;
}

/* What the unit has still to pay for the candidate. What is resident serves all shapes at once. */
static double due_of(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_candidate_facts *facts = &round->facts[i];
    double fixed = (double)facts->fixed_ns * governor_scale(&round->governor->fixed[i]);
    return facts->ready ? 0 : facts->resident ? fixed : fixed * round->shapes;
}

/*
 * Nothing that is paid once for a shape is paid for one that has not come back, unless hinted, or
 * unless the shapes for which it was paid before did come back.
 */
static bool is_one_off(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_candidate_facts *facts = &round->facts[i];
    bool stays = facts->resident && round->unit != &round->shape->unit;
    return !facts->ready && facts->fixed_ns > 0 && !stays && round->shape->unit.seen <= 1 &&
           !round->batch->repeat_hint && i != round->batch->verdict &&
           round->governor->unreturned >= round->rules->unreturned;
}

void vyre_governor_look(struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_governor *governor = round->governor;
    const struct vyre_candidate_facts *facts = &round->facts[i];
    const struct vyre_candidate_track *track = &round->unit->tracks[i];
    struct vyre_governor_view *view = &round->views[i];
    *view = (struct vyre_governor_view){.too_high = 1, .too_low = 1};
    view->feasible = facts->feasible && !is_one_off(round, i);
    if (!view->feasible)
        return;
    double commands = (double)round->batch->command_count;
    round->feasible++;
    view->raw_overhead = (double)facts->per_batch_ns + commands * (double)facts->per_command_ns;
    view->overhead = view->raw_overhead * governor_scale(&governor->overhead[i]);
    view->fixed = due_of(round, i);
    view->update = (double)round->batch->update_count * (double)facts->per_update_ns;
    view->known = track->mean_ns > 0 && !(track->flags & VYRE_TRACK_STALE);
    view->cost = governor_usual(track) * round->scale;
    if (!governor->fixed[i].count && !governor->overhead[i].count) {
        view->too_high = free_doubt(governor->too_high_log, round->rules);
        view->too_low = free_doubt(governor->too_low_log, round->rules);
    }
    if (track->flags & VYRE_TRACK_ESTIMATED)
        look_at_first(round, i, view);
}

bool vyre_governor_suppose(struct vyre_governor_round *round)
{
    bool any = false;
    for (uint32_t i = 0; i < round->count; i++) {
        struct vyre_governor_view *view = &round->views[i];
        const struct vyre_governor_lesson *lesson = &round->governor->execution[i];
        double stored = (double)round->facts[i].execution_ns;
        double work = round->facts[i].work_ns;
        double first = first_of(round, i);
        if (!view->feasible)
            continue;
        view->cost = view->overhead;
        view->supposed = lesson->count || stored > 0;
        if (stored > 0 || work > 0)
            view->cost += stored > 0 ? stored : work;
        else if (view->supposed)
            view->cost += governor_exp(lesson->log);
        if (first > 0 && view->cost > first)
            view->cost = first;
        any |= view->supposed;
    }
    for (uint32_t i = 0; any && i < round->count; i++)
        round->views[i].known = round->views[i].supposed;
    return any;
}

double vyre_governor_bound_cost(const struct vyre_governor_round *round, uint32_t i, double cost)
{
    double first = first_of(round, i);
    double least = first - fixed_of(round, i) * round->rules->fixed_error * round->views[i].too_low;
    if (first <= 0)
        return cost;
    if (cost > first)
        return first;
    return cost < least ? least : cost;
}

struct guess {
    float log;
    float octaves;
};

static void take_surer(struct guess *best, float log, float octaves)
{
    if (octaves < best->octaves)
        *best = (struct guess){log, octaves};
}

/*
 * How execution in `i` compares with `base`: on units that ran in both, on any units, or by the times of the
 * kernels; whichever is surest.
 */
static struct guess guess_ratio(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor *governor = round->governor;
    double work = round->facts[i].work_ns, with = round->facts[base].work_ns;
    const struct vyre_governor_lesson *ratio = &governor->ratio[i][base];
    const struct vyre_governor_lesson *own = &governor->execution[i];
    const struct vyre_governor_lesson *other = &governor->execution[base];
    struct guess best = {0, (float)round->rules->unknown};
    if (ratio->count)
        best = (struct guess){ratio->log, ratio->deviation};
    else if (own->count && other->count) /* each may be off */
        best = (struct guess){own->log - other->log, own->deviation + other->deviation};
    if (work > 0 && with > 0)
        take_surer(&best, governor_log(work) - governor_log(with), (float)round->rules->stored);
    return best;
}

static void expect_one(struct vyre_governor_round *round, uint32_t i, uint32_t base,
                       double execution)
{
    struct vyre_governor_view *view = &round->views[i];
    if (round->unit->tracks[i].flags & VYRE_TRACK_STALE) {
        view->expect = view->cost;
        view->overhead = 0;
        view->octaves = (float)round->rules->stale;
        return;
    }
    struct guess guess = guess_ratio(round, i, base);
    double work = round->facts[i].work_ns;
    view->expect = execution * governor_exp(guess.log);
    /* What the kernels alone take: the rest of the base's time is launching, whatever calibration says. */
    if (work > 0 && work < view->expect && guess.octaves >= (float)round->rules->stored)
        view->expect = work;
    view->octaves = guess.octaves;
    if (round->facts[i].execution_ns) {
        view->expect = (double)round->facts[i].execution_ns;
        view->octaves = (float)round->rules->stored;
    }
    view->cost = vyre_governor_bound_cost(round, i, view->overhead + view->expect);
}

void vyre_governor_expect(struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_governor_view *known = &round->views[base];
    double execution = governor_execution(known->cost, known->overhead, round->rules);
    for (uint32_t i = 0; i < round->count; i++) {
        if (round->views[i].feasible && !round->views[i].known)
            expect_one(round, i, base, execution);
    }
}
