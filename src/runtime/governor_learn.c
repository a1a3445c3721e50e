/*
 * governor_learn.c: turns one measurement into what the next choice rests on.
 *
 * A sample inside the band around the mean moves the mean a little. One outside the band changes
 * nothing: it is an outlier, until several in a row lie on the same side, which is drift. While
 * there are few samples, a lower one is believed at once, because disturbances of a measurement
 * (preemption, a cold cache) make it too long.
 */
#include "runtime/governor.h"

#include "runtime/governor_math.h"
#include "runtime/governor_round.h"

/* A sample is in the band if it is within this factor of the mean. */
#define BAND 1.5
/* If the mean moves this far from where the choice was made, the choice is made again. */
#define WANDER 1.25
/* ... and this far before what other shapes taught about the candidate is forgotten. */
#define UNLEARN   2.0
#define RUN_LIMIT 4
/* Fewer are enough if all of them are this far away: outliers seldom come in threes. */
#define RUN_LIMIT_FAR 3
#define FAR           4.0
#define MEAN_WINDOW   16u
/* ... for a candidate that is not the current one: its samples are rare and old. */
#define SELDOM_WINDOW 6u
#define FEW           3u
/* A clock stays fast or slow for longer than this many batches. */
#define RECENT_PART (1.0 / 6)
/*
 * A batch that takes this part of the one that paid the fixed cost, or of that cost, may have paid
 * it again.
 */
#define AGAIN_FIRST 0.9
#define AGAIN_FIXED 0.7
/* Windows that cannot tell two candidates apart are doubled so often. */
#define LOOKS_LIMIT 8
/* A window that took this much longer than the current one would have cannot win. */
#define LOST 2.0
#define WORST 64.0
/* The part of a new figure in what coming back to a candidate costs. */
#define BACK_PART 0.25f
#define DISTURBED 1.5

static bool extends_run(struct vyre_candidate_track *track, double value_ns)
{
    int side = value_ns > track->mean_ns ? 1 : -1;
    bool same = side > 0 ? track->run > 0 : track->run < 0;
    float value = (float)value_ns;
    bool nearer = side > 0 ? value < track->run_ns : value > track->run_ns;
    if (!same || nearer)
        track->run_ns = value;
    track->run = (int8_t)(same ? track->run + side : side);
    int length = side > 0 ? track->run : -track->run;
    double far = (double)track->run_ns / track->mean_ns;
    return length >= RUN_LIMIT || (length >= RUN_LIMIT_FAR && (far >= FAR || far * FAR <= 1));
}

/*
 * How far a batch is from the mean, as a part of it: a window of n batches is nearer by the square
 * root of n. Windows outside the band say nothing about that.
 */
static void keep_spread(struct vyre_candidate_track *track, double value_ns, double usual_ns,
                        uint32_t batches)
{
    float distance = governor_abs((float)(value_ns / usual_ns) - 1.0f);
    uint32_t weight = track->windows < MEAN_WINDOW ? track->windows : MEAN_WINDOW;
    if (track->windows > 0 && distance < (float)BAND - 1.0f)
        track->spread += (distance * governor_root((float)batches) - track->spread) / (float)weight;
    track->windows += track->windows < UINT32_MAX;
}

enum fold { FOLD_STAYS, FOLD_REPLACED, FOLD_DRIFTED };

static enum fold fold(struct vyre_candidate_track *track, double value_ns, uint32_t batches,
                      bool current, double usual_ns)
{
    enum fold result = FOLD_STAYS;
    bool inside = value_ns <= track->mean_ns * BAND && value_ns * BAND >= track->mean_ns;
    uint32_t most = (current ? MEAN_WINDOW : SELDOM_WINDOW) * batches;
    uint32_t before = track->count < most ? track->count : most;
    bool early = (track->windows <= FEW || !current) && !inside && value_ns < track->mean_ns;
    keep_spread(track, value_ns, usual_ns > 0 ? usual_ns : track->mean_ns, batches);
    if (track->count == 0 || early) {
        track->mean_ns = value_ns;
        track->count = 0;
        track->run = 0;
        result = FOLD_REPLACED;
    } else if (inside) {
        track->mean_ns += (value_ns - track->mean_ns) * batches / (before + batches);
        track->run = 0;
    } else if (extends_run(track, value_ns)) {
        track->mean_ns = (double)track->run_ns;
        track->run = 0;
        result = FOLD_DRIFTED;
    }
    track->count += track->count < UINT32_MAX - batches ? batches : 0;
    return result;
}

static void doubt(struct vyre_governor *governor, float log)
{
    if (log > governor->too_low_log)
        governor->too_low_log = log;
    if (-log > governor->too_high_log)
        governor->too_high_log = -log;
}

/* The first batch and the mean show what the fixed cost really was. */
static void teach_fixed(struct vyre_governor *governor, struct vyre_candidate_track *track,
                        uint8_t candidate)
{
    double real_ns = (double)track->first_ns - track->mean_ns;
    /* A difference of two noisy times means nothing if it is small compared with them. */
    if (track->fixed_ns <= 0 || real_ns < track->mean_ns * 0.5)
        return;
    float log = governor_log(real_ns) - governor_log((double)track->fixed_ns);
    governor_lesson_fold(&governor->fixed[candidate], log);
    doubt(governor, log);
}

/* A batch cannot take less than its overhead, so calibration was too high. */
static void teach_overhead(struct vyre_governor *governor, const struct vyre_candidate_track *track,
                           uint8_t candidate)
{
    if ((double)track->overhead_ns <= track->mean_ns)
        return;
    float log = governor_log(track->mean_ns) - governor_log((double)track->overhead_ns);
    governor_lesson_fold(&governor->overhead[candidate], log);
    doubt(governor, log);
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

/* A measurement replaces a lesson from an estimate. */
static void correct(struct vyre_governor_lesson *lesson, float log, bool again)
{
    if (again && lesson->count <= 1)
        lesson->count = 0;
    if (!again || governor_abs(log - lesson->log) > LESSON_DEVIATION || !lesson->count)
        governor_lesson_fold(lesson, log);
}

/* How this candidate's execution compares with the others', for later shapes. */
static void teach_execution(struct vyre_governor *governor, const struct vyre_shape *shape,
                            uint8_t candidate, bool again)
{
    const struct vyre_candidate_track *track = &shape->tracks[candidate];
    float log = governor_log(governor_execution(track->mean_ns, (double)track->overhead_ns));
    correct(&governor->execution[candidate], log, again);
    for (uint8_t other = 0; other < shape->candidate_count; other++) {
        const struct vyre_candidate_track *with = &shape->tracks[other];
        if (other == candidate || with->mean_ns <= 0 || (with->flags & VYRE_TRACK_STALE))
            continue;
        float than = governor_log(governor_execution(with->mean_ns, (double)with->overhead_ns));
        correct(&governor->ratio[candidate][other], log - than, again);
        correct(&governor->ratio[other][candidate], than - log, again);
    }
}

static void drift(struct vyre_governor *governor, struct vyre_shape *shape, uint8_t candidate)
{
    governor->counters.drifts++;
    shape->check_at = 0;
    for (uint8_t other = 0; other < shape->candidate_count; other++) {
        struct vyre_candidate_track *track = &shape->tracks[other];
        if (other != candidate && track->mean_ns > 0) {
            track->flags |= VYRE_TRACK_STALE;
            track->flags &= (uint8_t)~VYRE_TRACK_DROPPED;
        }
    }
}

/* Far from what other shapes taught. It may well be an outlier, so it is measured once more. */
static bool suspect(struct vyre_candidate_track *track)
{
    bool far = track->expect_ns > 0 && track->mean_ns > FAR * (double)track->expect_ns;
    track->flags |= far ? VYRE_TRACK_SUSPECT : 0;
    return far;
}

/* A batch that paid the fixed cost shows the rest only if the fixed cost is the smaller part. */
static void learn_first(struct vyre_governor *governor, struct vyre_shape *shape, uint8_t candidate,
                        double value_ns)
{
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    double fixed_ns = (double)track->fixed_ns * governor_scale(&governor->fixed[candidate]);
    double rest_ns = value_ns - fixed_ns;
    track->first_ns = (float)value_ns;
    if (fixed_ns > value_ns) /* it cannot have been as much as calibrated */
        doubt(governor, governor_log(value_ns) - governor_log(fixed_ns));
    if (track->count > 0 || rest_ns < fixed_ns * 0.6)
        return;
    track->mean_ns = rest_ns;
    track->flags |= VYRE_TRACK_ESTIMATED;
    track->flags &= (uint8_t)~VYRE_TRACK_STALE;
    if (!suspect(track))
        teach_execution(governor, shape, candidate, false);
}

static void teach(struct vyre_governor *governor, struct vyre_shape *shape, uint8_t candidate,
                  bool taught)
{
    teach_fixed(governor, &shape->tracks[candidate], candidate);
    teach_overhead(governor, &shape->tracks[candidate], candidate);
    if ((shape->tracks[candidate].flags & VYRE_TRACK_CONFIRMED) &&
        governor->measured[candidate]++ == 0)
        unlearn(governor, candidate);
    teach_execution(governor, shape, candidate, taught);
}

static void keep_recent(struct vyre_shape *shape, double value_ns)
{
    double most = shape->recent_ns * BAND;
    double least = shape->recent_ns * (1 / BAND);
    double value = value_ns > most ? most : value_ns < least ? least : value_ns;
    shape->recent_ns += (value - shape->recent_ns) * RECENT_PART;
}

/* A measurement, adjusted to the pace at which the mean of the current candidate was taken. */
static double in_pace(const struct vyre_shape *shape, double value_ns)
{
    const struct vyre_candidate_track *track = &shape->tracks[shape->current];
    if (!shape->chosen || shape->recent_ns <= 0 || track->windows < MEAN_WINDOW)
        return value_ns;
    double factor = track->mean_ns / shape->recent_ns;
    return factor < GOVERNOR_PACE && factor * GOVERNOR_PACE > 1 ? value_ns * factor : value_ns;
}

static void learn_repeat(struct vyre_governor *governor, struct vyre_shape *shape,
                         uint8_t candidate, double value_ns, uint32_t batches)
{
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    bool fresh = track->count == 0;
    bool again = track->flags & VYRE_TRACK_SUSPECT;
    bool taught = track->flags & VYRE_TRACK_ESTIMATED;
    bool stale = track->flags & VYRE_TRACK_STALE;
    bool far = stale && value_ns > FAR * track->mean_ns;
    if (stale) { /* before the drift the cost was another */
        track->count = 0;
        track->windows = 0;
    }
    track->flags &= (uint8_t) ~(VYRE_TRACK_ESTIMATED | VYRE_TRACK_STALE | VYRE_TRACK_SUSPECT);
    bool current = shape->chosen && candidate == shape->current;
    enum fold result = fold(track, current ? value_ns : in_pace(shape, value_ns), batches, current,
                            current ? shape->recent_ns : 0);
    if (current)
        keep_recent(shape, value_ns);
    if (far) {
        track->flags |= VYRE_TRACK_SUSPECT;
        shape->check_at = 0;
        return;
    }
    bool drifted = result == FOLD_DRIFTED;
    again |= !fresh && result == FOLD_REPLACED;
    if (fresh || again) {
        shape->check_at = 0;
        if (again || !suspect(track))
            teach(governor, shape, candidate, taught && !again);
        return;
    }
    if (!current || shape->anchor_ns <= 0)
        return;
    double moved = track->mean_ns / shape->anchor_ns;
    if (!drifted && moved <= WANDER && moved * WANDER >= 1)
        return;
    shape->anchor_ns = track->mean_ns;
    drift(governor, shape, candidate);
    if (moved >= UNLEARN || moved * UNLEARN <= 1) { /* earlier ratios mean nothing any more */
        unlearn(governor, candidate);
        teach_execution(governor, shape, candidate, false);
    }
}

/* What an exploration cost beyond the batches that would have run otherwise. */
static void charge(struct vyre_governor *governor, struct vyre_shape *shape,
                   const struct vyre_governor_sample *sample, double batches)
{
    double excess_ns =
        (double)sample->measured_ns - batches * shape->tracks[shape->current].mean_ns;
    if (excess_ns <= 0)
        return;
    shape->explored_ns += excess_ns;
    governor->counters.explored_ns += excess_ns;
}

/*
 * If the batch before it ran in another candidate, a batch may have paid the fixed cost once more.
 */
static bool may_hold_fixed(const struct vyre_candidate_track *track, double value_ns)
{
    return value_ns >= AGAIN_FIRST * (double)track->first_ns ||
           value_ns >= AGAIN_FIXED * (double)track->fixed_ns;
}

/* The part of a trial's predicted excess that did not come true. */
static void refund(struct vyre_governor *governor, struct vyre_shape *shape,
                   const struct vyre_governor_sample *sample)
{
    struct vyre_candidate_track *track = &shape->tracks[sample->candidate];
    double excess_ns = (double)sample->measured_ns - shape->tracks[shape->current].mean_ns;
    double rest_ns = (double)track->doubted_ns - (excess_ns > 0 ? excess_ns : 0);
    track->doubted_ns = 0;
    if (rest_ns > 0)
        governor->counters.doubted_ns -= rest_ns;
}

/*
 * The first batch after one in another candidate may pay the fixed cost again, because what was
 * resident is gone. True if it did: its time then says nothing about the batches that follow.
 */
static bool came_back(struct vyre_governor *governor, struct vyre_shape *shape,
                      struct vyre_candidate_track *track, double value_ns)
{
    double more_ns = value_ns - track->mean_ns;
    bool paid = (track->fixed_ns > 0 || track->first_ns > 0) && value_ns > track->mean_ns * BAND &&
                !(track->flags & (VYRE_TRACK_STALE | VYRE_TRACK_SUSPECT));
    track->back_ns = paid ? (float)more_ns : 0;
    if (paid && shape->detour) {
        shape->explored_ns += more_ns;
        governor->counters.explored_ns += more_ns;
    }
    return paid;
}

static void end_try(struct vyre_governor *governor, uint64_t serial, uint8_t candidate)
{
    if (governor->trying.shape.serial == serial && governor->trying.candidate == candidate)
        governor->trying = (struct vyre_governor_try){0};
}

/*
 * A window of a candidate that is not the current one has ended. If it tells the two apart, the
 * next look comes when the shape was seen twice as often. Otherwise the current one runs for as
 * long, and the next window is twice as long, up to a limit: then the two are alike.
 */
static void plan_look(struct vyre_shape *shape, uint8_t candidate)
{
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    const struct vyre_candidate_track *current = &shape->tracks[shape->current];
    double worse = current->mean_ns > 0 ? track->mean_ns / current->mean_ns - 1 : 0;
    worse = worse < 0 ? 0 : worse < WORST ? worse : WORST;
    double far = shape->seen * (1 + worse);
    uint32_t distance = far < UINT32_MAX / 2 ? (uint32_t)far : UINT32_MAX / 2;
    if (shape->chosen && candidate != shape->current && current->count > 0 &&
        !governor_told_apart(track, current, track->mean_ns / current->mean_ns) &&
        track->looks < LOOKS_LIMIT) {
        track->looks++;
        distance = track->window;
    } else {
        track->looks = 0;
    }
    track->look_at = shape->seen < UINT32_MAX - distance ? shape->seen + distance : UINT32_MAX;
}

/* A window ends when it has its batches, or when it can no longer win. */
static bool is_window_over(const struct vyre_shape *shape, uint8_t candidate)
{
    const struct vyre_candidate_track *track = &shape->tracks[candidate];
    double usual_ns = shape->chosen ? shape->tracks[shape->current].mean_ns : 0;
    bool lost = candidate != shape->current && usual_ns > 0 &&
                (double)track->open_ns > LOST * usual_ns * track->window;
    return track->open >= track->window || lost;
}

/*
 * A batch that another program disturbed counts as one that is slow, so that it does not decide
 * for its whole window.
 */
static double undisturbed(const struct vyre_shape *shape, const struct vyre_candidate_track *track,
                          double value_ns)
{
    double usual_ns = track->count ? track->mean_ns : 0;
    double current_ns = shape->chosen ? shape->tracks[shape->current].mean_ns : 0;
    if (current_ns > usual_ns)
        usual_ns = current_ns;
    if (track->window <= 1 || usual_ns <= 0 || value_ns < DISTURBED * usual_ns)
        return value_ns;
    return DISTURBED * usual_ns;
}

/* The window is over, with what was measured of it. */
static void close_window(struct vyre_governor *governor, struct vyre_shape *shape,
                         uint8_t candidate)
{
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    uint32_t batches = track->open;
    double mean_ns = batches ? (double)track->open_ns / batches : 0;
    bool tried = track->flags & VYRE_TRACK_PENDING;
    track->open_ns = 0;
    track->open = 0;
    end_try(governor, shape->serial, candidate);
    track->flags &= (uint8_t)~VYRE_TRACK_PENDING;
    if (batches)
        learn_repeat(governor, shape, candidate, mean_ns, batches);
    if (candidate != shape->current || !shape->chosen)
        plan_look(shape, candidate);
    if (tried && shape->seen < UINT32_MAX - track->window)
        shape->timed_until = shape->seen + track->window;
}

/* The try is over, with what was measured of it. */
static void end_window(struct vyre_governor *governor)
{
    const struct vyre_governor_try trying = governor->trying;
    struct vyre_shape *shape = vyre_shape_get(trying.shape);
    if (shape)
        close_window(governor, shape, trying.candidate);
    governor->trying = (struct vyre_governor_try){0};
}

void vyre_governor_expire(struct vyre_governor *governor)
{
    if (governor->trying.shape.serial && governor->counters.seen > governor->trying.until)
        end_window(governor);
}

static void learn_window(struct vyre_governor *governor, struct vyre_shape *shape,
                         uint8_t candidate, double value_ns, uint32_t batches)
{
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    track->open_ns += (float)(undisturbed(shape, track, value_ns) * batches);
    track->open += batches;
    if (is_window_over(shape, candidate))
        close_window(governor, shape, candidate);
    struct vyre_governor_try *trying = &governor->trying;
    if (trying->shape.serial == 0 || trying->candidate != candidate)
        return;
    trying->measured += batches;
    if (trying->measured >= trying->window)
        end_window(governor);
}

/*
 * A batch of a try says nothing about those that follow, because it paid something that they do
 * not. The window goes on without it, unless it was the last.
 */
static void skip_batch(struct vyre_governor *governor, struct vyre_shape *shape, uint8_t candidate)
{
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    if ((track->flags & VYRE_TRACK_PENDING) && track->window <= 1)
        close_window(governor, shape, candidate);
}

void vyre_governor_learn(struct vyre_governor *governor, const struct vyre_governor_sample *sample)
{
    struct vyre_shape *shape = vyre_shape_get(sample->shape);
    uint32_t batches = sample->batches ? sample->batches : 1;
    double measured_ns = (double)sample->measured_ns;
    governor->counters.spent_ns += measured_ns;
    if (!shape || sample->candidate >= VYRE_CANDIDATES_MAX) {
        end_try(governor, sample->shape.serial, sample->candidate);
        return;
    }
    struct vyre_candidate_track *track = &shape->tracks[sample->candidate];
    shape->spent_ns += measured_ns;
    track->last_ns = sample->now_ns;
    if (sample->why == VYRE_WHY_EXPLORE)
        charge(governor, shape, sample, batches);
    if (track->doubted_ns > 0)
        refund(governor, shape, sample);
    double value_ns = measured_ns / batches - sample->update_ns;
    if (value_ns < measured_ns / batches * 0.25) /* the updates were cheaper than calibrated */
        value_ns = measured_ns / batches * 0.25;
    if (value_ns < 1)
        value_ns = 1;
    bool follows = shape->last == sample->candidate + 1;
    bool back = shape->last && !follows && !sample->was_first && track->count > 0;
    if (!sample->was_first && (follows || !may_hold_fixed(track, value_ns)))
        track->flags |= VYRE_TRACK_CONFIRMED;
    shape->last = (uint8_t)(sample->candidate + 1);
    /* What the running choice pays again and again is part of its cost. */
    bool again = sample->was_first && track->first_ns > 0 && shape->chosen &&
                 shape->current == sample->candidate && !(track->flags & VYRE_TRACK_PENDING) &&
                 !sample->switched;
    if (sample->was_first && sample->switched && track->first_ns > 0 && track->count > 0) {
        float *back_ns = &governor->back_ns[sample->candidate];
        float more_ns = value_ns > track->mean_ns ? (float)(value_ns - track->mean_ns) : 0;
        *back_ns += (more_ns - *back_ns) * (*back_ns > 0 ? BACK_PART : 1.0f);
    }
    if (sample->was_first && !again) {
        learn_first(governor, shape, sample->candidate, value_ns);
        skip_batch(governor, shape, sample->candidate);
    } else if (again || !back || !came_back(governor, shape, track, value_ns)) {
        learn_window(governor, shape, sample->candidate, value_ns, batches);
    } else {
        skip_batch(governor, shape, sample->candidate);
    }
    shape->detour = sample->why == VYRE_WHY_EXPLORE;
}

void vyre_governor_withdraw(struct vyre_governor *governor, struct vyre_shape_ref ref,
                            uint8_t candidate)
{
    struct vyre_shape *shape = vyre_shape_get(ref);
    end_try(governor, ref.serial, candidate);
    if (!shape || candidate >= VYRE_CANDIDATES_MAX)
        return;
    struct vyre_candidate_track *track = &shape->tracks[candidate];
    track->flags &= (uint8_t)~VYRE_TRACK_PENDING;
    governor->counters.doubted_ns -= (double)track->doubted_ns;
    track->doubted_ns = 0;
}

void vyre_governor_miss(struct vyre_governor *governor, struct vyre_shape_ref ref,
                        uint8_t candidate)
{
    struct vyre_shape *shape = vyre_shape_get(ref);
    if (!shape)
        end_try(governor, ref.serial, candidate);
}

void vyre_governor_abandon(struct vyre_governor *governor, struct vyre_shape_ref ref,
                           uint8_t candidate)
{
    struct vyre_shape *shape = vyre_shape_get(ref);
    if (shape && candidate < VYRE_CANDIDATES_MAX) {
        /* It gave no measurement, and an immediate retry would give none either. */
        struct vyre_candidate_track *track = &shape->tracks[candidate];
        if (track->flags & VYRE_TRACK_PENDING)
            track->look_at = shape->seen < UINT32_MAX / 2 ? shape->seen * 2 : UINT32_MAX;
        track->open = 0;
        track->open_ns = 0;
    }
    vyre_governor_withdraw(governor, ref, candidate);
}
