/*
 * decide.h: in which mode a batch in auto runs: where a decision is made.
 */
#ifndef VYRE_RUNTIME_DECIDE_H
#define VYRE_RUNTIME_DECIDE_H

#include "runtime/batch.h"
#include "runtime/governor.h"
#include "runtime/internal.h"

/* The batch runs so to find something out, and that is worth knowing. */
static inline bool vyre_why_is_try(enum vyre_decision_why why)
{
    return why == VYRE_WHY_TRIAL || why == VYRE_WHY_EXPLORE || why == VYRE_WHY_DRIFT_RECHECK;
}

struct vyre_mode_choice {
    enum vyre_mode mode;
    enum vyre_mode wanted;
    enum vyre_mode_reason reason;
    uint32_t variant;
};

/*
 * The choice for one submission of the body. `out_governed` says what the governor considered and
 * names the shape's entry, which must be told how it went: see measure.h. The caller holds the
 * device's lock.
 */
void vyre_decide_mode_locked(struct vyre_device *device, struct vyre_body *body,
                             uint32_t repeat_hint, struct vyre_mode_choice *out_choice,
                             struct vyre_governor_choice *out_governed);

/* What the six policies are asked. */
struct vyre_policy_inputs {
    struct vyre_persistent_kernel_input persistent_kernel;
    struct vyre_command_reuse_input command_reuse;
    struct vyre_bindless_input bindless;
    struct vyre_trace_jit_input trace_jit;
};

/* ... for this batch, expecting so many repeats. */
void vyre_decide_inputs(const struct vyre_device *device, const struct vyre_body *body,
                        uint32_t repeats, struct vyre_policy_inputs *out);

/* All six verdicts; the note holds the two that come from the plan. */
struct vyre_bundle vyre_decide_verdicts(const struct vyre_policy_inputs *inputs,
                                        const struct vyre_shape_note *note);

/* The mode that the verdicts ask for. */
enum vyre_mode vyre_decide_wanted(const struct vyre_bundle *verdicts);

/* D2 and D3, from the batch's plan. Returns the most arms of a segment; 0 when planning failed. */
uint32_t vyre_decide_plan_locked(struct vyre_device *device, const struct vyre_body *body,
                                 struct vyre_shape_note *note);

/*
 * What another process learned of the work; NULL: nothing. The stable shape is computed when it may
 * be of use: at once where something was imported, else for shapes that come often enough to be kept.
 */
const struct vyre_learned_shape *vyre_decide_learned_locked(struct vyre_device *device,
                                                            const struct vyre_body *body,
                                                            const struct vyre_governor_shape *shape,
                                                            struct vyre_shape_note *note);

/* What can run and at which cost, candidate by candidate. `learned` may be NULL; `updates`
 * commands have constants that no recording holds. */
void vyre_decide_facts_locked(struct vyre_device *device, struct vyre_body *body,
                              struct vyre_shape_note *note,
                              const struct vyre_learned_shape *learned, uint32_t updates,
                              struct vyre_candidate_facts out_facts[VYRE_CANDIDATES_MAX]);

/* A recording of the body was made for auto. Returns whether it is the first one of its shape. */
bool vyre_decide_recorded_locked(struct vyre_device *device, const struct vyre_body *body);

/*
 * The choice could not be carried out: `status` says why. The batch runs plainly, and the shape is
 * not tried so again before it was seen twice as often, or ever where the mode does not fit it.
 * `is_unproven`: it is the mode's generated code that may not be used.
 */
void vyre_decide_failed_locked(struct vyre_device *device, struct vyre_body *body,
                               enum vyre_status status, bool is_unproven,
                               struct vyre_governor_choice *governed);

/* The choice is being built meanwhile: the batch runs plainly. Nothing is held against the choice. */
void vyre_decide_put_off_locked(struct vyre_device *device, struct vyre_body *body,
                                struct vyre_governor_choice *governed);

#endif
