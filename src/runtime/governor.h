/*
 * governor.h: chooses the candidate of a batch from calibration, measurements and expected repeats.
 *
 * Words
 *   candidate   a mode with a variant, by its index in the caller's array (at most 12)
 *   fixed       what the first batch of a shape in a candidate pays once (recording, setup)
 *   overhead    the other calibrated costs: per batch, command and update
 *   execution   the rest of a batch's time, which only a measurement can show
 *   expected    how many more batches of the shape will come: by the hint, or else as many as seen
 *   trial       a batch in a candidate that was not measured yet
 *   verdict     the candidate that the policies ask for; it runs until measurements contradict it
 *   evidence    the measurements that the choice rests on: of the shape, of the device, of a store
 *   settled     the choice stands without comparing until the shape was seen `check_at` times
 *
 * A data structure and pure arithmetic: no device, thread, clock or I/O. Time is passed in. The
 * same calls give the same choices. What is learned about a shape is kept in its entry in shapes.h.
 *
 * Use, per batch:
 *     shape = vyre_governor_see(governor, key);
 *     if (!vyre_governor_settled(shape, &batch, &choice))
 *         ... fill facts ..., vyre_governor_choose(governor, shape, facts, count, &batch, &choice);
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
    bool unbuilt; /* ... but not for this batch: it must be built first */
    bool ready;   /* recorded, resident: the fixed cost is not due now */
    bool resident; /* once paid, ready for all shapes, until a batch runs in another candidate */
    uint8_t why;  /* enum vyre_why, when it is not feasible */
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
    double work_ns;        /* predicted execution in plain mode: execution.h; 0: not known */
};

struct vyre_governor_choice {
    uint8_t candidate;
    uint8_t why;      /* enum vyre_why */
    uint8_t evidence; /* enum vyre_evidence */
    bool settled;
    bool changed;                /* another candidate than before runs from now on */
    uint32_t candidate_count;    /* 0 when settled: nothing was compared */
    bool switched;               /* the device's batch before it ran in another candidate */
    struct vyre_shape_ref shape; /* for learn */
    double predicted_ns;
    double update_ns; /* part of it that belongs to updates */
    struct vyre_decision_candidate candidates[VYRE_CANDIDATES_MAX]; /* without mode and variant */
};

struct vyre_governor_sample {
    struct vyre_shape_ref shape; /* from the choice */
    double update_ns;            /* from the choice */
    uint64_t measured_ns; /* of all its batches */
    uint64_t now_ns;
    uint32_t batches; /* in a row, observed to end together; 0 counts as 1 */
    uint8_t candidate;
    uint8_t why;    /* from the choice */
    bool was_first; /* the fixed cost was paid in it */
    bool switched;  /* from the choice */
};

/* What shapes taught about candidates in general. Logarithms are to base 2. */
struct vyre_governor_lesson {
    float log;       /* running mean */
    float deviation; /* running mean of the distance from it */
    uint32_t count;
};

/* The shape that tries a candidate on behalf of all; others wait for it, but not for long. */
struct vyre_governor_probe {
    uint64_t serial; /* 0: none */
    uint64_t since;  /* counters.seen then */
};

/*
 * The try whose time is not known yet. If several ended together, their shares could not be
 * separated.
 */
struct vyre_governor_try {
    struct vyre_shape_ref shape; /* that opened the window; zeroed: none */
    uint64_t until;              /* counters.seen at which it ends, measured or not */
    uint32_t window;   /* batches of its window: it runs until they are measured ... */
    uint32_t measured; /* ... of all shapes that take part */
    uint32_t length;   /* at most so many batches are submitted for it ... */
    uint32_t run;      /* ... and were, so far */
    uint8_t candidate;
    uint8_t why; /* enum vyre_why */
};

struct vyre_governor_counters {
    uint64_t seen;     /* batches of all shapes */
    uint64_t compared; /* choices that were not settled */
    uint64_t trials;
    uint64_t explorations;
    uint64_t looked; /* batches in windows of explorations */
    uint64_t drifts;
    double spent_ns;
    double explored_ns;
    double doubted_ns; /* ... in trials that the predictions advised against */
};

struct vyre_governor {
    struct vyre_shapes *shapes; /* Borrowed */
    uint32_t explore_bps;       /* of 10,000 of a shape's time; 0: none */
    struct vyre_governor_counters counters;
    struct vyre_governor_probe probes[VYRE_CANDIDATES_MAX];
    struct vyre_governor_try trying;
    uint64_t last_serial; /* of the shape seen last */
    float alternates;     /* how often the next batch is of another shape: 0 to 1 */
    float share[VYRE_CANDIDATES_MAX]; /* of the last batches, by candidate */
    float back_ns[VYRE_CANDIDATES_MAX]; /* what a batch pays if the one before it ran otherwise */
    float stream_ns[VYRE_CANDIDATES_MAX]; /* per batch, of the shapes that alternate */
    uint8_t leans;       /* the resident candidate that suits them together, + 1; 0: none */
    uint8_t last;        /* the candidate chosen last, + 1 */
    uint32_t unreturned; /* shapes that were paid for when first seen, and have not come back */
    double announced_ns;                    /* coming_ns of all shapes, including forgotten ones */
    uint32_t measured[VYRE_CANDIDATES_MAX]; /* shapes with more than the first batch measured */
    float too_high_log;                     /* the most that calibration was seen to be too high */
    float too_low_log;
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
    return hint >= shape->seen ? hint - shape->seen + 1 : shape->seen;
}

/* The batch will run in `candidate`. Call it once for each batch that is submitted in auto. */
void vyre_governor_ran(struct vyre_governor *governor, const struct vyre_shape *shape,
                       struct vyre_governor_choice *choice);

/* True if the shape's choice stands for this batch: then out_choice holds it, without the table. */
static inline bool vyre_governor_settled(struct vyre_shape *shape,
                                         const struct vyre_governor_batch *batch,
                                         struct vyre_governor_choice *out_choice)
{
    if (shape->seen >= shape->check_at || batch->update_count != shape->settled_updates ||
        batch->repeat_hint != shape->settled_hint)
        return false;
    out_choice->candidate = shape->current;
    out_choice->why = shape->settled_why;
    out_choice->evidence = shape->settled_evidence;
    out_choice->settled = true;
    out_choice->changed = false;
    out_choice->candidate_count = 0;
    out_choice->shape = vyre_shape_refer(shape);
    out_choice->predicted_ns = shape->current_ns;
    out_choice->update_ns = shape->current_update_ns;
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

/* The batch ran, but its cost is not known. A window goes on without it. */
void vyre_governor_miss(struct vyre_governor *governor, struct vyre_shape_ref ref,
                        uint8_t candidate);

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
