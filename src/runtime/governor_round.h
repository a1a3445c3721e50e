/*
 * governor_round.h: one comparison of all candidates, as the governor's files see it.
 *
 *   look      the facts, corrected by what was measured
 *   suppose   nothing of the shape is known: take what other shapes showed
 *   expect    one candidate is known: what the others take, from it
 *   pick      the candidate to run
 */
#ifndef VYRE_RUNTIME_GOVERNOR_ROUND_H
#define VYRE_RUNTIME_GOVERNOR_ROUND_H

#include "runtime/governor.h"

/* An unknown execution is supposed to be one of so many multiples of what is expected. */
#define VYRE_GOVERNOR_CASES       5
#define VYRE_GOVERNOR_CASES_BELOW 2 /* of them less than expected */
/* Octaves between the cases, by where the expected execution comes from. */
#define VYRE_GOVERNOR_SPREAD_UNKNOWN 2.0f
#define VYRE_GOVERNOR_SPREAD_STALE   1.0f
#define VYRE_GOVERNOR_SPREAD_STORED  0.5f

/* A candidate as seen for this batch. All costs in ns. */
struct vyre_governor_view {
    bool feasible;
    bool known;    /* `cost` was measured */
    bool supposed; /* ... on other shapes */
    bool taught;   /* `cost` rests on other shapes */
    bool waiting;  /* another shape is finding out */
    double fixed;
    double raw_overhead; /* as calibrated */
    double overhead;     /* as corrected by what was measured */
    double update;
    double cost;   /* per batch, without update and fixed */
    double expect; /* of execution, when not known */
    float spread;
    double doubt; /* overhead and fixed may be less by this factor */
    double error; /* ... or more by this one */
    double off;   /* calibration was seen to be off by this factor, either way */
};

struct vyre_governor_round {
    const struct vyre_governor *governor;
    const struct vyre_shape *shape;
    const struct vyre_candidate_facts *facts;
    const struct vyre_governor_batch *batch;
    uint32_t count;
    double repeats; /* expected, this one included */
    uint32_t feasible;
    struct vyre_governor_view views[VYRE_CANDIDATES_MAX];
};

struct vyre_governor_pick {
    uint32_t candidate;
    enum vyre_why why;
    enum vyre_evidence evidence;
    uint32_t base;  /* that the others were compared with */
    double doubted; /* predicted excess of a trial that predictions speak against */
};

/* Fills round->views[i]. */
void vyre_governor_look(struct vyre_governor_round *round, uint32_t i);

/* True while a shape other than this one finds out about a candidate that nobody knows. */
bool vyre_governor_probed(const struct vyre_governor *governor, const struct vyre_shape *shape,
                          uint32_t i);

/*
 * Nothing of this shape is known: candidates that other shapes ran in are taken to execute as they
 * did there, and count as known for this choice. False when there are none.
 */
bool vyre_governor_suppose(struct vyre_governor_round *round);

/* What the unknown ones take, from what `base` does: by the ratio that other shapes showed. */
void vyre_governor_expect(struct vyre_governor_round *round, uint32_t base);

/* `cost` within what the batch that paid the fixed cost allows, where there was one. */
double vyre_governor_bound_cost(const struct vyre_governor_round *round, uint32_t i, double cost);

struct vyre_governor_pick vyre_governor_pick_one(struct vyre_governor_round *round);

#endif
