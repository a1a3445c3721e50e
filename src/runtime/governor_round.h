/*
 * governor_round.h: one comparison of all candidates, as the governor's files see it.
 *
 *   look      the facts, corrected by measurements
 *   suppose   nothing is known about the shape: use what other shapes showed
 *   expect    one candidate is known: derive from it what the others take
 *   pick      the candidate to run
 */
#ifndef VYRE_RUNTIME_GOVERNOR_ROUND_H
#define VYRE_RUNTIME_GOVERNOR_ROUND_H

#include "runtime/governor.h"

/* An unknown execution time is assumed to be one of this many multiples of the expected one. */
#define VYRE_GOVERNOR_CASES       5
#define VYRE_GOVERNOR_CASES_BELOW 2 /* this many of them are less than expected */
/* Octaves between the cases, by the source of the expected execution time. */
#define VYRE_GOVERNOR_SPREAD_UNKNOWN 2.0f
#define VYRE_GOVERNOR_SPREAD_STALE   1.0f
#define VYRE_GOVERNOR_SPREAD_STORED  0.5f

/* If a window is not measured after so many times its batches and those in flight, it ends. */
#define WINDOW_PATIENCE 4u

/* From this part of changes on, the shapes of a stream alternate. */
#define VYRE_GOVERNOR_STREAM 0.5f

/* A candidate as seen for this batch. All costs in ns. */
struct vyre_governor_view {
    bool feasible;
    bool known;    /* `cost` was measured */
    bool supposed; /* ... on other shapes */
    bool taught;   /* `cost` comes from other shapes */
    bool waiting;  /* another shape is trying it */
    double fixed;
    double raw_overhead; /* as calibrated */
    double overhead;     /* as corrected by what was measured */
    double update;
    double switching; /* per batch, if other shapes run in other candidates */
    double cost;   /* per batch, without update and fixed */
    double expect; /* of execution, when not known */
    float spread;
    double doubt; /* overhead and fixed may be lower by this factor */
    double error; /* ... or higher by this one */
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
    uint32_t base;  /* the candidate that the others were compared with */
    bool continues; /* the window of a try that has begun */
    double doubted; /* predicted excess of a trial that the predictions advise against */
};

/* Fills round->views[i]. */
void vyre_governor_look(struct vyre_governor_round *round, uint32_t i);

/* True while another shape tries a candidate that no shape knows. */
bool vyre_governor_probed(const struct vyre_governor *governor, const struct vyre_shape *shape,
                          uint32_t i);

/*
 * Nothing about this shape is known. Candidates that other shapes ran in are assumed to take as
 * long as they did there, and count as known for this choice. False if there are none.
 */
bool vyre_governor_suppose(struct vyre_governor_round *round);

/* Predicts the unknown ones from `base`, by the ratio that other shapes showed. */
void vyre_governor_expect(struct vyre_governor_round *round, uint32_t base);

/* `cost`, limited to what the batch that paid the fixed cost allows, if there was one. */
double vyre_governor_bound_cost(const struct vyre_governor_round *round, uint32_t i, double cost);

/* Ends the window of a try that could not be measured. */
void vyre_governor_expire(struct vyre_governor *governor);

/* Batches of a window of `i`: enough for the clock, for what is in flight and for the doubt. */
uint32_t vyre_governor_window(const struct vyre_governor_round *round, uint32_t i);

/* The batches that are submitted for such a window at most. */
uint32_t vyre_governor_length(const struct vyre_governor_round *round, uint32_t window);

struct vyre_governor_pick vyre_governor_pick_one(struct vyre_governor_round *round);

#endif
