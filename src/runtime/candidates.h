/*
 * candidates.h: the ways in which a device can run a batch, and what each costs.
 *
 * A candidate is a mode with a variant. Its index stays the same while the device is open, because
 * what is learned about a shape is kept by index.
 *
 * Costs come from the device's calibration, or else from what the backend states for its kind of
 * device. A figure that is lost in noise is only an upper bound: the stated cost counts if it is
 * below the bound, else the bound.
 *
 * What is known about a candidate is kept in five places, under the same index:
 *     of the device   struct vyre_candidate            its costs                              here
 *     of a shape      struct vyre_candidate_track      what it took                           shapes.h
 *     of a batch      struct vyre_candidate_facts      whether it can run, what is unpaid     governor.h
 *     for a choice    struct vyre_governor_view        both, corrected by each other          governor_round.h
 *     in a record     struct vyre_decision_candidate   predicted, measured, why, or why not   vyre/decision.h
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_CANDIDATES_H
#define VYRE_RUNTIME_CANDIDATES_H

#include <vyre/backend.h>
#include <vyre/calibration.h>
#include <vyre/decision.h>

struct vyre_candidate_costs {
    double fixed_batch_ns; /* once per shape (replay), or when nothing is resident (persistent) */
    double fixed_command_ns;
    double batch_ns;
    double command_ns;
    double update_ns; /* per command whose constants changed since last time */
};

/*
 * The errors say by how much each cost may be wrong, to either side. Those of a sum add up. A stated
 * cost may be wrong by as much as itself, a lost one by at least its bound.
 */
struct vyre_candidate {
    enum vyre_mode mode;
    uint32_t variant;
    struct vyre_candidate_costs costs;
    struct vyre_candidate_costs errors;
};

struct vyre_candidates {
    uint32_t count;
    struct vyre_candidate list[VYRE_CANDIDATES_MAX]; /* plain first */
};

/* All modes, including those that the device lacks, each with the variants that it offers. */
void vyre_candidates_init(struct vyre_candidates *candidates,
                          const struct vyre_device_facts *facts);

/* Whether the figure is unknown or lost, so that the stated cost counts; 0: none is stated. */
bool vyre_candidates_take_stated(const struct vyre_cost *cost, double stated_ns);

/* Whether costs of candidates come from the figure. */
bool vyre_candidates_use(enum vyre_cost_id id);

/* Fills the costs and their errors. */
void vyre_candidates_price(struct vyre_candidates *candidates,
                           const struct vyre_device_facts *facts,
                           const struct vyre_calibration *calibration);

#endif
