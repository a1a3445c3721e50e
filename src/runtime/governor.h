/*
 * governor.h: chooses the candidate of a batch from calibration, measurements and expected repeats.
 *
 * Words
 *   candidate   a mode with a variant, by its index in the caller's array (at most 12)
 *   unit        what is judged together: a shape, or all shapes of a stream while they alternate
 *   window      a run of batches of a unit in one candidate, timed as a whole
 *   fixed       what the first batch of a shape in a candidate pays once (recording, setup)
 *   overhead    the other calibrated costs: per batch, command and update
 *   execution   the rest of a batch's time, which only a measurement can show
 *   expected    how many more batches will come: by the hint, or else as many as seen
 *   try         a window in another candidate than the current one
 *   verdict     the candidate that the policies ask for; it runs until measurements contradict it
 *   evidence    the measurements that the choice rests on: of the shape, of the device, of a store
 *   settled     the choice stands without comparing until the shape was seen `check_at` times
 *
 * A data structure and pure arithmetic: no device, thread, clock or I/O. Time is passed in. The
 * same calls give the same choices. The governor does not know what a candidate is. What is learned
 * about a shape is kept in its entry in shapes.h; all constants are in governor_rules.h.
 *
 * Use, per batch:
 *     shape = vyre_governor_see(governor, key);
 *     if (!vyre_governor_settled(governor, shape, &batch, &choice))
 *         ... fill facts ..., vyre_governor_choose(governor, shape, facts, count, &batch, &choice);
 *     vyre_governor_ran(governor, shape, &choice);
 *     ... run it ...
 *     vyre_governor_learn(governor, &sample);      or vyre_governor_abandon when it failed
 * Any number of batches may be in flight between choose and learn, even of one shape. The reference
 * shows whether its shape was forgotten meanwhile; the sample is then only counted.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_GOVERNOR_H
#define VYRE_RUNTIME_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/decision.h>

#include "runtime/governor_rules.h"
#include "runtime/shapes.h"

#define VYRE_GOVERNOR_EXPLORE_DEFAULT 300
#define VYRE_GOVERNOR_EXPLORE_MAX     10000

/* The batch runs this way in order to find something out. */
static inline bool vyre_why_is_try(enum vyre_why why)
{
    return why == VYRE_WHY_TRIAL || why == VYRE_WHY_EXPLORE || why == VYRE_WHY_DRIFT_RECHECK;
}

/* What is known of one candidate before the batch runs. */
struct vyre_candidate_facts {
    bool feasible;
    bool unbuilt;  /* ... but not for this batch: it must be built first */
    bool ready;    /* recorded, resident: the fixed cost is not due now */
    bool resident; /* once paid, ready for all shapes, until a batch runs in another candidate */
    uint8_t why;   /* enum vyre_why, when it is not feasible */
    uint64_t fixed_ns;
    uint64_t per_batch_ns;
    uint64_t per_command_ns;
    uint64_t per_update_ns;
    uint64_t execution_ns; /* the shape's, if a store remembers it; 0: not known */
    double work_ns; /* predicted execution in the candidate's mode: execution.h; 0: not known */
};

struct vyre_governor_batch {
    uint32_t command_count;
    uint32_t update_count; /* commands to record again or patch, if recordings hold constants */
    uint32_t repeat_hint;  /* batches of the shape in total; 0: not known */
    uint32_t depth;        /* batches in flight before it */
    uint8_t verdict;       /* the candidate that the policies ask for: verdict.h */
    bool unseen;           /* its end will not be observed, so a try would teach nothing */
};

struct vyre_governor_choice {
    uint8_t candidate;
    uint8_t why;      /* enum vyre_why */
    uint8_t evidence; /* enum vyre_evidence */
    bool settled;
    bool changed;                /* another candidate than before runs from now on */
    bool switched;               /* the device's batch before it ran in another candidate */
    bool leads_in;               /* ... and batches in flight did: its time says nothing */
    uint32_t candidate_count;    /* 0 when settled: nothing was compared */
    uint32_t depth;              /* batches in flight before it */
    struct vyre_shape_ref shape; /* for learn */
    double predicted_ns;
    double update_ns; /* part of it that belongs to updates */
    double
        expected_ns; /* predicted_ns, if it rests on times of its kernels or of another candidate; else 0 */
    struct vyre_decision_candidate candidates[VYRE_CANDIDATES_MAX]; /* without mode and variant */
};

struct vyre_governor_sample {
    struct vyre_shape_ref shape; /* from the choice */
    double update_ns;            /* from the choice */
    double expected_ns;          /* from the choice */
    uint64_t measured_ns;        /* of all its batches */
    uint32_t batches;            /* in a row, observed to end together; 0 counts as 1 */
    uint8_t candidate;
    uint8_t why;    /* from the choice */
    bool was_first; /* the fixed cost was paid in it */
    bool switched;  /* from the choice */
    bool leads_in;  /* from the choice */
};

/* What units taught about candidates in general. Logarithms are to base 2. */
struct vyre_governor_lesson {
    float log;       /* running mean */
    float deviation; /* running mean of the distance from it */
    uint32_t count;
};

/* The one try of the device. If there were several, batches would end in groups that mix them. */
struct vyre_governor_try {
    bool is_open;
    bool is_stream; /* all shapes take part, else this one */
    struct vyre_shape_ref shape;
    uint64_t until;  /* counters.seen at which it ends, measured or not */
    uint32_t length; /* at most so many batches that can be measured are submitted for it ... */
    uint32_t run;    /* ... and were, so far */
    uint32_t depth;  /* batches in flight when it began */
    bool is_over;    /* all its batches are submitted */
    bool is_check;   /* its one batch counts although others are in flight */
    uint8_t candidate;
    uint8_t why; /* enum vyre_why */
};

struct vyre_governor_counters {
    uint64_t seen;     /* batches of all shapes */
    uint64_t compared; /* choices that were not settled */
    uint64_t trials;
    uint64_t explorations;
    uint64_t drifts;
    double spent_ns;
    double explored_ns;
};

struct vyre_governor {
    struct vyre_shapes *shapes;              /* Borrowed */
    const struct vyre_governor_rules *rules; /* Borrowed */
    uint32_t explore_bps;                    /* of 10,000 of a unit's time; 0: none */
    struct vyre_governor_counters counters;

    /* The stream. */
    struct vyre_unit stream; /* its times are parts of the shapes' weights */
    bool is_stream;          /* the shapes alternate: the stream is the unit of all */
    uint32_t epoch;          /* changes that concern all shapes: each compares again */
    bool shares;             /* a candidate is resident: it serves all shapes, or none */
    float alternates;        /* how often the next batch is of another shape: 0 to 1 */
    float depth;             /* how often others are in flight */
    uint64_t last_serial;    /* of the shape seen last */
    uint8_t last;            /* the candidate chosen last, + 1 */
    uint32_t unreturned;     /* shapes that were paid for when first seen, and have not come back */
    uint32_t since;          /* batches since a choice changed, or a try began or ended */
    bool pays;               /* ... the first of which pays a fixed cost */
    uint64_t timed_until;    /* counters.seen: every batch is timed until then */
    struct vyre_governor_try trying;

    /* What all units taught. */
    bool measured[VYRE_CANDIDATES_MAX];  /* also in batches that did not pay the fixed cost */
    uint64_t asked[VYRE_CANDIDATES_MAX]; /* until then: the serial of the shape that paid it ... */
    uint64_t asked_at[VYRE_CANDIDATES_MAX]; /* ... and counters.seen then */
    float too_high_log;                     /* the most that calibration was seen to be too high */
    float too_low_log;
    double checked_ns; /* predicted excess of tries that predictions advised against */
    struct vyre_governor_lesson fixed[VYRE_CANDIDATES_MAX];     /* measured over calibrated */
    struct vyre_governor_lesson overhead[VYRE_CANDIDATES_MAX];  /* ... if it was too high */
    struct vyre_governor_lesson execution[VYRE_CANDIDATES_MAX]; /* ns */
    struct vyre_governor_lesson ratio[VYRE_CANDIDATES_MAX][VYRE_CANDIDATES_MAX]; /* execution */
};

/* `explore_bps` is clamped to 10,000. `shapes` outlives the governor. */
void vyre_governor_init(struct vyre_governor *governor, struct vyre_shapes *shapes,
                        uint32_t explore_bps);

/* The entry of a shape, counted as seen once more. Valid until the shape is forgotten. */
struct vyre_shape *vyre_governor_see(struct vyre_governor *governor, struct vyre_hash128 key);

/* The same for an entry that exists. */
void vyre_governor_see_again(struct vyre_governor *governor, struct vyre_shape *shape);

/*
 * The batches of the shape that are expected, this one included: by the hint, or else as many as
 * seen.
 */
static inline uint32_t vyre_governor_repeats(const struct vyre_shape *shape, uint32_t hint)
{
    uint32_t seen = shape->unit.seen;
    return hint >= seen ? hint - seen + 1 : seen;
}

/* The batch will run in `candidate`. Call it once for each batch that is submitted in auto. */
void vyre_governor_ran(struct vyre_governor *governor, const struct vyre_shape *shape,
                       struct vyre_governor_choice *choice);

/* True if the shape's choice stands for this batch: then out_choice holds it, without the table. */
static inline bool vyre_governor_settled(const struct vyre_governor *governor,
                                         struct vyre_shape *shape,
                                         const struct vyre_governor_batch *batch,
                                         struct vyre_governor_choice *out_choice)
{
    if (shape->unit.seen >= shape->check_at || shape->epoch != governor->epoch ||
        batch->update_count != shape->settled_updates || batch->repeat_hint != shape->settled_hint)
        return false;
    out_choice->candidate = shape->settled;
    out_choice->why = shape->settled_why;
    out_choice->evidence = shape->settled_evidence;
    out_choice->settled = true;
    out_choice->changed = false;
    out_choice->candidate_count = 0;
    out_choice->shape = vyre_shape_refer(shape);
    out_choice->depth = batch->depth;
    out_choice->predicted_ns = shape->settled_ns;
    out_choice->update_ns = shape->settled_update_ns;
    out_choice->expected_ns = 0;
    return true;
}

/*
 * Compares all candidates. At least one of `facts` must be feasible; `count` is 1 to 12 and every
 * candidate keeps its index over the governor's life.
 */
void vyre_governor_choose(struct vyre_governor *governor, struct vyre_shape *shape,
                          const struct vyre_candidate_facts *facts, uint32_t count,
                          const struct vyre_governor_batch *batch,
                          struct vyre_governor_choice *out_choice);

void vyre_governor_learn(struct vyre_governor *governor, const struct vyre_governor_sample *sample);

/* The batch did not run: a try in flight is forgotten, so that it can be repeated. */
void vyre_governor_abandon(struct vyre_governor *governor, struct vyre_shape_ref ref,
                           uint8_t candidate);

/* The choice is withdrawn before it ran. This does not count against it. */
void vyre_governor_withdraw(struct vyre_governor *governor, struct vyre_shape_ref ref,
                            uint8_t candidate);

/* The next batch compares again. To be called when the facts of a settled shape changed. */
static inline void vyre_governor_reopen(struct vyre_shape *shape)
{
    shape->check_at = 0;
}

#endif
