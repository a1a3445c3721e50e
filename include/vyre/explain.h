/*
 * explain.h: why a batch would run as it would, without running it.
 *
 * Words
 *   origin  where an input of a policy comes from
 *
 * Thread-safety: any thread; the batch belongs to the caller.
 */
#ifndef VYRE_EXPLAIN_H
#define VYRE_EXPLAIN_H

#include <stdint.h>

#include <vyre/batch.h>
#include <vyre/decision.h>
#include <vyre/export.h>
#include <vyre/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an input of a policy comes from. */
enum vyre_origin {
    VYRE_ORIGIN_NONE = 0,       /* the device has no such cost */
    VYRE_ORIGIN_STATED = 1,     /* the backend states it for its kind of device */
    VYRE_ORIGIN_CALIBRATED = 2, /* measured on this device */
    VYRE_ORIGIN_OBSERVED = 3,   /* counted or read from the batch and its shape */
    VYRE_ORIGIN_HINT = 4,       /* the caller said so */
};

/*
 * The name of an origin: "none", "stated", "calibrated", "observed", "hint"; else "unknown".
 * Static.
 */
VYRE_API const char *vyre_origin_name(enum vyre_origin origin);

/*
 * The mode that the verdicts ask for. If one of persistent_kernel and command_reuse asks for its
 * mode, that one; if both ask, the one that saves more; if neither asks, plain.
 */
VYRE_API enum vyre_mode vyre_verdict_mode(const struct vyre_bundle *verdicts);

/* No number of repeats is enough. */
#define VYRE_REPEATS_NEVER UINT32_MAX

/*
 * What the policies are asked about a batch, what they answer, and what the next submit would
 * choose.
 */
struct vyre_explanation {
    struct vyre_persistent_kernel_input persistent_kernel;
    struct vyre_command_reuse_input command_reuse;
    struct vyre_bindless_input bindless;
    struct vyre_trace_jit_input trace_jit;
    enum vyre_origin plain_origin;      /* of the costs of plain launches */
    enum vyre_origin replay_origin;     /* of the costs of recording and replay */
    enum vyre_origin persistent_origin; /* of the costs of a resident kernel */
    enum vyre_origin repeats_origin;    /* of the number of repeats */
    struct vyre_bundle verdicts;

    uint32_t repeats_seen; /* submissions of the shape so far */
    uint32_t arm_count;    /* the most that could run side by side */
    enum vyre_mode wanted; /* by the verdicts */
    /* The verdict asks for replay from so many repeats on; or VYRE_REPEATS_NEVER. */
    uint32_t replay_from_repeats;
    /*
     * The verdict asks for persistent from so many commands on, over all repeats; or
     * VYRE_REPEATS_NEVER.
     */
    uint32_t persistent_from_commands;

    /* What the next submit in auto would choose, with every candidate; times are not filled in. */
    struct vyre_decision_record next;
    /*
     * Why persistent mode cannot run, or auto leaves it out; "": neither, or it is not built yet.
     */
    char unfit_reason[VYRE_REASON_BYTES];
};

/*
 * Explains what the next submit of the batch in auto would do. `repeat_hint` is what the submit
 * would pass. Counts, records, compiles, starts and runs nothing.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_batch_explain(struct vyre_batch *batch,
                                                            uint32_t repeat_hint,
                                                            struct vyre_explanation *out,
                                                            struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
