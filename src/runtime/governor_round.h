/*
 * governor_round.h: one comparison of all candidates, as the governor's files see it.
 *
 *   look      the facts, corrected by measurements
 *   suppose   nothing is known about the unit: use what others showed
 *   expect    one candidate is known: derive from it what the others take
 *   pick      the candidate to run
 */
#ifndef VYRE_RUNTIME_GOVERNOR_ROUND_H
#define VYRE_RUNTIME_GOVERNOR_ROUND_H

#include "runtime/governor.h"

/* A candidate as seen for this batch. All costs in ns. */
struct vyre_governor_view {
    bool feasible;
    bool known;          /* `cost` was measured */
    bool supposed;       /* ... on other units */
    double fixed;        /* still to be paid by the unit */
    double raw_overhead; /* as calibrated */
    double overhead;     /* as corrected by what was measured */
    double update;
    double cost;     /* per batch, without update and fixed */
    double expect;   /* of execution, when not known */
    float octaves;   /* between the cases of that */
    double too_high; /* overhead and fixed may be lower by this factor */
    double too_low;  /* ... or higher by this one */
};

struct vyre_governor_round {
    const struct vyre_governor *governor;
    const struct vyre_governor_rules *rules;
    const struct vyre_unit *unit;
    const struct vyre_shape *shape;
    const struct vyre_candidate_facts *facts;
    const struct vyre_governor_batch *batch;
    double scale; /* from the unit's times to the shape's */
    uint32_t count;
    uint32_t shapes; /* of the unit */
    double repeats;  /* expected of the unit, this one included */
    uint32_t feasible;
    struct vyre_governor_view views[VYRE_CANDIDATES_MAX];
};

struct vyre_governor_pick {
    uint32_t candidate;
    enum vyre_why why;
    enum vyre_evidence evidence;
    uint32_t base;  /* the candidate that the others were compared with */
    bool opens;     /* a window of an unmeasured candidate, instead of the measured `base` */
    bool continues; /* ... or such a window goes on */
    bool is_check;  /* a try that predictions advise against: one batch, to check calibration */
    double excess;  /* ... with this predicted excess */
};

/* Fills round->views[i]. */
void vyre_governor_look(struct vyre_governor_round *round, uint32_t i);

/*
 * Nothing about this unit is known. Candidates that other units ran in are assumed to take as long
 * as they did there, and count as known for this choice. False if there are none.
 */
bool vyre_governor_suppose(struct vyre_governor_round *round);

/* Predicts the unknown ones from `base`, by the ratio that other units showed. */
void vyre_governor_expect(struct vyre_governor_round *round, uint32_t base);

/* `cost`, limited to what the batch that paid the fixed cost allows, if there was one. */
double vyre_governor_bound_cost(const struct vyre_governor_round *round, uint32_t i, double cost);

/* Batches of a window of `i`: enough for the clock, for what is in flight and for the doubt. */
uint32_t vyre_governor_window(const struct vyre_governor_round *round, uint32_t i);

/* Batches that a try of `i` takes: those of its window, and those that do not count. */
uint32_t vyre_governor_try_length(const struct vyre_governor_round *round, uint32_t i);

struct vyre_governor_pick vyre_governor_pick_one(struct vyre_governor_round *round);

/* Ends the try, with what was measured of it. */
void vyre_governor_end_try(struct vyre_governor *governor);

#endif
