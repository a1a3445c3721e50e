/*
 * governor_predict.c: what each candidate is expected to cost.
 *
 * Calibration gives the fixed cost and the overhead; measurements on this device correct both.
 * Execution comes from this shape if it was measured, else from another candidate of this shape, by
 * the ratio that other shapes had, else from other shapes. Where shapes teach nothing, the times of
 * single kernels do (execution.h).
 */
#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* The fixed cost of a batch may have been this many times the calibrated one. */
#define FIXED_ERROR 1.45
/* Calibration may be off by this many octaves without a sign of it: about 30 %. */
#define DOUBT_FREE 0.6f
/*
 * For this many batches of the device, other shapes wait for the one that tries a candidate first.
 */
#define PROBE_PATIENCE 64u
/* So many shapes may be paid for when they are first seen before one of them came back. */
#define UNRETURNED_LIMIT 16u

/* The factor for a logarithm; ordinary noise counts as none. */
static double free_doubt(float log)
{
    return log > DOUBT_FREE ? governor_exp(log) : 1;
}

static double fixed_of(const struct vyre_governor_round *round, uint32_t i)
{
    return (double)round->shape->tracks[i].fixed_ns * governor_scale(&round->governor->fixed[i]);
}

/*
 * If the fixed cost is the smaller part of the first batch, the rest is as good as a measurement.
 */
static void look_at_first(const struct vyre_governor_round *round, uint32_t i,
                          struct vyre_governor_view *view)
{
    double first = (double)round->shape->tracks[i].first_ns;
    double fixed = fixed_of(round, i);
    double rest = first - fixed;
    double least = first - fixed * FIXED_ERROR * view->error;
    view->known = rest > 0 && least >= rest * 0.25;
    view->cost = view->known ? rest : 0;
}

bool vyre_governor_probed(const struct vyre_governor *governor, const struct vyre_shape *shape,
                          uint32_t i)
{
    const struct vyre_governor_probe *probe = &governor->probes[i];
    return !governor->execution[i].count && probe->serial && probe->serial != shape->serial &&
           governor->counters.seen - probe->since < PROBE_PATIENCE;
}

/*
 * Nothing that is paid once is paid for a shape that has not come back, unless the shapes for which
 * it was paid before did come back.
 */
static bool is_one_off(const struct vyre_governor_round *round)
{
    return round->shape->seen <= 1 && !round->batch->repeat_hint &&
           round->governor->unreturned >= UNRETURNED_LIMIT;
}

/*
 * What a batch in `i` and the batch behind it pay for the change, if shapes alternate and others
 * run otherwise.
 */
static double switching_of(const struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_governor *governor = round->governor;
    if (governor->leans)
        return governor->leans == i + 1 ? 0
                                        : (double)(governor->alternates *
                                                   governor->back_ns[governor->leans - 1]);
    float sum = (1.0f - governor->share[i]) * governor->back_ns[i];
    for (uint32_t j = 0; j < round->count; j++)
        sum += j != i ? governor->share[j] * governor->back_ns[j] : 0.0f;
    return sum > 0 ? (double)(governor->alternates * sum) : 0;
}

void vyre_governor_look(struct vyre_governor_round *round, uint32_t i)
{
    const struct vyre_governor *governor = round->governor;
    const struct vyre_candidate_facts *facts = &round->facts[i];
    const struct vyre_candidate_track *track = &round->shape->tracks[i];
    struct vyre_governor_view *view = &round->views[i];
    *view =
        (struct vyre_governor_view){.feasible = facts->feasible, .doubt = 1, .error = 1, .off = 1};
    if (!facts->ready && facts->fixed_ns > 0 && i != round->batch->verdict && is_one_off(round))
        view->feasible = false;
    if (!view->feasible)
        return;
    double commands = (double)round->batch->command_count;
    round->feasible++;
    view->raw_overhead = (double)facts->per_batch_ns + commands * (double)facts->per_command_ns;
    view->overhead = view->raw_overhead * governor_scale(&governor->overhead[i]);
    view->fixed = facts->ready || governor->leans == i + 1 ? 0 : (double)facts->fixed_ns * governor_scale(&governor->fixed[i]);
    view->update = (double)round->batch->update_count * (double)facts->per_update_ns;
    view->switching = switching_of(round, i);
    view->known = track->mean_ns > 0 && !(track->flags & VYRE_TRACK_STALE);
    view->cost = track->mean_ns;
    if (!governor->fixed[i].count && !governor->overhead[i].count) {
        view->doubt = free_doubt(governor->too_high_log);
        view->error = free_doubt(governor->too_low_log);
        view->off = view->doubt > view->error ? view->doubt : view->error;
    }
    view->waiting = !view->known && vyre_governor_probed(governor, round->shape, i);
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
        double first = (double)round->shape->tracks[i].first_ns;
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
        view->taught = view->supposed;
        any |= view->supposed;
    }
    for (uint32_t i = 0; any && i < round->count; i++)
        round->views[i].known = round->views[i].supposed;
    return any;
}

double vyre_governor_bound_cost(const struct vyre_governor_round *round, uint32_t i, double cost)
{
    const struct vyre_candidate_track *track = &round->shape->tracks[i];
    double first = (double)track->first_ns;
    double fixed = fixed_of(round, i);
    double least = first - fixed * FIXED_ERROR * round->views[i].error;
    if (first <= 0)
        return cost;
    if (cost > first)
        return first;
    return cost < least ? least : cost;
}

struct guess {
    float log;
    float spread;
};

/* How execution in `i` compares with `base`: on shapes that ran in both, else on any. */
static struct guess guess_ratio(const struct vyre_governor_round *round, uint32_t i, uint32_t base)
{
    const struct vyre_governor *governor = round->governor;
    double work = round->facts[i].work_ns, with = round->facts[base].work_ns;
    const struct vyre_governor_lesson *ratio = &governor->ratio[i][base];
    const struct vyre_governor_lesson *own = &governor->execution[i];
    const struct vyre_governor_lesson *other = &governor->execution[base];
    if (ratio->count)
        return (struct guess){.log = ratio->log, .spread = ratio->deviation};
    if (own->count && other->count)
        return (struct guess){.log = own->log - other->log,
                              .spread = own->deviation + other->deviation};
    return (struct guess){.log = work > 0 && with > 0 ? governor_log(work) - governor_log(with) : 0,
                          .spread = VYRE_GOVERNOR_SPREAD_UNKNOWN};
}

void vyre_governor_expect(struct vyre_governor_round *round, uint32_t base)
{
    const struct vyre_governor_view *known = &round->views[base];
    double execution = governor_execution(known->cost, known->overhead);
    for (uint32_t i = 0; i < round->count; i++) {
        struct vyre_governor_view *view = &round->views[i];
        if (!view->feasible || view->known)
            continue;
        if (round->shape->tracks[i].flags & VYRE_TRACK_STALE) {
            view->expect = view->cost;
            view->overhead = 0;
            view->spread = VYRE_GOVERNOR_SPREAD_STALE;
            continue;
        }
        struct guess guess = guess_ratio(round, i, base);
        view->expect = execution * governor_exp(guess.log);
        view->spread = guess.spread;
        view->taught = guess.spread < VYRE_GOVERNOR_SPREAD_UNKNOWN;
        if (round->facts[i].execution_ns) {
            view->expect = (double)round->facts[i].execution_ns;
            view->spread = VYRE_GOVERNOR_SPREAD_STORED;
        }
        view->cost = vyre_governor_bound_cost(round, i, view->overhead + view->expect);
        double rest = round->shape->tracks[i].first_ns - fixed_of(round, i);
        if (view->cost < rest)
            view->cost = rest;
    }
}
