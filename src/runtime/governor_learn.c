/*
 * governor_learn.c: turns measurements into what the next choice rests on.
 *
 * Batches of a unit in one candidate make windows. A window inside the band around the mean moves
 * the mean a little. One outside the band changes nothing: it is an outlier, until several in a row
 * lie on the same side, which is drift. Disturbances (preemption, a cold cache) make windows too long,
 * so a lower one is believed sooner: in the current candidate at once while it has few windows, in
 * others when it comes twice.
 */
#include "runtime/governor.h"

#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* ---- Means ------------------------------------------------------------------------------------ */

static bool extends_run(const struct vyre_governor_rules *rules, struct vyre_candidate_track *track,
                        double value_ns)
{
    int side = value_ns > track->mean_ns ? 1 : -1;
    bool same = side > 0 ? track->run > 0 : track->run < 0;
    float value = (float)value_ns;
    bool nearer = side > 0 ? value < track->run_ns : value > track->run_ns;
    if (!same || nearer)
        track->run_ns = value;
    track->run = (int8_t)(same ? track->run + side : side);
    double ratio = (double)track->run_ns / track->mean_ns;
    bool far = ratio > rules->far_off || ratio * rules->far_off < 1;
    /* A mean of few windows is more likely wrong than the machine changed. */
    double least = rules->few > rules->run / 2 ? rules->few : rules->run / 2;
    double needed = far || track->windows <= rules->few ? least : rules->run;
    return (side > 0 ? track->run : -track->run) >= needed;
}

/* A window of n batches is nearer to the mean than a batch by the square root of n. */
static void keep_spread(struct vyre_candidate_track *track, double value_ns, double usual_ns,
                        uint32_t batches, const struct vyre_governor_rules *rules)
{
    float distance = governor_abs((float)(value_ns / usual_ns) - 1.0f);
    float weight = track->windows < rules->memory ? (float)track->windows : (float)rules->memory;
    if (track->windows > 0 && distance < (float)rules->band - 1.0f)
        track->spread += (distance * governor_root((float)batches) - track->spread) / weight;
}

enum fold { FOLD_STAYS, FOLD_REPLACED, FOLD_DRIFTED };

static enum fold fold(const struct vyre_governor_rules *rules, struct vyre_candidate_track *track,
                      double value_ns, uint32_t batches, bool current, double usual_ns)
{
    enum fold result = FOLD_STAYS;
    bool inside =
        value_ns <= track->mean_ns * rules->band && value_ns * rules->band >= track->mean_ns;
    double most = (current ? rules->memory : rules->memory_others) * batches;
    double before = track->count < most ? track->count : most;
    bool early = (track->windows <= rules->few || !current) && !inside && value_ns < track->mean_ns;
    keep_spread(track, value_ns, usual_ns > 0 ? usual_ns : track->mean_ns, batches, rules);
    if (track->count == 0 || early) {
        track->mean_ns = value_ns;
        track->count = 0;
        track->windows = 0;
        track->run = 0;
        result = FOLD_REPLACED;
    } else if (inside) {
        track->mean_ns += (value_ns - track->mean_ns) * batches / (before + batches);
        track->run = 0;
    } else if (extends_run(rules, track, value_ns)) {
        result = track->windows > rules->few ? FOLD_DRIFTED : FOLD_REPLACED;
        track->mean_ns = (double)track->run_ns;
        track->run = 0;
    }
    if (track->run == 0) { /* it is in the mean */
        track->taken_ns = (float)track->mean_ns;
        track->count += track->count < UINT32_MAX - batches ? batches : 0;
        track->windows += track->windows < UINT32_MAX;
    }
    return result;
}

/* ---- What units teach each other -------------------------------------------------------------- */

/* One unit, as its measurements teach others. */
struct teacher {
    struct vyre_governor *governor;
    struct vyre_unit *unit;
    double scale; /* from the unit's times to ns */
    bool decides; /* for its shapes; else it only keeps what it measures */
};

static void doubt(struct vyre_governor *governor, float log)
{
    if (log > governor->too_low_log)
        governor->too_low_log = log;
    if (-log > governor->too_high_log)
        governor->too_high_log = -log;
}

static void fold_lesson(const struct teacher *teacher, struct vyre_governor_lesson *lesson,
                        float log)
{
    governor_lesson_fold(lesson, log, teacher->governor->rules);
}

/* The first batch and the mean show what the fixed cost really was. */
static void teach_fixed(const struct teacher *teacher, uint8_t candidate, bool doubts)
{
    const struct vyre_candidate_track *track = &teacher->unit->tracks[candidate];
    double real_ns = (double)track->first_ns - track->mean_ns;
    if (track->fixed_ns <= 0 || real_ns < track->mean_ns * teacher->governor->rules->difference)
        return;
    float log = governor_log(real_ns) - governor_log((double)track->fixed_ns);
    fold_lesson(teacher, &teacher->governor->fixed[candidate], log);
    if (doubts)
        doubt(teacher->governor, log);
}

/* A batch cannot take less than its overhead, so calibration was too high. */
static void teach_overhead(const struct teacher *teacher, uint8_t candidate)
{
    const struct vyre_candidate_track *track = &teacher->unit->tracks[candidate];
    if ((double)track->overhead_ns <= track->mean_ns)
        return;
    float log = governor_log(track->mean_ns) - governor_log((double)track->overhead_ns);
    fold_lesson(teacher, &teacher->governor->overhead[candidate], log);
    doubt(teacher->governor, log);
}

/* The first real measurement of a candidate on the device replaces what estimates taught. */
static void unlearn(struct vyre_governor *governor, uint8_t candidate)
{
    governor->execution[candidate].count = 0;
    for (uint8_t other = 0; other < VYRE_CANDIDATES_MAX; other++) {
        governor->ratio[candidate][other].count = 0;
        governor->ratio[other][candidate].count = 0;
    }
}

/* How this candidate's execution compares with the others', for later units. */
static void teach_execution(const struct teacher *teacher, uint8_t candidate)
{
    struct vyre_governor *governor = teacher->governor;
    const struct vyre_unit *unit = teacher->unit;
    const struct vyre_candidate_track *track = &unit->tracks[candidate];
    float scale = governor_log(teacher->scale);
    float log = governor_log(
        governor_execution(track->mean_ns, (double)track->overhead_ns, governor->rules));
    fold_lesson(teacher, &governor->execution[candidate], log + scale);
    for (uint8_t other = 0; other < unit->candidate_count; other++) {
        const struct vyre_candidate_track *with = &unit->tracks[other];
        if (other == candidate || with->mean_ns <= 0 || (with->flags & VYRE_TRACK_STALE))
            continue;
        float than = governor_log(
            governor_execution(with->mean_ns, (double)with->overhead_ns, governor->rules));
        fold_lesson(teacher, &governor->ratio[candidate][other], log - than);
        fold_lesson(teacher, &governor->ratio[other][candidate], than - log);
    }
}

static void teach(const struct teacher *teacher, uint8_t candidate)
{
    struct vyre_governor *governor = teacher->governor;
    if (!teacher->decides)
        return;
    teach_fixed(teacher, candidate, true);
    teach_overhead(teacher, candidate);
    if ((teacher->unit->tracks[candidate].flags & VYRE_TRACK_CONFIRMED) &&
        !governor->measured[candidate]) {
        governor->measured[candidate] = true;
        unlearn(governor, candidate);
    }
    teach_execution(teacher, candidate);
}

/* ---- Windows ---------------------------------------------------------------------------------- */

/* The shapes of the unit compare again. */
static void reopen(const struct teacher *teacher, struct vyre_shape *shape)
{
    if (!teacher->decides)
        return;
    if (teacher->unit == &teacher->governor->stream)
        teacher->governor->epoch++;
    else if (shape)
        shape->check_at = 0;
}

/*
 * The costs have changed. By much: the others are as good as unknown. By little: they have moved along,
 * and those that are not far are looked at again as soon as the budget allows.
 */
static void drift(const struct teacher *teacher, uint8_t candidate, bool much)
{
    struct vyre_unit *unit = teacher->unit;
    double reach_ns = unit->tracks[candidate].mean_ns * teacher->governor->rules->pace;
    teacher->governor->counters.drifts++;
    for (uint8_t other = 0; other < unit->candidate_count; other++) {
        struct vyre_candidate_track *track = &unit->tracks[other];
        if (other == candidate || track->mean_ns <= 0 || (!much && track->mean_ns > reach_ns))
            continue;
        track->flags |= much ? VYRE_TRACK_STALE : 0;
        track->look_at = 0;
    }
}

static void keep_recent(const struct vyre_governor_rules *rules, struct vyre_unit *unit,
                        double value_ns)
{
    double most = unit->recent_ns * rules->band;
    double least = unit->recent_ns / rules->band;
    double value = value_ns > most ? most : value_ns < least ? least : value_ns;
    unit->recent_ns += (value - unit->recent_ns) * rules->lately;
}

/* A measurement, adjusted to the pace at which the mean of the current candidate was taken. */
static double in_pace(const struct vyre_governor_rules *rules, const struct vyre_unit *unit,
                      double value_ns)
{
    const struct vyre_candidate_track *track = &unit->tracks[unit->current];
    if (!unit->chosen || unit->recent_ns <= 0 || track->windows < rules->memory)
        return value_ns;
    double factor = track->mean_ns / unit->recent_ns;
    return factor < rules->pace && factor * rules->pace > 1 ? value_ns * factor : value_ns;
}

/*
 * A window that is measured once more before it is believed: a first one, or the first after a drift, that is
 * far above what is expected, because it may have been disturbed, as is a kernel that has just become
 * resident; and one in another candidate than the current that is far below its history, because the end
 * before it may have been seen late.
 */
static bool is_suspect(const struct vyre_governor_rules *rules,
                       const struct vyre_candidate_track *track, double value_ns,
                       double expected_ns, bool current)
{
    double usual_ns = track->flags & VYRE_TRACK_STALE ? track->mean_ns : expected_ns;
    bool is_fresh = track->count == 0 || (track->flags & VYRE_TRACK_STALE);
    bool high = is_fresh && usual_ns > 0 && value_ns > rules->far_off * usual_ns;
    bool low = !is_fresh && !current && value_ns * rules->band < track->mean_ns;
    return (high || low) && !(track->flags & VYRE_TRACK_SUSPECT);
}

/* A window has ended. True if the unit should compare again. */
static bool learn_window(const struct teacher *teacher, uint8_t candidate, double value_ns,
                         uint32_t batches, double expected_ns)
{
    struct vyre_governor *governor = teacher->governor;
    const struct vyre_governor_rules *rules = governor->rules;
    struct vyre_unit *unit = teacher->unit;
    struct vyre_candidate_track *track = &unit->tracks[candidate];
    bool current = unit->chosen && candidate == unit->current;
    if (is_suspect(rules, track, value_ns, expected_ns, current)) {
        track->flags |= VYRE_TRACK_SUSPECT;
        return true;
    }
    if (track->flags & VYRE_TRACK_STALE) { /* before the drift the cost was another */
        track->count = 0;
        track->windows = 0;
        track->again_ns = 0;
        track->again_of = 0;
    }
    bool fresh = track->count == 0;
    track->flags &= (uint8_t) ~(VYRE_TRACK_ESTIMATED | VYRE_TRACK_STALE | VYRE_TRACK_SUSPECT);
    enum fold result = fold(rules, track, current ? value_ns : in_pace(rules, unit, value_ns),
                            batches, current, current ? unit->recent_ns : 0);
    if (current)
        keep_recent(rules, unit, value_ns);
    if (current && result == FOLD_DRIFTED)
        unit->recent_ns = track->mean_ns;
    if (fresh || result == FOLD_REPLACED) {
        if (current && !fresh) /* what it was before was wrong: nothing has moved */
            unit->anchor_ns = unit->recent_ns = unit->pace_ns = track->mean_ns;
        teach(teacher, candidate);
        return true;
    }
    if (!current || unit->anchor_ns <= 0)
        return !current;
    double moved = track->mean_ns / unit->anchor_ns;
    if (result != FOLD_DRIFTED && moved <= rules->wander && moved * rules->wander >= 1)
        return false;
    unit->anchor_ns = track->mean_ns;
    if (moved < 1) /* it became faster: no reason to look at the others */
        return false;
    double part = governor->explore_bps / 10000.0;
    if (result != FOLD_DRIFTED && unit->explored_ns > part * unit->spent_ns)
        return false;
    bool much = moved >= rules->pace || moved * rules->pace <= 1;
    drift(teacher, candidate, much);
    if (much) { /* earlier ratios mean nothing any more */
        unlearn(governor, candidate);
        teach_execution(teacher, candidate);
    }
    return true;
}

/*
 * A window of a candidate that is not the current one has ended. If it tells the two apart, the
 * next look comes when the choice has run twice as often, or later if it is much slower. Otherwise
 * the current one runs for as long, and the next window is twice as long, up to a limit: a tie.
 */
static void plan_look(const struct vyre_governor_rules *rules, struct vyre_unit *unit,
                      uint8_t candidate)
{
    struct vyre_candidate_track *track = &unit->tracks[candidate];
    const struct vyre_candidate_track *current = &unit->tracks[unit->current];
    double ratio = current->mean_ns > 0 && track->mean_ns > 0
                       ? governor_usual(track) / governor_usual(current)
                       : 1;
    double distance = (unit->seen - unit->changed_at) * (ratio < 1 ? 1 : ratio);
    if (distance < track->window)
        distance = track->window;
    if (unit->chosen && current->count > 0 && track->count > 0 && track->looks < rules->doublings &&
        !governor_told_apart(track, current, ratio, rules)) {
        track->looks++;
        distance = track->window;
    } else {
        track->looks = 0;
    }
    track->look_at =
        distance < UINT32_MAX - unit->seen ? unit->seen + (uint32_t)distance : UINT32_MAX;
}

/* What a batch takes usually: in this candidate or, if that is more, in the current one. 0: not known. */
static double usual_of(const struct vyre_unit *unit, const struct vyre_candidate_track *track)
{
    double usual_ns = track->count ? track->mean_ns : 0;
    double current_ns = unit->chosen ? governor_usual(&unit->tracks[unit->current]) : 0;
    return current_ns > usual_ns ? current_ns : usual_ns;
}

/* One disturbed batch does not decide for its whole window. */
static double undisturbed(const struct vyre_governor_rules *rules, const struct vyre_unit *unit,
                          const struct vyre_candidate_track *track, double value_ns)
{
    double most_ns = rules->disturbed * usual_of(unit, track);
    return track->window <= 1 || most_ns <= 0 || value_ns < most_ns ? value_ns : most_ns;
}

/*
 * The mean of the open window. Among few batches a disturbed one looks like a slow candidate; and where
 * most are far above what is usual, that is what they take.
 */
static double window_mean(const struct vyre_governor_rules *rules, const struct vyre_unit *unit,
                          const struct vyre_candidate_track *track)
{
    double raw_ns = (double)track->raw_ns / track->open;
    double mean_ns = (double)track->open_ns / track->open;
    double usual_ns = usual_of(unit, track);
    bool most = usual_ns > 0 && mean_ns > usual_ns * (1 + rules->disturbed) / 2;
    return track->open <= rules->few || most ? raw_ns : mean_ns;
}

/* The window is over, with what was measured of it. `expected_ns` 0: not known. */
static bool close_window(const struct teacher *teacher, uint8_t candidate, double expected_ns)
{
    struct vyre_unit *unit = teacher->unit;
    struct vyre_candidate_track *track = &unit->tracks[candidate];
    uint32_t batches = track->open;
    double mean_ns = batches ? window_mean(teacher->governor->rules, unit, track) : 0;
    bool news = false;
    track->open_ns = 0;
    track->raw_ns = 0;
    track->open = 0;
    if (batches)
        news = learn_window(teacher, candidate, mean_ns, batches, expected_ns);
    bool measures_again = batches > 0 && (track->flags & VYRE_TRACK_SUSPECT);
    if (unit->chosen && candidate != unit->current && !measures_again)
        plan_look(teacher->governor->rules, unit, candidate);
    return news;
}

/* The unit that the try is about; NULL: none is open, or its shape was forgotten. */
static struct vyre_unit *tried_unit(struct vyre_governor *governor)
{
    struct vyre_shape *shape = vyre_shape_get(governor->trying.shape);
    if (!governor->trying.is_open)
        return NULL;
    return governor->trying.is_stream ? &governor->stream : shape ? &shape->unit : NULL;
}

/* What ran before it runs again, and is measured for as long. */
static void close_try(struct vyre_governor *governor, struct vyre_unit *unit,
                      struct vyre_shape *shape)
{
    struct vyre_candidate_track *current = &unit->tracks[unit->current];
    uint32_t window = unit->tracks[governor->trying.candidate].window;
    governor->trying.is_open = false;
    governor->since = governor->trying.is_check ? UINT32_MAX : 0;
    if (unit->chosen && current->window < window)
        current->window = window;
    current->open = 0;
    current->open_ns = 0;
    current->raw_ns = 0;
    governor->timed_until = governor->counters.seen + governor->trying.depth + window;
    const struct teacher teacher = {governor, unit, 1, true};
    reopen(&teacher, shape);
}

void vyre_governor_end_try(struct vyre_governor *governor)
{
    struct vyre_unit *unit = tried_unit(governor);
    struct vyre_shape *shape = vyre_shape_get(governor->trying.shape);
    governor->trying.is_open = unit != NULL;
    if (!unit)
        return;
    const struct teacher teacher = {governor, unit, shape ? shape->weight_ns : 1, false};
    close_window(&teacher, governor->trying.candidate, 0);
    close_try(governor, unit, shape);
}

/* ---- Samples ---------------------------------------------------------------------------------- */

/*
 * A window ends when it has its batches, or when it can no longer win: what it took beyond the
 * current candidate's time is more than chance explains.
 */
static bool is_window_over(const struct vyre_governor_rules *rules, const struct vyre_unit *unit,
                           uint8_t candidate)
{
    const struct vyre_candidate_track *track = &unit->tracks[candidate];
    double usual_ns = unit->chosen ? governor_usual(&unit->tracks[unit->current]) : 0;
    double excess_ns = (double)track->raw_ns - usual_ns * track->open;
    double chance = rules->lost * (double)governor_root((float)(track->window ? track->window : 1));
    bool lost = usual_ns > 0 && excess_ns > chance * usual_ns;
    return track->open >= track->window || lost;
}

/* A batch that paid the fixed cost shows the rest only if the fixed cost is the smaller part. */
static void learn_first(const struct teacher *teacher, uint8_t candidate, double value_ns,
                        double expected_ns, bool leads_in)
{
    struct vyre_governor *governor = teacher->governor;
    const struct vyre_governor_rules *rules = governor->rules;
    struct vyre_candidate_track *track = &teacher->unit->tracks[candidate];
    double fixed_ns = (double)track->fixed_ns * governor_scale(&governor->fixed[candidate]);
    double rest_ns = value_ns - fixed_ns;
    track->first_ns = (float)value_ns;
    track->firsts = (uint8_t)(track->firsts + (track->firsts < UINT8_MAX));
    if (fixed_ns > value_ns) /* it cannot have been as much as calibrated */
        doubt(governor, governor_log(value_ns) - governor_log(fixed_ns));
    if (track->count > 0) {
        if (teacher->decides && !leads_in)
            teach_fixed(teacher, candidate, false);
        return;
    }
    track->mean_ns = rest_ns > value_ns * rules->least ? rest_ns : value_ns * rules->least;
    track->taken_ns = (float)track->mean_ns;
    track->flags |= VYRE_TRACK_ESTIMATED;
    track->flags &= (uint8_t)~VYRE_TRACK_STALE;
    /* Far above what the times of its kernels predict, it was cold: that teaches others nothing. */
    bool is_cold = expected_ns > 0 && value_ns > rules->far_off * expected_ns;
    if (teacher->decides && !is_cold && rest_ns >= fixed_ns * rules->difference)
        teach_execution(teacher, candidate);
}

/* What a look cost beyond the batches that would have run otherwise. */
static void charge(struct vyre_governor *governor, struct vyre_unit *unit, double excess_ns)
{
    if (excess_ns <= 0)
        return;
    unit->explored_ns += excess_ns;
    governor->counters.explored_ns += excess_ns;
}

/*
 * What is paid again and again, as after each pause of a program during which a resident kernel leaves,
 * is part of the candidate's cost: a window is too short to show how often.
 */
static void learn_again(const struct vyre_governor_rules *rules, struct vyre_candidate_track *track,
                        double excess_ns, uint32_t batches)
{
    uint32_t limit = (uint32_t)rules->again_memory;
    track->again_of += batches;
    if (track->again_of > limit)
        track->again_of = limit;
    double part = batches < track->again_of ? (double)batches / track->again_of : 1;
    double each_ns = excess_ns > 0 ? excess_ns / batches : 0;
    track->again_ns += (float)((each_ns - (double)track->again_ns) * part);
}

static void learn_unit(const struct teacher *teacher, struct vyre_shape *shape,
                       const struct vyre_governor_sample *sample)
{
    struct vyre_governor *governor = teacher->governor;
    struct vyre_unit *unit = teacher->unit;
    struct vyre_candidate_track *track = &unit->tracks[sample->candidate];
    uint32_t batches = sample->batches ? sample->batches : 1;
    double each_ns = (double)sample->measured_ns / batches;
    double value_ns = each_ns - sample->update_ns;
    if (value_ns < each_ns * governor->rules->least)
        value_ns = each_ns * governor->rules->least;
    value_ns = (value_ns < 1 ? 1 : value_ns) / teacher->scale;
    bool tried = unit == tried_unit(governor) && governor->trying.candidate == sample->candidate;
    bool current = unit->chosen && unit->current == sample->candidate;
    double usual_ns = unit->chosen ? governor_usual(&unit->tracks[unit->current]) : value_ns;
    bool comes_back = current && sample->was_first && sample->switched && track->first_ns > 0;
    unit->spent_ns += (double)sample->measured_ns;
    if (sample->why == VYRE_WHY_EXPLORE || sample->why == VYRE_WHY_DRIFT_RECHECK || comes_back)
        charge(governor, unit, (value_ns - usual_ns) * teacher->scale * batches);
    /* At first a resident kernel may leave several times until the threads have found their cores. */
    bool settles = tried && track->count == 0 && track->firsts < governor->rules->firsts;
    bool again = sample->was_first && track->first_ns > 0 && (current || tried) &&
                 !sample->switched && !settles;
    if (!sample->was_first || (again && track->count > 0))
        learn_again(governor->rules, track, again ? value_ns - track->mean_ns : 0, batches);
    if (again && track->count > 0)
        return;
    if (sample->was_first && !again) {
        learn_first(teacher, sample->candidate, value_ns, sample->expected_ns / teacher->scale,
                    sample->leads_in);
        if (tried && track->window <= 1)
            close_try(governor, unit, shape);
        reopen(teacher, shape);
        return;
    }
    track->flags |= VYRE_TRACK_CONFIRMED;
    if (sample->leads_in)
        return;
    track->open_ns += (float)(undisturbed(governor->rules, unit, track, value_ns) * batches);
    track->raw_ns += (float)(value_ns * batches);
    track->open += batches;
    if (!is_window_over(governor->rules, unit, sample->candidate))
        return;
    bool news = close_window(teacher, sample->candidate, sample->expected_ns / teacher->scale);
    if (tried)
        close_try(governor, unit, shape);
    else if (news)
        reopen(teacher, shape);
}

void vyre_governor_learn(struct vyre_governor *governor, const struct vyre_governor_sample *sample)
{
    struct vyre_shape *shape = vyre_shape_get(sample->shape);
    governor->counters.spent_ns += (double)sample->measured_ns;
    if (!shape || sample->candidate >= VYRE_CANDIDATES_MAX)
        return;
    const struct teacher own = {governor, &shape->unit, 1, !governor->is_stream};
    const struct teacher stream = {governor, &governor->stream, shape->weight_ns,
                                   governor->is_stream};
    learn_unit(&own, shape, sample);
    if (shape->weight_ns > 0 && governor->shapes->seen_count > 1)
        learn_unit(&stream, shape, sample);
}

/* Whether the batch belongs to the try. */
static bool is_of_try(struct vyre_governor *governor, struct vyre_shape_ref ref, uint8_t candidate)
{
    const struct vyre_governor_try *trying = &governor->trying;
    return trying->is_open && trying->candidate == candidate &&
           (trying->is_stream || trying->shape.serial == ref.serial);
}

void vyre_governor_withdraw(struct vyre_governor *governor, struct vyre_shape_ref ref,
                            uint8_t candidate)
{
    if (is_of_try(governor, ref, candidate))
        governor->trying.is_open = false;
}

void vyre_governor_abandon(struct vyre_governor *governor, struct vyre_shape_ref ref,
                           uint8_t candidate)
{
    struct vyre_unit *unit = tried_unit(governor);
    if (!is_of_try(governor, ref, candidate) || !unit)
        return;
    /* It gave no measurement, and an immediate retry would give none either. */
    unit->tracks[candidate].look_at = unit->seen < UINT32_MAX / 2 ? unit->seen * 2 : UINT32_MAX;
    close_try(governor, unit, vyre_shape_get(ref));
}
