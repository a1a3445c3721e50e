/*
 * governor.h: which candidate a batch runs in, from calibration, measurements and expected repeats.
 *
 * Words
 *   candidate   a mode with a variant, by its index in the caller's array (at most 12)
 *   fixed       what the first batch of a shape in a candidate pays once (recording, setup)
 *   overhead    what calibration knows of the others: per batch, command and update
 *   execution   the rest of a batch's time, which only a measurement can tell
 *   expected    how many more batches of the shape there will be: the hint, else as many as seen
 *   trial       a batch in a candidate that was not measured yet
 *   settled     until the shape was seen `check_at` times the choice stands without comparing
 *
 * A data structure and pure arithmetic: no device, thread, clock or I/O. Time is passed in. The same
 * calls give the same choices. All memory is taken at init.
 *
 * Use, per batch:
 *     shape = vyre_governor_see(governor, key);
 *     if (!vyre_governor_settled(shape, &batch, &choice))
 *         ... fill facts ..., vyre_governor_choose(governor, shape, facts, count, &batch, &choice);
 *     ... run it ...
 *     vyre_governor_learn(governor, &sample);      or vyre_governor_abandon when it failed
 * Any number of batches may be in flight between choose and learn, also of one shape. A shape that
 * was forgotten meanwhile is told by its serial; the sample is then only counted.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_GOVERNOR_H
#define VYRE_RUNTIME_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/decision.h>
#include <vyre/hash.h>
#include <vyre/status.h>

#define VYRE_GOVERNOR_SHAPES_DEFAULT  1024
#define VYRE_GOVERNOR_SHAPES_MIN      16
#define VYRE_GOVERNOR_SHAPES_MAX      (1u << 20)
#define VYRE_GOVERNOR_EXPLORE_DEFAULT 300
#define VYRE_GOVERNOR_EXPLORE_MAX     10000

struct vyre_governor_options {
    uint32_t shape_limit; /* 0: 1,024; else 16 to 1,048,576, clamped */
    uint32_t explore_bps; /* of 10,000 of a shape's time; 0: none. Clamped to 10,000 */
};

/* The defaults of a desc that was left zeroed: 1,024 shapes, 3 %. */
struct vyre_governor_options vyre_governor_options_default(void);

/* What is known of one candidate before the batch runs. */
struct vyre_candidate_facts {
    bool feasible;
    bool ready;      /* recorded, resident: the fixed cost is not due now */
    uint16_t reason; /* enum vyre_candidate_reason, when it is not feasible */
    uint64_t fixed_ns;
    uint64_t per_batch_ns;
    uint64_t per_command_ns;
    uint64_t per_update_ns;
    uint64_t execution_ns; /* the shape's, where a store remembers it; 0: not known */
};

struct vyre_governor_batch {
    uint32_t command_count;
    uint32_t update_count; /* commands to be recorded again or patched, in candidates that bake */
    uint32_t repeat_hint;  /* batches of the shape in all; 0: not known */
};

struct vyre_candidate_prediction {
    double predicted_ns; /* this batch, with its share of the fixed cost */
    double measured_ns;  /* 0: not measured */
    uint32_t count;
    uint8_t state;   /* enum vyre_candidate_state */
    uint16_t reason; /* enum vyre_candidate_reason */
};

struct vyre_governor_choice {
    uint8_t candidate;
    uint8_t why; /* enum vyre_decision_why */
    bool settled;
    uint32_t candidate_count; /* 0 when settled: nothing was compared */
    uint64_t serial;          /* names the shape's entry for learn */
    double predicted_ns;
    double update_ns; /* part of it that belongs to updates */
    struct vyre_candidate_prediction candidates[VYRE_CANDIDATES_MAX];
};

struct vyre_governor_sample {
    struct vyre_governor_shape *shape; /* Borrowed */
    uint64_t serial;                   /* from the choice */
    double update_ns;                  /* from the choice */
    uint64_t measured_ns;
    uint64_t now_ns;
    uint8_t candidate;
    uint8_t why;    /* from the choice */
    bool was_first; /* the fixed cost was paid in it */
};

/* What one shape showed in one candidate. */
struct vyre_candidate_track {
    double mean_ns;    /* per batch, without the fixed cost and updates; 0: not known */
    uint64_t last_ns;  /* time of the last measurement */
    float first_ns;    /* of the batch that paid the fixed cost; 0: none yet */
    float fixed_ns;    /* predicted for it */
    float overhead_ns; /* calibrated, at the last comparison */
    float expect_ns;   /* for the next sample, by other shapes; 0: they teach nothing */
    float run_ns;      /* of samples beyond the band: the one nearest to it */
    float back_ns;     /* what coming back to it from another candidate cost last */
    float doubted_ns; /* predicted excess of the trial in flight, if predictions speak against it */
    uint32_t count;   /* samples in mean_ns, saturating */
    uint16_t fails;   /* explorations that changed nothing */
    int8_t run;       /* samples in a row above (+) or below (-) the band */
    uint8_t flags;    /* VYRE_TRACK_... */
};

#define VYRE_TRACK_ESTIMATED 1u /* only the first batch is known, and that the fixed cost is less */
#define VYRE_TRACK_PENDING   2u /* a trial is in flight */
#define VYRE_TRACK_STALE     4u /* measured before the costs drifted */
#define VYRE_TRACK_DROPPED   8u /* measured worse than another */
#define VYRE_TRACK_SUSPECT   16u /* the only sample is far above what was expected */
#define VYRE_TRACK_CONFIRMED 32u /* measured more than in batches that paid the fixed cost */

struct vyre_governor_shape {
    struct vyre_hash128 key;
    uint64_t serial; /* unique over the governor's life; 0: unused entry */
    uint32_t chain;  /* the bucket's next entry + 1 */
    uint32_t newer;  /* neighbours by use, + 1 */
    uint32_t older;
    uint32_t seen;     /* batches so far, saturating */
    uint32_t check_at; /* compare again when seen reaches it */
    uint32_t settled_hint;
    uint32_t settled_updates;
    uint8_t current;
    uint8_t candidate_count;
    uint8_t last;      /* candidate of the last sample, + 1 */
    bool chosen;       /* `current` means something */
    bool detour;       /* the last sample was an exploration */
    double current_ns; /* predicted when it was settled on */
    double current_update_ns;
    double anchor_ns;   /* mean of `current` at the last comparison: drift is told from it */
    double recent_ns;   /* of the last few batches in `current` */
    double pace_ns;     /* mean of `current` when the others were last brought in step with it */
    double spent_ns;    /* in all batches of the shape */
    double coming_ns;   /* in those that the caller announced */
    double explored_ns; /* more than the best would have taken, in explorations */
    struct vyre_candidate_track tracks[VYRE_CANDIDATES_MAX];
};

/* What shapes taught about candidates in general. Logarithms are to base 2. */
struct vyre_governor_lesson {
    float log;       /* running mean */
    float deviation; /* running mean of the distance from it */
    uint32_t count;
};

/* The shape that is finding out about a candidate for all; others wait for it, but not for long. */
struct vyre_governor_probe {
    uint64_t serial; /* 0: none */
    uint64_t since;  /* counters.seen then */
};

/* The try whose time is not known yet. Where several end together, nobody could tell their shares. */
struct vyre_governor_try {
    uint64_t serial; /* 0: none */
    uint64_t since;  /* counters.seen then */
    uint8_t candidate;
};

struct vyre_governor_counters {
    uint64_t seen; /* batches of all shapes */
    uint64_t shapes_kept;
    uint64_t shapes_forgotten;
    uint64_t compared; /* choices that were not settled */
    uint64_t trials;
    uint64_t explorations;
    uint64_t drifts;
    double spent_ns;
    double explored_ns;
    double doubted_ns; /* ... in trials that predictions spoke against */
};

struct vyre_governor {
    struct vyre_allocator allocator;
    struct vyre_governor_options options; /* what the user's became */
    struct vyre_governor_shape *shapes;   /* Owned: options.shape_limit */
    uint32_t *buckets;                    /* Owned: entry + 1, 0 is none */
    uint32_t bucket_mask;
    uint32_t used;
    uint32_t newest; /* by use, + 1 */
    uint32_t oldest;
    uint64_t serials;
    struct vyre_governor_counters counters;
    struct vyre_governor_probe probes[VYRE_CANDIDATES_MAX];
    struct vyre_governor_try trying;
    double coming_ns;                       /* of all shapes */
    uint32_t measured[VYRE_CANDIDATES_MAX]; /* shapes with more than the first batch measured */
    float too_high_log; /* calibration was seen to be too high by this, at worst */
    float too_low_log;
    struct vyre_governor_lesson fixed[VYRE_CANDIDATES_MAX];     /* measured over calibrated */
    struct vyre_governor_lesson overhead[VYRE_CANDIDATES_MAX];  /* ... where it was too high */
    struct vyre_governor_lesson execution[VYRE_CANDIDATES_MAX]; /* ns */
    struct vyre_governor_lesson ratio[VYRE_CANDIDATES_MAX][VYRE_CANDIDATES_MAX]; /* execution */
};

/* `options` may be NULL: the defaults. */
VYRE_NODISCARD enum vyre_status vyre_governor_init(struct vyre_governor *governor,
                                                   const struct vyre_allocator *allocator,
                                                   const struct vyre_governor_options *options);
void vyre_governor_deinit(struct vyre_governor *governor);

/* Bytes that init takes from the allocator. */
size_t vyre_governor_bound(const struct vyre_governor_options *options);

/*
 * The entry of a shape, counted as seen once more and now the most recently used; a new shape may
 * take the place of the least recently used one. Valid until the shape is forgotten.
 */
struct vyre_governor_shape *vyre_governor_see(struct vyre_governor *governor,
                                              struct vyre_hash128 key);

/* The same for an entry that see gave before and whose serial is still the same. */
void vyre_governor_see_again(struct vyre_governor *governor, struct vyre_governor_shape *shape);

/* The entry, not counted; NULL when there is none. */
struct vyre_governor_shape *vyre_governor_find(const struct vyre_governor *governor,
                                               struct vyre_hash128 key);

/* True when the shape's choice stands for this batch: then out_choice holds it, all but the table. */
static inline bool vyre_governor_settled(const struct vyre_governor_shape *shape,
                                         const struct vyre_governor_batch *batch,
                                         struct vyre_governor_choice *out_choice)
{
    if (shape->seen >= shape->check_at || batch->update_count != shape->settled_updates ||
        batch->repeat_hint != shape->settled_hint)
        return false;
    out_choice->candidate = shape->current;
    out_choice->why = VYRE_WHY_MEASURED_BEST;
    out_choice->settled = true;
    out_choice->candidate_count = 0;
    out_choice->serial = shape->serial;
    out_choice->predicted_ns = shape->current_ns;
    out_choice->update_ns = shape->current_update_ns;
    return true;
}

/*
 * Compares all candidates. At least one of `facts` must be feasible; `count` is 1 to 12 and every
 * candidate keeps its index over the governor's life.
 */
void vyre_governor_choose(struct vyre_governor *governor, struct vyre_governor_shape *shape,
                          const struct vyre_candidate_facts *facts, uint32_t count,
                          const struct vyre_governor_batch *batch,
                          struct vyre_governor_choice *out_choice);

void vyre_governor_learn(struct vyre_governor *governor, const struct vyre_governor_sample *sample);

/* The batch gave no measurement: a trial in flight is forgotten, so that it may be made again. */
void vyre_governor_abandon(struct vyre_governor *governor, struct vyre_governor_shape *shape,
                           uint64_t serial, uint8_t candidate);

/* Compares anew at the next batch: call it when the facts of a settled shape changed. */
static inline void vyre_governor_reopen(struct vyre_governor_shape *shape)
{
    shape->check_at = 0;
}

#endif
